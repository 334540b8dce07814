// Group commit: while a connection is free it takes all requests that wait and writes them in one transaction; what
// arrives meanwhile forms the next. Nothing is answered before its commit.
import { INGEST_CONNECTIONS, kindOfError, withDeadline, type Sql } from '../database/connect.ts'
import { Problem } from '../errors.ts'
import { AlreadyStored, probeStored, type WrittenSession } from '../sessions/store.ts'
import { writeFolded, writeMerged } from './flush.ts'
import type { ParsedSession } from './parsed.ts'

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
const PROBE_WITHIN_MS = 2_000
const PROBE_EVERY_MS = 150

interface Waiting {
  sessions: ParsedSession[]
  events: number
  bytes: number
  /** `sent`: a statement with its rows is under way. `doubtful`: one was, and what became of it is not known. */
  state: 'waiting' | 'sent' | 'doubtful' | 'answered'
  /** Some of its rows may be stored already: look before writing. */
  isSuspect: boolean
  collisions: number
  timer: NodeJS.Timeout
  since: number
  resolve(written: WrittenSession[]): void
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
  readonly counters = { flushes: 0, events: 0, retries: 0, halvings: 0, merges: 0 }

  constructor(private readonly options: WriteQueueOptions) {}

  get depth(): { requests: number; events: number; bytes: number } {
    return { requests: this.waiting.length, events: this.waitingEvents, bytes: this.waitingBytes }
  }

  /**
   * Writes all of a request or nothing.
   * @param bytes size of the request, for the bound on what may wait
   * @returns its sessions as they stand after the commit, in the order given
   * @throws Problem unavailable (nothing was written) or outcome_unknown
   */
  write(sessions: ParsedSession[], bytes: number): Promise<WrittenSession[]> {
    if (sessions.length === 0) return Promise.resolve([])
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
    const batch = requests.filter((request) => request.state !== 'answered')
    if (batch.length === 0) return
    let plan: { simple: Waiting[]; repeated: Waiting[] }
    try {
      plan = await this.plan(batch)
    } catch (error) {
      return this.recover(batch, error)
    }
    await this.settle(plan.simple, writeFolded)
    await this.settle(plan.repeated, writeMerged)
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
      const events = batch.reduce((sum, request) => sum + request.events, 0)
      written = await withDeadline(
        write(this.options.sql, sessions),
        STATEMENT_WITHIN_MS + events * (write === writeMerged ? MERGE_PER_EVENT_MS : STATEMENT_PER_EVENT_MS),
      )
    } catch (error) {
      return this.recover(batch, error)
    }
    this.counters.flushes += 1
    if (write === writeMerged) this.counters.merges += batch.length
    this.options.onCommitted(written)
    const byId = new Map(written.map((session) => [session.id, session]))
    for (const request of batch) {
      this.counters.events += request.events
      this.answer(request, () => request.resolve(request.sessions.map(({ identity }) => byId.get(identity.id)!)))
    }
  }

  private async recover(batch: Waiting[], error: unknown): Promise<void> {
    const kind = error instanceof AlreadyStored ? 'repeated' : kindOfError(error)
    for (const request of batch) {
      if (kind === 'lost' && request.state === 'sent') request.state = 'doubtful'
      else if (request.state === 'sent') request.state = 'waiting'
      if (kind === 'repeated' || kind === 'lost') request.isSuspect = true
    }
    if (kind === 'refused') return this.isolate(batch, error)
    this.counters.retries += 1
    if (kind === 'repeated') {
      for (const request of batch) request.collisions += 1
      const [guilty, others] = [batch.filter(collidesAlways), batch.filter((request) => !collidesAlways(request))]
      for (const request of guilty) await this.isolate([request], error)
      return others.length === 1 ? this.settle(others, writeMerged) : this.flush(others)
    }
    this.options.onError(
      error,
      kind === 'lost' ? 'the connection was lost during a write' : 'the database cannot be reached',
    )
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
    for (;;) {
      const isReachable = await withDeadline(this.options.sql`select 1`, PROBE_WITHIN_MS).then(
        () => true,
        () => false,
      )
      if (isReachable || (this.isClosed && this.waiting.length === 0)) break
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
    const isWorking = !this.outage && (request.state === 'waiting' || request.state === 'sent')
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

const collidesAlways = (request: Waiting) => request.collisions > MAX_COLLISIONS

const RETRY = { 'retry-after': '3' }
const unavailable = (why: string) =>
  new Problem('unavailable', `${why}. No event was recorded; send the request again in a few seconds.`, [], RETRY)
const outcomeUnknown = () =>
  new Problem(
    'outcome_unknown',
    'The database did not confirm in time that this request was recorded, so it may have been. Send it again with an event_id to be sure that it counts once.',
    [],
    RETRY,
  )
