// Servers killed under load, at once after they acknowledged and in the midst of telling: counted at the receivers.
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
  'killed as soon as it has acknowledged, again and again: every channel hears of every run',
  { timeout: TIMEOUT },
  async () => {
    const all = [await receiver(reply(200)), await receiver(reply(200))]
    const { sql } = await prepare(all)
    const PORT = String(await freePort())
    const left: number[] = []
    for (let round = 0; round < 2; round++) {
      const server = await start({ PORT })
      const runs = runsOf('Killed', `round-${round}`, 100)
      const posts = [0, 50].map((from) => postRuns(server, runs.slice(from, from + 50)))
      expect(await Promise.all(posts)).toEqual([200, 200])
      // Then in the midst of it.
      if (round > 0) await soon(() => all[0]!.asked.length > 40)
      await kill(server)
      left.push(200 * (round + 1) - ((await statesOf(sql)).SENT ?? 0))
      // Of those that were under way nothing will be heard: as when their lease is over.
      await hurry(sql)
    }
    await start({ PORT })
    await soon(async () => (await statesOf(sql)).SENT === 400, 30_000)
    console.log(`killed twice: ${left.join(', ')} of its deliveries were left`)
    expect(Math.max(...left)).toBeGreaterThan(0)
    for (const { asked } of all) {
      expect(countOf(asked)).toMatchObject({ sessions: 200, mostIds: 1, ids: 200 })
      // Twice came only what was under way when it was killed.
      expect(asked.length).toBeLessThanOrEqual(200 + 2 * PLACES)
    }
  },
)
