// How sessions and events are written: one statement that folds a whole flush, and the merge of a re-posted execution.
import type postgres from 'postgres'
import { arrayLiterals, columnNames, unnestArguments, unnestedColumns } from '../database/columns.ts'
import { EVENT_COLUMNS, IS_CLOSED, SESSION_COLUMNS, type EventWrite } from './columns.ts'
import { KEY_COLUMNS, keyedFrom, sortedKeys, type KeyWrite } from './request-keys.ts'
import type { EventDraft, SessionWrite, Status } from './session.ts'

export type Transaction = postgres.TransactionSql
type Sql = postgres.Sql | Transaction

/** What a write made of a session. `revision` is text: it may exceed what a number holds. */
export interface WrittenSession {
  id: string
  projectId: number
  status: Status
  revision: string
  /** closed, and changed since it was classified */
  isDue: boolean
}

/** Rows of a flush turned out to be stored already: probe for them and fold again without. Nothing was written. */
export class AlreadyStored extends Error {}

const EVENTS_FROM = SESSION_COLUMNS.length + 1
const EXPECTED_FROM = EVENTS_FROM + EVENT_COLUMNS.length
const KEYS_FROM = EXPECTED_FROM + 3
const IS_DUE = "s.status <> 'RUNNING' and s.classified_content < s.content_revision"

/**
 * Sessions first, sorted by id: their row locks serialize all writers of a session, give its events their revision in
 * commit order and cannot deadlock. A first revision is a time, so that a session that was deleted and is posted to again
 * goes on above what its readers hold. Counters come from the events given, so the statement fails on purpose (division
 * by zero) if any of them, or an execution, or a request's key was there already. A closed session of platform A in which
 * nothing carries an error has no failure, and an execution may have been looked at: both count as classified.
 */
const fold = (withKeys: boolean) => `
with folded as (
  insert into sessions as s (${columnNames(SESSION_COLUMNS)}, revision, content_revision, classified_content)
  select ${unnestedColumns(SESSION_COLUMNS, 'w')}, (extract(epoch from now()) * 1000000)::int8, 1,
    (w.status <> 'RUNNING' and w.error_count = 0 and (w.platform = 'PLATFORM_A' or w.loop_rounds is not null))::int
  from unnest(${unnestArguments(SESSION_COLUMNS, 1)}) as w (${columnNames(SESSION_COLUMNS)})
  on conflict (id) do update set
    ${SESSION_COLUMNS.filter((column) => column.merge)
      .map((column) => `${column.name} = ${column.merge}`)
      .join(',\n    ')},
    revision = s.revision + 1,
    content_revision = s.content_revision + 1,
    classified_content = case when s.error_count + excluded.error_count = 0 and ${IS_CLOSED}
      then s.content_revision + 1 else s.classified_content end
  where s.platform = 'PLATFORM_A'
  returning s.id, s.project_id, s.status, s.revision, s.first_seen_at, ${IS_DUE} as is_due
), stored as (
  insert into events (day, revision, ${columnNames(EVENT_COLUMNS)})
  select (f.first_seen_at at time zone 'UTC')::date, f.revision, ${unnestedColumns(EVENT_COLUMNS, 'w')}
  from unnest(${unnestArguments(EVENT_COLUMNS, EVENTS_FROM)}) as w (${columnNames(EVENT_COLUMNS)})
  join folded f on f.id = w.session_id
  on conflict do nothing
  returning 1
)${withKeys ? `, ${keyedFrom(KEYS_FROM)}` : ''}
select f.id, f.project_id, f.status, f.revision, f.is_due,
  1 / (((select count(*) from folded) = $${EXPECTED_FROM}::int and (select count(*) from stored) = $${EXPECTED_FROM + 1}::int
    ${withKeys ? `and (select count(*) from keyed) = $${EXPECTED_FROM + 2}::int` : ''})::int) as whole
from (select 1) one left join folded f on true`
const FOLD = fold(false)
const FOLD_WITH_KEYS = fold(true)

/**
 * Writes new sessions, and events of platform A to old ones, in one transaction of one statement.
 * @param writes one per session, each with the events it was folded from
 * @param keys of the requests that brought them, where they came with one
 * @throws AlreadyStored if an execution, an event or a key exists
 */
export async function foldSessions(
  sql: Sql,
  writes: { session: SessionWrite; events: EventDraft[] }[],
  keys: KeyWrite[] = [],
): Promise<WrittenSession[]> {
  const sorted = writes.toSorted((a, b) => (a.session.id < b.session.id ? -1 : 1))
  const events: EventWrite[] = []
  for (const { session, events: own } of sorted) for (const event of own) events.push({ sessionId: session.id, event })
  const parameters: (string | number)[] = [
    ...arrayLiterals(
      SESSION_COLUMNS,
      sorted.map((write) => write.session),
    ),
    ...arrayLiterals(EVENT_COLUMNS, events),
    sorted.length,
    events.length,
  ]
  if (keys.length > 0) parameters.push(keys.length, ...arrayLiterals(KEY_COLUMNS, sortedKeys(keys)))
  try {
    const rows = await sql.unsafe(keys.length > 0 ? FOLD_WITH_KEYS : FOLD, parameters, { prepare: true })
    if (rows.length !== sorted.length || rows[0]?.id === null) throw new AlreadyStored()
    return rows.map(writtenSession)
  } catch (error) {
    if ((error as { code?: string }).code === '22012') throw new AlreadyStored()
    throw error
  }
}

/** Which of these sessions and events are stored. Events are given with their session. */
export async function probeStored(
  sql: Sql,
  sessionIds: string[],
  events: { sessionId: string; key: string }[],
): Promise<{ sessions: Map<string, WrittenSession>; eventKeys: Set<string> }> {
  const sessions = await sql`
    select id, project_id, status, revision, ${sql.unsafe(IS_DUE)} as is_due from sessions s where id = any(${sessionIds}::uuid[])`
  const keys =
    events.length === 0
      ? []
      : await sql`
        select e.session_id, e.event_key
        from unnest(${events.map((e) => e.sessionId)}::uuid[], ${events.map((e) => e.key)}::uuid[]) as w (session_id, event_key)
        join sessions s on s.id = w.session_id
        join events e on e.session_id = w.session_id and e.event_key = w.event_key
          and e.day = (s.first_seen_at at time zone 'UTC')::date`
  return {
    sessions: new Map(sessions.map((row) => [row.id as string, writtenSession(row)])),
    eventKeys: new Set(keys.map((row) => `${row.session_id}/${row.event_key}`)),
  }
}

/** A stored execution as the merge needs it: the session with what decides, its events without their texts. */
export interface StoredExecution {
  session: SessionWrite
  events: EventDraft[]
}

/** Takes the session's row lock, so that no other post of this execution is merged meanwhile. */
export async function lockExecution(sql: Sql, id: string): Promise<StoredExecution | null> {
  const [row] = await sql`
    select *, extract(epoch from first_seen_at) * 1000 as first_seen_ms, extract(epoch from started_at) * 1000 as started_ms,
      extract(epoch from last_event_at) * 1000 as last_event_ms, extract(epoch from closed_at) * 1000 as closed_ms,
      extract(epoch from stopped_at) * 1000 as stopped_ms
    from sessions where id = ${id} for update`
  if (!row) return null
  const events = await sql`
    select event_key, order_us, sequence, place, type, kind, kind_source, name, run_index, parent_key, parent_name, model,
      prompt_tokens, completion_tokens, tokens_estimated, cost_usd, cost_source, duration_ms, status, error, skewed, masked,
      extract(epoch from occurred_at) * 1000 as occurred_ms, extract(epoch from received_at) * 1000 as received_ms
    from events
    where session_id = ${id} and day = (${row.first_seen_at}::timestamptz at time zone 'UTC')::date`
  return { session: storedSession(row), events: events.map(storedEvent) }
}

const MERGE_EVENTS = `
insert into events (day, revision, ${columnNames(EVENT_COLUMNS)})
select $1::date, $2::int8, ${unnestedColumns(EVENT_COLUMNS, 'w')}
from unnest(${unnestArguments(EVENT_COLUMNS, 3)}) as w (${columnNames(EVENT_COLUMNS)})
on conflict (session_id, day, event_key) do update set
  ${['revision', ...EVENT_COLUMNS.map((column) => column.name)]
    .filter((name) => name !== 'session_id' && name !== 'event_key')
    .map((name) => `${name} = excluded.${name}`)
    .join(', ')}`

/** Writes what a merge decided. Call it in the transaction that holds the lock. */
export async function writeMergedExecution(
  sql: Sql,
  session: SessionWrite,
  changed: EventDraft[],
): Promise<WrittenSession> {
  const kept = SESSION_COLUMNS.filter((column) => column.name !== 'id')
  const values = arrayLiterals(SESSION_COLUMNS, [session])
  const [row] = await sql.unsafe(
    `update sessions s set revision = s.revision + 1, content_revision = s.content_revision + 1,
       ${kept.map((column) => `${column.name} = w.${column.name}${column.type.endsWith('[]') ? `::${column.type}` : ''}`).join(', ')}
     from unnest(${unnestArguments(SESSION_COLUMNS, 1)}) as w (${columnNames(SESSION_COLUMNS)})
     where s.id = w.id
     returning s.id, s.project_id, s.status, s.revision, ${IS_DUE} as is_due, (s.first_seen_at at time zone 'UTC')::date::text as day`,
    values,
    { prepare: true },
  )
  if (changed.length > 0) {
    const rows = changed.map((event) => ({ sessionId: session.id, event }))
    await sql.unsafe(MERGE_EVENTS, [row!.day, row!.revision, ...arrayLiterals(EVENT_COLUMNS, rows)], { prepare: true })
  }
  return writtenSession(row!)
}

function writtenSession(row: postgres.Row): WrittenSession {
  return { id: row.id, projectId: row.project_id, status: row.status, revision: row.revision, isDue: row.is_due }
}

const number = (value: string | number | null) => (value === null ? null : Number(value))

function storedSession(row: postgres.Row): SessionWrite {
  return {
    id: row.id,
    projectId: row.project_id,
    platform: row.platform,
    externalId: row.external_id,
    workflowId: row.workflow_id,
    agent: row.agent,
    mode: row.mode,
    status: row.status,
    reportedStatus: row.reported_status,
    errorMessage: row.error_message,
    lastNode: row.last_node,
    externalUrl: row.external_url,
    retryOf: row.retry_of,
    firstSeenAt: Number(row.first_seen_ms),
    startedAt: number(row.started_ms),
    lastEventAt: Number(row.last_event_ms),
    closedAt: number(row.closed_ms),
    durationMs: row.duration_ms,
    durationSource: row.duration_source,
    eventCount: row.event_count,
    errorCount: row.error_count,
    llmCalls: row.llm_calls,
    toolCalls: row.tool_calls,
    unpricedCalls: row.unpriced_calls,
    tokensEstimated: row.tokens_estimated,
    models: row.models,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    costUsd: row.cost_usd,
    coverage: row.coverage,
    reported: null,
    ended: null,
    errorPosition: null,
    closedSequence: null,
    spanStart: null,
    spanEnd: null,
    stepsMs: null,
    rank: row.rank,
    stoppedAt: number(row.stopped_ms),
    measures: null,
  }
}

function storedEvent(row: postgres.Row): EventDraft {
  return {
    key: row.event_key,
    type: row.type,
    kind: row.kind,
    kindSource: row.kind_source,
    name: row.name,
    runIndex: row.run_index,
    parentKey: row.parent_key,
    parentName: row.parent_name,
    model: row.model,
    input: null,
    output: null,
    promptTokens: number(row.prompt_tokens),
    completionTokens: number(row.completion_tokens),
    tokensEstimated: row.tokens_estimated,
    costUsd: row.cost_usd,
    costSource: row.cost_source,
    durationMs: row.duration_ms,
    status: row.status,
    error: row.error,
    occurredAt: number(row.occurred_ms),
    receivedAt: Number(row.received_ms),
    orderUs: Number(row.order_us),
    sequence: Number(row.sequence),
    place: row.place,
    skewed: row.skewed,
    masked: row.masked,
    attributes: null,
    closes: null,
  }
}
