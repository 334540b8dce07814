// Patterns: the same failure of one agent seen again. Counts come from failures; a person resolves or mutes.
import type { Sql } from '../database/connect.ts'
import {
  rankOfSeverity,
  readNotice,
  type Cause,
  type FailureCategory,
  type PatternNotice,
  type Severity,
} from './failure.ts'

export type PatternState = 'OPEN' | 'RESOLVED' | 'REOPENED'

export interface PatternRow {
  id: string
  projectId: number
  agent: string | null
  category: FailureCategory
  cause: Cause | null
  subject: string | null
  title: string
  state: PatternState
  resolvedAt: Date | null
  resolvedBy: string | null
  mutedUntil: Date | null
  mutedBy: string | null
  /** sessions of the range that carry it, and the worst of its severities there */
  sessions: number
  severity: number | null
  /** over all sessions that are kept */
  firstSeenAt: Date | null
  lastSeenAt: Date | null
  /** start of the range */
  since: Date
}

export interface PatternFilter {
  agents?: (string | null)[] | null
  category?: FailureCategory | null
  minSeverity?: Severity | null
  states?: PatternState[] | null
  muted?: boolean | null
  search?: string | null
}

const STATE = `case when p.resolved_at is null then 'OPEN' when l.last_seen_at > p.resolved_at then 'REOPENED' else 'RESOLVED' end`

const columns = (sql: Sql, since: Date) => sql`
  p.id, p.project_id, p.agent, p.category, p.cause, p.subject, coalesce(l.title, '') as title, p.resolved_at, p.resolved_by, p.muted_until, p.muted_by,
  ${sql.unsafe(STATE)} as state, coalesce(c.sessions, 0)::int as sessions, c.severity, o.first_seen_at, l.last_seen_at,
  ${since}::timestamptz as since`

/** First and last sight by two looks into an index. */
const sights = (sql: Sql) => sql`
  left join lateral (select seen_at as last_seen_at, title from failures where pattern_id = p.id order by seen_at desc limit 1) l on true
  left join lateral (select seen_at as first_seen_at from failures where pattern_id = p.id order by seen_at limit 1) o on true`

/** Those seen in the range, the most sessions first. */
export async function readPatterns(
  sql: Sql,
  projectIds: number[],
  filter: PatternFilter,
  since: Date,
  page: { limit: number; offset: number },
): Promise<PatternRow[]> {
  const { agents, category, minSeverity, states, muted, search } = filter
  const names = agents?.filter((name) => name !== null) ?? []
  const pattern = search?.trim() && `%${search.trim().replace(/[\\%_]/g, '\\$&')}%`
  return (await sql`
    with counted as (
      select pattern_id, count(*) as sessions, max(severity) as severity from failures
      where project_id = any(${projectIds}::int2[]) and seen_at >= ${since} group by pattern_id
    )
    select ${columns(sql, since)}
    from counted c join failure_patterns p on p.id = c.pattern_id ${sights(sql)}
    where true
      ${agents?.length ? sql`and (p.agent = any(${names}) or (p.agent is null and ${agents.includes(null)}))` : sql``}
      ${category ? sql`and p.category = ${category}` : sql``}
      ${minSeverity ? sql`and c.severity >= ${rankOfSeverity(minSeverity)}` : sql``}
      ${states?.length ? sql`and ${sql.unsafe(STATE)} = any(${states})` : sql``}
      ${muted == null ? sql`` : sql`and coalesce(p.muted_until > now(), false) = ${muted}`}
      ${pattern ? sql`and (l.title ilike ${pattern} or p.subject ilike ${pattern} or p.agent ilike ${pattern})` : sql``}
    order by c.sessions desc, l.last_seen_at desc, p.id limit ${page.limit} offset ${page.offset}`) as unknown as PatternRow[]
}

/** Of all projects: who may see them is for the caller to ask. */
export async function readPatternsById(sql: Sql, ids: readonly string[], since: Date): Promise<PatternRow[]> {
  return (await sql`
    select ${columns(sql, since)}
    from failure_patterns p
    left join lateral (
      select count(*) as sessions, max(severity) as severity from failures where pattern_id = p.id and seen_at >= ${since}
    ) c on true ${sights(sql)}
    where p.id = any(${ids as string[]}::uuid[])`) as unknown as PatternRow[]
}

export const SPARK_BUCKETS = 24

/** Sessions with each pattern in 24 equal parts of the range, the oldest first. */
export async function readSparklines(sql: Sql, ids: readonly string[], since: Date): Promise<Map<string, number[]>> {
  const rows = await sql`
    select pattern_id, least(${SPARK_BUCKETS}, width_bucket(extract(epoch from seen_at), extract(epoch from ${since}::timestamptz),
      extract(epoch from now()) + 0.001, ${SPARK_BUCKETS}))::int as bucket, count(*)::int as sessions
    from failures where pattern_id = any(${ids as string[]}::uuid[]) and seen_at >= ${since} group by 1, 2`
  const lines = new Map(ids.map((id) => [id, new Array<number>(SPARK_BUCKETS).fill(0)]))
  for (const { patternId, bucket, sessions } of rows) lines.get(patternId)![bucket - 1] = sessions
  return lines
}

/** Runs of each agent in the range, by `project agent`. */
export async function readRunCounts(
  sql: Sql,
  agents: readonly { projectId: number; agent: string | null }[],
  since: Date,
): Promise<number[]> {
  // Patterns of one agent ask for the same.
  const distinct = [...new Map(agents.map((one) => [keyOf(one), one])).values()]
  const rows = await sql`
    select w.project_id, w.agent, case when w.agent is null
      then (select count(*) from sessions where project_id = w.project_id and agent is null and first_seen_at >= ${since})
      else (select count(*) from sessions where project_id = w.project_id and agent = w.agent and first_seen_at >= ${since})
      end::int as runs
    from unnest(${distinct.map(({ projectId }) => projectId)}::int2[], ${distinct.map(({ agent }) => agent)}::text[])
      as w (project_id, agent)`
  const runs = new Map(rows.map((row) => [keyOf({ projectId: row.projectId, agent: row.agent }), row.runs as number]))
  return agents.map((one) => runs.get(keyOf(one)) ?? 0)
}

const keyOf = ({ projectId, agent }: { projectId: number; agent: string | null }) =>
  `${projectId}${agent === null ? '' : ` ${agent}`}`

export interface FailureDay {
  day: string
  category: FailureCategory
  sessions: number
}

/** Sessions with a failure of each category, by day in UTC. */
export async function readFailureDays(sql: Sql, projectIds: number[], since: Date): Promise<FailureDay[]> {
  return (await sql`
    select (seen_at at time zone 'UTC')::date::text as day, category, count(distinct session_id)::int as sessions
    from failures where project_id = any(${projectIds}::int2[]) and seen_at >= ${since}
    group by 1, 2 order by 1, 2`) as unknown as FailureDay[]
}

/**
 * Takes away patterns of which no session is kept any more, unless somebody decided about them. Locked first and looked at
 * in a second statement: what was classified meanwhile is seen then.
 */
export async function dropEmptyPatterns(sql: Sql, patterns: PatternNotice[]): Promise<void> {
  if (patterns.length === 0) return
  const ids = patterns.map((notice) => readNotice(notice).id)
  await sql.begin(async (tx) => {
    const held = await tx`select id from failure_patterns where id = any(${ids}::uuid[]) order by id for update`
    // Comes it back, it is new, and told of as such.
    await tx`
      with gone as (
        delete from failure_patterns p where id = any(${held.map(({ id }) => id as string)}::uuid[])
          and resolved_at is null and coalesce(muted_until < now(), true)
          and not exists (select from failures f where f.pattern_id = p.id)
        returning id
      )
      delete from alerts where pattern_id in (select id from gone) and kind = 'NEW_PATTERN'`
  })
}

/** What a person decides about a pattern. @returns false where there is none in these projects */
export async function decidePattern(
  sql: Sql,
  projectIds: number[],
  id: string,
  decision: { resolved: boolean } | { mutedUntil: Date | null },
  who: string,
): Promise<boolean> {
  const rows =
    'resolved' in decision
      ? await sql`
        update failure_patterns set resolved_at = ${decision.resolved ? sql`now()` : null},
          resolved_by = ${decision.resolved ? who : null}
        where id = ${id} and project_id = any(${projectIds}::int2[]) returning 1`
      : await sql`
        update failure_patterns set muted_until = ${decision.mutedUntil}, muted_by = ${decision.mutedUntil && who}
        where id = ${id} and project_id = any(${projectIds}::int2[]) returning 1`
  return rows.length > 0
}
