// Classifies sessions after their commit, and finds those that a crash left: what is due is a state, not a queue.
import { withDeadline, type Sql } from '../database/connect.ts'
import { classify, explain, type Explanation } from './classify.ts'
import type { FailureCategory, Rule, Thresholds } from './failure.ts'
import type { FixedThresholdSettings } from './fixed-thresholds.ts'
import { History, pastOf } from './history.ts'
import { dropEmptyPatterns } from './patterns.ts'
import { RULES } from './rules.ts'
import { findUnclassified, readDue, readEventsOf, readForExplaining, type DueSession } from './due.ts'
import { writeClassified, type Classified, type Written } from './store.ts'
import { NO_PAST, NO_SETTINGS, thresholdsOf } from './thresholds.ts'

const SESSIONS_PER_BATCH = 200
const EVENTS_PER_BATCH = 20_000
const SWEEP_EVERY_MS = 3_000
const SWEEP_LIMIT = 5_000
/** Writes are committed up to this much after their events were received, by clocks that differ. */
const SWEEP_MARGIN_MS = 120_000
const MARK_EVERY_MS = 30_000
const TRY_AGAIN_MS = 500
const LOOK_AGAIN_MS = 20
const MAX_PAUSE_MS = 1_000
const MANY_EVENTS = 200
const REST_MS = 1_000
const CLOSE_WITHIN_MS = 5_000
/** What waits in memory; beyond it the sweep finds the rest. */
const MAX_WAITING = 50_000

export interface ClassifierOptions {
  sql: Sql
  /** for what people ask */
  explainSql: Sql
  fixed: FixedThresholdSettings
  /** called after the commit with what looks different now, and whom to tell */
  onClassified(written: Written): void
  onError(error: unknown, what: string): void
  rules?: Rule[]
}

export class Classifier {
  private waiting = new Set<string>()
  /** sessions that the database refuses to hold the result of */
  private givenUp = new Set<string>()
  /** how long to wait before those that others were writing to are looked at again */
  private pauses = new Map<string, number>()
  /** large ones that were looked at lately, and until when they rest */
  private resting = new Map<string, number>()
  private restingDue = new Set<string>()
  private working: Promise<void> | null = null
  private sweeping: Promise<void> = Promise.resolve()
  private timer: NodeJS.Timeout | null = null
  private explaining: Promise<unknown> = Promise.resolve()
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
    for (const id of ids) {
      const restsFor = (this.resting.get(id) ?? 0) - Date.now()
      if (restsFor <= 0) this.waiting.add(id)
      else if (!this.restingDue.has(id)) {
        this.restingDue.add(id)
        setTimeout(() => {
          this.restingDue.delete(id)
          this.due([id])
        }, restsFor)
      }
    }
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
    // Only platform B has rules that compare.
    if (session.platform === 'PLATFORM_A') return thresholdsOf(NO_PAST, NO_SETTINGS)
    return thresholdsOf(
      await this.history.before(session),
      this.options.fixed.settingsFor(session.projectId, session.agent),
    )
  }

  /** What each rule says of a session; of what was found, as it was found. */
  explain(id: string, failures: { category: FailureCategory; sentence: string }[]): Promise<Explanation[]> {
    // One after the other: what people ask must not hold up what is found.
    const turn = this.explaining.then(() => this.explainNow(id, failures))
    this.explaining = turn.catch(() => {})
    return turn
  }

  private async explainNow(
    id: string,
    failures: { category: FailureCategory; sentence: string }[],
  ): Promise<Explanation[]> {
    const { explainSql, fixed } = this.options
    const session = await readForExplaining(explainSql, id)
    if (!session) return []
    const events = (await readEventsOf(explainSql, [session])).get(id)!
    const past = await pastOf(explainSql, session)
    const thresholds = thresholdsOf(past, fixed.settingsFor(session.projectId, session.agent))
    const said = explain({ session, events, thresholds }, this.options.rules)
    if (session.status === 'RUNNING') {
      return said.map((one) => ({ ...one, outcome: 'CANNOT_TELL', sentence: 'The run is not closed yet.' }))
    }
    return said.map((one) => {
      const found = failures.filter(({ category }) => category === one.category)
      if (found.length > 0)
        return { ...one, outcome: 'FOUND', sentence: found.map(({ sentence }) => sentence).join(' ') }
      if (one.outcome !== 'FOUND' || !session.isClassified) return one
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
      if (!isFaultOfData(error)) throw error
      if (ids.length === 1) return this.giveUp(ids[0]!, error)
      const middle = ids.length >> 1
      await this.classifyAll(ids.slice(0, middle))
      await this.classifyAll(ids.slice(middle))
    }
  }

  /** Whoever looks at it is told that nothing could look at it. */
  private async giveUp(id: string, error: unknown): Promise<void> {
    const { sql, onError, onClassified, rules = RULES } = this.options
    const [session] = await readDue(sql, [id])
    if (!session) return
    const notRun = rules.flatMap(({ platform, category }) => (platform === session.platform ? { category, error } : []))
    const nothing = { failures: [], notRun, activeMs: null, loopRounds: null, equalRounds: null }
    const written = await writeClassified(sql, [{ session, classification: nothing }]).catch((refusal: unknown) => {
      if (!isFaultOfData(refusal)) throw refusal
      this.givenUp.add(id)
      return null
    })
    // Somebody writes to it at this moment.
    if (written?.sessions.length === 0) return this.lookAgain(id)
    onError(error, 'a session could not be classified')
    this.counters.rulesNotRun += notRun.length
    if (written) onClassified(written)
  }

  private async classifyBatch(batch: DueSession[]): Promise<void> {
    const { sql, onClassified } = this.options
    const events = await readEventsOf(sql, batch)
    const classified: Classified[] = []
    for (const [place, session] of batch.entries()) {
      // Between them requests are answered.
      if (place % 20 === 19 || session.eventCount > MANY_EVENTS) await new Promise((resolve) => setImmediate(resolve))
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
    await dropEmptyPatterns(sql, written.lost)
    const done = new Set(written.sessions.map(({ id }) => id))
    this.counters.classified += done.size
    for (const { session, classification } of classified) {
      if (done.has(session.id)) this.counters.failures += classification.failures.length
    }
    if (done.size > 0) onClassified(written)
    // Somebody writes to the others at this moment: they are looked at once more.
    const now = Date.now()
    for (const { id, eventCount } of batch) {
      if (done.has(id)) {
        this.pauses.delete(id)
        // One that goes on after its end is not read whole for each of its events.
        if (eventCount > MANY_EVENTS) this.resting.set(id, now + REST_MS)
      } else this.lookAgain(id)
    }
    for (const [id, until] of this.resting) {
      if (until > now) break
      this.resting.delete(id)
    }
  }

  private lookAgain(id: string): void {
    const pause = Math.min(MAX_PAUSE_MS, (this.pauses.get(id) ?? LOOK_AGAIN_MS / 2) * 2)
    if (this.pauses.size > MAX_WAITING) this.pauses.clear()
    this.pauses.set(id, pause)
    setTimeout(() => this.due([id]), pause)
  }

  /** What a crash left, of this server or of another. All that is older is known to be classified. */
  private async sweep(): Promise<void> {
    const { sql } = this.options
    const [mark] = await sql`select at, turn, now() as now from classified_until`
    const from = new Date((mark!.at as Date).getTime() - SWEEP_MARGIN_MS)
    const found = await findUnclassified(sql, from, SWEEP_LIMIT)
    this.due(found.filter((id) => !this.givenUp.has(id)))
    const isOld = (mark!.now as Date).getTime() - (mark!.at as Date).getTime() > MARK_EVERY_MS
    if (isOld && found.length === 0)
      await sql`update classified_until set at = ${mark!.now as Date} where turn = ${mark!.turn as string}`
  }
}

/** What the database refuses to hold whenever it is asked: wrong values, doubled rows, limits of its rows. */
const isFaultOfData = (error: unknown) => /^(21|22|23|54)/.test((error as { code?: string }).code ?? '')

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
