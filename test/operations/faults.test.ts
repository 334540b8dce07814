// What is promised to senders, while the server or its own Postgres is killed or stopped, or the disk is full.
import { rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { CrashLoad } from '../support/crash-load.ts'
import {
  embeddedUrl,
  endPostgres,
  endServer,
  heard,
  msUntilAccepted,
  postmasterOf,
  query,
  readiness,
  RECOVERY_MS,
  settle,
  soon,
  startLoad,
  startServer,
  untilAnswers,
  untilMore,
  watchReadiness,
} from '../support/fault-stand.ts'
import { openFolder } from '../support/folder.ts'
import { freePort, type ServerProcess } from '../support/process.ts'
import { openSmallDisk, outgrowLimit } from '../support/small-disk.ts'

const TIMEOUT = 90_000

let dataDir: string
const started: ServerProcess[] = []
const loads: CrashLoad[] = []
const cleanUps: (() => Promise<void>)[] = []
beforeAll(async () => void (dataDir = await openFolder()))
afterEach(async () => {
  try {
    for (const clients of loads.splice(0)) await clients.end(0)
    for (const server of started.splice(0)) await endServer(server)
  } finally {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp()
  }
}, TIMEOUT)
afterAll(async () => {
  await endPostgres(dataDir)
  await rm(dataDir, { recursive: true, force: true })
})

async function start(env: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startServer({ DATA_DIR: dataDir, ...env })
  started.push(server)
  return server
}

async function load(server: ServerProcess, prefix: string): Promise<CrashLoad> {
  const clients = await startLoad(server, prefix)
  loads.push(clients)
  return clients
}

test('a server that is killed under load, over and over, loses and doubles nothing', { timeout: TIMEOUT }, async () => {
  const PORT = String(await freePort())
  let server = await start({ PORT })
  const clients = await load(server, 'killed')
  let recoveryMs = 0
  let startMs = 0
  for (let round = 0; round < 3; round++) {
    await untilMore(server, clients)
    server.child.kill('SIGKILL')
    await server.exited
    const since = performance.now()
    server = await start({ PORT })
    startMs = Math.max(startMs, Math.round(performance.now() - since))
    recoveryMs = Math.max(recoveryMs, await msUntilAccepted(server))
  }
  await untilMore(server, clients)
  await settle(server, clients, await embeddedUrl(dataDir), { what: 'server killed 3 times', recoveryMs, startMs })
})

test('a Postgres that is killed is started again by the living server', { timeout: TIMEOUT }, async () => {
  const server = await start()
  const clients = await load(server, 'postmaster')
  const url = await embeddedUrl(dataDir)
  const watch = watchReadiness(server)
  const { pid } = await postmasterOf(dataDir)
  const since = performance.now()
  process.kill(pid, 'SIGKILL')
  await soon(async () => (await postmasterOf(dataDir).catch(() => ({ pid }))).pid !== pid)
  await untilAnswers(url)
  const awayMs = Math.round(performance.now() - since)
  const recoveryMs = await msUntilAccepted(server)
  await untilMore(server, clients)
  await watch.stop()
  await settle(server, clients, url, { what: 'Postgres killed', recoveryMs, awayMs })
  expect(watch.seen).toContain(503)
})

test('a backend that is killed, for which Postgres restarts itself, costs nothing', { timeout: TIMEOUT }, async () => {
  const server = await start()
  const clients = await load(server, 'backend')
  const url = await embeddedUrl(dataDir)
  const [before] = await query(
    url,
    (sql) => sql`select pid from pg_stat_activity where application_name = 'runwatch-ingest' limit 1`,
  )
  const since = performance.now()
  process.kill(before!.pid, 'SIGKILL')
  // Postgres ends all its processes before it takes connections again.
  await soon(() =>
    query(url, (sql) => sql`select 1 from pg_stat_activity where pid = ${before!.pid}`).then(
      (rows) => rows.length === 0,
      () => false,
    ),
  )
  const awayMs = Math.round(performance.now() - since)
  const recoveryMs = await msUntilAccepted(server)
  await untilMore(server, clients)
  await settle(server, clients, url, { what: 'backend killed', recoveryMs, awayMs })
})

test(
  'while the disk is full posts are refused, and when it is not any more they are taken',
  { timeout: TIMEOUT },
  async (context) => {
    const disk = await openSmallDisk()
    if (!disk) return context.skip('neither a small disk nor a limit for the size of files is to be had here')
    cleanUps.push(async () => {
      await endPostgres(disk.folder)
      await disk.remove()
    })
    const server = await start({ DATA_DIR: disk.folder })
    const url = await embeddedUrl(disk.folder)
    if (!disk.isWhole) await outgrowLimit(url)
    const clients = await load(server, 'full')
    const recoveries: number[] = []
    for (const isDown of disk.isWhole ? [false, true] : [false]) {
      const refused = heard(clients, 'unavailable')
      await disk.fill()
      // A new file of its log is what it cannot do without.
      if (isDown)
        await soon(() =>
          query(url, (sql) => sql`select pg_switch_wal()`).then(
            () => false,
            () => true,
          ),
        )
      await soon(() => heard(clients, 'unavailable') > refused)
      await soon(async () => (await readiness(server.url)) === 503)
      await disk.free()
      recoveries.push(await msUntilAccepted(server))
      await untilMore(server, clients)
    }
    expect(recoveries[0]).toBeLessThanOrEqual(RECOVERY_MS)
    const what = disk.isWhole ? 'disk full, then full and Postgres down' : 'files that may not grow'
    await settle(server, clients, url, { what, recoveryMs: Math.max(...recoveries), each: recoveries.join(' and ') })
  },
)

test(
  'SIGTERM under load: what was taken is stored and answered, the rest is not stored',
  { timeout: TIMEOUT },
  async () => {
    const PORT = String(await freePort())
    const server = await start({ PORT })
    const clients = await load(server, 'term')
    server.child.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    await clients.end(0)
    const next = await start({ PORT })
    const recoveryMs = await msUntilAccepted(next)
    await settle(next, clients, await embeddedUrl(dataDir), { what: 'SIGTERM', recoveryMs, isAnswered: true })
  },
)
