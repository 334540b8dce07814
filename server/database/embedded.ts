// Owns the embedded Postgres of the server: one call starts it on a data folder, one stops it.
import { randomBytes } from 'node:crypto'
import { lstat, mkdir, open, readFile, realpath, rename, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  clearFolder,
  clearLeftovers,
  type Cluster,
  logTail,
  makeCluster,
  startCluster,
  stopCluster,
} from './embedded-cluster.ts'
import { ClusterLock, connect, enterStart, hangUp, within } from './embedded-lock.ts'
import { prepareNative } from './embedded-native.ts'
import { choosePlace, type Place } from './embedded-place.ts'
import { EmbeddedPostgresError, findPostmaster } from './embedded-process.ts'

export { EmbeddedPostgresError }

export interface EmbeddedPostgres {
  /** postgres:// address of database "runwatch" on 127.0.0.1 */
  url: string
  /** where the cluster's files are */
  dataFolder: string
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  dataDir: string
  log?: (line: string) => void
  /** extra postgres settings */
  settings?: Record<string, string>
  /** where the Postgres programs are, instead of in the npm package */
  nativeDir?: string
}

/** A missing folder gives undefined: there is no cluster yet. */
async function clusterVersion(folder: string): Promise<string | undefined> {
  if (!(await lstat(folder).catch(() => undefined))) return undefined
  try {
    return (await readFile(path.join(folder, 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The folder ${folder} is not a Postgres data folder (${(error as Error).message}). ` +
        'Move it away, or set DATA_DIR to another folder.',
    )
  }
}

async function password(dataDir: string, folder: string, clusterExists: boolean): Promise<string> {
  const file = path.join(dataDir, 'postgres-password')
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new EmbeddedPostgresError(`Runwatch cannot read the password of its Postgres in ${file}: ${error.message}.`)
  })
  if (kept.trim() !== '') return kept.trim()
  if (clusterExists) {
    throw new EmbeddedPostgresError(
      `The password in ${file} is gone, but the Postgres data in ${folder} still needs it. ` +
        `Put the file back from a copy, or move ${folder} away to begin with an empty database.`,
    )
  }
  const made = randomBytes(24).toString('hex')
  const temporary = `${file}.${process.pid}`
  await rm(temporary, { force: true })
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(`${made}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
  return made
}

async function linkTo({ folder, link }: Place): Promise<void> {
  if (link === undefined || (await lstat(link).catch(() => undefined))) return
  await symlink(folder, link)
}

async function makeDatabase(cluster: Cluster, port: number): Promise<void> {
  const sql = connect({ port, password: cluster.password })
  try {
    const found = await within(sql`select 1 from pg_database where datname = 'runwatch'`, 10_000)
    if (found.length === 0) await within(sql`create database runwatch`, 60_000)
  } finally {
    await hangUp(sql)
  }
}

async function takeLock(lock: ClusterLock, cluster: Cluster): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await lock.take()) return
    await sleep(100)
  }
  throw new EmbeddedPostgresError(
    `Another Runwatch took the data folder ${cluster.dataDir} at the same moment. ` +
      'Stop it first, or set DATA_DIR to another folder.',
  )
}

/** A Postgres whose postmaster was killed does not come back by itself, as it does after a crash of another process. */
async function revive(cluster: Cluster, port: number): Promise<void> {
  const found = await findPostmaster(cluster.folder)
  if (found !== undefined && found !== 'stale') return
  const leave = await enterStart(cluster.dataDir)
  try {
    cluster.log('Postgres is gone; Runwatch starts it again')
    await clearFolder(cluster)
    await startCluster(cluster, port)
  } catch (error) {
    cluster.log((error as Error).message)
    throw error
  } finally {
    await leave()
  }
}

async function start(dataDir: string, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => {})
  const place = await choosePlace(dataDir, log)
  const { account } = place
  const native = await prepareNative({ nativeDir: options.nativeDir, account, dataDir, log })
  const version = await clusterVersion(place.folder)
  if (version !== undefined && version !== native.major) {
    throw new EmbeddedPostgresError(
      `The data in ${place.folder} was made by Postgres ${version}, and this Runwatch comes with Postgres ${native.major}, ` +
        `which cannot read it. Go back to the Runwatch that made it (or move the data over with pg_dump of Postgres ` +
        `${version}), or set DATA_DIR to another folder to begin with an empty database.`,
    )
  }
  const secret = await password(dataDir, place.folder, version !== undefined)
  const folder = place.folder
  const cluster: Cluster = { dataDir, folder, account, native, password: secret, settings: options.settings ?? {}, log }
  await clearLeftovers(folder)
  if (version === undefined) {
    log(`Postgres makes its data folder ${folder}`)
    await makeCluster(cluster)
  } else {
    await clearFolder(cluster)
  }
  await linkTo(place)

  const port = await startCluster(cluster)
  const isOurs = (at: number | undefined) => at === port
  let reviving: Promise<void> = Promise.resolve()
  const lock = new ClusterLock({ port, password: secret }, log, () => (reviving = revive(cluster, port)))
  try {
    await takeLock(lock, cluster)
    await makeDatabase(cluster, port)
  } catch (error) {
    await stopCluster(cluster, isOurs).catch(() => undefined)
    await lock.release()
    if (error instanceof EmbeddedPostgresError) throw error
    throw new EmbeddedPostgresError(
      `Runwatch could not use its embedded Postgres: ${(error as Error).message}.${await logTail(folder)}`,
    )
  }

  let stopping: Promise<void> | undefined
  const stop = async () => {
    lock.expectLoss()
    await reviving.catch(() => undefined)
    try {
      await stopCluster(cluster, isOurs)
    } catch (error) {
      stopping = undefined
      throw error
    }
    await lock.release()
  }
  return {
    url: `postgres://runwatch:${secret}@127.0.0.1:${port}/runwatch`,
    dataFolder: folder,
    stop: () => (stopping ??= stop()),
  }
}

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    await mkdir(options.dataDir, { recursive: true })
    // One folder by two names must not look like two.
    const dataDir = await realpath(options.dataDir)
    const leave = await enterStart(dataDir)
    try {
      return await start(dataDir, options)
    } finally {
      await leave()
    }
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error
    throw new EmbeddedPostgresError(
      `The embedded Postgres could not be started in ${path.resolve(options.dataDir)}: ${(error as Error).message}.`,
    )
  }
}
