// What changed, named by its id: read once per process and handed to the subscribers it concerns.
import { readNotice } from '../failures/failure.ts'
import type { Bus, IdChannel } from './bus.ts'
import { ConflatedQueue, type Delivery } from './conflated-queue.ts'

interface Row {
  id: string
  projectId: number
}

interface Subscriber<R extends Row> {
  projectIds: () => number[]
  matches: (row: R) => boolean
  queue: ConflatedQueue<R>
}

export interface IdFeedOptions<R extends Row> {
  bus: Bus
  channel: IdChannel
  /** reads rows by their ids, of all projects */
  read(ids: string[]): Promise<R[]>
  onError(error: unknown, what: string): void
}

const READ_EVERY_MS = 100
const MAX_PENDING = 500

/** Notices are `project/id`. */
export class IdFeed<R extends Row> {
  private subscribers = new Set<Subscriber<R>>()
  private pending = new Set<string>()
  private timer: NodeJS.Timeout | null = null

  constructor(private readonly options: IdFeedOptions<R>) {
    options.bus.onIds(options.channel, (notices) => this.changed(notices))
  }

  /** @param projectIds asked each time: rights change while somebody listens */
  subscribe(projectIds: () => number[], matches: (row: R) => boolean): AsyncIterableIterator<Delivery<R>> {
    const subscriber: Subscriber<R> = {
      projectIds,
      matches,
      queue: new ConflatedQueue(() => this.subscribers.delete(subscriber)),
    }
    this.subscribers.add(subscriber)
    return subscriber.queue
  }

  /** @param notices null where there were too many to name */
  private changed(notices: string[] | null): void {
    if (this.subscribers.size === 0) return
    for (const notice of notices ?? []) this.pending.add(readNotice(notice).id)
    if (notices === null || this.pending.size > MAX_PENDING) {
      this.pending.clear()
      this.resync()
    }
    if (this.pending.size > 0) this.timer ??= setTimeout(() => void this.read(), READ_EVERY_MS).unref()
  }

  private async read(): Promise<void> {
    const ids = [...this.pending]
    this.pending.clear()
    try {
      for (const row of await this.options.read(ids)) {
        for (const { projectIds, matches, queue } of this.subscribers) {
          if (projectIds().includes(row.projectId) && matches(row)) queue.push(row.id, row)
        }
      }
    } catch (error) {
      this.options.onError(error, `changes of ${this.options.channel} could not be read`)
      this.resync()
    } finally {
      this.timer = null
      if (this.pending.size > 0) this.changed([])
    }
  }

  private resync(): void {
    for (const { queue } of this.subscribers) queue.resync()
  }
}
