// Group commit: while a connection is free it takes all requests that wait and writes them in one transaction; what
// arrives meanwhile forms the next. Nothing is answered before its commit.
import { DeadlineError, INGEST_CONNECTIONS, kindOfError, withDeadline, type Sql } from '../database/connect.ts'
import { ask, replaceConnections } from '../database/pool.ts'
import { Problem } from '../errors.ts'
import { readKeys } from '../sessions/request-keys.ts'
import { AlreadyStored, probeStored, type WrittenSession } from '../sessions/store.ts'
import { writeFolded, writeMerged } from './flush.ts'
import { keyReused } from './idempotency.ts'
import type { ParsedSession } from './parsed.ts'
import { outcomeUnknown, unavailable, type WriteRequest, type Written } from './write-request.ts'

/** Enough for the round trip to cost nothing per event, few enough for none to wait long. */
const MAX_EVENTS_PER_FLUSH = 500
const MAX_WAITING_EVENTS = 50_000
const MAX_WAITING_BYTES = 256 * 1024 * 1024
/** While the database is away a caller is answered within this time. */
const ANSWER_WITHIN_MS = 5_500
/** While it works, a large request or a long queue may take longer; the platforms hang up at 30 s. */
const ANSWER_AT_LAST_MS = 25_000
const LOOK_AGAIN_MS = 500
/** A statement that has not come back in this time, and this much more for each event, is given up as lost. */
const STATEMENT_WITHIN_MS = 5_200
const STATEMENT_PER_EVENT_MS = 1
const MERGE_PER_EVENT_MS = 5
/** Rows that are found stored and then again not: others write them at this moment. More often than this is a fault. */
const MAX_COLLISIONS = 20
const PROBE_EVERY_MS = 150
/** A database that answers but cannot write is tried again after this pause. */
const TRY_AGAIN_MS = 400
const FAILING_FOR_MS = 10_000

interface Waiting extends WriteRequest {
  events: number
  /** `sent`: a statement with its rows is under way. `doubtful`: one was, and what became of it is not known. */
  state: 'waiting' | 'sent' | 'doubtful' | 'answered'
  /** Some of its rows may be stored already: look before writing. */
  isSuspect: boolean
  collisions: number
  timer: NodeJS.Timeout
  since: number
  resolve(written: Written): void
  reject(problem: unknown): void
}

export interface WriteQueueOptions {
  sql: Sql
  /** called after each commit, before the answers are sent */
  onCommitted(written: WrittenSession[]): void
  onError(error: unknown, what: string): void
}

export class WriteQueue {
  private waiting: Waiting[] = []
  private waitingEvents = 0
  private waitingBytes = 0
  private flushing = 0
  private isClosed = false
  private idle: (() => void)[] = []
  /** Set while the database does not answer: one probe gates all flushes. */
  private outage: Promise<void> | null = null
  /** when a write last failed for a reason that was the database's, if none succeeded since */
  private failedAt = -Infinity
  readonly counters = { flushes: 0, events: 0, retries: 0, halvings: 0, merges: 0 }

  constructor(private readonly options: WriteQueueOptions) {}

  /** Not for ever: where nobody posts to a server that is not ready, no write would ever show that it is. */
  get isFailing(): boolean {
    return this.outage !== null || performance.now() - this.failedAt < FAILING_FOR_MS
  }

  get depth(): { requests: number; events: number; bytes: number } {
    return { requests: this.waiting.length, events: this.waitingEvents, bytes: this.waitingBytes }
  }

  /**
   * Writes all of a request or nothing. Of several with one key, at most one may be given at a time.
   * @throws Problem unavailable (nothing was written), outcome_unknown, or what the key says where its body was another
   */
  write({ sessions, bytes, key }: WriteRequest): Promise<Written> {
    if (sessions.length === 0) return Promise.resolve({ sessions: [], before: null })
    let events = 0
    // A session without events is a row too.
    for (const session of sessions) events += Math.max(1, session.events.length)
    if (this.isClosed) return Promise.reject(unavailable('The server is shutting down'))
    if (this.waitingEvents + events > MAX_WAITING_EVENTS || this.waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(unavailable('The server is busy: too many events wait to be written'))
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.expire(request), ANSWER_WITHIN_MS)
      const request: Waiting = {
        sessions,
        events,
        bytes,
        key,
        state: 'waiting',
        isSuspect: false,
        collisions: 0,
        timer,
        since: Date.now(),
        resolve,
        reject,
      }
      this.waiting.push(request)
      this.waitingEvents += events
      this.waitingBytes += bytes
      this.pump()
    })
  }

  /** Takes nothing more and resolves when all that was taken is answered. */
  async close(): Promise<void> {
    this.isClosed = true
    if (this.flushing > 0 || this.waiting.length > 0) await new Promise<void>((resolve) => this.idle.push(resolve))
  }

  private pump(): void {
    while (!this.outage && this.flushing < INGEST_CONNECTIONS && this.waiting.length > 0) {
      const batch = this.take()
      this.flushing += 1
      void this.flush(batch).finally(() => {
        this.flushing -= 1
        this.pump()
      })
    }
    if (this.flushing === 0 && this.waiting.length === 0) for (const resolve of this.idle.splice(0)) resolve()
  }

  private take(): Waiting[] {
    let events = 0
    let count = 0
    while (
      count < this.waiting.length &&
      (count === 0 || events + this.waiting[count]!.events <= MAX_EVENTS_PER_FLUSH)
    ) {
      events += this.waiting[count]!.events
      this.waitingBytes -= this.waiting[count]!.bytes
      count += 1
    }
    this.waitingEvents -= events
    return this.waiting.splice(0, count)
  }

  /** Settles every request of the batch; never throws. */
  private async flush(requests: Waiting[]): Promise<void> {
    let batch = requests.filter((request) => request.state !== 'answered')
    if (batch.length === 0) return
    let plan: { simple: Waiting[]; repeated: Waiting[] }
    try {
      batch = await this.withoutRepeats(batch)
      plan = await this.plan(batch)
    } catch (error) {
      return this.recover(batch, error)
    }
    await this.settle(plan.simple, writeFolded)
    await this.settle(plan.repeated, writeMerged)
  }

  /** Answers the requests whose key is kept with their receipt, and returns the others. */
  private async withoutRepeats(batch: Waiting[]): Promise<Waiting[]> {
    const ids = batch.flatMap(({ key }) => key?.id ?? [])
    if (ids.length === 0) return batch
    const stored = await withDeadline(readKeys(this.options.sql, ids), STATEMENT_WITHIN_MS)
    return batch.filter((request) => {
      const before = request.key && stored.get(request.key.id)
      if (!before) return true
      const { fingerprint, refusesReuse } = request.key!
      const isSame = before.fingerprint === fingerprint
      if (isSame) this.answer(request, () => request.resolve({ sessions: [], before }))
      else if (refusesReuse) this.answer(request, () => request.reject(keyReused()))
      else request.key = null
      return !isSame && !refusesReuse
    })
  }

  /**
   * Requests that can be folded together, and those of which something is stored already: an execution that came
   * before, or events whose write may have been committed. The latter are written under row locks.
   */
  private async plan(batch: Waiting[]): Promise<{ simple: Waiting[]; repeated: Waiting[] }> {
    const looked = new Set(
      batch.filter(({ isSuspect, sessions }) => isSuspect || sessions.some((session) => session.execution)),
    )
    if (looked.size === 0) return { simple: batch, repeated: [] }
    const executions: string[] = []
    const events: { sessionId: string; key: string }[] = []
    for (const { identity, execution, events: own } of [...looked].flatMap((request) => request.sessions)) {
      if (execution) executions.push(identity.id)
      else for (const event of own) events.push({ sessionId: identity.id, key: event.key })
    }
    const { sessions, eventKeys } = await withDeadline(
      probeStored(this.options.sql, executions, events),
      STATEMENT_WITHIN_MS,
    )
    const isStored = ({ identity, execution, events }: ParsedSession) =>
      execution ? sessions.has(identity.id) : events.some((event) => eventKeys.has(`${identity.id}/${event.key}`))
    const taken = new Set<string>()
    const simple: Waiting[] = []
    const repeated: Waiting[] = []
    for (const request of batch) {
      const isRepeated =
        looked.has(request) && request.sessions.some((one) => isStored(one) || taken.has(one.identity.id))
      for (const { identity, execution } of request.sessions) if (execution) taken.add(identity.id)
      ;(isRepeated ? repeated : simple).push(request)
    }
    return { simple, repeated }
  }

  /** Runs a write for these requests and answers them; a failed one is handled before this returns. */
  private async settle(requests: Waiting[], write: typeof writeFolded): Promise<void> {
    // Whoever was told that nothing was recorded must be told the truth.
    const batch = requests.filter((request) => request.state !== 'answered')
    if (batch.length === 0) return
    for (const request of batch) if (request.state === 'waiting') request.state = 'sent'
    let written: WrittenSession[]
    try {
      const sessions = batch.flatMap((request) => request.sessions)
      const keys = () => batch.flatMap(({ key }) => (key ? [{ ...key, receipt: key.receipt() }] : []))
      const events = batch.reduce((sum, request) => sum + request.events, 0)
      written = await withDeadline(
        write(this.options.sql, { sessions, keys }),
        STATEMENT_WITHIN_MS + events * (write === writeMerged ? MERGE_PER_EVENT_MS : STATEMENT_PER_EVENT_MS),
      )
    } catch (error) {
      return this.recover(batch, error)
    }
    this.failedAt = -Infinity
    this.counters.flushes += 1
    if (write === writeMerged) this.counters.merges += batch.length
    this.options.onCommitted(written)
    const byId = new Map(written.map((session) => [session.id, session]))
    for (const request of batch) {
      this.counters.events += request.events
      const own = request.sessions.map(({ identity }) => byId.get(identity.id)!)
      this.answer(request, () => request.resolve({ sessions: own, before: null }))
    }
  }

  private async recover(batch: Waiting[], error: unknown): Promise<void> {
    const kind = error instanceof AlreadyStored ? 'repeated' : kindOfError(error)
    for (const request of batch) {
      if (kind === 'lost' && request.state === 'sent') {
        request.state = 'doubtful'
        for (const session of request.sessions) session.isTriedBefore = true
      } else if (request.state === 'sent') request.state = 'waiting'
      if (kind === 'repeated' || kind === 'lost') request.isSuspect = true
    }
    if (kind === 'refused') return this.isolate(batch, error)
    this.counters.retries += 1
    if (kind === 'repeated') {
      for (const request of batch) request.collisions += 1
      const [guilty, others] = [batch.filter(collidesAlways), batch.filter((request) => !collidesAlways(request))]
      for (const request of guilty) await this.isolate([request], error)
      // Where it was the key that is stored, it is the receipt that is wanted.
      return others.length === 1 && !others[0]!.key ? this.settle(others, writeMerged) : this.flush(others)
    }
    this.failedAt = performance.now()
    this.options.onError(error, OUTAGE_WORDS[kind])
    if (error instanceof DeadlineError) replaceConnections(this.options.sql)
    if (kind === 'failing') await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
    await (this.outage ??= this.untilReachable())
    await this.flush(batch)
  }

  /** One of them is guilty: halving finds it in a few tries and lets the others go on. */
  private async isolate(batch: Waiting[], error: unknown): Promise<void> {
    if (batch.length === 1) {
      this.options.onError(error, 'a request could not be written')
      const sentence = 'The server could not record this request because of a fault of its own. No event was recorded.'
      return this.answer(batch[0]!, () => batch[0]!.reject(new Problem('internal', sentence)))
    }
    this.counters.halvings += 1
    const middle = batch.length >> 1
    await this.flush(batch.slice(0, middle))
    await this.flush(batch.slice(middle))
  }

  private async untilReachable(): Promise<void> {
    while ((await ask(this.options.sql)) !== 'yes' && !(this.isClosed && this.waiting.length === 0)) {
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS))
    }
    this.outage = null
    this.pump()
  }

  private answer(request: Waiting, give: () => void): void {
    request.state = 'answered'
    clearTimeout(request.timer)
    give()
  }

  /** A request is withdrawn while it waits; one whose statement is under way can only be said to be unknown. */
  private expire(request: Waiting): void {
    if (request.state === 'answered') return
    const isWorking = !this.isFailing && (request.state === 'waiting' || request.state === 'sent')
    if (isWorking && Date.now() - request.since < ANSWER_AT_LAST_MS) {
      request.timer = setTimeout(() => this.expire(request), LOOK_AGAIN_MS)
      return
    }
    const place = this.waiting.indexOf(request)
    if (place >= 0) {
      this.waiting.splice(place, 1)
      this.waitingEvents -= request.events
      this.waitingBytes -= request.bytes
    }
    const isUnknown = request.state !== 'waiting'
    this.answer(request, () =>
      request.reject(isUnknown ? outcomeUnknown() : unavailable('The database cannot be reached')),
    )
    if (place >= 0) this.pump()
  }
}

const OUTAGE_WORDS = {
  lost: 'the connection was lost during a write',
  unreachable: 'the database cannot be reached',
  failing: 'the database cannot write',
}
const collidesAlways = (request: Waiting) => request.collisions > MAX_COLLISIONS
