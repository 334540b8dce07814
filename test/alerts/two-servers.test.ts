// Two servers on one database, under load: every message reaches every channel once, whoever took the run.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ALERT_ENV, alertsOf } from '../support/alert-stand.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { execution } from '../support/failed-runs.ts'
import { soon } from '../support/fault-stand.ts'
import { hang, reply, startOddReceiver, type Conduct, type OddReceiver } from '../support/odd-receiver.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { countOf, failRuns, ONCE_EACH, runsOf, statesOf, tellOf } from '../support/told.ts'

let database: TestDatabase
let servers: TestServer[]
const receivers: OddReceiver[] = []
beforeAll(async () => {
  database = await newDatabase()
  servers = [await startServer({ database, env: ALERT_ENV }), await startServer({ database, env: ALERT_ENV })]
})
afterAll(async () => {
  for (const server of servers) await server.stop()
  for (const receiver of receivers) await receiver.close()
  await database.drop()
})
const receiver = async (conduct: Conduct) => {
  const one = await startOddReceiver(conduct)
  receivers.push(one)
  return one
}

test(
  '300 failed runs, each posted to both at once, are told once to each of three channels',
  { timeout: 90_000 },
  async () => {
    const slowly: Conduct = (socket, asked) => void setTimeout(() => reply(200)(socket, asked), 15)
    const all = [await receiver(reply(200)), await receiver(slowly), await receiver(slowly)]
    await tellOf(
      await alertsOf(servers[0]!),
      'Both',
      all.map(({ url }) => `${url}/hook`),
    )
    const runs = runsOf('Both', 'both', 300)
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => runs.slice(i * 25, i * 25 + 25)).flatMap((part) =>
        servers.map((server) => failRuns(server, part)),
      ),
    )
    await soon(async () => (await statesOf(database.sql)).SENT === 900, 40_000)
    // All of it is classified once more, on both.
    await database.sql`
    update sessions set content_revision = content_revision + 1, last_event_at = now() - interval '10 seconds'`
    await soon(async () => {
      const [row] =
        await database.sql`select count(*)::int as due from sessions where classified_content < content_revision`
      return row!.due === 0
    }, 30_000)
    for (const { asked } of all) expect(countOf(asked)).toEqual(ONCE_EACH(300))
    const [counts] = await database.sql`
    select (select count(*)::int from alerts) as alerts, count(*)::int as attempts, count(distinct delivery_id)::int as deliveries
    from delivery_attempts where is_delivered`
    expect(counts).toEqual({ alerts: 300, attempts: 900, deliveries: 900 })
  },
)

test(
  'a receiver that both have attempts at gets no message from both, nor once more when it answers late',
  { timeout: 60_000 },
  async () => {
    const late = await receiver(hang)
    await tellOf(await alertsOf(servers[0]!), 'Late', [`${late.url}/hook`])
    for (let i = 0; i < 20; i++) await failRuns(servers[i % 2]!, runsOf('Late', `late-${i}`, 2))
    // Four by each server.
    await soon(() => late.open === 8)
    late.release((socket, asked) => void setTimeout(() => reply(200)(socket, asked), 100))
    await soon(() => late.asked.length >= 40)
    await soon(async () => (await statesOf(database.sql)).QUEUED === undefined)
    expect(countOf(late.asked)).toEqual(ONCE_EACH(40))
    expect(late.mostOpen).toBeLessThanOrEqual(8)
  },
)

test(
  'a run that fails in another way before its turn has come is told of all the same',
  { timeout: 60_000 },
  async () => {
    const busy = await receiver(hang)
    await tellOf(await alertsOf(servers[0]!), 'Flow', [`${busy.url}/hook`])
    const [server] = servers
    for (let i = 0; i < 8; i++) await server!.ingestB(execution(`busy-${i}`, { error: 'Bad gateway' }))
    await soon(() => busy.open === 8)
    const found = async () =>
      (
        await database.sql`select f.category from failures f join sessions s on s.id = f.session_id where s.external_id = 'turned'`
      ).map(({ category }) => category)
    // What an error workflow sends, then the whole execution.
    await server!.ingestB({
      execution: { id: 'turned', error: { message: 'The service is overloaded' }, lastNodeExecuted: 'Push to CRM' },
      workflow: { id: 'flow', name: 'Flow' },
    })
    await soon(async () => (await found())[0] === 'RUN_FAILURE')
    await server!.ingestB(execution('turned', { error: 'The service is overloaded' }))
    await soon(async () => (await found())[0] === 'TOOL_FAILURE')
    busy.release(reply(200))
    await soon(async () => (await statesOf(database.sql)).QUEUED === undefined)
    const rows = await database.sql`
    select d.state, d.suppressed_by from deliveries d join alerts a on a.id = d.alert_id join sessions s on s.id = a.session_id
    where s.external_id = 'turned'`
    expect(rows.map((row) => ({ ...row }))).toEqual([{ state: 'SENT', suppressed_by: null }])
    expect(countOf(busy.asked)).toMatchObject({ sessions: 9, mostTimes: 1 })
  },
)
