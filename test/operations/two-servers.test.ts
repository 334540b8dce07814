// Two server processes on one Postgres: what one takes, the other shows.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { startProcess, type ServerProcess } from '../support/process.ts'
import { ADMIN, KEY } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let one: ServerProcess
let two: ServerProcess
beforeAll(async () => {
  database = await newDatabase()
  const env = {
    DATABASE_URL: database.url,
    INIT_API_KEY: KEY,
    INIT_ADMIN_EMAIL: ADMIN.email,
    INIT_ADMIN_PASSWORD: ADMIN.password,
  }
  ;[one, two] = await Promise.all([startProcess(env), startProcess(env)])
})
afterAll(async () => {
  for (const server of [one, two]) {
    server.child.kill('SIGTERM')
    await server.exited
  }
  await database.drop()
})

const post = (server: ServerProcess, path: string, body: unknown, key = KEY) =>
  fetch(`${server.url}/api/ingest/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(body),
  })

test('started at once on one database, both are ready and the key exists once', async () => {
  const rows = await database.sql`select name from api_keys`
  expect(rows.map((row) => row.name)).toEqual(['INIT_API_KEY'])
})

test('a change taken by one arrives at the subscribers of the other', async () => {
  const client = socketClient(two.url)
  const changes = subscribe(client, 'subscription { sessionChanged { session { externalId status } } }')
  let n = 0
  for (;;) {
    await post(one, 'platform-a', { session_id: `across-${n++}`, type: 'span', status: 'success' })
    const message = await changes.next(300).catch(() => null)
    if (message) break
  }
  await client.dispose()
})

test('events to the same sessions through both are all counted, once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 400 }, (_, i) =>
      post(i % 2 ? one : two, 'platform-a', [
        { session_id: `both-${i % 9}`, type: 'llm.call', prompt_tokens: 1 },
        { session_id: `both-${(i * 5) % 9}`, type: 'tool.call', event_id: `e-${i % 40}` },
      ]),
    ),
  )
  expect(answers.map((answer) => answer.status)).toEqual(Array(400).fill(200))
  const rows = await database.sql`
    select s.event_count, count(e.*)::int as events, s.prompt_tokens, sum(e.prompt_tokens) as tokens, count(distinct e.event_key)::int as keys
    from sessions s join events e on e.session_id = s.id where s.external_id like 'both-%' group by s.id`
  for (const row of rows) {
    expect(row.event_count).toBe(row.events)
    expect(row.keys).toBe(row.events)
    expect(row.prompt_tokens).toBe(row.tokens)
  }
  expect(rows.reduce((sum, row) => sum + Number(row.prompt_tokens), 0)).toBe(400)
})

test('one execution posted 20 times through both at once is one session with its steps once', async () => {
  const runData = Object.fromEntries(
    ['A', 'B', 'C'].map((name, i) => [
      name,
      [{ startTime: 1795219257000 + i, executionTime: 1, executionStatus: 'success' }],
    ]),
  )
  const execution = { id: '77', workflowId: 'w', status: 'success', data: { resultData: { runData } } }
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => post(i % 2 ? one : two, 'platform-b', { execution })),
  )
  expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200))
  const [row] = await database.sql`
    select s.event_count, (select count(*)::int from events e where e.session_id = s.id) as events from sessions s where external_id = '77'`
  expect(row).toEqual({ event_count: 3, events: 3 })
})

test('a key made on one works on the other, and stops there within a second when it is revoked here', async () => {
  const signedIn = await fetch(`${one.url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN),
  })
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const mutate = async (query: string) => {
    const response = await fetch(`${one.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify({ query }),
    })
    return ((await response.json()) as any).data
  }
  const { createApiKey } = await mutate(
    'mutation { createApiKey(input: { name: "x", scopes: [INGEST] }) { secret apiKey { id } } }',
  )
  const status = async () =>
    (await post(two, 'platform-a', { session_id: 'k', type: 'span' }, createApiKey.secret)).status
  await until(status, (code) => code === 200)
  await mutate(`mutation { revokeApiKey(id: "${createApiKey.apiKey.id}") { id } }`)
  await until(status, (code) => code === 403, 1_000)
})
