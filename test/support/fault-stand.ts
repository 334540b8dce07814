// What a fault test stands on: a server process, clients that post to it, and what is to be so when the fault is over.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { expect } from 'vitest'
import { findPostmaster, isAlive } from '../../server/database/embedded-process.ts'
import { compare, replay } from './crash-check.ts'
import { CrashLoad } from './crash-load.ts'
import { startProcess, type ServerProcess } from './process.ts'
import { KEY } from './server.ts'

/** From the moment the database can be used again, however it was lost, a post is taken within this time. */
export const RECOVERY_MS = 5_000

/** Asks now and then, so that clients and servers on the same machine get their turn. */
export async function soon<T>(ask: () => T | Promise<T>, withinMs = 30_000): Promise<NonNullable<T>> {
  const end = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${ask}`)
    await sleep(10)
  }
}

const hasEnded = ({ child }: ServerProcess) => child.exitCode !== null || child.signalCode !== null

export async function startServer(env: Record<string, string>): Promise<ServerProcess> {
  const server = await startProcess({ INIT_API_KEY: KEY, LOG_LEVEL: 'error', ...env }, { isReady: false })
  await soon(async () => {
    if (hasEnded(server)) throw new Error(`it ended: ${server.output()}`)
    return (await readiness(server.url)) === 200
  })
  return server
}

/** As it should end; a server that does not is killed. */
export async function endServer(server: ServerProcess): Promise<void> {
  if (!hasEnded(server)) server.child.kill('SIGTERM')
  await Promise.race([server.exited, sleep(15_000)])
  if (!hasEnded(server)) server.child.kill('SIGKILL')
  await server.exited
}

/** The status of /readyz; 0 stands for no answer at all. */
export async function readiness(url: string): Promise<number> {
  try {
    const response = await fetch(`${url}/readyz`)
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

/** Asks /readyz over and over and remembers what it said. */
export function watchReadiness({ url }: ServerProcess) {
  const seen = new Set<number>()
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      seen.add(await readiness(url))
      await sleep(20)
    }
  })()
  return {
    seen,
    stop: async () => {
      isOver = true
      await watching
    },
  }
}

const ENOUGH = 200

/** Returns when the clients are under way. */
export async function startLoad(server: ServerProcess, prefix: string): Promise<CrashLoad> {
  const load = new CrashLoad(server.url, prefix)
  await untilMore(server, load)
  return load
}

/** Waits until so many more requests were acknowledged. */
export async function untilMore(server: ServerProcess, load: CrashLoad): Promise<void> {
  const before = load.acknowledged
  await soon(() => {
    if (hasEnded(server)) throw new Error(`it ended: ${server.output()}`)
    return load.acknowledged >= before + ENOUGH
  })
}

/** How often clients have heard this. */
export const heard = (load: CrashLoad, code: string) =>
  load.sent.flatMap(({ answers }) => answers).filter((answer) => answer.code === code).length

/**
 * How long it takes, from now, until a post is answered with 200. A new one is sent every 50 ms, whatever became of those
 * before: one that waits for its answer must not hide that others get theirs.
 */
export async function msUntilAccepted({ url }: ServerProcess): Promise<number> {
  const began = performance.now()
  let accepted: number | null = null
  const post = async () => {
    const response = await fetch(`${url}/api/ingest/platform-a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY },
      body: JSON.stringify({ session_id: 'recovered', type: 'span' }),
    })
    await response.arrayBuffer()
    if (response.ok) accepted ??= performance.now() - began
  }
  while (accepted === null && performance.now() - began < 30_000) {
    void post().catch(() => {})
    await sleep(50)
  }
  return Math.round(accepted ?? Infinity)
}

/** The fault is over: the clients stop when they have what they wait for, and all that was promised must be so. */
export async function settle(
  server: ServerProcess,
  load: CrashLoad,
  databaseUrl: string,
  { what, recoveryMs, ...facts }: { what: string; recoveryMs: number; isAnswered?: boolean } & Record<string, unknown>,
): Promise<void> {
  await load.end(20_000)
  const options = { isAnswered: facts.isAnswered ?? false }
  const verdict = await query(databaseUrl, (sql) => compare(sql, load, options))
  const { replayed, broken } = await replay(server.url, load)
  const more = Object.entries(facts).flatMap(([name, fact]) => (typeof fact === 'boolean' ? [] : `, ${name} ${fact}`))
  console.log(`${what}: ${verdict.line}, sent again ${replayed}, recovery ${recoveryMs} ms${more.join('')}`)
  const acknowledged = load.sent.filter(({ receipt }) => receipt)
  const after = await query(databaseUrl, (sql) => compare(sql, { prefix: load.prefix, sent: acknowledged }, options))
  expect([...verdict.broken, ...broken, ...after.broken]).toEqual([])
  expect(server.child.exitCode, server.output()).toBeNull()
  await soon(async () => (await readiness(server.url)) === 200)
  expect(recoveryMs).toBeLessThanOrEqual(RECOVERY_MS)
}

export async function query<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, fetch_types: false, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Resolves when the database takes connections and answers. */
export async function untilAnswers(url: string): Promise<void> {
  await soon(() =>
    query(url, (sql) => sql`select 1`).then(
      () => true,
      () => false,
    ),
  )
}

/** The Postgres that a server runs in its data folder. */
export async function postmasterOf(dataDir: string): Promise<{ pid: number; port: number }> {
  const found = await findPostmaster(join(dataDir, 'postgres'))
  if (!found || found === 'stale' || !found.port) throw new Error('no Postgres runs there')
  return { pid: found.pid, port: found.port }
}

export async function embeddedUrl(dataDir: string): Promise<string> {
  const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim()
  return `postgres://runwatch:${password}@127.0.0.1:${(await postmasterOf(dataDir)).port}/runwatch`
}

/** Ends a Postgres that its killed server left behind. */
export async function endPostgres(dataDir: string): Promise<void> {
  const { pid } = await postmasterOf(dataDir).catch(() => ({ pid: 0 }))
  if (!pid) return
  process.kill(pid, 'SIGQUIT')
  await soon(async () => !(await isAlive(pid)))
}
