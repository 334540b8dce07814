// Patterns that changed or are gone, read once per process and handed to the subscribers they concern.
import type { Sql } from '../database/connect.ts'
import { readNotice } from '../failures/failure.ts'
import { readPatternsById, type PatternRow } from '../failures/patterns.ts'
import type { Bus } from './bus.ts'
import { ConflatedQueue, type Delivery } from './conflated-queue.ts'

/** A pattern whose last session was deleted. */
export interface GonePattern {
  goneId: string
}

interface Subscriber {
  projectIds: () => number[]
  since: () => Date
  queue: ConflatedQueue<PatternRow | GonePattern>
}

/** Counting over a range takes longer than reading a row: what changes meanwhile is counted once. */
const READ_EVERY_MS = 300
const MAX_PENDING = 500

export class PatternFeed {
  private subscribers = new Set<Subscriber>()
  private pending = new Set<string>()
  private timer: NodeJS.Timeout | null = null

  constructor(
    bus: Bus,
    private readonly sql: Sql,
    private readonly onError: (error: unknown, what: string) => void,
  ) {
    bus.onIds('patterns', (ids) => this.changed(ids))
  }

  /** @param since start of the range whose sessions are counted */
  patterns(projectIds: () => number[], since: () => Date): AsyncIterableIterator<Delivery<PatternRow | GonePattern>> {
    const subscriber: Subscriber = {
      projectIds,
      since,
      queue: new ConflatedQueue(() => this.subscribers.delete(subscriber)),
    }
    this.subscribers.add(subscriber)
    return subscriber.queue
  }

  private changed(ids: string[] | null): void {
    if (this.subscribers.size === 0) return
    for (const id of ids ?? []) this.pending.add(id)
    if (ids === null || this.pending.size > MAX_PENDING) {
      this.pending.clear()
      for (const { queue } of this.subscribers) queue.resync()
    }
    if (this.pending.size > 0) this.timer ??= setTimeout(() => void this.read(), READ_EVERY_MS).unref()
  }

  private async read(): Promise<void> {
    const notices = [...this.pending].map(readNotice)
    const ids = notices.map(({ id }) => id)
    this.pending.clear()
    try {
      // Ranges that begin in the same minute count the same: those who look at one see one reading.
      const readings = new Map<number, Map<string, PatternRow>>()
      for (const { projectIds, since, queue } of this.subscribers) {
        const start = since()
        const minute = Math.floor(start.getTime() / 60_000)
        const found =
          readings.get(minute) ?? new Map((await readPatternsById(this.sql, ids, start)).map((row) => [row.id, row]))
        readings.set(minute, found)
        for (const { id, projectId } of notices) {
          if (!projectIds().includes(projectId)) continue
          const row = found.get(id)
          // What somebody decided about it may be kept; it is in no list any more.
          queue.push(id, row?.lastSeenAt ? row : { goneId: id })
        }
      }
    } catch (error) {
      this.onError(error, 'changed patterns could not be read')
      for (const { queue } of this.subscribers) queue.resync()
    } finally {
      this.timer = null
      if (this.pending.size > 0) this.changed([])
    }
  }
}
