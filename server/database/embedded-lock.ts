// Owns the locks that keep two Runwatch servers off one data folder.
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { EmbeddedPostgresError, isAlive, processBirth } from './embedded-process.ts'

export interface Address {
  port: number
  password: string
}

export type Connection = postgres.Sql

/** One connection to the database "postgres". Whoever calls it ends it, with `hangUp`. */
export function connect(address: Address, onclose?: () => void): Connection {
  return postgres({
    host: '127.0.0.1',
    port: address.port,
    user: 'runwatch',
    password: address.password,
    // Advisory locks belong to one database, so the lock is always taken in this one.
    database: 'postgres',
    max: 1,
    ssl: false,
    connect_timeout: 5,
    idle_timeout: 0,
    // By default the connection, and with it the lock, would be given up within the hour.
    max_lifetime: null,
    fetch_types: false,
    onnotice: () => {},
    ...(onclose ? { onclose } : {}),
    connection: { application_name: 'runwatch cluster' },
  })
}

export async function hangUp(sql: Connection | undefined): Promise<void> {
  await sql?.end({ timeout: 1 }).catch(() => undefined)
}

/** Waits for a query no longer than `ms`; a late answer or error is dropped. */
export function within<T>(query: PromiseLike<T>, ms: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Postgres did not answer within ${ms / 1000} s`)), ms)
    query.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

export async function tryLock(sql: Connection): Promise<boolean> {
  const rows = await within(sql`select pg_try_advisory_lock(7305808868261::bigint) as taken`, 5_000)
  return rows[0]?.taken === true
}

/** Holds the cluster's advisory lock on a connection of its own for as long as the server runs. */
export class ClusterLock {
  #address: Address
  #log: (line: string) => void
  #revive: () => Promise<void>
  #sql: Connection | undefined
  #timer: NodeJS.Timeout | undefined
  #released = false

  /** @param revive called before the lock is tried again after it was lost: Postgres itself may be gone */
  constructor(address: Address, log: (line: string) => void, revive: () => Promise<void>) {
    this.#address = address
    this.#log = log
    this.#revive = revive
  }

  /** False where another server has it. Rejects where Postgres does not answer. */
  async take(): Promise<boolean> {
    let lost = false
    const sql = connect(this.#address, () => {
      lost = true
      if (this.#sql === sql) this.#retake(0)
    })
    let taken = false
    try {
      taken = await tryLock(sql)
    } finally {
      if (taken && !lost && !this.#released) this.#sql = sql
      else void hangUp(sql)
    }
    if (taken && lost) throw new Error('the connection was lost')
    return taken
  }

  #retake(failures: number): void {
    if (this.#released) return
    void hangUp(this.#sql)
    this.#sql = undefined
    if (failures === 0) this.#log('The connection that holds the Postgres lock was lost; Runwatch takes it again')
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        this.#revive()
          .then(() => (this.#released ? false : this.take()))
          .then(
            (taken) => {
              if (this.#released) return
              if (taken) this.#log('The Postgres lock is held again')
              else this.#retake(failures + 1)
            },
            () => this.#retake(failures + 1),
          )
      },
      Math.min(100 * 2 ** failures, 1_000),
    )
    this.#timer.unref()
  }

  /** From here on a lost connection is expected. The lock itself goes when Postgres stops. */
  expectLoss(): void {
    this.#released = true
    clearTimeout(this.#timer)
  }

  async release(): Promise<void> {
    this.expectLoss()
    const sql = this.#sql
    this.#sql = undefined
    await hangUp(sql)
  }
}

const startingHere = new Set<string>()

/**
 * Lets one server at a time start on a data folder: between Postgres' being up and the advisory lock's being taken a
 * second start would see an orphan. Returns what lets go of it again.
 */
export async function enterStart(dataDir: string): Promise<() => Promise<void>> {
  const file = path.join(dataDir, 'postgres-starting')
  const mine = `${process.pid} ${await processBirth(process.pid)}`.trim()
  const deadline = Date.now() + 60_000
  for (;;) {
    if (!startingHere.has(file)) {
      try {
        await writeFile(file, mine, { flag: 'wx', mode: 0o644 })
        startingHere.add(file)
        return async () => {
          startingHere.delete(file)
          await rm(file, { force: true }).catch(() => undefined)
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
          throw new EmbeddedPostgresError(
            `Runwatch cannot write to its data folder ${dataDir}: ${(error as Error).message}. ` +
              'Give its user the right to, or set DATA_DIR to another folder.',
          )
        }
      }
      const theirs = await readFile(file, 'utf8').catch(() => '')
      const info = await stat(file).catch(() => undefined)
      if (info && (await isAbandoned(theirs, mine, Date.now() - info.mtimeMs))) {
        if ((await readFile(file, 'utf8').catch(() => '')) === theirs) {
          await rm(file, { force: true }).catch((error: Error) => {
            throw new EmbeddedPostgresError(`Runwatch cannot remove the left-behind file ${file}: ${error.message}.`)
          })
        }
        continue
      }
    }
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        `Another Runwatch has been starting on the data folder ${dataDir} for a minute. Stop it first, ` +
          `or set DATA_DIR to another folder. If there is none, remove the file ${file}.`,
      )
    }
    await sleep(100)
  }
}

async function isAbandoned(owner: string, mine: string, ageMs: number): Promise<boolean> {
  const [pid, birth] = owner.split(' ')
  if (!Number(pid)) return ageMs > 2_000
  // This process has none under way here; a former one had the same number.
  if (owner === mine || !(await isAlive(Number(pid)))) return true
  const now = await processBirth(Number(pid))
  return birth && now ? birth !== now : ageMs > 600_000
}
