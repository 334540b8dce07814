// Analyses sessions in the background: closed ones once they are classified, running ones once they are quiet.
import { withDeadline, type Sql } from '../database/connect.ts'
import type { OwnPrices } from '../sessions/own-prices.ts'
import { cacheSaving } from '../sessions/prices.ts'
import { MIN_QUIET_MS, type QuietTimes } from '../sessions/quiet.ts'
import { analyse } from './analyse.ts'
import { findSilent, findUnanalysed, readDue, readStepsOf, type DueSession } from './due.ts'
import { sumByModel } from './model-sums.ts'
import { ModelUses } from './model-use.ts'
import { Past, readRetried } from './past.ts'
import { writeAnalysed, type Analysed } from './store.ts'

const SESSIONS_PER_BATCH = 100
const EVENTS_PER_BATCH = 1_000
const SWEEP_EVERY_MS = 10_000
const SWEEP_LIMIT = 2_000
const SWEEP_MARGIN_MS = 120_000
const SILENT_EVERY_MS = 60_000
const SILENT_LIMIT = 500
const SILENT_PAGES = 10
const TRY_AGAIN_MS = 2_000
const LOOK_AGAIN_MS = 200
const BUSY_MS = 100
/** A long look is followed by a rest of so many times its length. */
const REST = 10
/** After each batch it rests for so many times as long as that took, where somebody posted meanwhile. */
const REST_WHILE_POSTED = 4
const MANY_EVENTS = 200
const LARGE_REST_MS = 5_000
const CLOSE_WITHIN_MS = 5_000
/** What waits in memory; beyond it the sweep finds the rest. */
const MAX_WAITING = 20_000

export interface AnalyserOptions {
  sql: Sql
  prices: OwnPrices
  quiet: QuietTimes
  projectIds(): number[]
  /** others have more to do than they can: it waits meanwhile */
  isBusy(): boolean
  /** how many events were committed so far */
  committedEvents(): number
  /** called after each commit */
  onAnalysed(): void
  /** called after the commit with the sessions whose findings changed */
  onFound(changed: { id: string; projectId: number }[]): void
  onError(error: unknown, what: string): void
}

export class Analyser {
  private waiting = new Set<string>()
  /** sessions whose result the database refuses to hold */
  private givenUp = new Set<string>()
  /** large ones that were looked at lately, and until when they rest */
  private resting = new Map<string, number>()
  /** of these, those that are looked at again after their rest */
  private restingDue = new Set<string>()
  private working: Promise<void> | null = null
  private sweeping: Promise<void> = Promise.resolve()
  private timers = new Set<NodeJS.Timeout>()
  private isClosed = false
  private readonly past: Past
  private readonly models: ModelUses
  readonly counters = { analysed: 0, changed: 0, rulesNotRun: 0 }

  constructor(private readonly options: AnalyserOptions) {
    this.past = new Past(options.sql)
    this.models = new ModelUses(options.sql)
  }

  get waitingCount(): number {
    return this.waiting.size
  }

  start(): void {
    this.again('sessions to be analysed could not be looked for', SWEEP_EVERY_MS, () => this.sweep())
    this.again('running sessions could not be looked through', SILENT_EVERY_MS, () => this.sweepSilent())
  }

  /** Analyses these as soon as nothing else is to be done; returns at once. */
  due(ids: string[]): void {
    if (this.isClosed || this.waiting.size > MAX_WAITING) return
    const now = Date.now()
    for (const id of ids) {
      const until = this.resting.get(id) ?? 0
      if (until <= now) this.waiting.add(id)
      else if (!this.restingDue.has(id)) {
        this.restingDue.add(id)
        this.later(until - now, () => {
          this.restingDue.delete(id)
          this.due([id])
        })
      }
    }
    if (this.waiting.size > 0) this.working ??= this.work().finally(() => (this.working = null))
  }

  async close(): Promise<void> {
    // What is left is found by the next start.
    this.isClosed = true
    this.waiting.clear()
    for (const timer of this.timers) clearTimeout(timer)
    await withDeadline(Promise.all([this.working, this.sweeping]), CLOSE_WITHIN_MS).catch(() => {})
  }

  private again(what: string, everyMs: number, work: () => Promise<void>): void {
    const began = performance.now()
    this.sweeping = work().catch((error: unknown) => this.options.onError(error, what))
    void this.sweeping.then(() => {
      this.later(Math.max(everyMs, REST * (performance.now() - began)), () => this.again(what, everyMs, work))
    })
  }

  private later(ms: number, work: () => void): void {
    if (this.isClosed) return
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      work()
    }, ms)
    this.timers.add(timer)
  }

  private async work(): Promise<void> {
    while (this.waiting.size > 0) {
      // Whoever posts goes first: findings can wait.
      while (this.options.isBusy() && !this.isClosed) await pause(BUSY_MS)
      const ids = [...this.waiting].slice(0, SESSIONS_PER_BATCH)
      for (const id of ids) this.waiting.delete(id)
      const began = performance.now()
      const committed = this.options.committedEvents()
      try {
        await this.analyseAll(ids)
      } catch (error) {
        this.options.onError(error, 'sessions could not be analysed')
        await pause(TRY_AGAIN_MS)
        if (!this.isClosed) for (const id of ids) this.waiting.add(id)
      }
      const isPosted = this.options.committedEvents() !== committed
      await pause((isPosted ? REST_WHILE_POSTED : 1) * (performance.now() - began))
    }
  }

  /** One that cannot be written must not hold up the others: halving finds it. */
  private async analyseAll(ids: string[]): Promise<void> {
    try {
      let batch: DueSession[] = []
      let events = 0
      // In the order in which they came: each is compared with those before it.
      const due = (await readDue(this.options.sql, ids)).sort(
        (a, b) => a.firstSeenAt - b.firstSeenAt || (a.id < b.id ? -1 : 1),
      )
      for (const session of due) {
        if (batch.length > 0 && events + session.eventCount > EVENTS_PER_BATCH) {
          await this.analyseBatch(batch)
          batch = []
          events = 0
        }
        batch.push(session)
        events += session.eventCount
      }
      if (batch.length > 0) await this.analyseBatch(batch)
    } catch (error) {
      if (!isFaultOfData(error)) throw error
      if (ids.length === 1) {
        this.givenUp.add(ids[0]!)
        return this.options.onError(error, 'a session could not be analysed')
      }
      const middle = ids.length >> 1
      await this.analyseAll(ids.slice(0, middle))
      await this.analyseAll(ids.slice(middle))
    }
  }

  private async analyseBatch(batch: DueSession[]): Promise<void> {
    const { sql, prices, onFound, onError } = this.options
    const steps = await readStepsOf(sql, batch)
    const retried = await readRetried(sql, batch)
    const analysed: Analysed[] = []
    for (const session of batch) {
      // Between them requests are answered.
      await new Promise((resolve) => setImmediate(resolve))
      const events = steps.get(session.id)!
      const price = prices.priceFor(session.projectId)
      const { findings, notRun } = analyse({
        session,
        events,
        surroundings: {
          ...(await this.past.before(session)),
          ...(session.llmCalls > 0 ? await this.models.of(session.projectId, session.agent) : NO_MODELS),
          retried: retried.get(session.id) ?? null,
        },
        priceOf: (model, promptTokens, completionTokens) => {
          const usd = price(model, promptTokens, completionTokens, session.firstSeenAt)
          return usd === null ? null : Number(usd)
        },
        cacheSavingOf: (model, promptTokens) =>
          prices.hasOwn(session.projectId, model) ? null : cacheSaving(model, promptTokens, session.firstSeenAt),
      })
      for (const { kind, error } of notRun) {
        this.counters.rulesNotRun += 1
        onError(error, `${kind} could not be looked for`)
      }
      this.past.note(session, events)
      analysed.push({ session, findings, modelUse: sumByModel(events) })
    }
    const { ids, changed } = await writeAnalysed(sql, analysed)
    this.options.onAnalysed()
    this.counters.analysed += ids.length
    this.counters.changed += changed.length
    if (changed.length > 0) onFound(changed)
    const done = new Set(ids)
    const now = Date.now()
    for (const { id, eventCount } of batch) {
      // Somebody writes to it at this moment.
      if (!done.has(id)) this.later(LOOK_AGAIN_MS, () => this.due([id]))
      // One that goes on after its end is not read whole for each of its events.
      else if (eventCount > MANY_EVENTS) this.resting.set(id, now + LARGE_REST_MS)
    }
    for (const [id, until] of this.resting) {
      if (until > now) break
      this.resting.delete(id)
    }
  }

  /** What a crash left, of this server or of another. All that is older is known to be classified and analysed. */
  private async sweep(): Promise<void> {
    const { sql } = this.options
    const [mark] = await sql`select least(at, analysed_at) as at, at as classified_at, turn from classified_until`
    const from = new Date((mark!.at as Date).getTime() - SWEEP_MARGIN_MS)
    const found = (await findUnanalysed(sql, from, SWEEP_LIMIT)).filter((id) => !this.givenUp.has(id))
    this.due(found)
    if (found.length === 0)
      await sql`update classified_until set analysed_at = ${mark!.classified_at as Date} where turn = ${mark!.turn as string}`
  }

  private async sweepSilent(): Promise<void> {
    const { sql, quiet, projectIds } = this.options
    // Those of an agent that is often silent for days must not hide the others behind them.
    for (let page = 0; page < SILENT_PAGES; page++) {
      const found = await findSilent(sql, projectIds(), MIN_QUIET_MS, SILENT_LIMIT, page * SILENT_LIMIT)
      for (const { id, projectId, agent, silentMs } of found) {
        if (silentMs >= (await quiet.afterMs(projectId, agent))) this.due([id])
      }
      if (found.length < SILENT_LIMIT) break
    }
  }
}

const NO_MODELS = { own: new Map(), others: new Map() }
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What the database refuses to hold whenever it is asked: wrong values, doubled rows, limits of its rows. */
const isFaultOfData = (error: unknown) => /^(21|22|23|54)/.test((error as { code?: string }).code ?? '')
