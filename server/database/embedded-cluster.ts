// Owns making a cluster, and starting and stopping the Postgres process on it.
import { randomBytes } from 'node:crypto'
import { chown, lstat, mkdir, open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, hangUp, tryLock, within } from './embedded-lock.ts'
import type { Native } from './embedded-native.ts'
import { type Account, disarmStalePidFile, EmbeddedPostgresError, findPostmaster, run } from './embedded-process.ts'

export interface Cluster {
  dataDir: string
  folder: string
  account?: Account | undefined
  native: Native
  password: string
  settings: Record<string, string>
  log: (line: string) => void
}

// Replaying the log of an unclean stop can take a minute or two; a cut-short replay begins from the start again.
const START_SECONDS = 240
const LOG_BYTES = 10 * 1024 * 1024

const logFile = (folder: string) => path.join(folder, 'postgres.log')

async function logSince(folder: string, offset: number): Promise<string> {
  const file = await open(logFile(folder)).catch(() => undefined)
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const from = Math.max(offset, size - 16_384, 0)
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(16_384), position: from })
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  } finally {
    await file.close()
  }
}

/** The last lines of the Postgres log, to end an error with. */
export async function logTail(folder: string, offset = 0): Promise<string> {
  const lines = (await logSince(folder, offset)).trim().split('\n').slice(-12)
  const text = lines.join('\n').slice(-2_000)
  return text ? ` Last lines of ${logFile(folder)}:\n${text}` : ''
}

/** Removes what a killed initdb left beside the folder. */
export async function clearLeftovers(folder: string): Promise<void> {
  const parent = path.dirname(folder)
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${path.basename(folder)}.init-`)) continue
    // An initdb whose server was killed may still be writing there; the next start removes the rest.
    await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => undefined)
  }
}

export async function makeCluster(cluster: Cluster): Promise<void> {
  const { folder, account, native, password } = cluster
  const parent = path.dirname(folder)
  const temporary = path.join(parent, `${path.basename(folder)}.init-${randomBytes(4).toString('hex')}`)
  const passwordFile = `${temporary}.password`
  try {
    await mkdir(temporary, { mode: 0o700 })
    await writeFile(passwordFile, `${password}\n`, { flag: 'wx', mode: 0o600 })
    if (account) {
      await chown(temporary, account.uid, account.gid)
      await chown(passwordFile, account.uid, account.gid)
    }
    const args = ['-D', temporary, '-U', 'runwatch', `--pwfile=${passwordFile}`, '--encoding=UTF8', '--no-locale']
    const result = await run(native.initdb, [...args, '--auth=scram-sha-256', '--no-instructions'], {
      account,
      timeoutMs: 180_000,
    })
    if (result.code !== 0) {
      const why = result.timedOut ? 'it took more than three minutes' : result.output.trim().slice(-2_000)
      throw new EmbeddedPostgresError(`Postgres could not make its data folder ${folder}: ${why}`)
    }
    await rename(temporary, folder)
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error
    throw new EmbeddedPostgresError(
      `Runwatch could not make the Postgres data folder ${folder}: ${(error as Error).message}.`,
    )
  } finally {
    await rm(passwordFile, { force: true }).catch(() => undefined)
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined)
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.on('error', (error) =>
      reject(new EmbeddedPostgresError(`No port can be opened on 127.0.0.1 for Postgres: ${error.message}.`)),
    )
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function commandLine(settings: Record<string, string>, port: number): string {
  const all: Record<string, string> = {
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    jit: 'off',
    max_connections: '200',
    log_checkpoints: 'off',
    // Statements and details (the row that a constraint refuses) hold what users send, and are long.
    log_min_error_statement: 'fatal',
    log_error_verbosity: 'terse',
    ...settings,
    fsync: 'on',
    synchronous_commit: 'on',
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
  }
  return Object.entries(all)
    .map(([name, value]) => {
      // pg_ctl hands this line to a shell.
      if (!/^[a-z_][a-z0-9_.]*$/i.test(name) || /[\0\n\r]/.test(value)) {
        throw new EmbeddedPostgresError(`"${name}" with the value "${value}" is not a Postgres setting.`)
      }
      if (process.platform !== 'win32') return `-c '${name}=${value.replaceAll("'", `'\\''`)}'`
      if (/["%]/.test(value))
        throw new EmbeddedPostgresError(`The value of the Postgres setting "${name}" has a " or % in it.`)
      return `-c "${name}=${value}"`
    })
    .join(' ')
}

async function pgStop(cluster: Cluster, mode: 'fast' | 'immediate', seconds: number): Promise<void> {
  const { native, folder, account } = cluster
  const args = ['stop', '-D', folder, '-m', mode, '-w', '-t', String(seconds)]
  await run(native.pgCtl, args, { account, timeoutMs: (seconds + 5) * 1_000, ownSession: true })
}

/** Stops the Postgres on the folder, if one that `isOurs` agrees to runs there. */
export async function stopCluster(cluster: Cluster, isOurs: (port: number | undefined) => boolean): Promise<void> {
  const running = async () => {
    const found = await findPostmaster(cluster.folder)
    return found !== undefined && found !== 'stale' && isOurs(found.port) ? found : undefined
  }
  if (!(await running())) return
  await pgStop(cluster, 'fast', 10)
  if (!(await running())) return
  cluster.log('Postgres did not stop within 10 seconds; it is stopped at once')
  await pgStop(cluster, 'immediate', 10)
  const left = await running()
  if (left) {
    throw new EmbeddedPostgresError(
      `Postgres (process ${left.pid}) on ${cluster.folder} does not stop.${await logTail(cluster.folder)}`,
    )
  }
}

/** A folder that cannot be looked at counts as the same: a live Postgres must not be taken for a stranger. */
async function isSameFolder(one: string, other: string): Promise<boolean> {
  const real = await realpath(one).catch(() => other)
  return process.platform === 'win32' ? real.toLowerCase() === other.toLowerCase() : real === other
}

/**
 * Makes sure that no Postgres runs on the folder: stops one that a killed server left behind, refuses where another
 * server uses it.
 */
export async function clearFolder(cluster: Cluster): Promise<void> {
  const { dataDir, folder, password, log } = cluster
  const began = Date.now()
  for (;;) {
    const found = await findPostmaster(folder)
    if (found === undefined) return
    if (found === 'stale') return disarmStalePidFile(folder)
    const waited = Date.now() - began
    let problem = `it is ${found.status || 'starting'}`
    let refused = false
    if (found.port !== undefined && found.status !== 'stopping') {
      const sql = connect({ port: found.port, password })
      try {
        const rows = await within(sql`select current_setting('data_directory') as folder`, 5_000)
        if (!(await isSameFolder(String(rows[0]?.folder), folder))) return disarmStalePidFile(folder)
        if (!(await tryLock(sql))) {
          throw new EmbeddedPostgresError(
            `Runwatch is already running on the data folder ${dataDir} (Postgres process ${found.pid}). ` +
              'Stop it first, or set DATA_DIR to another folder.',
          )
        }
        const others = await within(
          sql`select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
          5_000,
        )
        // With clients there it may be a live server that has just lost its lock's connection: let it take it again.
        if (others.length === 0 || waited > 2_500) {
          log(`A Postgres (process ${found.pid}) was left behind on ${folder}; it is stopped first`)
          await stopCluster(cluster, () => true)
          return
        }
      } catch (error) {
        if (error instanceof EmbeddedPostgresError) throw error
        refused = (error as { code?: string }).code === '28P01'
        problem = (error as Error).message
      } finally {
        await hangUp(sql)
      }
    }
    const starting = found.status === '' || found.status === 'starting'
    if (refused || waited > (starting ? 60_000 : 20_000)) {
      if (!refused && (starting || found.status === 'stopping')) {
        log(
          `A Postgres (process ${found.pid}) was left behind on ${folder} and is ${found.status}; it is stopped first`,
        )
        await stopCluster(cluster, () => true)
        return
      }
      const but = refused ? 'does not take the password in the data folder' : `cannot be used (${problem})`
      throw new EmbeddedPostgresError(
        `A Postgres (process ${found.pid}) runs on ${folder}, but ${but}. Stop that process, then start Runwatch again.`,
      )
    }
    await sleep(100)
  }
}

/** Starts Postgres on a free port, or on the one it had, and returns the port. The folder must have been cleared. */
export async function startCluster(cluster: Cluster, samePort?: number): Promise<number> {
  const { folder, account, native, settings } = cluster
  const file = logFile(folder)
  const size = await lstat(file).then(
    (info) => info.size,
    () => 0,
  )
  // Removed, not cut short: as root, cutting would follow a link that the user of Postgres may have put there.
  if (size > LOG_BYTES) await rm(file, { force: true })
  const retryUntil = Date.now() + 15_000
  for (let portsTried = 1; ;) {
    const port = samePort ?? (await freePort())
    const offset = await stat(file).then(
      (info) => info.size,
      () => 0,
    )
    const args = [
      'start',
      '-D',
      folder,
      '-w',
      '-t',
      String(START_SECONDS),
      '-l',
      file,
      '-o',
      commandLine(settings, port),
    ]
    const options = { account, timeoutMs: (START_SECONDS + 10) * 1_000, ownSession: true }
    const slow = setTimeout(
      () => cluster.log('Postgres is still starting: after an unclean stop it first replays its log'),
      5_000,
    )
    const result = await run(native.pgCtl, args, options).finally(() => clearTimeout(slow))
    if (result.code === 0) return port
    const said = await logSince(folder, offset)
    if (/could not bind|could not create any TCP\/IP sockets/.test(said) && portsTried++ < 5) continue
    const occupied = /shared memory block|lock file ".*" already exists/.test(said)
    if (occupied && Date.now() < retryUntil) {
      await sleep(250)
      await clearFolder(cluster)
      continue
    }
    await stopCluster(cluster, (at) => at === undefined || at === port).catch(() => undefined)
    const late = result.timedOut || /did not start in time/.test(result.output)
    const how = late ? `did not get ready within ${START_SECONDS} seconds` : 'did not start'
    const wait = occupied
      ? ' A process of the Postgres that ran before still works there: start again when it has ended.'
      : ''
    throw new EmbeddedPostgresError(
      `The embedded Postgres ${how} on ${folder}.${wait}` +
        (said.trim() ? await logTail(folder, offset) : ` ${result.output.trim().slice(-2_000)}`),
    )
  }
}
