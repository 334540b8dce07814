// Deliveries that changed, read once per process and handed to the subscribers they concern.
import type { Sql } from '../database/connect.ts'
import { readDeliveriesById, type DeliveryFilter, type DeliveryRow } from '../alerts/read.ts'
import type { Bus } from './bus.ts'
import { ConflatedQueue, type Delivery } from './conflated-queue.ts'

interface Subscriber {
  projectIds: () => number[]
  filter: DeliveryFilter
  queue: ConflatedQueue<DeliveryRow>
}

const READ_EVERY_MS = 100
const MAX_PENDING = 500

export class DeliveryFeed {
  private subscribers = new Set<Subscriber>()
  private pending = new Set<string>()
  private timer: NodeJS.Timeout | null = null

  constructor(
    bus: Bus,
    private readonly sql: Sql,
    private readonly onError: (error: unknown, what: string) => void,
  ) {
    bus.onIds('deliveries', (notices) => this.changed(notices))
  }

  deliveries(projectIds: () => number[], filter: DeliveryFilter): AsyncIterableIterator<Delivery<DeliveryRow>> {
    const subscriber: Subscriber = {
      projectIds,
      filter,
      queue: new ConflatedQueue(() => this.subscribers.delete(subscriber)),
    }
    this.subscribers.add(subscriber)
    return subscriber.queue
  }

  private changed(notices: string[] | null): void {
    if (this.subscribers.size === 0) return
    for (const notice of notices ?? []) this.pending.add(notice.slice(notice.indexOf('/') + 1))
    if (notices === null || this.pending.size > MAX_PENDING) {
      this.pending.clear()
      for (const { queue } of this.subscribers) queue.resync()
    }
    if (this.pending.size > 0) this.timer ??= setTimeout(() => void this.read(), READ_EVERY_MS).unref()
  }

  private async read(): Promise<void> {
    const ids = [...this.pending]
    this.pending.clear()
    try {
      for (const row of await readDeliveriesById(this.sql, ids)) {
        for (const { projectIds, filter, queue } of this.subscribers) {
          if (projectIds().includes(row.projectId) && matches(filter, row)) queue.push(row.id, row)
        }
      }
    } catch (error) {
      this.onError(error, 'changed deliveries could not be read')
      for (const { queue } of this.subscribers) queue.resync()
    } finally {
      this.timer = null
      if (this.pending.size > 0) this.changed([])
    }
  }
}

/** Whatever its state: a list hears of those that leave it. */
const matches = ({ ruleId, channelId, sessionId, agents }: DeliveryFilter, row: DeliveryRow) =>
  (ruleId == null || ruleId === row.ruleId) &&
  (channelId == null || channelId === row.channelId) &&
  (sessionId == null || sessionId === row.sessionId) &&
  (!agents?.length || agents.includes(row.agent))
