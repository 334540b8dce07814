// The daily partitions of events: made ahead of time, never in a flush.
import type { Sql } from './connect.ts'

const DAYS_AHEAD = 7
const DAY_MS = 86_400_000
const PARTITION_LOCK = 7_240_002

/** Makes the partitions from yesterday (clocks differ) to a week ahead. Safe to run on several servers at once. */
export async function ensurePartitions(sql: Sql, now = Date.now()): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${PARTITION_LOCK})`
    for (let i = -1; i <= DAYS_AHEAD; i++) {
      const day = isoDay(now + i * DAY_MS)
      await tx.unsafe(
        `create table if not exists events_${day.replaceAll('-', '')} partition of events
         for values from ('${day}') to ('${isoDay(now + (i + 1) * DAY_MS)}')
         with (autovacuum_vacuum_insert_scale_factor = 0.2)`,
      )
    }
  })
}

const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
