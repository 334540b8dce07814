// The daily partitions: made ahead of time, never in a flush, and dropped as a whole when their time is over.
import type { Sql } from './connect.ts'

/** Tables by day, and for how many days before today they are kept. Events go with their sessions: see retention. */
const TABLES: { table: string; keepDays: number | null }[] = [
  { table: 'events', keepDays: null },
  { table: 'idempotency_keys', keepDays: 7 },
  { table: 'ingest_accepted', keepDays: 1 },
]

const DAYS_AHEAD = 7
const DAY_MS = 86_400_000
const PARTITION_LOCK = 7_240_002

/** Makes the partitions from yesterday (clocks differ) to a week ahead. Safe to run on several servers at once. */
export async function ensurePartitions(sql: Sql, now = Date.now()): Promise<void> {
  for (const { table } of TABLES) {
    for (let i = -1; i <= DAYS_AHEAD; i++) await makePartition(sql, table, now + i * DAY_MS)
  }
}

/** Drops those that are over. Also safe on several servers; it may wait for long reads to end. */
export async function dropOldPartitions(sql: Sql, now = Date.now()): Promise<void> {
  for (const { table, keepDays } of TABLES) {
    if (keepDays === null) continue
    const oldest = isoDay(now - keepDays * DAY_MS)
    for (const day of await partitionDays(sql, table)) if (day < oldest) await dropPartition(sql, table, day)
  }
}

async function makePartition(sql: Sql, table: string, ms: number): Promise<void> {
  const name = partitionName(table, isoDay(ms))
  const [found] = await sql`select to_regclass(${name}) is not null as exists`
  if (found!.exists) return
  await sql.begin(async (tx) => {
    // A long read holds the table; waiting for it would hold up all that is written. There is a week to try again.
    await tx`set local lock_timeout = '1s'`
    await tx`select pg_advisory_xact_lock(${PARTITION_LOCK})`
    await tx.unsafe(
      `create table if not exists ${name} partition of ${table}
       for values from ('${isoDay(ms)} 00:00:00+00') to ('${isoDay(ms + DAY_MS)} 00:00:00+00')
       with (autovacuum_vacuum_insert_scale_factor = 0.2)`,
    )
  })
}

/** The days (YYYY-MM-DD) of which a table has a partition, oldest first. */
export async function partitionDays(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass and c.relname ~ ${`^${table}_[0-9]{8}$`} order by 1`
  return rows.map(({ name }) => (name as string).slice(-8).replace(/(\d{4})(\d{2})(\d{2})/, '$1-$2-$3'))
}

/** Takes a day out of its table while others go on writing, then drops it: no statement waits for the lock on the table. */
export async function dropPartition(sql: Sql, table: string, day: string): Promise<void> {
  const name = partitionName(table, day)
  const reserved = await sql.reserve()
  try {
    const [lock] = await reserved`select pg_try_advisory_lock(${PARTITION_LOCK}) as taken`
    if (!lock!.taken) return
    try {
      const [found] = await reserved`
        select inhdetachpending as pending from pg_inherits where inhrelid = to_regclass(${name})`
      // One that was broken off half way is only brought to its end.
      if (found) {
        await reserved.unsafe(
          `alter table ${table} detach partition ${name} ${found.pending ? 'finalize' : 'concurrently'}`,
        )
      }
      await reserved.unsafe(`drop table if exists ${name}`)
    } finally {
      await reserved`select pg_advisory_unlock(${PARTITION_LOCK})`
    }
  } finally {
    reserved.release()
  }
}

const partitionName = (table: string, day: string) => `${table}_${day.replaceAll('-', '')}`
export const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
