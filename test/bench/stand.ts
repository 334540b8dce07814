// The test stand: a Postgres in a temporary folder, the processes of a measurement, and taking all of it down again.
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '../../server/database/embedded.ts'
import { migrate } from '../../server/database/migrate.ts'
import { ensurePartitions } from '../../server/database/partitions.ts'

export const KEY = 'rw_bench_0123456789abcdefghijklmnopqrstuvwxyz'
export const ADMIN = { email: 'bench@example.com', password: 'a password for the bench' }
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export class Stand {
  private closers: (() => Promise<unknown>)[] = []
  private isClosing = false
  folder = ''
  postgresUrl = ''
  postgresPid = 0

  /** @param settings of Postgres beside those that the product starts it with */
  async start(settings: Record<string, string> = {}): Promise<this> {
    this.folder = await mkdtemp(join(tmpdir(), 'runwatch-bench-'))
    this.onClose(() => rm(this.folder, { recursive: true, force: true }))
    // Started by root, Postgres runs as another user, who must be able to go in.
    await chmod(this.folder, 0o755)
    const embedded = await startEmbeddedPostgres({ dataDir: this.folder, settings })
    this.onClose(async () => {
      await embedded.stop()
      await rm(embedded.dataFolder, { recursive: true, force: true })
    })
    this.postgresUrl = embedded.url
    const [pid] = (await readFile(join(embedded.dataFolder, 'postmaster.pid'), 'utf8')).split('\n')
    this.postgresPid = Number(pid)
    return this
  }

  onClose(closer: () => Promise<unknown>): void {
    this.closers.push(closer)
  }

  /** Ends what was started, last first. Never throws: what could not be ended is said. */
  async close(): Promise<void> {
    this.isClosing = true
    for (const close of this.closers.splice(0).reverse()) {
      await close().catch((error: unknown) => console.error('not cleaned up:', error))
    }
  }

  /** A new database with the product's tables and today's partitions. */
  async database(name: string): Promise<{ url: string; sql: postgres.Sql }> {
    const admin = postgres(this.postgresUrl, { max: 1, onnotice: () => {} })
    await admin.unsafe(`create database ${name}`)
    await admin.end()
    const url = new URL(this.postgresUrl)
    url.pathname = `/${name}`
    const sql = postgres(url.href, { max: 2, onnotice: () => {}, connection: { jit: false } })
    this.onClose(() => sql.end({ timeout: 1 }))
    await migrate(sql)
    await ensurePartitions(sql)
    return { url: url.href, sql }
  }

  /** The server as `npm start` starts it, on a free port. */
  async server(
    databaseUrl: string,
    nodeOptions: string[] = [],
    env: Record<string, string> = {},
  ): Promise<{ url: URL; child: ChildProcess }> {
    const child = spawn(process.execPath, [...nodeOptions, '--import', 'tsx', 'server/main.ts'], {
      cwd: ROOT,
      env: {
        PORT: '0',
        DATABASE_URL: databaseUrl,
        DATA_DIR: join(this.folder, 'server'),
        INIT_API_KEY: KEY,
        INIT_ADMIN_EMAIL: ADMIN.email,
        INIT_ADMIN_PASSWORD: ADMIN.password,
        LOG_LEVEL: 'warn',
        RATE_LIMIT_PER_MINUTE: '1000000000',
        // So that it also ends when this process is killed.
        npm_lifecycle_event: 'bench',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.ownProcess(child)
    child.stderr.pipe(process.stderr)
    const address = await said(child, /ready at (http:\/\/\S+)/)
    return { url: new URL(address), child }
  }

  /** A process of the bench itself; it says "ready" with what it has to say once it can be used. */
  async helper<T>(file: string, options: object): Promise<{ child: ChildProcess; ready: T }> {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(options)], {
      execArgv: ['--import', 'tsx'],
      env: {},
      serialization: 'advanced',
    })
    this.ownProcess(child)
    const { ready } = await nextMessage<{ ready: T }>(child)
    return { child, ready }
  }

  private ownProcess(child: ChildProcess): void {
    child.on('exit', (code) => {
      if (code && !this.isClosing)
        console.error(`a process of the bench ended with ${code}: ${child.spawnargs.join(' ')}`)
    })
    this.onClose(() => stop(child))
  }
}

/** Asks a process to end, and ends it if it has not within ten seconds. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(timer)
}

/** The next message of a helper; fails if it ends first. */
export function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a process of the bench ended (${code})`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as T)
    })
  })
}

function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)))
    child.stdout!.on('data', (text: Buffer) => {
      output += text
      const found = pattern.exec(output)?.[1]
      if (found) resolve(found)
    })
  })
}
