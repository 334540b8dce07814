// Brings the database to this version: numbered, forward-only SQL files, each in one transaction, under one lock.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Sql } from './connect.ts'

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url))
const MIGRATION_LOCK = 7_240_001

export class MigrationError extends Error {}

/** @throws MigrationError if the database is newer than this code or a past migration was changed */
export async function migrate(sql: Sql, folder = MIGRATIONS_FOLDER): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort()
  const reserved = await sql.reserve()
  try {
    const [{ version }] = (await reserved`select current_setting('server_version_num')::int as version`) as unknown as [
      { version: number },
    ]
    if (version < 150000)
      throw new MigrationError(`Postgres 15 or newer is needed; this one is ${Math.floor(version / 10000)}.`)
    await reserved`select pg_advisory_lock(${MIGRATION_LOCK})`
    await reserved`
      create table if not exists migrations (
        name text primary key,
        hash text not null,
        applied_at timestamptz not null default now()
      )`
    const applied = new Map(
      (await reserved`select name, hash from migrations`).map((row) => [row.name as string, row.hash as string]),
    )
    const unknown = [...applied.keys()].find((name) => !files.includes(name))
    if (unknown) {
      throw new MigrationError(
        `The database is newer than this version of Runwatch (it has ${unknown}). Start the newer version.`,
      )
    }
    const done: string[] = []
    for (const name of files) {
      const text = await readFile(`${folder}/${name}`, 'utf8')
      const hash = createHash('sha256').update(text).digest('hex')
      const before = applied.get(name)
      if (before !== undefined && before !== hash) {
        throw new MigrationError(
          `Migration ${name} was changed after it was applied. Restore the file; changes belong into a new one.`,
        )
      }
      if (before !== undefined) continue
      await reserved`begin`
      try {
        await reserved.unsafe(text)
        await reserved`insert into migrations (name, hash) values (${name}, ${hash})`
        await reserved`commit`
      } catch (error) {
        await reserved`rollback`
        throw error
      }
      done.push(name)
    }
    return done
  } finally {
    await reserved`select pg_advisory_unlock(${MIGRATION_LOCK})`.catch(() => {})
    reserved.release()
  }
}
