// What is promised to senders, while the connections between the server and its database break or fall silent.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

/** A server with a database and connections of its own: what breaks one leaves the others alone. */
interface Stand {
  database: TestDatabase
  proxy: Awaited<ReturnType<typeof breakableProxy>>
  server: ServerProcess
  load(prefix: string): Promise<CrashLoad>
}

const cleanUps: (() => Promise<unknown>)[] = []
async function openStand(): Promise<Stand> {
  const database = await newDatabase()
  cleanUps.push(() => database.drop())
  const proxy = await breakableProxy(database.url)
  cleanUps.push(() => proxy.close())
  const server = await startServer({ DATABASE_URL: proxy.url })
  cleanUps.push(async () => {
    server.child.kill('SIGKILL')
    await server.exited
  })
  const load = async (prefix: string) => {
    const clients = await startLoad(server, prefix)
    cleanUps.push(() => clients.end(0))
    return clients
  }
  return { database, proxy, server, load }
}

let stands: [Stand, Stand, Stand]
beforeAll(async () => void (stands = await Promise.all([openStand(), openStand(), openStand()])))
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
}, TIMEOUT)

const BREAKS = {
  'refused for 8 s': [8_000, (proxy: Stand['proxy']) => proxy.vanish()],
  'cut for 8 s as soon as they are open': [8_000, (proxy: Stand['proxy']) => proxy.refuse()],
  'silent for 8 s, and never closed': [8_000, (proxy: Stand['proxy']) => proxy.fallSilent()],
  'silent for a moment, and never closed': [300, (proxy: Stand['proxy']) => proxy.fallSilent()],
} as const

async function survives({ database, proxy, server, load }: Stand, what: keyof typeof BREAKS) {
  const [awayMs, breakOff] = BREAKS[what]
  const clients = await load(`away${awayMs}x${what.length}`)
  const watch = watchReadiness(server)
  breakOff(proxy)
  await sleep(awayMs)
  await proxy.accept()
  const recoveryMs = await msUntilAccepted(server)
  await untilMore(server, clients)
  await soon(async () => (await readiness(server.url)) === 200)
  await watch.stop()
  await settle(server, clients, database.url, { what: `connections ${what}`, recoveryMs })
  expect(watch.seen).toContain(503)
}

// Each on a server of its own, at the same time: nearly all of it is waiting.
describe.concurrent('while connections are', () => {
  test.for([
    ['refused for 8 s', 0],
    ['cut for 8 s as soon as they are open', 1],
    ['silent for 8 s, and never closed', 2],
  ] as const)('%s nothing is lost, and afterwards posts are taken again', { timeout: TIMEOUT }, ([what, stand]) =>
    survives(stands[stand], what),
  )
})

// Each of these on a server that had worse already.
test(
  'while connections are silent for a moment, and never closed nothing is lost, and afterwards posts are taken again',
  { timeout: TIMEOUT },
  () => survives(stands[2], 'silent for a moment, and never closed'),
)

test('connections that are ended over and over cost nothing but time', { timeout: TIMEOUT }, async () => {
  const { database, server, load } = stands[2]
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
