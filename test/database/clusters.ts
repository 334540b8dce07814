// Real clusters for the checks of the embedded Postgres, in folders and processes that are cleaned up after each.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../server/database/embedded.ts'
import { findPostmaster, isAlive } from '../../server/database/embedded-process.ts'

export const TIMEOUT = 90_000
export const isRoot = process.getuid?.() === 0
export const project = fileURLToPath(new URL('../..', import.meta.url))
export const system = '/var/lib/runwatch'

export const folders: string[] = []
export const running: EmbeddedPostgres[] = []
export const children: ChildProcess[] = []
let systemBefore: string[] | undefined

export async function until(what: string, condition: () => Promise<boolean>, ms = 30_000): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}

/** A folder that every user may pass through, as a project's usually is. */
export async function openFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'runwatch-test-')))
  await chmod(folder, 0o755)
  folders.push(folder)
  return folder
}

export async function start(options: Parameters<typeof startEmbeddedPostgres>[0]): Promise<EmbeddedPostgres> {
  const started = await startEmbeddedPostgres(options)
  running.push(started)
  return started
}

export async function query<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 2 })
  }
}

export const keep = (url: string, value: string) =>
  query(url, async (sql) => {
    await sql`create table if not exists kept (value text)`
    await sql`insert into kept values (${value})`
  })

export const kept = (url: string) =>
  query(url, async (sql) => (await sql`select value from kept order by 1`).map((r) => r.value))

export async function postmasterPid(dataFolder: string): Promise<number> {
  const found = await findPostmaster(dataFolder)
  if (!found || found === 'stale') throw new Error(`no Postgres runs on ${dataFolder}`)
  return found.pid
}

export async function lockIsHeld(url: string): Promise<boolean> {
  try {
    const held = await query(url, (sql) => sql`select 1 from pg_locks where locktype = 'advisory' and granted`)
    return held.length === 1
  } catch {
    return false
  }
}

/** A process of its own process group that starts Postgres, says so, survives SIGINT and stops when told on stdin. */
export async function startInChild(dataDir: string): Promise<{ child: ChildProcess; said: () => string; url: string }> {
  const module = new URL('../../server/database/embedded.ts', import.meta.url).href
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(module)}
    process.on('SIGINT', () => console.log('had SIGINT'))
    const started = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} })
    process.stdin.on('data', async () => { await started.stop(); process.exit(0) })
    console.log('url ' + started.url)
  `
  const args = ['--import', 'tsx', '--input-type=module', '-e', script]
  const child = spawn(process.execPath, args, { cwd: project, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  children.push(child)
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  await until('the child starts Postgres', async () => {
    if (child.exitCode !== null) throw new Error(`the child ended: ${output}`)
    return /url \S+\n/.test(output)
  })
  return { child, said: () => output, url: /url (\S+)/.exec(output)?.[1] ?? '' }
}

export const ended = (child: ChildProcess) =>
  until('the child ends', async () => child.exitCode !== null || child.signalCode !== null)

beforeAll(async () => {
  systemBefore = await readdir(system).catch(() => undefined)
})

afterEach(async () => {
  for (const started of running.splice(0)) await started.stop()
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended(child)
  }
  for (const folder of folders.splice(0)) {
    for (const name of await readdir(folder)) {
      const cluster = await realpath(path.join(folder, name, 'postgres')).catch(() => undefined)
      if (!cluster) continue
      const left = await findPostmaster(cluster).catch(() => undefined)
      if (left && left !== 'stale') {
        process.kill(left.pid, 'SIGQUIT')
        await until('Postgres ends', async () => !(await isAlive(left.pid)))
      }
      if (cluster.startsWith(`${system}/`)) await rm(path.dirname(cluster), { recursive: true, force: true })
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}, TIMEOUT)

afterAll(async () => {
  if (!isRoot) return
  for (const name of await readdir(system).catch(() => [])) {
    if (!systemBefore?.includes(name)) await rm(path.join(system, name), { recursive: true, force: true })
  }
  if (systemBefore === undefined) await rm(system, { recursive: true, force: true })
})
