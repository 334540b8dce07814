// How sessions, events and agents are read. Every query names the projects it may see.
import type { Sql } from '../database/connect.ts'
import type {
  CostSource,
  CoverageNote,
  DurationSource,
  EventError,
  EventType,
  NodeKind,
  Platform,
  Status,
} from './session.ts'

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
}

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
}

export interface EventTexts {
  input: string | null
  output: string | null
  attributes: unknown
}

/** The conditions of a list, the same ones that `matches` checks for a changed session. */
export interface SessionFilter {
  platform?: Platform | null
  status?: Status | null
  agents?: (string | null)[] | null
  search?: string | null
  since?: Date | null
  until?: Date | null
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
  s.tokens_estimated, s.models, s.prompt_tokens, s.completion_tokens, s.cost_usd, s.coverage, s.revision, s.closed_sequence`

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
  const { platform, status, since, until } = filter
  const common = sql`
    ${platform ? sql`and s.platform = ${platform}` : sql``}
    ${status === 'RUNNING' ? sql`and s.status <> 'COMPLETED'` : sql``}
    ${status ? sql`and s.status = ${status}` : sql``}
    ${since ? sql`and s.first_seen_at >= ${since}` : sql``}
    ${until ? sql`and s.first_seen_at < ${until}` : sql``}
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
    ...agents.slice(0, 20).map((agent) => sql`and s.agent = ${agent} ${wanted}`),
    sql`and s.error_message ilike ${pattern} ${wanted}`,
  ]
}

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
  const { platform, status, agents, since, until } = filter
  if (platform && row.platform !== platform) return false
  if (status && row.status !== status) return false
  if (agents?.length && !agents.includes(row.agent)) return false
  if (since && row.firstSeenAt < since) return false
  if (until && row.firstSeenAt >= until) return false
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

/** Late is whatever arrived after the session had been closed: known by comparing, so it needs no order of writing. */
const eventColumns = (sql: Sql) => sql`
  e.session_id, e.day::text, e.event_key, e.revision, e.order_us, e.sequence, e.place, e.type, e.kind, e.kind_source, e.name,
  e.run_index, e.parent_key, e.parent_name, e.model, octet_length(e.input) as input_bytes, octet_length(e.output) as output_bytes,
  e.prompt_tokens, e.completion_tokens, e.tokens_estimated, e.cost_usd, e.cost_source, e.duration_ms, e.status, e.error,
  e.occurred_at, e.received_at, e.skewed, e.masked, coalesce(s.platform = 'PLATFORM_A' and e.sequence > s.closed_sequence, false) as late`

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
    select ${eventColumns(sql)} ${eventsOfSession(sql, session)}
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
    select ${eventColumns(sql)} from events e join sessions s on s.id = e.session_id
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

export interface AgentRow {
  projectId: number
  name: string | null
  platforms: Platform[]
  runs: number
  running: number
  completed: number
  failed: number
  lastSeenAt: Date
}

/** Counts per agent from the covering index, newest activity first. */
export async function readAgents(
  sql: Sql,
  projectIds: number[],
  since: Date | null,
  name?: string,
): Promise<AgentRow[]> {
  return (await sql`
    select project_id, agent as name, array_agg(distinct platform) as platforms, count(*)::int as runs,
      count(*) filter (where status = 'RUNNING')::int as running,
      count(*) filter (where status = 'COMPLETED')::int as completed,
      count(*) filter (where status = 'FAILED')::int as failed,
      max(first_seen_at) as last_seen_at
    from sessions
    where project_id = any(${projectIds}::int2[])
      ${since ? sql`and first_seen_at >= ${since}` : sql``}
      ${name !== undefined ? sql`and agent = ${name}` : sql``}
    group by project_id, agent
    order by last_seen_at desc limit 1000`) as unknown as AgentRow[]
}
