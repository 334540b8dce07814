// How the ingest log is read: accepted and refused requests in one order, newest first.
import type { Sql } from '../database/connect.ts'
import type { FieldProblem } from '../errors.ts'
import type { Platform } from '../sessions/session.ts'

const ACCEPTED_FOR_HOURS = 24

/** One request with a valid key. */
export interface LoggedRequest {
  id: string
  at: Date
  projectId: number
  /** null where an admin sent it again */
  keyId: string | null
  platform: Platform
  /** of the answer */
  status: number
  /** of the refusal; null where it was accepted */
  code: string | null
  detail: string | null
  problems: FieldProblem[]
  /** what was accepted; null where it was refused */
  events: number | null
  duplicate: boolean | null
  bytes: number
  durationMs: number
  sessionId: string | null
  sessionCount: number
  hasBody: boolean
  isBodyCut: boolean
  sentAgainAt: Date | null
}

export interface LogFilter {
  isRefused?: boolean | null
  platform?: Platform | null
  keyId?: string | null
}

const ACCEPTED = `id, at, project_id, key_id, endpoint as platform, 200::int2 as status, null::text as code, null::text as detail,
  '[]'::jsonb as problems, events, duplicate, bytes, duration_ms, session_id, sessions as session_count, false as has_body,
  false as is_body_cut, null::timestamptz as sent_again_at`
const REFUSED = `id, at, project_id, key_id, endpoint as platform, status, code, detail, problems, null::int4 as events,
  null::boolean as duplicate, bytes, duration_ms, null::uuid as session_id, 0 as session_count, body is not null as has_body,
  is_body_cut, sent_again_at`

export async function readLog(
  sql: Sql,
  projectIds: number[],
  filter: LogFilter,
  page: { limit: number; after: { at: string; id: string } | null },
): Promise<LoggedRequest[]> {
  const condition = sql`
    project_id = any(${projectIds}::int2[])
    ${filter.platform ? sql`and endpoint = ${filter.platform}` : sql``}
    ${filter.keyId ? sql`and key_id = ${filter.keyId}` : sql``}
    ${page.after ? sql`and (at, id) < (${page.after.at}::timestamptz, ${page.after.id}::uuid)` : sql``}`
  const order = sql`order by at desc, id desc limit ${page.limit}`
  const accepted = sql`
    (select ${sql.unsafe(ACCEPTED)} from ingest_accepted
     where at > now() - make_interval(hours => ${ACCEPTED_FOR_HOURS}) and ${condition} ${order})`
  const refused = sql`(select ${sql.unsafe(REFUSED)} from ingest_refused where ${condition} ${order})`
  const wanted =
    filter.isRefused == null ? sql`${accepted} union all ${refused}` : filter.isRefused ? refused : accepted
  return (await sql`select * from (${wanted}) log ${order}`) as unknown as LoggedRequest[]
}

/**
 * What was accepted for a session, newest first. Its first and last receipt bound what is searched: the log has no index
 * by session. A request for several sessions is found with the first of them.
 */
export async function readLogOfSession(
  sql: Sql,
  session: { id: string; projectId: number; firstSeenAt: Date; lastEventAt: Date },
  limit: number,
): Promise<LoggedRequest[]> {
  return (await sql`
    select ${sql.unsafe(ACCEPTED)} from ingest_accepted
    where at > now() - make_interval(hours => ${ACCEPTED_FOR_HOURS})
      and at between ${session.firstSeenAt}::timestamptz - interval '1 minute'
        and ${session.lastEventAt}::timestamptz + interval '1 minute'
      and project_id = ${session.projectId} and session_id = ${session.id}
    order by at desc, id desc limit ${limit}`) as unknown as LoggedRequest[]
}

/** Those of the ids that are to be seen. */
export async function readLogById(sql: Sql, projectIds: number[], ids: readonly string[]): Promise<LoggedRequest[]> {
  const wanted = sql`id = any(${ids as string[]}::uuid[]) and project_id = any(${projectIds}::int2[])`
  return (await sql`
    select ${sql.unsafe(REFUSED)} from ingest_refused where ${wanted}
    union all
    select ${sql.unsafe(ACCEPTED)} from ingest_accepted
    where at > now() - make_interval(hours => ${ACCEPTED_FOR_HOURS}) and ${wanted}`) as unknown as LoggedRequest[]
}

/** The same for entries that were written a moment ago. */
export async function readNewLog(sql: Sql, ids: string[]): Promise<LoggedRequest[]> {
  return (await sql`
    select ${sql.unsafe(REFUSED)} from ingest_refused where id = any(${ids}::uuid[])
    union all
    select ${sql.unsafe(ACCEPTED)} from ingest_accepted
    where at > now() - interval '10 minutes' and id = any(${ids}::uuid[])
    order by at, id`) as unknown as LoggedRequest[]
}

/** A refused request as it was kept, masked. */
export interface RefusedBody {
  body: string | null
  isBodyCut: boolean
  idempotencyKey: string | null
}

export async function readRefusedBody(sql: Sql, id: string): Promise<RefusedBody | null> {
  const [row] =
    await sql`select body, is_body_cut as "isBodyCut", idempotency_key as "idempotencyKey" from ingest_refused where id = ${id}`
  return (row as unknown as RefusedBody) ?? null
}

export interface UnauthenticatedPosts {
  server: string
  reason: string
  count: string
  lastAt: Date
}

/** Posts without a valid key since a time, to the hour. */
export async function readUnauthenticatedPosts(sql: Sql, since: Date): Promise<UnauthenticatedPosts[]> {
  return (await sql`
    select server, reason, sum(count)::text as count, max(last_at) as last_at from ingest_unauthenticated
    where hour >= date_trunc('hour', ${since}::timestamptz) group by server, reason order by max(last_at) desc`) as unknown as UnauthenticatedPosts[]
}
