// The daily partitions of events: made ahead of time, never in a flush.
import type { Sql } from './connect.ts'

const DAYS_AHEAD = 7
const DAY_MS = 86_400_000
const PARTITION_LOCK = 7_240_002

/** Makes the partitions from yesterday (clocks differ) to a week ahead. Safe to run on several servers at once. */
export async function ensurePartitions(sql: Sql, now = Date.now()): Promise<void> {
  for (let i = -1; i <= DAYS_AHEAD; i++) {
    const day = isoDay(now + i * DAY_MS)
    const name = `events_${day.replaceAll('-', '')}`
    const [found] = await sql`select to_regclass(${name}) is not null as exists`
    if (found!.exists) continue
    await sql.begin(async (tx) => {
      // A long read holds the table; waiting for it would hold up all that is written. There is a week to try again.
      await tx`set local lock_timeout = '1s'`
      await tx`select pg_advisory_xact_lock(${PARTITION_LOCK})`
      await tx.unsafe(
        `create table if not exists ${name} partition of events
         for values from ('${day}') to ('${isoDay(now + (i + 1) * DAY_MS)}')
         with (autovacuum_vacuum_insert_scale_factor = 0.2)`,
      )
    })
  }
}

const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
