// A server that is killed between a failure and its telling: after a restart each alert arrives, with the same webhook-id.
import { afterEach, expect, test } from 'vitest'
import { postRuns, startTelling, tellingDatabase } from '../support/alert-process.ts'
import type { TestDatabase } from '../support/database.ts'
import { endServer, soon } from '../support/fault-stand.ts'
import { hang, reply, startOddReceiver, type OddReceiver } from '../support/odd-receiver.ts'
import { freePort, type ServerProcess } from '../support/process.ts'
import { countOf, hurry, runsOf, statesOf } from '../support/told.ts'

const TIMEOUT = 120_000
const PLACES = 4
const servers: ServerProcess[] = []
const receivers: OddReceiver[] = []
let database: TestDatabase | null = null
afterEach(async () => {
  for (const server of servers.splice(0)) await endServer(server)
  for (const receiver of receivers.splice(0)) await receiver.close()
  await database?.drop()
  database = null
}, TIMEOUT)

const receiver = async (conduct = hang) => {
  const one = await startOddReceiver(conduct)
  receivers.push(one)
  return one
}
const prepare = async (all: { url: string }[]) => {
  const made = await tellingDatabase(
    'Killed',
    all.map(({ url }) => `${url}/hook`),
  )
  database = made.database
  return made.database
}
const start = async (env: Record<string, string> = {}) => {
  const server = await startTelling(database!, env)
  servers.push(server)
  return server
}
const kill = async (server: ServerProcess) => {
  server.child.kill('SIGKILL')
  await server.exited
}

test(
  'killed in the middle of attempts: they are made again soon, with the same ids, and the log shows both',
  { timeout: TIMEOUT },
  async () => {
    const one = await receiver()
    const { sql } = await prepare([one])
    const first = await start()
    expect(await postRuns(first, runsOf('Killed', 'middle', 10))).toBe(200)
    await soon(() => one.asked.length === PLACES)
    const before = one.asked.map(({ id }) => id)
    await kill(first)
    expect(await statesOf(sql)).toEqual({ QUEUED: 10 })
    const [row] = await sql`
    select max(extract(epoch from next_attempt_at - now())) as wait from deliveries where attempt_count = 1`
    // Without moving anything it would be taken up within this time.
    expect(Number(row!.wait)).toBeLessThanOrEqual(15)
    one.answers(reply(200))
    await hurry(sql)
    await start()
    await soon(async () => (await statesOf(sql)).SENT === 10)
    expect(countOf(one.asked)).toMatchObject({ sessions: 10, mostTimes: 2, mostIds: 1, ids: 10 })
    expect(one.asked.length).toBe(10 + PLACES)
    const attempts = await sql`
    select 'msg_' || delivery_id as id, array_agg(coalesce(is_delivered::text, 'unknown') order by number) as said from delivery_attempts group by 1`
    for (const { id, said } of attempts) expect(said).toEqual(before.includes(id) ? ['unknown', 'true'] : ['true'])
  },
)

test(
  'killed when the receiver has it and before that is known: it comes again with the same id',
  { timeout: TIMEOUT },
  async () => {
    const one = await receiver()
    const { sql } = await prepare([one])
    const first = await start()
    one.answers((socket, asked) => {
      first.child.kill('SIGKILL')
      reply(200)(socket, asked)
    })
    expect(await postRuns(first, runsOf('Killed', 'taken', 1))).toBe(200)
    await first.exited
    await soon(() => one.asked.length === 1)
    expect(await statesOf(sql)).toEqual({ QUEUED: 1 })
    one.answers(reply(200))
    await hurry(sql)
    await start()
    await soon(async () => (await statesOf(sql)).SENT === 1)
    expect(countOf(one.asked)).toEqual({ sessions: 1, mostTimes: 2, mostIds: 1, ids: 1 })
  },
)
