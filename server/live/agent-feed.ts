// Tells subscribers that sums of agents changed: which project's, not what they are.
import type { Bus } from './bus.ts'
import { ConflatedQueue, type Delivery } from './conflated-queue.ts'

interface Subscriber {
  projectIds: () => number[]
  queue: ConflatedQueue<number>
}

export class AgentFeed {
  private subscribers = new Set<Subscriber>()

  constructor(bus: Bus) {
    bus.onIds('agents', (ids) => {
      for (const { projectIds, queue } of this.subscribers) {
        if (ids === null) queue.resync()
        for (const id of ids?.map(Number) ?? []) if (projectIds().includes(id)) queue.push(String(id), id)
      }
    })
  }

  /** @param projectIds asked each time: rights change while somebody listens */
  subscribe(projectIds: () => number[]): AsyncIterableIterator<Delivery<number>> {
    const subscriber: Subscriber = { projectIds, queue: new ConflatedQueue(() => this.subscribers.delete(subscriber)) }
    this.subscribers.add(subscriber)
    return subscriber.queue
  }
}
