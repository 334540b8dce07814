// A server that is asked to stop while it tells: it stops soon, nothing is lost, and what was taken is not sent again.
import { afterEach, expect, test } from 'vitest'
import { postRuns, startTelling, tellingDatabase, terminate } from '../support/alert-process.ts'
import type { TestDatabase } from '../support/database.ts'
import { endServer, soon } from '../support/fault-stand.ts'
import { hang, reply, startOddReceiver, type Conduct, type OddReceiver } from '../support/odd-receiver.ts'
import type { ServerProcess } from '../support/process.ts'
import { ADMIN } from '../support/server.ts'
import { countOf, ONCE_EACH, runsOf, statesOf } from '../support/told.ts'

const TIMEOUT = 120_000
/** An attempt may take 10 s; a server must not wait for that. The rest is for a busy machine. */
const STOPS_WITHIN_MS = 9_000
const PLACES = 4
const servers: ServerProcess[] = []
const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await endServer(server)
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
}, TIMEOUT)

async function telling(
  conduct: Conduct,
): Promise<{ one: OddReceiver; database: TestDatabase; channel: string; start(): Promise<ServerProcess> }> {
  const one = await startOddReceiver(conduct)
  const { database, channels } = await tellingDatabase('Stopped', [`${one.url}/hook`])
  cleanUps.push(
    () => one.close(),
    () => database.drop(),
  )
  const start = async () => {
    const server = await startTelling(database)
    servers.push(server)
    return server
  }
  return { one, database, channel: channels[0]!, start }
}

test(
  'stopped while a receiver that never answers has attempts: it ends soon, and the next start makes them again at once',
  { timeout: TIMEOUT },
  async () => {
    const { one, database, start } = await telling(hang)
    const server = await start()
    expect(await postRuns(server, runsOf('Stopped', 'stop', 6))).toBe(200)
    await soon(() => one.asked.length === PLACES)
    const stopped = await terminate(server)
    expect(stopped.code).toBe(0)
    console.log(`stopped within ${Math.round(stopped.ms)} ms`)
    expect(stopped.ms).toBeLessThan(STOPS_WITHIN_MS)
    const rows = await database.sql`
      select d.state, d.retries, d.next_attempt_at <= now() as is_due, t.problem, t.is_delivered from deliveries d
      left join delivery_attempts t on t.delivery_id = d.id order by t.problem nulls last`
    const cutOff = { problem: 'The server was stopped during the attempt.', is_delivered: false }
    const queued = { state: 'QUEUED', retries: 0, is_due: true }
    expect(rows.map((row) => ({ ...row }))).toEqual([
      ...Array(PLACES).fill({ ...queued, ...cutOff }),
      ...Array(2).fill({ ...queued, problem: null, is_delivered: null }),
    ])
    one.answers(reply(200))
    await start()
    await soon(async () => (await statesOf(database.sql)).SENT === 6)
    expect(countOf(one.asked)).toEqual({ sessions: 6, mostTimes: 2, mostIds: 1, ids: 6 })
    expect(one.asked.length).toBe(6 + PLACES)
  },
)

test('what is answered while it stops is taken down, so that nothing comes twice', { timeout: TIMEOUT }, async () => {
  const { one, database, start } = await telling(hang)
  const server = await start()
  expect(await postRuns(server, runsOf('Stopped', 'grace', 12))).toBe(200)
  await soon(() => one.asked.length === PLACES)
  const stopping = terminate(server)
  await soon(() => server.output().includes('Stopping'))
  one.release(reply(200))
  expect((await stopping).code).toBe(0)
  expect(one.asked.length).toBeLessThanOrEqual(12)
  await start()
  await soon(async () => (await statesOf(database.sql)).SENT === 12)
  expect(countOf(one.asked)).toEqual(ONCE_EACH(12))
})

test('a test message that hangs does not keep it from stopping', { timeout: TIMEOUT }, async () => {
  const { one, channel, start } = await telling(hang)
  const server = await start()
  const post = (path: string, body: object, cookie = '') =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
  const signedIn = await post('/api/auth/sign-in', ADMIN)
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const query = `mutation ($id: ID!) { testChannel(id: $id) { isDelivered } }`
  void post('/graphql', { query, variables: { id: channel } }, cookie).catch(() => {})
  await soon(() => one.asked.length === 1)
  const stopped = await terminate(server)
  console.log(`with a test message stopped within ${Math.round(stopped.ms)} ms`)
  expect(stopped.code).toBe(0)
  expect(stopped.ms).toBeLessThan(STOPS_WITHIN_MS)
})
