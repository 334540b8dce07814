// Pools of connections that break: nobody else feels what was left of a lost one.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Pool } from '../../server/database/pool.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { breakableProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let proxy: Awaited<ReturnType<typeof breakableProxy>>
const pools: Pool[] = []
beforeAll(async () => {
  database = await newDatabase()
  proxy = await breakableProxy(database.url)
  await database.sql`create table kept (value text)`
})
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close()
})
afterAll(async () => {
  await proxy.close()
  await database.drop()
})

function open(max = 1): Pool {
  const pool = new Pool(proxy.url, { max, onnotice: () => {} })
  pools.push(pool)
  return pool
}

const kept = async () => (await database.sql`select value from kept order by 1`).map((row) => row.value)

test('a transaction whose connection is ended fails as a whole, and those after it are whole', async () => {
  const { sql } = open()
  for (let round = 0; round < 5; round++) {
    const failed = sql.begin(async (tx) => {
      await tx`insert into kept values ('of a lost transaction')`
      await tx`select pg_terminate_backend(pg_backend_pid())`
      await tx`insert into kept values ('after it was lost')`
    })
    const next = [1, 2, 3].map((n) =>
      until(() =>
        sql
          .begin(async (tx) => {
            await tx`insert into kept values (${`${round}/${n} begun`})`
            await tx`insert into kept values (${`${round}/${n} ended`})`
            return true
          })
          .catch(() => false),
      ),
    )
    await expect(failed).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
    await Promise.all(next)
  }
  const whole = [0, 1, 2, 3, 4].flatMap((round) =>
    [1, 2, 3].flatMap((n) => [`${round}/${n} begun`, `${round}/${n} ended`]),
  )
  expect(await kept()).toEqual(whole)
})

test('a statement that is refused rolls its transaction back, on the connection it had', async () => {
  const { sql } = open()
  const [before] = await sql`select pg_backend_pid() as pid`
  await expect(
    sql.begin(async (tx) => {
      await tx`insert into kept values ('refused')`
      await tx`select 1 / 0`
    }),
  ).rejects.toMatchObject({ code: '22012' })
  expect(await sql`select pg_backend_pid() as pid`).toEqual([before])
  expect(await kept()).not.toContain('refused')
})

test('connections that fell silent are given up, and new ones take their place', async () => {
  const pool = open(2)
  expect(await pool.ask()).toBe('yes')
  proxy.fallSilent()
  const unheard = pool.sql`select 1`.catch((error: { code: string }) => error.code)
  expect(await pool.ask()).toBe('silence')
  await proxy.accept()
  expect(await unheard).toBe('CONNECTION_DESTROYED')
  expect(await pool.ask()).toBe('yes')
})

test('who reserves a connection and loses it hears so whatever it asks, and its lock is free', async () => {
  const { sql } = open()
  const reserved = await sql.reserve()
  await reserved`select pg_advisory_lock(1)`
  const lost = reserved`select pg_terminate_backend(pg_backend_pid())`
  await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
  await expect(reserved`select pg_advisory_unlock(1)`).rejects.toMatchObject({ code: 'CONNECTION_ENDED' })
  reserved.release()
  await until(async () => (await sql`select pg_try_advisory_lock(1) as taken`)[0]!.taken)
})

test('who listens goes on to hear, whatever becomes of the other connections', async () => {
  const pool = open()
  const heard: string[] = []
  await pool.sql.listen('news', (text) => heard.push(text))
  pool.replace(false)
  await pool.sql.notify('news', 'one')
  await until(() => heard.includes('one'))
  await database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
  await until(async () => {
    await pool.sql.notify('news', 'two').catch(() => {})
    return heard.includes('two')
  })
})
