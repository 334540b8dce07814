// Classifies sessions after their commit, and finds those that a crash left: what is due is a state, not a queue.
import { kindOfError, withDeadline, type Sql } from '../database/connect.ts'
import { classify, explain, type Explanation } from './classify.ts'
import type { FailureCategory, Rule, Thresholds } from './failure.ts'
import type { FixedThresholdSettings } from './fixed-thresholds.ts'
import { History } from './history.ts'
import { RULES } from './rules.ts'
import {
  findUnclassified,
  readDue,
  readEventsOf,
  readForExplaining,
  writeClassified,
  type Classified,
  type DueSession,
} from './store.ts'
import { thresholdsOf } from './thresholds.ts'

const SESSIONS_PER_BATCH = 200
const EVENTS_PER_BATCH = 20_000
const SWEEP_EVERY_MS = 3_000
const SWEEP_LIMIT = 5_000
/** Writes are committed up to this much after their events were received, by clocks that differ. */
const SWEEP_MARGIN_MS = 120_000
const MARK_EVERY_MS = 30_000
const TRY_AGAIN_MS = 500
const LOOK_AGAIN_MS = 20
const CLOSE_WITHIN_MS = 5_000
/** What waits in memory; beyond it the sweep finds the rest. */
const MAX_WAITING = 50_000

export interface ClassifierOptions {
  sql: Sql
  fixed: FixedThresholdSettings
  /** called after the commit with the sessions that look different now, and the patterns of their failures */
  onClassified(sessions: { id: string; projectId: number }[], patternIds: string[]): void
  onError(error: unknown, what: string): void
  rules?: Rule[]
}

export class Classifier {
  private waiting = new Set<string>()
  /** sessions that the database refuses to hold the result of */
  private givenUp = new Set<string>()
  private working: Promise<void> | null = null
  private sweeping: Promise<void> = Promise.resolve()
  private timer: NodeJS.Timeout | null = null
  private isClosed = false
  readonly history: History
  readonly counters = { classified: 0, failures: 0, rulesNotRun: 0, retries: 0 }

  constructor(private readonly options: ClassifierOptions) {
    this.history = new History(options.sql)
  }

  get waitingCount(): number {
    return this.waiting.size
  }

  /** Begins to look for what is due, at once and every few seconds. */
  start(): void {
    const sweep = () => {
      const began = performance.now()
      this.sweeping = this.sweep().catch((error: unknown) => {
        this.options.onError(error, 'unclassified sessions could not be looked for')
      })
      void this.sweeping.then(() => {
        // A long look back, as after new prices, must not keep the database busy.
        const pause = Math.max(SWEEP_EVERY_MS, 5 * (performance.now() - began))
        if (!this.isClosed) this.timer = setTimeout(sweep, pause)
      })
    }
    sweep()
  }

  /** Classifies these sessions as soon as possible; returns at once. */
  due(ids: string[]): void {
    if (this.isClosed || this.waiting.size > MAX_WAITING) return
    for (const id of ids) this.waiting.add(id)
    if (this.waiting.size > 0) this.working ??= this.work().finally(() => (this.working = null))
  }

  async close(): Promise<void> {
    // What is left is found by the next start.
    this.isClosed = true
    this.waiting.clear()
    if (this.timer) clearTimeout(this.timer)
    await withDeadline(Promise.all([this.working, this.sweeping]), CLOSE_WITHIN_MS).catch(() => {})
  }

  /** Against what a run is measured: what people fixed, else what was usual before it. */
  async thresholdsFor(session: DueSession): Promise<Thresholds> {
    return thresholdsOf(
      await this.history.before(session),
      this.options.fixed.settingsFor(session.projectId, session.agent),
    )
  }

  /** What each rule says of a session; of what was found, as it was found. */
  async explain(id: string, failures: { category: FailureCategory; sentence: string }[]): Promise<Explanation[]> {
    const session = await readForExplaining(this.options.sql, id)
    if (!session) return []
    const events = (await readEventsOf(this.options.sql, [session])).get(id)!
    const said = explain({ session, events, thresholds: await this.thresholdsFor(session) }, this.options.rules)
    if (session.status === 'RUNNING') {
      return said.map((one) => ({ ...one, outcome: 'CANNOT_TELL', sentence: 'The run is not closed yet.' }))
    }
    return said.map((one) => {
      const found = failures.filter(({ category }) => category === one.category)
      if (found.length > 0)
        return { ...one, outcome: 'FOUND', sentence: found.map(({ sentence }) => sentence).join(' ') }
      if (one.outcome !== 'FOUND') return one
      const since = 'It was not found when the run was classified: the limits were others then.'
      return { ...one, outcome: 'NOT_FOUND', sentence: `${one.sentence} ${since}` }
    })
  }

  private async work(): Promise<void> {
    while (this.waiting.size > 0) {
      const ids = [...this.waiting].slice(0, SESSIONS_PER_BATCH)
      for (const id of ids) this.waiting.delete(id)
      try {
        await this.classifyAll(ids)
      } catch (error) {
        this.counters.retries += 1
        this.options.onError(error, 'sessions could not be classified')
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
        // Those that are done by now are not due any more.
        if (!this.isClosed) for (const id of ids) this.waiting.add(id)
      }
    }
  }

  /** One that cannot be written must not hold up the others: halving finds it. */
  private async classifyAll(ids: string[]): Promise<void> {
    try {
      for (const batch of batchesOf(await readDue(this.options.sql, ids))) await this.classifyBatch(batch)
    } catch (error) {
      if (kindOfError(error) !== 'refused') throw error
      if (ids.length === 1) {
        this.givenUp.add(ids[0]!)
        this.options.onError(error, 'a session could not be classified')
        return
      }
      const middle = ids.length >> 1
      await this.classifyAll(ids.slice(0, middle))
      await this.classifyAll(ids.slice(middle))
    }
  }

  private async classifyBatch(batch: DueSession[]): Promise<void> {
    const { sql, onClassified } = this.options
    const events = await readEventsOf(sql, batch)
    const classified: Classified[] = []
    for (const session of batch) {
      const run = { session, events: events.get(session.id)!, thresholds: await this.thresholdsFor(session) }
      const classification = classify(run, this.options.rules ?? RULES)
      for (const { category, error } of classification.notRun) {
        this.counters.rulesNotRun += 1
        this.options.onError(error, `the rule ${category} could not run`)
      }
      this.history.note(session, classification)
      classified.push({ session, classification })
    }
    const written = await writeClassified(sql, classified)
    const done = new Set(written.sessions.map(({ id }) => id))
    this.counters.classified += done.size
    for (const { session, classification } of classified) {
      if (done.has(session.id)) this.counters.failures += classification.failures.length
    }
    if (done.size > 0) onClassified(written.sessions, written.patternIds)
    // Somebody writes to the others at this moment: they are looked at once more.
    const left = batch.filter(({ id }) => !done.has(id))
    if (left.length > 0) setTimeout(() => this.due(left.map(({ id }) => id)), LOOK_AGAIN_MS)
  }

  /** What a crash left, of this server or of another. All that is older is known to be classified. */
  private async sweep(): Promise<void> {
    const { sql } = this.options
    const [mark] = await sql`select at, now() as now from classified_until`
    const from = new Date((mark!.at as Date).getTime() - SWEEP_MARGIN_MS)
    const found = await findUnclassified(sql, from, SWEEP_LIMIT)
    this.due(found.filter((id) => !this.givenUp.has(id)))
    const isOld = (mark!.now as Date).getTime() - (mark!.at as Date).getTime() > MARK_EVERY_MS
    if (isOld && found.every((id) => this.givenUp.has(id)))
      await sql`update classified_until set at = ${mark!.now as Date} where at = ${mark!.at as Date}`
  }
}

/** Few enough events to be held at once, in the order in which the sessions came. */
function* batchesOf(due: DueSession[]): Generator<DueSession[]> {
  const sorted = due.sort((a, b) => a.firstSeenAt - b.firstSeenAt || (a.id < b.id ? -1 : 1))
  let batch: DueSession[] = []
  let events = 0
  for (const session of sorted) {
    if (batch.length > 0 && events + session.eventCount > EVENTS_PER_BATCH) {
      yield batch
      batch = []
      events = 0
    }
    batch.push(session)
    events += session.eventCount
  }
  if (batch.length > 0) yield batch
}
