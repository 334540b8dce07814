// A database of its own for a test file, cloned from the migrated template.
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'

export interface TestDatabase {
  url: string
  sql: postgres.Sql
  drop(): Promise<void>
}

export async function newDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const base = inject('databaseUrl')
  const admin = postgres(base, { max: 1, onnotice: () => {} })
  await admin.unsafe(`create database ${name} template template_runwatch`)
  await admin.end()
  const url = new URL(base)
  url.pathname = `/${name}`
  const sql = postgres(url.href, { max: 3, onnotice: () => {} })
  return {
    url: url.href,
    sql,
    drop: async () => {
      await sql.end()
      const again = postgres(base, { max: 1, onnotice: () => {} })
      await again.unsafe(`drop database if exists ${name} with (force)`)
      await again.end()
    },
  }
}
