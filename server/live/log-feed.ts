// New entries of the ingest log, read once per process and handed to the subscribers they concern.
import type { Sql } from '../database/connect.ts'
import { readNewLog, type LogFilter, type LoggedRequest } from '../ingest/log-read.ts'
import type { Bus } from './bus.ts'
import { ConflatedQueue, type Delivery } from './conflated-queue.ts'

interface Subscriber {
  projectIds: () => number[]
  filter: LogFilter
  queue: ConflatedQueue<LoggedRequest>
}

export class LogFeed {
  private subscribers = new Set<Subscriber>()

  constructor(
    bus: Bus,
    private readonly sql: Sql,
    private readonly onError: (error: unknown, what: string) => void,
  ) {
    bus.onIds('ingestLog', (ids) => void this.logged(ids))
  }

  requests(projectIds: () => number[], filter: LogFilter): AsyncIterableIterator<Delivery<LoggedRequest>> {
    const subscriber: Subscriber = {
      projectIds,
      filter,
      queue: new ConflatedQueue(() => this.subscribers.delete(subscriber)),
    }
    this.subscribers.add(subscriber)
    return subscriber.queue
  }

  /** @param ids null where there were too many to name */
  private async logged(ids: string[] | null): Promise<void> {
    if (this.subscribers.size === 0) return
    try {
      const rows = ids && (await readNewLog(this.sql, ids))
      for (const { projectIds, filter, queue } of this.subscribers) {
        if (!rows) queue.resync()
        else
          for (const row of rows)
            if (projectIds().includes(row.projectId) && matches(filter, row)) queue.push(row.id, row)
      }
    } catch (error) {
      this.onError(error, 'new entries of the ingest log could not be read')
      for (const { queue } of this.subscribers) queue.resync()
    }
  }
}

const matches = ({ isRefused, platform, keyId }: LogFilter, row: LoggedRequest) =>
  (isRefused == null || isRefused === (row.code !== null)) &&
  (platform == null || platform === row.platform) &&
  (keyId == null || keyId === row.keyId)
