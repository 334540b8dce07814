// What is promised to senders, while the connections between the server and its database break or fall silent.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { CrashLoad } from '../support/crash-load.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import {
  msUntilAccepted,
  readiness,
  settle,
  soon,
  startLoad,
  startServer,
  untilMore,
  watchReadiness,
} from '../support/fault-stand.ts'
import type { ServerProcess } from '../support/process.ts'
import { breakableProxy } from '../support/proxy.ts'

const TIMEOUT = 60_000

let database: TestDatabase
let proxy: Awaited<ReturnType<typeof breakableProxy>>
let server: ServerProcess
const loads: CrashLoad[] = []
beforeAll(async () => {
  database = await newDatabase()
  proxy = await breakableProxy(database.url)
  server = await startServer({ DATABASE_URL: proxy.url })
})
afterEach(async () => {
  for (const clients of loads.splice(0)) await clients.end(0)
})
afterAll(async () => {
  server.child.kill('SIGKILL')
  await server.exited
  await proxy.close()
  await database.drop()
})

async function load(prefix: string): Promise<CrashLoad> {
  const clients = await startLoad(server, prefix)
  loads.push(clients)
  return clients
}

test.each([
  ['refused for 8 s', 8_000, () => proxy.vanish()],
  ['cut for 8 s as soon as they are open', 8_000, () => proxy.refuse()],
  ['silent for 8 s, and never closed', 8_000, () => proxy.fallSilent()],
  ['silent for a moment, and never closed', 300, () => proxy.fallSilent()],
])(
  'while connections are %s nothing is lost, and afterwards posts are taken again',
  { timeout: TIMEOUT },
  async (what, awayMs, breakOff) => {
    const clients = await load(`away${awayMs}x${what.length}`)
    const watch = watchReadiness(server)
    breakOff()
    await sleep(awayMs)
    await proxy.accept()
    const recoveryMs = await msUntilAccepted(server)
    await untilMore(server, clients)
    await soon(async () => (await readiness(server.url)) === 200)
    await watch.stop()
    await settle(server, clients, database.url, { what: `connections ${what}`, recoveryMs })
    expect(watch.seen).toContain(503)
  },
)

test('connections that are ended over and over cost nothing but time', { timeout: TIMEOUT }, async () => {
  const clients = await load('ended')
  let ended = 0
  for (const until = performance.now() + 4_000; performance.now() < until;) {
    const [row] = await database.sql`
      select count(pg_terminate_backend(pid))::int as ended from pg_stat_activity
      where datname = current_database() and application_name like 'runwatch-%'`
    ended += row!.ended
    await sleep(150)
  }
  const recoveryMs = await msUntilAccepted(server)
  await untilMore(server, clients)
  await soon(async () => (await readiness(server.url)) === 200)
  await settle(server, clients, database.url, { what: 'connections ended over and over', recoveryMs, ended })
  expect(ended).toBeGreaterThan(20)
})
