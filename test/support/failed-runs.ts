// Runs that fail in known ways, how a session's failures are read, and whether all that is stored of failures agrees.
import type postgres from 'postgres'
import { CATEGORIES, type FailureCategory } from '../../server/failures/failure.ts'
import type { TestServer } from './server.ts'
import { until } from './until.ts'

/** A failed step of platform A that closes its session. */
export const failedStep = (session_id: string, own: object = {}) => ({
  session_id,
  type: 'tool.call',
  tool_name: 'crm.lookup',
  agent_name: 'Desk',
  error: 'connect ECONNREFUSED 10.0.0.7:443',
  status: 'error',
  ...own,
})

export interface RunOfB {
  workflow?: string
  durationMs?: number
  /** of the node "Push to CRM" */
  error?: string
  status?: string
  /** spent by one call of a model that has no price */
  tokens?: number
  /** spent by one call of a model of the price table: 2.50 USD for a million */
  pricedTokens?: number
  /** false leaves out what the nodes did */
  hasNodes?: boolean
  startedAt?: number
}

const STARTED_AT = Date.UTC(2026, 10, 20, 10)

/** The body of a post to platform B. */
export const execution = (id: string, run: RunOfB = {}) => ({ execution: bareExecution(id, run) })

export function bareExecution(id: string, run: RunOfB = {}): any {
  const { workflow = 'Flow', durationMs = 100, error, tokens, pricedTokens, hasNodes = true } = run
  const { status = error === undefined ? 'success' : 'error', startedAt = STARTED_AT } = run
  const task = { startTime: startedAt, executionTime: 1, executionStatus: 'success', source: [] }
  const failed = { message: error, name: 'NodeApiError', level: 'warning' }
  const runData = {
    Start: [{ ...task, data: { main: [[{ json: {} }]] } }],
    'Push to CRM': [
      error === undefined
        ? { ...task, startTime: startedAt + 1, data: { main: [[{ json: {} }]] } }
        : { ...task, startTime: startedAt + 1, executionStatus: 'error', error: failed },
    ],
    ...(tokens === undefined ? {} : { Model: [{ ...task, ...modelCall('house-model', tokens) }] }),
    ...(pricedTokens === undefined ? {} : { Model: [{ ...task, ...modelCall('gpt-4o', pricedTokens) }] }),
  }
  return {
    id,
    workflowId: workflow.toLowerCase().replaceAll(' ', '-'),
    workflowName: workflow,
    mode: 'webhook',
    status,
    startedAt: new Date(startedAt).toISOString(),
    stoppedAt: new Date(startedAt + durationMs).toISOString(),
    ...(hasNodes && { data: { resultData: { runData } } }),
  }
}

const modelCall = (model: string, promptTokens: number) => ({
  inputOverride: { ai_languageModel: [[{ json: { messages: ['Hi'], options: { model } } }]] },
  data: {
    ai_languageModel: [
      [
        {
          json: {
            response: { generations: [[{ text: 'done' }]] },
            tokenUsage: { promptTokens, completionTokens: 0 },
          },
        },
      ],
    ],
  },
})

const SESSION = `id externalId status classified failureCount failureCategories severity revision hint
  rulesNotRun { category sentence }
  primaryFailure { category severity isPrimary }
  failures { category severity isPrimary cause subject sentence errorText measured threshold unit thresholdSource
    thresholdRuns evidence evidenceCount seenAt pattern { id agent sessions } }`
export type PlatformName = 'PLATFORM_A' | 'PLATFORM_B'

/** How the failures of a server's sessions are read, through its API. */
export function failureReader(server: TestServer, headers?: Record<string, string>) {
  const read = async (externalId: string, platform: PlatformName = 'PLATFORM_A') =>
    (
      await server.query(
        `query ($id: String!, $platform: Platform!) {
          session(platform: $platform, externalId: $id) { ${SESSION} } }`,
        { id: externalId, platform },
        headers,
      )
    ).session
  return {
    read,
    /** Once what is said of its failures holds for it as it stands. */
    classified: (externalId: string, platform?: PlatformName) =>
      until<any>(
        () => read(externalId, platform),
        (session) => session?.classified,
      ),
    explained: async (externalId: string, platform: PlatformName = 'PLATFORM_A') => {
      const { session } = await server.query(
        `query ($id: String!, $platform: Platform!) { session(platform: $platform, externalId: $id) {
          explain { category looksFor outcome sentence measured threshold unit thresholdSource } } }`,
        { id: externalId, platform },
        headers,
      )
      return Object.fromEntries(session.explain.map((one: any) => [one.category, one])) as Record<string, any>
    },
  }
}

/** Closed sessions that have changed since they were classified. */
export async function dueCount(sql: postgres.Sql): Promise<number> {
  const [row] = await sql`
    select count(*)::int as count from sessions where status <> 'RUNNING' and classified_content < content_revision`
  return row!.count
}

export const untilAllClassified = (sql: postgres.Sql, withinMs = 10_000) =>
  until(
    () => dueCount(sql),
    (count) => count === 0,
    withinMs,
  )

/** Wherever sessions, failures and patterns do not say the same, in words. */
export async function disagreements(sql: postgres.Sql): Promise<string[]> {
  const sessions = await sql`
    select s.external_id, s.status, s.failure_count, s.failure_categories, s.severity, f.* from sessions s
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_array(place, severity, category) order by place), '[]') as found
      from failures where session_id = s.id) f`
  const wrong = sessions.flatMap((row) => {
    const found = row.found as [place: number, severity: number, category: FailureCategory][]
    const inOrder = found.toSorted(([, a, c], [, b, d]) => b - a || CATEGORIES.indexOf(c) - CATEGORIES.indexOf(d))
    const said = JSON.stringify([row.failure_count, row.failure_categories, row.severity])
    const meant = JSON.stringify([found.length, [...new Set(inOrder.map(([, , one]) => one))], inOrder[0]?.[1] ?? null])
    return [
      ...(said === meant ? [] : [`${row.external_id} says ${said}, its failures ${meant}`]),
      ...(found.every(([place], i) => place === i) ? [] : [`${row.external_id} has gaps: ${JSON.stringify(found)}`]),
      ...(row.status === 'RUNNING' && found.length > 0 ? [`${row.external_id} runs and has failures`] : []),
    ]
  })
  const lost = await sql`
    select 'a failure without its session: ' || f.title as what from failures f
      where not exists (select from sessions where id = f.session_id)
    union all
    select 'a failure without its pattern: ' || f.title from failures f
      where not exists (select from failure_patterns p where p.id = f.pattern_id)
    union all
    select 'a failure in the pattern of another: ' || f.title from failures f
      join sessions s on s.id = f.session_id join failure_patterns p on p.id = f.pattern_id
      where (p.project_id, p.agent, p.category) is distinct from (s.project_id, s.agent, f.category)
    union all
    select 'evidence that is no event: ' || f.title from failures f, unnest(f.evidence) as key
      where not exists (select from events e where e.session_id = f.session_id and e.event_key = key)`
  return [...wrong, ...lost.map(({ what }) => what as string)]
}

/** The middle one. */
export const medianOf = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!
