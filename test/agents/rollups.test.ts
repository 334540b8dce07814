// Sums of agents against an oracle that adds up the sessions themselves, whatever happens to them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000
const TOTALS = `runs running completed failed failureRate p50DurationMs p95DurationMs costUsd unpricedRuns promptTokens
  completionTokens estimatedRuns`
const AGENTS = `query($range: TimeRange) { agents(range: $range) { name project platforms lastSeenAt since ${TOTALS}
  before { ${TOTALS} } partHours parts { startsAt ${TOTALS} }
  models { model runs calls promptTokens completionTokens costUsd } } }`

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

interface Session {
  agent: string | null
  platform: string
  status: string
  first_seen_at: Date
  duration_ms: number | null
  cost_usd: string | null
  prompt_tokens: string | null
  completion_tokens: string | null
  unpriced_calls: number
  tokens_estimated: boolean
}

const sumOf = (values: (string | null)[]) =>
  values.every((value) => value === null) ? null : values.reduce((sum, value) => sum + Number(value ?? 0), 0)

/** Nearest rank: the least value that so many of all do not exceed. */
const rankOf = (values: number[], share: number) =>
  values.length === 0 ? null : values.sort((a, b) => a - b)[Math.ceil(share * values.length) - 1]!

function totalsOf(sessions: Session[]) {
  const count = (status: string) => sessions.filter((session) => session.status === status).length
  const durations = sessions.flatMap(({ status, duration_ms }) =>
    status === 'RUNNING' || duration_ms === null ? [] : duration_ms,
  )
  const closed = count('COMPLETED') + count('FAILED')
  return {
    runs: sessions.length,
    running: count('RUNNING'),
    completed: count('COMPLETED'),
    failed: count('FAILED'),
    failureRate: closed === 0 ? null : count('FAILED') / closed,
    p50DurationMs: near(rankOf(durations, 0.5)),
    p95DurationMs: near(rankOf(durations, 0.95)),
    costUsd: money(sumOf(sessions.map(({ cost_usd }) => cost_usd))),
    unpricedRuns: sessions.filter(({ unpriced_calls }) => unpriced_calls > 0).length,
    promptTokens: sumOf(sessions.map(({ prompt_tokens }) => prompt_tokens)),
    completionTokens: sumOf(sessions.map(({ completion_tokens }) => completion_tokens)),
    estimatedRuns: sessions.filter(({ tokens_estimated }) => tokens_estimated).length,
  }
}

/** Sums of decimals end in noise here, not in the database. */
const money = (value: number | null) =>
  value === null ? null : expect.toSatisfy((text) => Math.abs(Number(text) - value) < 1e-9)

/** Within 1 %, as the schema says; a difference in the last digits is none. */
const near = (value: number | null) =>
  value === null ? null : expect.closeTo(value, -Math.log10(Math.max(0.1, value) * 0.0202))

async function expected(hours: number | null) {
  const sessions = (await server.database.sql`select * from sessions`) as unknown as Session[]
  const now = Date.now()
  const from = hours === null ? -Infinity : Math.floor(now / HOUR_MS - hours) * HOUR_MS
  const length = Math.floor((now - from) / HOUR_MS) * HOUR_MS
  const within = (since: number, to: number, agent: string | null) =>
    sessions.filter((one) => one.agent === agent && +one.first_seen_at >= since && +one.first_seen_at < to)
  return [...new Set(sessions.map(({ agent }) => agent))]
    .map((name) => ({ name, own: within(from, Infinity, name), before: within(from - length, from, name) }))
    .filter(({ own }) => own.length > 0)
    .map(({ name, own, before }) => ({
      name,
      platforms: [...new Set(own.map(({ platform }) => platform))].sort(),
      lastSeenAt: new Date(Math.max(...own.map((one) => +one.first_seen_at))).toISOString(),
      ...totalsOf(own),
      before: hours === null || before.length === 0 ? null : totalsOf(before),
    }))
}

const RANGES = { LAST_24_HOURS: 24, LAST_7_DAYS: 168, LAST_30_DAYS: 720 }
const agentsOf = async (range: string | null, from = server) => (await from.query(AGENTS, { range })).agents as any[]

async function agree(from = server) {
  for (const [range, hours] of [...Object.entries(RANGES), [null, null] as const]) {
    const agents = await agentsOf(range, from)
    const wanted = await expected(hours)
    expect(agents.map(({ name }) => name).sort(), String(range)).toEqual(wanted.map(({ name }) => name).sort())
    for (const one of wanted) {
      const agent = agents.find(({ name }) => name === one.name)
      expect(agent, `${one.name} ${range}`).toMatchObject(one)
      // No part is missing and none is counted twice.
      for (const field of ['runs', 'running', 'completed', 'failed', 'unpricedRuns'])
        expect(
          agent.parts.reduce((sum: number, part: any) => sum + part[field], 0),
          field,
        ).toBe(agent[field])
    }
  }
}

/** Sums follow within seconds: until then what was there before is answered. */
const settled = (from = server) =>
  until(
    () =>
      agree(from).then(
        () => null,
        (error: unknown) => error,
      ),
    (error) => error === null,
    10_000,
  ).catch(() => agree(from))

let turn = 0
async function runA(agent: string | null, fields: object = {}, id = `run-${++turn}`) {
  const { body } = await server.ingestA({
    session_id: id,
    type: 'llm.call',
    ...(agent && { agent_name: agent }),
    ...fields,
  })
  return { id, uuid: body.session?.id ?? body.session_id }
}
const end = (id: string, status = 'success') => server.ingestA({ session_id: id, type: 'session.end', status })

/** As if it had come so many hours ago; a direct change of the table is named as due, as a deletion would be. */
async function moveBack(id: string, hours: number) {
  const { sql } = server.database
  const due = () => sql`
    insert into agent_rollups_due select project_id, coalesce(agent, ''), date_trunc('hour', first_seen_at, 'UTC')
    from sessions where external_id = ${id}`
  await due()
  await sql`update sessions set first_seen_at = first_seen_at - ${hours} * interval '1 hour' where external_id = ${id}`
  await due()
}

describe('sums of agents', () => {
  test('are what their sessions add up to, over each span and the one before it', async () => {
    for (let i = 0; i < 40; i++) {
      const { id } = await runA(i % 3 === 0 ? 'Mail triage' : 'Lead enrichment', {
        model: i % 2 === 0 ? 'gpt-4o' : 'a-model-without-a-price',
        prompt_tokens: 100 + i,
        completion_tokens: i,
        duration_ms: 37 * (i + 1) ** 2,
        ...(i % 7 === 0 && { status: 'error', error: 'gave up' }),
      })
      if (i % 5 !== 0) await end(id, i % 4 === 0 ? 'error' : 'success')
      // Over all spans and the times before them, to the hour on both sides of their ends.
      await moveBack(id, [0, 1, 5, 23, 24, 25, 47, 49, 50, 100, 168, 169, 300, 500, 719, 721, 800, 1400, 1500][i % 19]!)
    }
    await runA(null, { prompt_tokens: 5 })
    await server.ingestB({
      execution: {
        id: '77',
        workflowId: 'wf',
        workflowName: 'Mail triage',
        status: 'error',
        startedAt: '2026-11-20T10:00:00.000Z',
        stoppedAt: '2026-11-20T10:00:02.500Z',
        mode: 'webhook',
      },
    })
    await settled()
    const mail = (await agentsOf('LAST_30_DAYS')).find(({ name }) => name === 'Mail triage')
    expect(mail.platforms).toEqual(['PLATFORM_A', 'PLATFORM_B'])
    expect(mail.before).not.toBeNull()
    expect(mail.partHours).toBe(24)
    expect((await agentsOf('LAST_7_DAYS'))[0].partHours).toBe(6)
  })

  test('a session without a price or duration adds nothing that is not known', async () => {
    await runA('Unknown', { tool_name: 'x', type: 'tool.call' })
    await settled()
    const agent = (await agentsOf('LAST_24_HOURS')).find(({ name }) => name === 'Unknown')
    expect(agent).toMatchObject({
      runs: 1,
      running: 1,
      failureRate: null,
      costUsd: null,
      promptTokens: null,
      completionTokens: null,
      p50DurationMs: null,
      p95DurationMs: null,
      models: [],
    })
  })

  test('a name that comes later takes the session along, and an end moves it', async () => {
    const { id } = await runA(null, { prompt_tokens: 1 })
    await settled()
    await runA('Late name', { prompt_tokens: 2 }, id)
    await settled()
    await end(id, 'error')
    await settled()
    const agent = (await agentsOf('LAST_24_HOURS')).find(({ name }) => name === 'Late name')
    expect(agent).toMatchObject({ runs: 1, failed: 1, failureRate: 1, promptTokens: 3 })
  })

  test('a workflow that says its name later is not counted by its id any more', async () => {
    const post = (fields: object) =>
      server.ingestB({ execution: { id: '78', workflowId: 'unnamed-workflow', mode: 'webhook', ...fields } })
    await post({ status: 'running' })
    // What its analysis names as due would count it anew by itself.
    await until(
      () => server.database.sql`
        select from sessions where agent = 'unnamed-workflow' and analysed_content = content_revision
          and not exists (select from agent_rollups_due)`,
      (rows) => rows.length === 1,
    )
    await settled()
    await post({ status: 'success', workflowName: 'Named workflow', stoppedAt: new Date().toISOString() })
    await settled()
    const names = (await agentsOf('LAST_24_HOURS')).map(({ name }) => name)
    expect(names).toContain('Named workflow')
    expect(names).not.toContain('unnamed-workflow')
  })

  test('models are told apart once a run was analysed, each with its own calls, tokens and cost', async () => {
    const { id } = await runA('Two models', { model: 'gpt-4o', prompt_tokens: 1000, completion_tokens: 100 })
    await runA('Two models', { model: 'gpt-4o-mini', prompt_tokens: 10, completion_tokens: 1, sequence: 2 }, id)
    await runA('Two models', { model: 'gpt-4o-mini', prompt_tokens: 20, sequence: 3 }, id)
    await runA('Two models', { model: 'unpriced-one', prompt_tokens: 7, completion_tokens: 7, sequence: 4 }, id)
    await end(id)
    const [agent] = await until(
      async () => (await agentsOf('LAST_24_HOURS')).filter(({ name }) => name === 'Two models'),
      ([one]) => one?.models.length === 3,
    )
    expect(agent.models).toMatchObject([
      { model: 'gpt-4o', runs: 1, calls: 1, promptTokens: 1000, completionTokens: 100, costUsd: '0.0035' },
      { model: 'gpt-4o-mini', runs: 1, calls: 2, promptTokens: 30, completionTokens: 1 },
      { model: 'unpriced-one', runs: 1, calls: 1, promptTokens: 7, completionTokens: 7, costUsd: null },
    ])
    expect(Number(agent.models[0].costUsd) + Number(agent.models[1].costUsd)).toBeCloseTo(Number(agent.costUsd), 9)
    await settled()
  })

  test('what is deleted is gone from them', async () => {
    const { id } = await runA('Deleted', { prompt_tokens: 1 })
    await runA('Deleted')
    await settled()
    const cookie = await server.signIn()
    const { session } = await server.query(
      'query($id: String) { session(platform: PLATFORM_A, externalId: $id) { id } }',
      { id },
    )
    await server.query('mutation($id: ID!) { deleteSession(id: $id) }', { id: session.id }, { cookie })
    await settled()
    await server.query('mutation { deleteAgentSessions(project: "default", agent: "Deleted") { id } }', {}, { cookie })
    await until(
      async () => (await agentsOf(null)).map(({ name }) => name),
      (names) => !names.includes('Deleted'),
    )
    await settled()
  })

  test('what a server did not live to add up is added up by the next', async () => {
    // Notices of this one never reach anybody: it was killed between its commit and the sums.
    await server.database.sql`
      insert into sessions select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'external_id', 'orphan',
        'agent', 'Left behind', 'last_event_at', now()))).* from sessions s where agent = 'Late name'`
    const second = await startServer({ database: server.database })
    try {
      await settled(second)
      expect((await agentsOf(null, second)).map(({ name }) => name)).toContain('Left behind')
    } finally {
      await second.stop()
    }
  })

  test('two servers that are posted to at once agree', async () => {
    const second = await startServer({ database: server.database })
    try {
      const posts = Array.from({ length: 200 }, (_, i) =>
        (i % 2 === 0 ? server : second).ingestA({
          session_id: `both-${i % 50}`,
          type: 'llm.call',
          agent_name: i % 3 === 0 ? 'Both' : 'Both of them',
          prompt_tokens: 1,
          sequence: i,
        }),
      )
      expect((await Promise.all(posts)).every(({ status }) => status === 200)).toBe(true)
      await settled()
      await settled(second)
    } finally {
      await second.stop()
    }
  })

  test('one agent is read by its name, as it stands in the list', async () => {
    const { agent } = await server.query(
      `query { agent(name: "Mail triage", range: LAST_7_DAYS) { name ${TOTALS} parts { runs } } }`,
    )
    const listed = (await agentsOf('LAST_7_DAYS')).find(({ name }) => name === 'Mail triage')
    expect(listed).toMatchObject({ ...agent, parts: agent.parts })
    expect((await server.query('query { agent(name: "Nobody") { name } }')).agent).toBeNull()
  })
})
