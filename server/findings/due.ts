// What is to be analysed: closed sessions that were classified, running ones that turned quiet, and their steps.
import type { Sql } from '../database/connect.ts'
import { READ_TEXTS, type AnalysedEvent, type AnalysedSession } from './finding.ts'

/** A session as it was read; `contentRevision` says of which state the analysis speaks. */
export interface DueSession extends AnalysedSession {
  workflowId: string | null
  contentRevision: string
  day: string
  eventCount: number
  llmCalls: number
}

/** Changed since it was analysed, and looked at by the classifier if it is closed. */
const IS_DUE = `s.analysed_content < s.content_revision and (s.status = 'RUNNING' or s.classified_content >= s.content_revision)`

/** Of these sessions, those that are due. Whether a running one is quiet is for the caller to know. */
export async function readDue(sql: Sql, ids: string[]): Promise<DueSession[]> {
  const rows = await sql`
    select s.id, s.project_id, s.platform, s.agent, s.status, s.workflow_id, s.retry_of, s.duration_ms, s.active_ms, s.cost_usd, s.unpriced_calls,
      s.event_count, s.llm_calls, s.content_revision, extract(epoch from s.first_seen_at) * 1000 as first_seen_ms,
      extract(epoch from s.started_at) * 1000 as started_ms,
      (s.first_seen_at at time zone 'UTC')::date::text as day
    from unnest(${ids}::uuid[]) as w (id)
    cross join lateral (select * from sessions where id = w.id offset 0) s
    where ${sql.unsafe(IS_DUE)}`
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    platform: row.platform,
    agent: row.agent,
    status: row.status,
    workflowId: row.workflow_id,
    retryOf: row.retry_of,
    firstSeenAt: Number(row.first_seen_ms),
    startedAt: number(row.started_ms),
    durationMs: row.duration_ms,
    activeMs: row.active_ms,
    costUsd: number(row.cost_usd),
    unpricedCalls: row.unpriced_calls,
    eventCount: row.event_count,
    llmCalls: row.llm_calls,
    contentRevision: row.content_revision,
    day: row.day,
  }))
}

/** Ids of closed sessions that got something in this time and are due; the oldest first. */
export async function findUnanalysed(sql: Sql, from: Date, limit: number): Promise<string[]> {
  const rows = await sql`
    select id from sessions s
    where last_event_at >= ${from} and last_event_at < now() - interval '2 seconds' and status <> 'RUNNING' and ${sql.unsafe(IS_DUE)}
    order by last_event_at limit ${limit}`
  return rows.map(({ id }) => id as string)
}

export interface SilentSession {
  id: string
  projectId: number
  agent: string | null
  silentMs: number
}

/** Running sessions that were silent for so long and changed since they were analysed; the longest silent first. */
export async function findSilent(
  sql: Sql,
  projectIds: number[],
  leastMs: number,
  limit: number,
  offset: number,
): Promise<SilentSession[]> {
  const rows = await sql`
    select s.id, s.project_id, s.agent, extract(epoch from now() - s.last_event_at) * 1000 as silent_ms
    from unnest(${projectIds}::int2[]) as w (id)
    cross join lateral (
      select * from sessions
      where project_id = w.id and status <> 'COMPLETED' and status = 'RUNNING' and analysed_content < content_revision
        and last_event_at < now() - ${leastMs} * interval '1 millisecond'
      order by last_event_at limit ${limit} offset ${offset}) s`
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    agent: row.agent,
    silentMs: Number(row.silent_ms),
  }))
}

/** Steps of a session that are looked at. */
const MAX_EVENTS = 2_000
/** of a text, in characters */
const MAX_INPUT = 16_384
const MAX_OUTPUT = 8_192

/** Their steps in timeline order, by session. */
export async function readStepsOf(sql: Sql, sessions: DueSession[]): Promise<Map<string, AnalysedEvent[]>> {
  const bySession = new Map<string, AnalysedEvent[]>(sessions.map(({ id }) => [id, []]))
  if (sessions.length === 0) return bySession
  const rows = await sql`
    select e.session_id, e.event_key, e.type, e.name, e.model, e.parent_key, e.error is not null as has_error, e.prompt_tokens,
      e.completion_tokens, e.cost_usd, e.duration_ms, extract(epoch from e.occurred_at) * 1000 as occurred_ms,
      case when e.is_read then left(e.input, ${MAX_INPUT}) end as input, case when e.is_read then length(e.input) end as input_length,
      case when e.is_read and e.type <> 'SPAN' then md5(e.input) end as input_digest,
      case when e.is_read then left(e.output, ${MAX_OUTPUT}) end as output, case when e.is_read then length(e.output) end as output_length,
      case when e.type = 'LLM_CALL' then coalesce(e.attributes->>'finishReason', e.attributes->>'finish_reason',
        e.attributes->>'stop_reason', e.attributes->>'stopReason', e.attributes->>'done_reason') end as finish_reason,
      case when e.type = 'LLM_CALL' then coalesce(e.attributes->>'max_tokens', e.attributes->>'maxTokens',
        e.attributes->>'max_completion_tokens', e.attributes->>'max_output_tokens') end as max_tokens
    from unnest(${sessions.map(({ id }) => id)}::uuid[], ${sessions.map(({ day }) => day)}::date[]) as w (id, day)
    cross join lateral (
      select *, row_number() over (order by order_us, sequence, place, event_key) <= ${READ_TEXTS} and not coalesce(attributes ? 'redacted', false) as is_read
      from events where session_id = w.id and day = w.day
      order by order_us, sequence, place, event_key limit ${MAX_EVENTS}) e
    order by e.session_id, e.order_us, e.sequence, e.place, e.event_key`
  for (const row of rows) bySession.get(row.session_id as string)!.push(stepOfRow(row))
  return bySession
}

type Row = Record<string, any>
const number = (value: unknown) => (value === null || value === undefined ? null : Number(value))

/** The database counts an emoji as one character, JavaScript as two: what was read whole has the length that it has here. */
const lengthOf = (text: string | null, length: number | null, most: number) =>
  text === null || length === null ? null : length <= most ? text.length : text.length + length - most

function stepOfRow(row: Row): AnalysedEvent {
  return {
    key: row.event_key,
    type: row.type,
    name: row.name,
    model: row.model,
    parentKey: row.parent_key,
    hasError: row.has_error,
    promptTokens: number(row.prompt_tokens),
    completionTokens: number(row.completion_tokens),
    costUsd: number(row.cost_usd),
    durationMs: row.duration_ms,
    occurredAt: number(row.occurred_ms),
    input: row.input,
    inputLength: lengthOf(row.input, row.input_length, MAX_INPUT),
    inputDigest: row.input_digest,
    output: row.output,
    outputLength: lengthOf(row.output, row.output_length, MAX_OUTPUT),
    finishReason: row.finish_reason,
    maxTokens: /^\d{1,9}$/.test(row.max_tokens ?? '') ? Number(row.max_tokens) : null,
  }
}
