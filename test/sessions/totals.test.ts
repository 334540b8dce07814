// Sessions under concurrency: what the database adds up must be what the fold says and what the events sum to.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

/** Every total beside the sum over the events that are stored. */
async function disagreements() {
  return server.database.sql`
    select s.external_id, s.event_count, count(e.*) as events
    from sessions s left join events e on e.session_id = s.id
    group by s.id
    having s.event_count <> count(e.*) or s.error_count <> count(e.error)
      or s.llm_calls <> count(*) filter (where e.type = 'LLM_CALL')
      or s.tool_calls <> count(*) filter (where e.type = 'TOOL_CALL')
      or s.prompt_tokens is distinct from sum(e.prompt_tokens)
      or s.completion_tokens is distinct from sum(e.completion_tokens)
      or s.cost_usd is distinct from sum(e.cost_usd)`
}

/** A repeatable sequence, so that a failure can be looked at again. */
function random(seed: number) {
  return () => (seed = (seed * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32
}

test('400 requests at once to 20 sessions leave totals that equal the sums of the events', async () => {
  const next = random(7)
  const types = ['llm.call', 'tool.call', 'span', 'retrieval']
  const requests = Array.from({ length: 400 }, (_, i) =>
    Array.from({ length: 1 + Math.floor(next() * 4) }, () => ({
      session_id: `many-${Math.floor(next() * 20)}`,
      type: types[Math.floor(next() * 4)],
      model: next() < 0.5 ? 'gpt-4o' : undefined,
      prompt_tokens: next() < 0.5 ? Math.floor(next() * 1000) : undefined,
      completion_tokens: next() < 0.5 ? Math.floor(next() * 1000) : undefined,
      cost: next() < 0.3 ? next().toFixed(7) : undefined,
      error: next() < 0.1 ? 'x' : undefined,
      status: i % 97 === 0 ? 'success' : undefined,
    })),
  )
  const answers = await Promise.all(requests.map((events) => server.ingestA(events)))
  expect(answers.every((answer) => answer.status === 200)).toBe(true)
  const [{ count }] = (await server.database.sql`select count(*)::int as count from events`) as unknown as [
    { count: number },
  ]
  expect(count).toBe(requests.flat().length)
  expect(await disagreements()).toEqual([])
})

test('the database folds one by one to the same session as all at once', async () => {
  const bodies = [
    {
      type: 'llm.call',
      model: 'b',
      timestamp: new Date(Date.now() - 5000).toISOString(),
      duration_ms: 10,
      prompt_tokens: 3,
    },
    { type: 'tool.call', error: 'late error', timestamp: new Date(Date.now() - 1000).toISOString() },
    {
      type: 'llm.call',
      model: 'a',
      error: 'early error',
      timestamp: new Date(Date.now() - 9000).toISOString(),
      cost: '0.05',
    },
    { type: 'span', status: 'error', timestamp: new Date(Date.now() - 2000).toISOString() },
    { type: 'session.end', timestamp: new Date(Date.now() - 500).toISOString() },
  ]
  await server.ingestA(bodies.map((body) => ({ session_id: 'whole', ...body })))
  for (const body of bodies) await server.ingestA({ session_id: 'single', ...body })
  const rows = await server.database.sql`
    select status, error_message, started_at, closed_at, duration_ms, duration_source, event_count, error_count, llm_calls,
      tool_calls, unpriced_calls, (select array_agg(m order by m) from unnest(models) m) as models, prompt_tokens, cost_usd
    from sessions where external_id in ('whole', 'single')`
  expect(rows[0]).toEqual(rows[1])
  expect(rows[0]).toMatchObject({ status: 'FAILED', error_message: 'late error', duration_source: 'SPAN' })
})

test('an event that comes after the close is kept, marked late, and does not reopen', async () => {
  await server.ingestA([
    { session_id: 'late', type: 'span' },
    { session_id: 'late', status: 'success', type: 'span' },
  ])
  await server.ingestA({ session_id: 'late', type: 'tool.call', tool_name: 'afterwards' })
  const { session } = await server.query(
    `{ session(platform: PLATFORM_A, externalId: "late") { status eventCount events { nodes { name late } } } }`,
  )
  expect(session).toEqual({
    status: 'COMPLETED',
    eventCount: 3,
    events: {
      nodes: [
        { name: null, late: false },
        { name: null, late: false },
        { name: 'afterwards', late: true },
      ],
    },
  })
})

test('an event_id is stored once in its session, also at 20 at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      server.ingestA({ session_id: 'once', type: 'llm.call', event_id: 'e-1', prompt_tokens: i + 1 }),
    ),
  )
  expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200))
  const [row] = await server.database.sql`select event_count from sessions where external_id = 'once'`
  expect(row!.event_count).toBe(1)
  expect(await disagreements()).toEqual([])
})

test('sums beyond 2^63 are kept', async () => {
  await server.ingestA(
    Array.from({ length: 1100 }, () => ({ session_id: 'huge', type: 'span', prompt_tokens: 9007199254740991 })),
  )
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "huge") { promptTokens } }`)
  expect(session.promptTokens).toBe(String(9007199254740991n * 1100n))
})

test("a project's own price goes before the price table; what has neither stays unknown", async () => {
  const cookie = await server.signIn()
  const set = await server.graphql(
    `mutation { setModelPrice(model: "house-model", inputUsdPerMillion: "2", outputUsdPerMillion: "10") { model } }`,
    {},
    { cookie },
  )
  expect(set.body.errors).toBeUndefined()
  const call = { type: 'llm.call', prompt_tokens: 1000, completion_tokens: 100 }
  await server.ingestA([
    { session_id: 'own', ...call, model: 'house-model' },
    { session_id: 'table', ...call, model: 'gpt-4o' },
    { session_id: 'none', ...call, model: 'nobody-knows-this' },
    { session_id: 'half', type: 'llm.call', prompt_tokens: 1000, model: 'gpt-4o' },
  ])
  const cost = async (id: string) =>
    (await server.query(`{ session(platform: PLATFORM_A, externalId: "${id}") { costUsd unpricedCalls } }`)).session
  expect(await cost('own')).toEqual({ costUsd: '0.003', unpricedCalls: 0 })
  expect(await cost('table')).toEqual({ costUsd: '0.0035', unpricedCalls: 0 })
  expect(await cost('none')).toEqual({ costUsd: null, unpricedCalls: 1 })
  expect(await cost('half')).toEqual({ costUsd: null, unpricedCalls: 1 })
})
