// How sessions and agents are read. Every query names the projects it may see.
import type { Sql } from '../database/connect.ts'
import type { FailureCategory } from '../failures/failure.ts'
import type { CoverageNote, DurationSource, Platform, Status } from './session.ts'

export interface SessionRow {
  id: string
  projectId: number
  platform: Platform
  externalId: string
  workflowId: string | null
  agent: string | null
  mode: string | null
  status: Status
  reportedStatus: string | null
  errorMessage: string | null
  lastNode: string | null
  externalUrl: string | null
  retryOf: string | null
  firstSeenAt: Date
  startedAt: Date | null
  lastEventAt: Date
  closedAt: Date | null
  durationMs: number | null
  durationSource: DurationSource | null
  eventCount: number
  errorCount: number
  llmCalls: number
  toolCalls: number
  unpricedCalls: number
  tokensEstimated: boolean
  models: string[]
  promptTokens: string | null
  completionTokens: string | null
  costUsd: string | null
  coverage: CoverageNote[]
  revision: string
  closedSequence: string | null
  failureCount: number
  /** each once, the primary failure's first */
  failureCategories: FailureCategory[]
  /** of the primary failure, 1 to 4 */
  severity: number | null
  rulesNotRun: FailureCategory[]
  /** what is said of failures holds for the session as it stands */
  classified: boolean
}

/** The conditions of a list, the same ones that `matches` checks for a changed session. */
export interface SessionFilter {
  platform?: Platform | null
  status?: Status | null
  agents?: (string | null)[] | null
  search?: string | null
  since?: Date | null
  until?: Date | null
  /** with a failure of this category */
  category?: FailureCategory | null
  /** with a failure at least as bad, 1 to 4 */
  minSeverity?: number | null
}

export interface Page {
  limit: number
  /** keyset position: rows older (forward) or newer (backward) than it */
  from: { firstSeenAt: string; id: string } | null
  backward: boolean
}

const sessionColumns = (sql: Sql) => sql`
  s.id, s.project_id, s.platform, s.external_id, s.workflow_id, s.agent, s.mode, s.status, s.reported_status,
  s.error_message, s.last_node, s.external_url, s.retry_of, s.first_seen_at, s.started_at, s.last_event_at, s.closed_at,
  s.duration_ms, s.duration_source, s.event_count, s.error_count, s.llm_calls, s.tool_calls, s.unpriced_calls,
  s.tokens_estimated, s.models, s.prompt_tokens, s.completion_tokens, s.cost_usd, s.coverage, s.revision, s.closed_sequence,
  s.failure_count, s.failure_categories, s.severity, s.rules_not_run, s.status <> 'RUNNING' and s.classified_content >= s.content_revision as classified`

/** Rows in the order of the page: newest first, or oldest first when reading backward. */
export async function readSessions(
  sql: Sql,
  projectIds: number[],
  filter: SessionFilter,
  page: Page,
): Promise<SessionRow[]> {
  const order = page.backward ? sql`s.first_seen_at, s.id` : sql`s.first_seen_at desc, s.id desc`
  const from = page.from && ([page.from.firstSeenAt, page.from.id] as const)
  const beyond = !from
    ? sql``
    : page.backward
      ? sql`and (s.first_seen_at, s.id) > (${from[0]}::timestamptz, ${from[1]}::uuid)`
      : sql`and (s.first_seen_at, s.id) < (${from[0]}::timestamptz, ${from[1]}::uuid)`
  const { platform, status, since, until, category, minSeverity } = filter
  const common = sql`
    ${platform ? sql`and s.platform = ${platform}` : sql``}
    ${status === 'RUNNING' ? sql`and s.status <> 'COMPLETED'` : sql``}
    ${status ? sql`and s.status = ${status}` : sql``}
    ${since ? sql`and s.first_seen_at >= ${since}` : sql``}
    ${until ? sql`and s.first_seen_at < ${until}` : sql``}
    ${category || minSeverity ? sql`and s.failure_count > 0` : sql``}
    ${category ? sql`and ${category} = any(s.failure_categories)` : sql``}
    ${minSeverity ? sql`and s.severity >= ${minSeverity}` : sql``}
    ${beyond}`
  const names = filter.agents?.length ? filter.agents : null
  const search = filter.search?.trim()
  const branches = search ? await searchBranches(sql, projectIds, search, names) : [agentBranch(sql, names)]
  // Each branch and project walks an index in order and stops at the limit; their merge is small.
  const parts = projectIds.flatMap((projectId) =>
    branches.map(
      (branch) => sql`
        (select ${sessionColumns(sql)} from sessions s
         where s.project_id = ${projectId} ${branch} ${common}
         order by ${order} limit ${page.limit})`,
    ),
  )
  if (parts.length === 0) return []
  const union = parts.reduce((all, part) => sql`${all} union ${part}`)
  if (parts.length === 1) return (await sql`${parts[0]!}`) as unknown as SessionRow[]
  return (await sql`select * from (${union}) s order by ${order} limit ${page.limit}`) as unknown as SessionRow[]
}

function agentBranch(sql: Sql, names: (string | null)[] | null) {
  if (!names) return sql``
  const known = names.filter((name) => name !== null)
  return names.includes(null)
    ? sql`and (s.agent is null or s.agent = any(${known}))`
    : known.length === 1
      ? sql`and s.agent = ${known[0]!}`
      : sql`and s.agent = any(${known})`
}

/** Start of the external id, part of an agent's name, part of the error text: each by an index of its own. */
async function searchBranches(sql: Sql, projectIds: number[], search: string, names: (string | null)[] | null) {
  const pattern = `%${escapeLike(search)}%`
  const agents = (await distinctAgents(sql, projectIds)).filter((agent) =>
    agent.toLowerCase().includes(search.toLowerCase()),
  )
  const wanted = names ? agentBranch(sql, names) : sql``
  return [
    sql`and s.external_id like ${`${escapeLike(search)}%`} ${wanted}`,
    // One branch each keeps the index's order; beyond that many the rows are dense enough.
    ...(agents.length > MAX_AGENT_BRANCHES
      ? [sql`and s.agent = any(${agents}) ${wanted}`]
      : agents.map((agent) => sql`and s.agent = ${agent} ${wanted}`)),
    sql`and s.error_message ilike ${pattern} ${wanted}`,
  ]
}

const MAX_AGENT_BRANCHES = 20

const escapeLike = (text: string) => text.replace(/[\\%_]/g, '\\$&')

/** Names by jumping through the index from one to the next: a few reads, however many sessions there are. */
export async function distinctAgents(sql: Sql, projectIds: number[]): Promise<string[]> {
  const rows = await sql`
    with recursive names as (
      select p.id as project, (select min(agent) from sessions where project_id = p.id) as agent
      from unnest(${projectIds}::int2[]) as p (id)
      union all
      select n.project, (select min(agent) from sessions where project_id = n.project and agent > n.agent)
      from names n where n.agent is not null
    )
    select distinct agent from names where agent is not null limit 10000`
  return rows.map((row) => row.agent as string)
}

/** Whether a changed session belongs in a list with this filter. Says the same as the SQL above. */
export function matches(filter: SessionFilter, row: SessionRow): boolean {
  const { platform, status, agents, since, until, category, minSeverity } = filter
  if (platform && row.platform !== platform) return false
  if (status && row.status !== status) return false
  if (agents?.length && !agents.includes(row.agent)) return false
  if (since && row.firstSeenAt < since) return false
  if (until && row.firstSeenAt >= until) return false
  if (category && !row.failureCategories.includes(category)) return false
  if (minSeverity && (row.severity ?? 0) < minSeverity) return false
  const search = filter.search?.trim()
  if (!search) return true
  const contains = (text: string | null) => text !== null && text.toLowerCase().includes(search.toLowerCase())
  return row.externalId.startsWith(search) || contains(row.agent) || contains(row.errorMessage)
}

export async function readSessionsById(sql: Sql, projectIds: number[], ids: readonly string[]): Promise<SessionRow[]> {
  return (await sql`
    select ${sessionColumns(sql)} from sessions s
    where s.id = any(${ids as string[]}::uuid[]) and s.project_id = any(${projectIds}::int2[])`) as unknown as SessionRow[]
}

/** The newest where two workflows share an execution id. */
export async function readSessionByExternalId(
  sql: Sql,
  projectIds: number[],
  platform: Platform,
  externalId: string,
): Promise<SessionRow | null> {
  const [row] = await sql`
    select ${sessionColumns(sql)} from sessions s
    where s.project_id = any(${projectIds}::int2[]) and s.external_id = ${externalId} and s.platform = ${platform}
    order by s.first_seen_at desc limit 1`
  return (row as unknown as SessionRow) ?? null
}

export interface ModelRow {
  model: string
  sessions: number
  lastSeenAt: Date
}

/** Models of sessions in which a call has no price, those of most sessions first. */
export async function readModelsOfUnpriced(sql: Sql, projectId: number, since: Date): Promise<ModelRow[]> {
  return (await sql`
    select model, count(*)::int as sessions, max(first_seen_at) as last_seen_at
    from sessions, unnest(models) as model
    where project_id = ${projectId} and first_seen_at >= ${since} and unpriced_calls > 0
    group by model
    order by sessions desc, model limit 1000`) as unknown as ModelRow[]
}
