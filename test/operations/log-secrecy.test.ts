// What is logged when everything goes wrong: enough to find the fault, and nothing of what was sent.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkLogs } from '../support/log-secrecy.ts'
import { CANARY } from '../support/secrets.ts'
import { ADMIN, KEY, startServer, type TestServer } from '../support/server.ts'
import { operation, plainSocket } from '../support/socket.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

/** Sends the canary in every place where something may be sent. */
async function sing(cookie: string): Promise<void> {
  const callers: Record<string, string>[] = [
    { cookie },
    { 'x-api-key': KEY },
    { authorization: `Bearer ${KEY}` },
    { 'x-api-key': CANARY },
  ]
  const signIn = { email: 'canary@example.com', password: CANARY }
  const step = { startTime: 1795219257000, executionTime: 1, error: { message: CANARY } }
  const execution = {
    id: '1',
    status: 'error',
    workflowName: CANARY,
    data: { resultData: { runData: { [CANARY]: [step] } } },
  }
  await server.ingestA([{ session_id: 'canary', type: 'llm.call', agent_name: CANARY, input: CANARY, error: CANARY }])
  await server.ingestA({ session_id: CANARY, type: CANARY, cost: CANARY })
  await server.ingestA(`{"session_id":"${CANARY}`)
  await server.ingestB({ execution })
  await server.post(`/api/${CANARY}`, { text: CANARY }, { 'x-api-key': CANARY, 'user-agent': CANARY })
  await server.post('/api/auth/sign-in', signIn)
  await server.post('/api/auth/set-up', { ...ADMIN, token: CANARY })
  await server.post('/api/auth/link', { token: CANARY })
  await server.post('/api/auth/use-link', { token: CANARY, password: CANARY })
  await server.post('/api/auth/password', { oldPassword: CANARY, newPassword: CANARY }, { cookie })
  for (const headers of callers) {
    const query =
      'query ($text: String) { sessions(filter: { search: $text }) { nodes { errorMessage events { nodes { input } } } } }'
    await server.graphql(query, { text: CANARY }, headers)
    await server.graphql(`{ sessions(filter: { search: "${CANARY}" }) { nodes { id } } }`, {}, headers)
    await server.graphql(`{ "${CANARY}" }`, { [CANARY]: CANARY }, headers)
  }
  const { socket, messages, send, init } = await plainSocket(server.url, { headers: { cookie } })
  await init()
  send(operation('1', '{ sessions { nodes { id } } }', { text: CANARY }))
  send(
    operation('2', `{ ${CANARY} }`),
    operation('3', `{ session(platform: PLATFORM_A, externalId: "${CANARY}") { id } }`),
  )
  await until(() => ['1', '2', '3'].every((id) => messages.some((one) => one.id === id)))
  socket.send(CANARY)
}

test('in good times and in bad ones no key, cookie, password or payload text is logged', async () => {
  const cookie = await server.signIn()
  await sing(cookie)
  const before = server.log()
  // Postgres tells the row that a constraint refuses, and so would its own log.
  await server.database.sql`alter table events add constraint no_input check (input is null) not valid`
  await sing(cookie)
  await server.database.sql`alter table sessions rename column agent to renamed`
  await server.database.sql`drop table sign_ins`
  await sing(cookie).catch(() => {})
  const log = server.log().slice(before.length)
  expect(log).toMatch(/a GraphQL resolver failed/)
  expect(log).toMatch(/a request was answered with an error/)
  for (const line of log.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ level: 50 })
})

test.each([
  ['a key', `{"msg":"authenticated rw_${'k'.repeat(40)}"}`],
  ['the key of the tests', `{"msg":"authenticated ${KEY}"}`],
  ['a cookie', `{"headers":{"cookie":"runwatch=${'c'.repeat(43)}"}}`],
  ['a bearer', `{"headers":{"authorization":"Bearer ${'b'.repeat(40)}"}}`],
  ['a password', `{"body":{"password":"${ADMIN.password}"}}`],
  ['a text of a fixture', '{"message":"The service is receiving too many requests from you"}'],
  ['the canary', `{"query":"{ agent(name: \\"${CANARY}\\") }"}`],
])('%s in a log would be found', async (_what, line) => {
  const folder = await mkdtemp(join(tmpdir(), 'runwatch-test-'))
  await writeFile(join(folder, 'fine.log'), '{"level":30,"msg":"migration applied"}\n')
  await checkLogs(folder)
  await writeFile(join(folder, 'bad.log'), `{"level":30}\n${line}\n`)
  await expect(checkLogs(folder)).rejects.toThrow(/bad\.log/)
  await rm(folder, { recursive: true })
})
