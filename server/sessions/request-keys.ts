// Requests that came with an Idempotency-Key: kept with their receipt, in the transaction that writes their events.
import type postgres from 'postgres'
import { arrayLiterals, columnNames, nestedArray, unnestArguments, type Column } from '../database/columns.ts'
import { isoDay } from '../database/partitions.ts'

type Sql = postgres.Sql | postgres.TransactionSql

/** A key that is to be kept. */
export interface KeyWrite {
  id: string
  /** of the body that came with it */
  fingerprint: string
  /** epoch milliseconds */
  receivedAt: number
  /** the receipt as JSON, without the status of its sessions: those are known when they are written */
  receipt: string
  sessionIds: string[]
}

/** A request as it was kept: its receipt, and the status of each session that it lists. */
export interface StoredRequest {
  fingerprint: string
  receipt: unknown
  statuses: string[]
}

export const KEY_COLUMNS: Column<KeyWrite>[] = [
  { name: 'id', type: 'uuid', value: (key) => key.id },
  { name: 'day', type: 'date', value: (key) => isoDay(key.receivedAt) },
  { name: 'fingerprint', type: 'uuid', value: (key) => key.fingerprint },
  { name: 'receipt', type: 'json', value: (key) => key.receipt },
  { name: 'session_ids', type: 'uuid[]', value: (key) => nestedArray(key.sessionIds) },
]

/** Part of the statement that folds: keys beside the sessions that it has just written as `folded`. */
export const keyedFrom = (parameter: number) => `keyed as (
  insert into idempotency_keys (id, day, fingerprint, receipt, statuses)
  select w.id, w.day, w.fingerprint, w.receipt, array(
    select f.status from unnest(w.session_ids::uuid[]) with ordinality u (id, place)
    join folded f on f.id = u.id order by u.place)
  from unnest(${unnestArguments(KEY_COLUMNS, parameter)}) as w (${columnNames(KEY_COLUMNS)})
  on conflict do nothing
  returning 1
)`

export const sortedKeys = (keys: KeyWrite[]) => keys.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** @returns false where one of them is kept already */
export async function writeKeys(sql: Sql, keys: KeyWrite[], statusOf: Map<string, string>): Promise<boolean> {
  const sorted = sortedKeys(keys)
  const statuses = sorted.map((key) => nestedArray(key.sessionIds.map((id) => statusOf.get(id)!)))
  const inserted = await sql.unsafe(
    `insert into idempotency_keys (id, day, fingerprint, receipt, statuses)
     select w.id, w.day, w.fingerprint, w.receipt, w.statuses::text[]
     from unnest($1::text::uuid[], $2::text::date[], $3::text::uuid[], $4::text::json[], $5::text::text[])
       as w (id, day, fingerprint, receipt, statuses)
     on conflict do nothing
     returning 1`,
    [...arrayLiterals(KEY_COLUMNS.slice(0, 4), sorted), nestedArray(statuses)!],
  )
  return inserted.length === keys.length
}

/** Those of the keys that are kept, by id. */
export async function readKeys(sql: Sql, ids: string[]): Promise<Map<string, StoredRequest>> {
  const rows = await sql`
    select id, fingerprint, receipt, statuses from idempotency_keys where id = any(${ids}::uuid[])`
  return new Map(
    rows.map(({ id, fingerprint, receipt, statuses }) => [id as string, { fingerprint, receipt, statuses }]),
  )
}
