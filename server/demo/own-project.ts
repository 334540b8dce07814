// The project "demo" in the server's database: its key is made here, and all of it is removed from here.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyRing } from '../access/keys.ts'
import type { Config } from '../config.ts'
import { connectDatabase, type Sql } from '../database/connect.ts'
import { Bus } from '../live/bus.ts'

const PROJECT = 'demo'
const SESSIONS_PER_BATCH = 1_000

export class DemoError extends Error {}

export interface DemoKey {
  secret: string
  remove(): Promise<void>
}

/** @throws DemoError with a sentence where the server's database cannot be used */
export function makeKey(config: Config): Promise<DemoKey> {
  return withDatabase(config, async (sql) => {
    const { apiKey, secret } = await ringOn(sql).create({ name: 'demo', scopes: ['INGEST', 'READ'], project: PROJECT })
    return {
      secret,
      remove: () =>
        withDatabase(config, async (again) => {
          await again`delete from api_keys where id = ${apiKey.id}`
          new Bus(again).publishSettings()
        }),
    }
  })
}

/** @returns how many sessions and events were removed; null where there is no demo */
export function removeProject(config: Config): Promise<{ sessions: number; events: number } | null> {
  return withDatabase(config, async (sql) => {
    const [project] = await sql`select id from projects where name = ${PROJECT}`
    if (!project) return null
    await sql`delete from api_keys where project_id = ${project.id}`
    new Bus(sql).publishSettings()
    const removed = { sessions: 0, events: 0 }
    for (;;) {
      const { sessions, events } = await removeBatch(sql, project.id as number)
      removed.sessions += sessions
      removed.events += events
      if (sessions === 0) break
    }
    const own = ['failure_patterns', 'thresholds', 'repricings', 'model_prices', 'alerts', 'alert_rules', 'channels']
    for (const table of own) await sql`delete from ${sql(table)} where project_id = ${project.id}`
    await sql`delete from projects where id = ${project.id}`
    return removed
  })
}

/** Events are found through their sessions, in the partition of the session's day. */
async function removeBatch(sql: Sql, projectId: number): Promise<{ sessions: number; events: number }> {
  return await sql.begin(async (tx) => {
    const rows = await tx`
      select id, (first_seen_at at time zone 'UTC')::date::text as day from sessions
      where project_id = ${projectId} order by first_seen_at limit ${SESSIONS_PER_BATCH} for update`
    const idsOfDay = new Map<string, string[]>()
    for (const { id, day } of rows) idsOfDay.set(day, [...(idsOfDay.get(day) ?? []), id])
    let events = 0
    for (const [day, ids] of idsOfDay) {
      events += (await tx`delete from events where day = ${day}::date and session_id = any(${ids}::uuid[])`).count
    }
    const ids = rows.map((row) => row.id as string)
    await tx`delete from failures where session_id = any(${ids}::uuid[])`
    await tx`delete from findings where session_id = any(${ids}::uuid[])`
    await tx`delete from sessions where id = any(${ids}::uuid[])`
    return { sessions: rows.length, events }
  })
}

function ringOn(sql: Sql): KeyRing {
  const bus = new Bus(sql)
  return new KeyRing(sql, () => bus.publishSettings())
}

async function withDatabase<T>(config: Config, work: (sql: Sql) => Promise<T>): Promise<T> {
  const url = config.databaseUrl ?? (await embeddedUrl(config.dataDir))
  const database = connectDatabase({ url, prepare: config.databasePrepare })
  try {
    return await work(database.jobs)
  } catch (error) {
    if ((error as { code?: string }).code === 'ECONNREFUSED') throw notRunning(config.dataDir)
    throw error
  } finally {
    await database.close()
  }
}

/** The embedded Postgres of a running server says its port in its folder. */
async function embeddedUrl(dataDir: string): Promise<string> {
  try {
    const lines = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')
    const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim()
    return `postgres://runwatch:${password}@127.0.0.1:${Number(lines[3])}/runwatch`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw notRunning(dataDir)
    throw error
  }
}

const notRunning = (dataDir: string) =>
  new DemoError(
    `No Runwatch runs on the data folder ${dataDir}. Start it with "npm start" first; or set DATABASE_URL or DATA_DIR as ` +
      'for the server, or give --url and --key of a Runwatch elsewhere.',
  )
