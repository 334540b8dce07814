// What is to be classified: closed sessions and their events as the rules see them.
import type { Sql } from '../database/connect.ts'
import type { RunEvent, RunSession } from './failure.ts'

/*
 * Plans are made once, while the tables may be empty, and then look good that read a table through for each row that is
 * asked for. So what is looked up is given first: by a lateral join that cannot be turned around, or as the places of rows.
 */

/** A closed session as it was read; `contentRevision` says of which state the classification speaks. */
export interface DueSession extends RunSession {
  contentRevision: string
  day: string
  eventCount: number
}

const dueColumns = (sql: Sql) => sql`
  s.id, s.project_id, s.platform, s.agent, s.status, s.reported_status, s.mode, s.error_message, extract(epoch from s.started_at) * 1000 as started_ms,
  extract(epoch from s.first_seen_at) * 1000 as first_seen_ms, s.duration_ms, s.llm_calls, s.unpriced_calls, s.tokens_estimated,
  s.prompt_tokens, s.completion_tokens, s.cost_usd, s.coverage, s.content_revision, s.event_count,
  (s.first_seen_at at time zone 'UTC')::date::text as day`

/** Of these sessions, those that are closed and have changed since they were classified. */
export async function readDue(sql: Sql, ids: string[]): Promise<DueSession[]> {
  const rows = await sql`
    select ${dueColumns(sql)} from unnest(${ids}::uuid[]) as w (id)
    cross join lateral (select * from sessions where id = w.id offset 0) s
    where s.status <> 'RUNNING' and s.classified_content < s.content_revision`
  return rows.map(dueSession)
}

/** One session to be explained, closed or not; null where there is none. */
export async function readForExplaining(
  sql: Sql,
  id: string,
): Promise<(DueSession & { isClassified: boolean }) | null> {
  const [row] = await sql`
    select ${dueColumns(sql)}, s.classified_content >= s.content_revision as is_classified from sessions s where s.id = ${id}`
  return row ? { ...dueSession(row), isClassified: row.is_classified } : null
}

/** Ids of closed, unclassified sessions that last got something in this time; the newest first. */
export async function findUnclassified(sql: Sql, from: Date, limit: number): Promise<string[]> {
  const rows = await sql`
    select id from sessions
    where last_event_at >= ${from} and last_event_at < now() - interval '2 seconds'
      and status <> 'RUNNING' and classified_content < content_revision
    order by last_event_at desc limit ${limit}`
  return rows.map(({ id }) => id as string)
}

/** of an error's text; more of it tells nothing more */
const MAX_ERROR = 2_000
/** of one session, the newest: steps of platform B, which come in one request, and errors of platform A */
const MAX_EVENTS = 20_000
const MAX_ERRORS = 2_000

export const DIGEST_FROM_RUN = 4

/**
 * The events of sessions in timeline order, by session. Of platform A only those with an error are read: its rules look
 * at nothing else. Digests of texts are made where a node ran so often that it may be a loop.
 */
export async function readEventsOf(sql: Sql, sessions: DueSession[]): Promise<Map<string, RunEvent[]>> {
  const bySession = new Map<string, RunEvent[]>(sessions.map(({ id }) => [id, []]))
  if (sessions.length === 0) return bySession
  const rows = await sql`
    select e.session_id, e.event_key, e.type, e.kind, e.name, e.model, e.run_index, e.parent_key, e.status, e.duration_ms,
      case when e.error is not null then jsonb_build_object('message', left(e.error->>'message', ${MAX_ERROR}),
        'name', left(e.error->>'name', 200), 'cause', null, 'httpStatus', left(e.error->>'httpStatus', 100)) end as error,
      extract(epoch from e.occurred_at) * 1000 as occurred_ms, 
      case when w.platform = 'PLATFORM_B' then jsonb_build_object('nodeType', e.attributes->'nodeType',
        'source', e.attributes->'source', 'pairedItem', e.attributes->'pairedItem', 'nextBatch', e.attributes->'nextBatch',
        'nodeWasResumed', e.attributes->'nodeWasResumed', 'items', e.attributes->'items') end as attributes
    from unnest(${sessions.map(({ id }) => id)}::uuid[], ${sessions.map(({ day }) => day)}::date[],
      ${sessions.map(({ platform }) => platform)}::text[]) as w (id, day, platform)
    cross join lateral (
      select * from events
      where session_id = w.id and day = w.day and (w.platform = 'PLATFORM_B' or error is not null)
      order by order_us desc, sequence desc, place desc, event_key desc
      limit case w.platform when 'PLATFORM_A' then ${MAX_ERRORS}::int else ${MAX_EVENTS}::int end) e
    order by e.session_id, e.order_us, e.sequence, e.place, e.event_key`
  const mayLoop = new Set<string>()
  for (const row of rows) {
    bySession.get(row.session_id as string)!.push(runEvent(row))
    if (row.run_index >= DIGEST_FROM_RUN) mayLoop.add(row.session_id as string)
  }
  const looping = sessions.filter(({ id }) => mayLoop.has(id))
  if (looping.length > 0) await addDigests(sql, looping, bySession)
  return bySession
}

async function addDigests(sql: Sql, sessions: DueSession[], bySession: Map<string, RunEvent[]>): Promise<void> {
  const rows = await sql`
    select e.session_id, e.event_key, md5(e.input) as input_digest, md5(e.output) as output_digest
    from unnest(${sessions.map(({ id }) => id)}::uuid[], ${sessions.map(({ day }) => day)}::date[]) as w (id, day)
    cross join lateral (
      select * from events
      where session_id = w.id and day = w.day and run_index is not null and not attributes ? 'redacted' offset 0) e`
  const digests = new Map(rows.map((row) => [`${row.session_id}/${row.event_key}`, row]))
  for (const { id } of sessions) {
    for (const event of bySession.get(id)!) {
      const row = digests.get(`${id}/${event.key}`)
      event.inputDigest = row?.input_digest ?? null
      event.outputDigest = row?.output_digest ?? null
    }
  }
}

type Row = Record<string, any>
const number = (value: unknown) => (value === null ? null : Number(value))

function dueSession(row: Row): DueSession {
  const { prompt_tokens: prompt, completion_tokens: completion } = row
  return {
    id: row.id,
    projectId: row.project_id,
    platform: row.platform,
    agent: row.agent,
    status: row.status,
    reportedStatus: row.reported_status,
    mode: row.mode,
    errorMessage: row.error_message,
    startedAt: number(row.started_ms),
    firstSeenAt: Number(row.first_seen_ms),
    durationMs: row.duration_ms,
    llmCalls: row.llm_calls,
    unpricedCalls: row.unpriced_calls,
    tokensEstimated: row.tokens_estimated,
    tokens: prompt === null && completion === null ? null : Number(prompt ?? 0) + Number(completion ?? 0),
    costUsd: number(row.cost_usd),
    coverage: (row.coverage as { code: string }[]).map(({ code }) => code),
    contentRevision: row.content_revision,
    day: row.day,
    eventCount: row.event_count,
  }
}

function runEvent(row: Row): RunEvent {
  // Of platform A these would be fields of the sender's own.
  const attributes: Row = row.attributes ?? {}
  return {
    key: row.event_key,
    type: row.type,
    kind: row.kind,
    name: row.name,
    model: row.model,
    runIndex: row.run_index,
    parentKey: row.parent_key,
    status: row.status,
    error: row.error,
    durationMs: row.duration_ms,
    occurredAt: number(row.occurred_ms),
    nodeType: attributes.nodeType ?? null,
    source: attributes.source ?? [],
    firstItem: attributes.pairedItem ?? null,
    isNextBatch: attributes.nextBatch === true,
    wasResumed: (attributes.nodeWasResumed ?? null) !== null,
    itemCount: attributes.items ?? null,
    inputDigest: null,
    outputDigest: null,
  }
}
