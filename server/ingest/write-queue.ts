// Group commit: while a connection is free it takes all requests that wait and writes them in one transaction; what
// arrives meanwhile forms the next. Nothing is answered before its commit.
import { INGEST_CONNECTIONS, kindOfError, withDeadline, type Sql } from '../database/connect.ts'
import { Problem } from '../errors.ts'
import { mergeExecution } from '../sessions/execution.ts'
import { foldEvents, type EventDraft, type SessionWrite } from '../sessions/session.ts'
import {
  AlreadyStored,
  foldSessions,
  lockExecution,
  probeStored,
  writeMergedExecution,
  type WrittenSession,
} from '../sessions/store.ts'
import type { ParsedSession } from './parsed.ts'

/** Enough for the round trip to cost nothing per event, few enough for none to wait long. */
const MAX_EVENTS_PER_FLUSH = 500
const MAX_WAITING_EVENTS = 50_000
const MAX_WAITING_BYTES = 256 * 1024 * 1024
/** A caller is answered within this time, whatever the database does. */
const ANSWER_DEADLINE_MS = 5_500
const STATEMENT_DEADLINE_MS = 5_200

interface Waiting {
  sessions: ParsedSession[]
  events: number
  bytes: number
  /** when the caller must have its answer, epoch milliseconds */
  deadline: number
  /** a statement with these rows was sent and its fate is not known */
  isInDoubt: boolean
  /** some of its rows may be stored already: look before writing */
  isSuspect: boolean
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
  readonly counters = { flushes: 0, events: 0, retries: 0, halvings: 0, merges: 0 }

  constructor(private readonly options: WriteQueueOptions) {}

  get depth(): { requests: number; events: number; bytes: number } {
    return { requests: this.waiting.length, events: this.waitingEvents, bytes: this.waitingBytes }
  }

  /**
   * Writes all of a request or nothing.
   * @returns its sessions as they stand after the commit
   * @throws Problem unavailable or outcome_unknown
   */
  write(sessions: ParsedSession[], bytes: number): Promise<WrittenSession[]> {
    if (sessions.length === 0) return Promise.resolve([])
    const events = sessions.reduce((sum, session) => sum + session.events.length, 0)
    if (this.isClosed) return Promise.reject(unavailable('The server is shutting down'))
    if (this.waitingEvents + events > MAX_WAITING_EVENTS || this.waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(unavailable('The server is busy: too many events wait to be written'))
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({
        sessions,
        events,
        bytes,
        deadline: Date.now() + ANSWER_DEADLINE_MS,
        isInDoubt: false,
        isSuspect: false,
        resolve,
        reject,
      })
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
    while (this.flushing < INGEST_CONNECTIONS && this.waiting.length > 0) {
      const batch = this.take()
      this.flushing += 1
      void this.flush(batch).finally(() => {
        this.flushing -= 1
        if (this.flushing === 0 && this.waiting.length === 0) for (const resolve of this.idle.splice(0)) resolve()
        this.pump()
      })
    }
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
  private async flush(batch: Waiting[]): Promise<void> {
    try {
      const { simple, repeated } = await this.plan(batch)
      if (simple.length > 0)
        await this.settle(simple, () => this.run(foldSessions(this.options.sql, foldBatch(simple))))
      for (const request of repeated) await this.settle([request], () => this.mergeRequest(request))
    } catch (error) {
      await this.recover(batch, error)
    }
  }

  /**
   * Requests that can be folded together, and those of which something is stored already: an execution that came
   * before, or events whose write may have been committed. The latter are written one by one under row locks.
   */
  private async plan(batch: Waiting[]): Promise<{ simple: Waiting[]; repeated: Waiting[] }> {
    const looked = new Set(
      batch.filter((request) => request.isSuspect || request.sessions.some((session) => session.execution)),
    )
    if (looked.size === 0) return { simple: batch, repeated: [] }
    const executions: string[] = []
    const events: { sessionId: string; key: string }[] = []
    for (const { identity, execution, events: own } of [...looked].flatMap((request) => request.sessions)) {
      if (execution) executions.push(identity.id)
      else for (const event of own) events.push({ sessionId: identity.id, key: event.key })
    }
    const { sessions, eventKeys } = await this.run(probeStored(this.options.sql, executions, events))
    const isStored = ({ identity, execution, events }: ParsedSession) =>
      execution ? sessions.has(identity.id) : events.some((event) => eventKeys.has(`${identity.id}/${event.key}`))
    const taken = new Set<string>()
    const simple: Waiting[] = []
    const repeated: Waiting[] = []
    for (const request of batch) {
      const isRepeated =
        looked.has(request) && request.sessions.some((session) => isStored(session) || taken.has(session.identity.id))
      for (const { identity, execution } of request.sessions) if (execution) taken.add(identity.id)
      ;(isRepeated ? repeated : simple).push(request)
    }
    return { simple, repeated }
  }

  /** Runs a write for these requests and answers them; a failed one is handled before this returns. */
  private async settle(batch: Waiting[], write: () => Promise<WrittenSession[]>): Promise<void> {
    let written: WrittenSession[]
    try {
      written = await write()
    } catch (error) {
      await this.recover(batch, error)
      return
    }
    this.counters.flushes += 1
    this.options.onCommitted(written)
    const byId = new Map(written.map((session) => [session.id, session]))
    for (const request of batch) {
      this.counters.events += request.events
      request.resolve(request.sessions.map(({ identity }) => byId.get(identity.id)!))
    }
  }

  private async recover(batch: Waiting[], error: unknown): Promise<void> {
    const kind = error instanceof AlreadyStored ? 'repeated' : kindOfError(error)
    if (kind === 'repeated') {
      this.counters.retries += 1
      const expired = batch.filter((request) => Date.now() > request.deadline)
      for (const request of expired) request.reject(unavailable('The rows of this request are being written by others'))
      const alive = batch.filter((request) => !expired.includes(request))
      for (const request of alive) request.isSuspect = true
      if (alive.length === 1) await this.settle(alive, () => this.mergeRequest(alive[0]!))
      else if (alive.length > 1) await this.flush(alive)
      return
    }
    if (kind === 'refused') {
      if (batch.length === 1) {
        this.options.onError(error, 'a request could not be written')
        batch[0]!.reject(
          new Problem(
            'internal',
            'The server could not record this request because of a fault of its own. No event was recorded.',
          ),
        )
        return
      }
      // One of them is guilty: halving finds it in a few tries and lets the others go on.
      this.counters.halvings += 1
      const middle = batch.length >> 1
      await this.flush(batch.slice(0, middle))
      await this.flush(batch.slice(middle))
      return
    }
    this.counters.retries += 1
    this.options.onError(
      error,
      kind === 'lost' ? 'the connection was lost during a write' : 'the database cannot be reached',
    )
    const now = Date.now()
    const alive: Waiting[] = []
    for (const request of batch) {
      if (kind === 'lost') request.isInDoubt = request.isSuspect = true
      if (now < request.deadline) alive.push(request)
      else request.reject(request.isInDoubt ? outcomeUnknown() : unavailable('The database cannot be reached'))
    }
    if (alive.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
    await this.flush(alive)
  }

  /** All sessions of one request in one transaction: executions merged, events that are stored left out. */
  private async mergeRequest(request: Waiting): Promise<WrittenSession[]> {
    this.counters.merges += 1
    const sorted = request.sessions.toSorted((a, b) => (a.identity.id < b.identity.id ? -1 : 1))
    return this.run(
      this.options.sql.begin(async (tx) => {
        const written: WrittenSession[] = []
        for (const session of sorted) {
          const before = session.execution ? await lockExecution(tx, session.identity.id) : null
          if (session.execution && before) {
            const merged = mergeExecution(before, { session: session.execution, events: session.events })
            written.push(await writeMergedExecution(tx, merged.session, merged.changed))
          } else if (session.execution) {
            written.push(...(await foldSessions(tx, [{ session: session.execution, events: session.events }])))
          } else {
            written.push(await foldUnstored(tx, session))
          }
        }
        return written
      }) as Promise<WrittenSession[]>,
    )
  }

  private run<T>(promise: Promise<T>): Promise<T> {
    return withDeadline(promise, STATEMENT_DEADLINE_MS)
  }
}

/** Events of platform A that may be stored: those that are count once, the first one wins. */
async function foldUnstored(tx: Parameters<typeof foldSessions>[0], session: ParsedSession): Promise<WrittenSession> {
  const { identity } = session
  const { sessions, eventKeys } = await probeStored(
    tx,
    [identity.id],
    session.events.map((event) => ({ sessionId: identity.id, key: event.key })),
  )
  const events = firstOfEachKey(session.events).filter((event) => !eventKeys.has(`${identity.id}/${event.key}`))
  if (events.length === 0) return sessions.get(identity.id)!
  const [written] = await foldSessions(tx, [{ session: foldEvents(identity, events), events }])
  return written!
}

/** One write per session over all requests of a flush. */
function foldBatch(batch: Waiting[]): { session: SessionWrite; events: EventDraft[] }[] {
  const bySession = new Map<string, ParsedSession>()
  for (const request of batch) {
    for (const session of request.sessions) {
      const before = bySession.get(session.identity.id)
      if (!before) bySession.set(session.identity.id, session)
      else {
        bySession.set(session.identity.id, {
          identity: { ...before.identity, agent: before.identity.agent ?? session.identity.agent },
          events: [...before.events, ...session.events],
          execution: null,
        })
      }
    }
  }
  return [...bySession.values()].map(({ identity, events, execution }) => {
    const own = execution ? events : firstOfEachKey(events)
    return { session: execution ?? foldEvents(identity, own), events: own }
  })
}

function firstOfEachKey(events: EventDraft[]): EventDraft[] {
  if (events.length === 1) return events
  const seen = new Set<string>()
  return events.filter((event) => !seen.has(event.key) && seen.add(event.key))
}

const unavailable = (why: string) =>
  new Problem('unavailable', `${why}. No event was recorded; send the request again in a few seconds.`, [], {
    'retry-after': '3',
  })
const outcomeUnknown = () =>
  new Problem(
    'outcome_unknown',
    'The connection to the database was lost while this request was being recorded, so it may have been recorded. Send it again with an event_id to be sure that it counts once.',
    [],
    { 'retry-after': '3' },
  )
