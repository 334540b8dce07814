// How events are read: thin in a timeline, their texts apart, and what changed since a revision.
import type { Sql } from '../database/connect.ts'
import { readSessionsById, type SessionRow } from './read.ts'
import type { CostSource, EventError, EventType, NodeKind } from './session.ts'

export interface EventRow {
  sessionId: string
  day: string
  eventKey: string
  revision: string
  orderUs: string
  sequence: string
  place: number
  type: EventType
  kind: NodeKind | null
  kindSource: string | null
  name: string | null
  runIndex: number | null
  parentKey: string | null
  parentName: string | null
  model: string | null
  inputBytes: number | null
  outputBytes: number | null
  promptTokens: string | null
  completionTokens: string | null
  tokensEstimated: boolean
  costUsd: string | null
  costSource: CostSource | null
  durationMs: number | null
  status: string | null
  error: EventError | null
  occurredAt: Date | null
  receivedAt: Date
  late: boolean
  skewed: boolean
  masked: boolean
  possibleDuplicate: boolean
}

export interface EventTexts {
  input: string | null
  output: string | null
  attributes: unknown
}

/**
 * Equal events of one session have keys with an equal first half (see contentEventKey), so the primary key finds them.
 * Late is whatever arrived after the session had been closed: known by comparing, so it needs no order of writing. */
const eventColumns = (sql: Sql, day: string) => sql`
  e.session_id, e.day::text, e.event_key, e.revision, e.order_us, e.sequence, e.place, e.type, e.kind, e.kind_source, e.name,
  e.run_index, e.parent_key, e.parent_name, e.model, octet_length(e.input) as input_bytes, octet_length(e.output) as output_bytes,
  e.prompt_tokens, e.completion_tokens, e.tokens_estimated, e.cost_usd, e.cost_source, e.duration_ms, e.status, e.error,
  e.occurred_at, e.received_at, e.skewed, e.masked, coalesce(s.platform = 'PLATFORM_A' and e.sequence > s.closed_sequence, false) as late,
  s.platform = 'PLATFORM_A' and exists (
    select from events o where o.session_id = e.session_id and o.day = ${day}::date
      and o.event_key between (left(e.event_key::text, 18) || '-0000-000000000000')::uuid
        and (left(e.event_key::text, 18) || '-ffff-ffffffffffff')::uuid
      and (o.sequence, o.place, o.event_key) < (e.sequence, e.place, e.event_key)) as possible_duplicate`

const eventsOfSession = (sql: Sql, session: SessionRow) => sql`
  from events e join sessions s on s.id = e.session_id
  where e.session_id = ${session.id} and e.day = ${dayOf(session.firstSeenAt)}::date`

export const dayOf = (firstSeenAt: Date) => firstSeenAt.toISOString().slice(0, 10)

/** Thin events in timeline order. `after` is an event's key. */
export async function readEvents(
  sql: Sql,
  session: SessionRow,
  page: { limit: number; after: string | null; changedAfter: string | null },
): Promise<EventRow[]> {
  return (await sql`
    select ${eventColumns(sql, dayOf(session.firstSeenAt))} ${eventsOfSession(sql, session)}
      ${page.changedAfter !== null ? sql`and e.revision > ${page.changedAfter}` : sql``}
      ${
        page.after !== null
          ? sql`and (e.order_us, e.sequence, e.place, e.event_key) > (
              select a.order_us, a.sequence, a.place, a.event_key from events a
              where a.session_id = ${session.id} and a.day = ${dayOf(session.firstSeenAt)}::date and a.event_key = ${page.after})`
          : sql``
      }
    order by e.order_us, e.sequence, e.place, e.event_key limit ${page.limit}`) as unknown as EventRow[]
}

/** The session and its events changed after a revision, from one snapshot: what it returns is complete up to its revision. */
export async function readChanges(
  sql: Sql,
  projectIds: number[],
  sessionId: string,
  after: string,
  limit: number,
): Promise<{ session: SessionRow; events: EventRow[] } | null> {
  return await sql.begin('isolation level repeatable read read only', async (tx) => {
    const [session] = await readSessionsById(tx as unknown as Sql, projectIds, [sessionId])
    if (!session) return null
    const changed = BigInt(session.revision) > BigInt(after)
    const events = changed
      ? await readEvents(tx as unknown as Sql, session, { limit, after: null, changedAfter: after })
      : []
    return { session, events }
  })
}

export async function readEvent(sql: Sql, projectIds: number[], ref: EventRef): Promise<EventRow | null> {
  const [row] = await sql`
    select ${eventColumns(sql, ref.day)} from events e join sessions s on s.id = e.session_id
    where e.session_id = ${ref.sessionId} and e.day = ${ref.day}::date and e.event_key = ${ref.eventKey}
      and s.project_id = any(${projectIds}::int2[])`
  return (row as unknown as EventRow) ?? null
}

export interface EventRef {
  sessionId: string
  day: string
  eventKey: string
}

export async function readEventTexts(sql: Sql, refs: readonly EventRef[]): Promise<(EventTexts | null)[]> {
  const rows = await sql`
    select w.place, e.input, e.output, e.attributes
    from unnest(${refs.map((r) => r.sessionId)}::uuid[], ${refs.map((r) => r.day)}::date[], ${refs.map((r) => r.eventKey)}::uuid[])
      with ordinality as w (session_id, day, event_key, place)
    join events e on e.session_id = w.session_id and e.day = w.day and e.event_key = w.event_key`
  const texts: (EventTexts | null)[] = refs.map(() => null)
  for (const row of rows)
    texts[Number(row.place) - 1] = { input: row.input, output: row.output, attributes: row.attributes }
  return texts
}
