// Turns notices into rows, read once per process and change, and hands them to the subscribers they concern.
import type { Sql } from '../database/connect.ts'
import { readChanges, type EventRow } from '../sessions/read-events.ts'
import { matches, readSessionsById, type SessionFilter, type SessionRow } from '../sessions/read.ts'
import type { Bus, SessionNotice } from './bus.ts'
import { ConflatedQueue, type Delivery } from './conflated-queue.ts'

const MAX_CHANGED_EVENTS = 100
/** More changed sessions than this in one reading are too many to push: the readers catch up by themselves. */
const MAX_PENDING = 5_000

const PORTION = 100

/** A session that was deleted. */
export interface GoneSession {
  goneId: string
}

interface ListSubscriber {
  /** asked each time: people see projects that were made after they subscribed */
  projectIds: () => number[]
  filter: SessionFilter
  ids: Set<string>
  queue: ConflatedQueue<SessionRow | GoneSession>
}

interface Changes {
  session: SessionRow
  events: EventRow[]
}

export interface EventChanges {
  session: SessionRow
  revision: string
  events: EventRow[]
  more: boolean
}

export class SessionFeed {
  private lists = new Set<ListSubscriber>()
  private pending = new Map<string, number>()
  private isReading = false

  constructor(
    private readonly bus: Bus,
    private readonly sql: Sql,
    private readonly onError: (error: unknown, what: string) => void,
  ) {
    bus.subscribe({
      changed: (notices) => this.changed(notices),
      resync: () => {
        for (const list of this.lists) list.queue.resync()
      },
    })
  }

  /** Sessions that match the filter, and whatever happens to the listed ones. */
  sessions(
    projectIds: () => number[],
    filter: SessionFilter,
    ids: string[],
  ): AsyncIterableIterator<Delivery<SessionRow | GoneSession>> {
    const list: ListSubscriber = {
      projectIds,
      filter,
      ids: new Set(ids),
      queue: new ConflatedQueue(() => this.lists.delete(list)),
    }
    this.lists.add(list)
    return list.queue
  }

  /**
   * Changed events of one session, from a revision the reader holds. It listens before it reads, so that nothing falls
   * between. Null where there is no such session to be seen.
   */
  async events(
    projectIds: number[],
    sessionId: string,
    after: string,
  ): Promise<AsyncIterableIterator<EventChanges> | null> {
    const queue = new ConflatedQueue<true>(() => unsubscribe())
    const unsubscribe = this.bus.subscribe({
      changed: (notices) => {
        if (notices.some((notice) => notice.id === sessionId)) queue.push(sessionId, true)
      },
      resync: () => queue.push(sessionId, true),
    })
    const read = (from: string) => readChanges(this.sql, projectIds, sessionId, from, MAX_CHANGED_EVENTS + 1)
    const first = await read(after).catch((error) => {
      unsubscribe()
      throw error
    })
    if (!first) {
      unsubscribe()
      return null
    }
    return eventChanges(queue, first, read, after)
  }

  private changed(notices: SessionNotice[]): void {
    if (this.lists.size === 0) return
    for (const { id, projectId } of notices) this.pending.set(id, projectId)
    if (this.pending.size > MAX_PENDING) {
      this.pending.clear()
      for (const list of this.lists) list.queue.resync()
    }
    if (!this.isReading) void this.readPending()
  }

  private async readPending(): Promise<void> {
    this.isReading = true
    try {
      while (this.pending.size > 0) {
        const pending = [...this.pending]
        this.pending.clear()
        const projectIds = [...new Set(pending.map(([, projectId]) => projectId))]
        const rows = await readSessionsById(
          this.sql,
          projectIds,
          pending.map(([id]) => id),
        )
        for (const row of rows) await this.hand(row.id, row.projectId, row)
        const found = new Set(rows.map((row) => row.id))
        for (const [id, projectId] of pending) if (!found.has(id)) await this.hand(id, projectId, { goneId: id })
      }
    } catch (error) {
      this.onError(error, 'changed sessions could not be read')
      for (const list of this.lists) list.queue.resync()
    } finally {
      this.isReading = false
    }
  }

  /** In portions: between them the process takes events and answers requests. */
  private async hand(id: string, projectId: number, value: SessionRow | GoneSession): Promise<void> {
    let handed = 0
    for (const { projectIds, filter, ids, queue } of [...this.lists]) {
      // Whether one that is gone was listed by its filter is known to the reader alone.
      const concerns = 'goneId' in value || ids.has(id) || matches(filter, value)
      if (!concerns || !projectIds().includes(projectId)) continue
      queue.push(id, value)
      if (++handed % PORTION === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/** Not a generator: ending one waits for what it awaits, here perhaps for ever, and its place would stay taken. */
function eventChanges(
  queue: ConflatedQueue<true>,
  first: Changes,
  read: (after: string) => Promise<Changes | null>,
  after: string,
): AsyncIterableIterator<EventChanges> {
  let held = after
  let unread: Changes | null = first
  const iterator: AsyncIterableIterator<EventChanges> = {
    async next() {
      for (;;) {
        if (!unread) {
          if ((await queue.next()).done) return { done: true, value: undefined }
          unread = await read(held)
          if (!unread) return iterator.return!()
        }
        const { session, events } = unread
        unread = null
        if (BigInt(session.revision) <= BigInt(held)) continue
        held = session.revision
        const more = events.length > MAX_CHANGED_EVENTS
        return { done: false, value: { session, revision: held, events: more ? [] : events, more } }
      }
    },
    async return() {
      await queue.return()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}
