// Payloads made to hurt: each gets its answer, and good traffic is served all the while.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'

let server: TestServer
let pulse = 0
beforeAll(async () => void (server = await startServer()))
afterEach(async () => {
  expect((await server.ingestA({ session_id: `pulse-${pulse++}`, type: 'span' })).status).toBe(200)
})
afterAll(() => server.stop())

const runs = (names: string[], task: object = {}) => ({
  data: {
    resultData: {
      runData: Object.fromEntries(
        names.map((name) => [name, [{ startTime: 1795219257000, executionTime: 1, ...task }]]),
      ),
    },
  },
})

test('a cost with an exponent that an exact sum would write out is refused', async () => {
  for (const cost of ['1e-999999999', '1e-99999', 1e-320]) {
    const answer = await server.ingestA([
      { session_id: 'bomb', cost },
      { session_id: 'bomb', cost: '0.01' },
    ])
    expect([cost, answer.status]).toEqual([cost, cost === 1e-320 ? 200 : 422])
  }
})

test('node names that differ only in halves of pairs are two steps', async () => {
  const execution = { id: 'halves', workflowId: 'w', ...runs(['\ud800', '\ud801']) }
  expect((await server.ingestB({ execution })).status).toBe(200)
  expect((await server.ingestB({ execution })).status).toBe(200)
  const [row] = await server.database.sql`select event_count from sessions where external_id = 'halves'`
  expect(row!.event_count).toBe(2)
})

test.each<[string, () => Promise<{ status: number }>, number]>([
  [
    'a number of a million digits',
    () => server.ingestA({ session_id: 'x', prompt_tokens: `${'1'.repeat(1_000_000)}x` }),
    422,
  ],
  [
    'a text full of half links',
    () => server.ingestA({ session_id: 'x', type: 'span', input: `signature=${'form-waiting/'.repeat(80_000)}` }),
    200,
  ],
  [
    'a node name of half phrases',
    () => server.ingestB({ execution: { id: '1', ...runs([`When${' received'.repeat(50_000)}\nx`]) } }),
    200,
  ],
  [
    'an error code that is no text',
    () => server.ingestB({ execution: { id: '2', ...runs(['A'], { error: { message: 'x', httpCode: '\0\ud800' } }) } }),
    200,
  ],
  [
    'token counts beyond all sense',
    () =>
      server.ingestB({
        execution: {
          id: '3',
          ...runs(['A'], {
            data: { ai_languageModel: [Array(1100).fill({ json: { tokenUsage: { promptTokens: 2 ** 53 - 1 } } })] },
          }),
        },
      }),
    200,
  ],
  ['an execution as text nested 100,000 deep', () => server.ingestB({ execution: '['.repeat(100_000) }), 422],
  [
    'broken JSON with one text of 4 MB',
    () => server.post('/api/ingest/platform-a', `{"session_id":"${'x'.repeat(4_000_000)}`),
    400,
  ],
  [
    'broken JSON with one text of 12 MB',
    () => server.post('/api/ingest/platform-b', `{"execution":"${'x'.repeat(12_000_000)}`),
    400,
  ],
  [
    'a start time in the year 4821',
    () => server.ingestB({ execution: { id: '4', ...runs(['A'], { startTime: 9e10 }) } }),
    200,
  ],
])('%s is answered in a moment', { timeout: 10_000 }, async (_what, send, status) => {
  expect((await send()).status).toBe(status)
})

test('400 runs that all name one source of 40,000 items are read in a moment', { timeout: 10_000 }, async () => {
  const items = Array.from({ length: 40_000 }, (_, i) => ({ json: { i } }))
  const execution = {
    id: 'wide',
    data: {
      resultData: {
        runData: {
          Source: [{ startTime: 1795219257000, data: { main: [items] } }],
          Each: Array.from({ length: 400 }, () => ({
            startTime: 1795219257001,
            source: [{ previousNode: 'Source' }],
            data: { main: [[{ json: { usage: { prompt_tokens: 1 }, choices: [] } }]] },
          })),
        },
      },
    },
  }
  expect((await server.ingestB({ execution })).status).toBe(200)
})

test('credentials in errors and unknown fields are masked too', async () => {
  const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789'
  await server.ingestB({
    execution: {
      id: 'leak',
      workflowId: 'w',
      ...runs(['A'], { error: { message: `Incorrect API key provided: ${secret}` } }),
    },
  })
  await server.ingestA({
    session_id: 'leak',
    type: 'span',
    headers: { authorization: 'Basic abc' },
    note: `key ${secret}`,
    error: `denied for ${secret}`,
  })
  const rows = await server.database.sql`
    select e.masked, e.error::text || coalesce(e.attributes::text, '') || s.error_message as text
    from events e join sessions s on s.id = e.session_id where s.external_id = 'leak'`
  expect(rows).toHaveLength(2)
  for (const row of rows) {
    expect(row.masked).toBe(true)
    expect(row.text).not.toMatch(/abcdefghij|Basic abc/)
  }
})

test('a list of 1,000 executions that came before is taken again', { timeout: 40_000 }, async () => {
  const list = Array.from({ length: 1_000 }, (_, i) => ({
    execution: { id: `again-${i}`, workflowId: 'w', status: 'success' },
  }))
  expect((await server.ingestB(list)).status).toBe(200)
  expect((await server.ingestB(list)).status).toBe(200)
  const [row] = await server.database.sql`select count(*)::int as count from sessions where external_id like 'again-%'`
  expect(row!.count).toBe(1_000)
})

test('timelines that were opened and closed take no place, though their sessions never change again', async () => {
  await server.ingestA({ session_id: 'closed', type: 'span', status: 'success' })
  const { session } = await server.query('{ session(platform: PLATFORM_A, externalId: "closed") { id revision } }')
  const client = socketClient(server.url)
  const query = 'subscription ($id: ID!, $after: BigInt!) { eventsChanged(sessionId: $id, after: $after) { revision } }'
  for (let i = 0; i < 130; i++) {
    const timeline = subscribe(client, query, { id: session.id, after: 0 })
    await timeline.next()
    timeline.stop()
  }
  const last = subscribe(client, query, { id: session.id, after: 0 })
  expect((await last.next()).errors).toBeUndefined()
  await client.dispose()
})

test('server-sent events end with the key they were opened with', async () => {
  const cookie = await server.signIn()
  const created = await server.graphql(
    'mutation { createApiKey(input: { name: "sse", scopes: [READ] }) { secret apiKey { id } } }',
    {},
    { cookie },
  )
  const { secret, apiKey } = created.body.data.createApiKey
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'x-api-key': secret },
    body: JSON.stringify({ query: 'subscription { sessionChanged { session { externalId } } }' }),
  })
  const reader = response.body!.getReader()
  await server.graphql(`mutation { revokeApiKey(id: "${apiKey.id}") { id } }`, {}, { cookie })
  await until(async () => (await reader.read().catch(() => ({ done: true }))).done)
})

test('a failing read inside a running subscription says nothing of the database', async () => {
  const broken = await startServer()
  await broken.ingestA({ session_id: 'x', type: 'span' })
  const { session } = await broken.query('{ session(platform: PLATFORM_A, externalId: "x") { id } }')
  const client = socketClient(broken.url)
  const timeline = subscribe(
    client,
    `subscription { eventsChanged(sessionId: "${session.id}", after: 0) { revision events { id } } }`,
  )
  await timeline.next()
  await broken.database.sql`alter table events rename column name to other_name`
  await broken.database.sql`update sessions set revision = revision + 1`
  await broken.post('/api/ingest/platform-b', { execution: { id: 'other', workflowId: 'w' } }, { 'x-api-key': KEY })
  await broken.database.sql`select pg_notify('runwatch_sessions', 'elsewhere resync')`
  const { errors } = await timeline.next()
  expect(errors).toEqual([
    { message: 'Something went wrong on the server.', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
  ])
  await client.dispose()
  await broken.stop()
})

test('a search finds all of many agents whose names have it', async () => {
  await server.ingestA(
    Array.from({ length: 25 }, (_, i) => ({
      session_id: `bot-run-${i}`,
      type: 'span',
      agent_name: `Searched bot ${i}`,
    })),
  )
  const { sessions } = await server.query(
    '{ sessions(first: 100, filter: { search: "searched bot" }) { nodes { id } } }',
  )
  expect(sessions.nodes).toHaveLength(25)
})
