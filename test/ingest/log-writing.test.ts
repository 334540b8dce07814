// How the ingest log is written: once, also over a lost connection; kept while the database is away; never without end.
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ensurePartitions } from '../../server/database/partitions.ts'
import { IngestLog, type AcceptedRequest, type RefusedRequest } from '../../server/ingest/log.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { breakableProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  database = await newDatabase()
  await ensurePartitions(database.sql)
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await database.sql`truncate ingest_accepted, ingest_refused, ingest_unauthenticated`
})
afterAll(() => database.drop())

function openLog({ url = database.url, maxKeptBytes = 1e9 } = {}) {
  const sql = postgres(url, { max: 1, onnotice: () => {}, backoff: () => 0.05 })
  const named: (string[] | null)[] = []
  const errors: unknown[] = []
  const log = new IngestLog({
    sql,
    server: 'test',
    maxKeptBytes,
    onWritten: (ids) => named.push(ids),
    onError: (error) => errors.push(error),
  })
  closers.push(async () => {
    await log.close()
    await sql.end({ timeout: 1 })
  })
  return { log, sql, named, errors }
}

const base = () => ({
  id: randomUUID(),
  at: Date.now(),
  projectId: 1,
  keyId: null,
  platform: 'PLATFORM_A' as const,
  bytes: 10,
  durationMs: 1.5,
})
const accepted = (): AcceptedRequest => ({ ...base(), events: 1, duplicate: false, sessionId: null, sessionCount: 1 })
const refused = (body: string, at = Date.now()): RefusedRequest => ({
  ...base(),
  at,
  status: 422,
  code: 'invalid_payload',
  detail: 'It is wrong.',
  problems: [],
  idempotencyKey: null,
  body: Buffer.from(body),
})
const countOf = async (table: string) => {
  const [row] = await database.sql.unsafe(`select count(*)::int as rows, count(distinct id)::int as ids from ${table}`)
  return row as unknown as { rows: number; ids: number }
}

test('entries whose write was cut off after its commit are not listed twice', async () => {
  const proxy = await breakableProxy(database.url)
  closers.push(() => proxy.close())
  const { log, errors } = openLog({ url: proxy.url })
  log.accept(accepted())
  await until(
    () => countOf('ingest_accepted'),
    ({ rows }) => rows === 1,
  )
  proxy.cutBeforeNextAnswer()
  for (let i = 0; i < 20; i++) log.accept(accepted())
  await until(() => errors.length > 0)
  for (let i = 0; i < 20; i++) log.accept(accepted())
  await until(
    () => countOf('ingest_accepted'),
    ({ ids }) => ids === 41,
  )
  expect(await countOf('ingest_accepted')).toEqual({ rows: 41, ids: 41 })
  expect(proxy.cuts).toBe(1)
})

test('while the database is away entries and bodies wait', async () => {
  const proxy = await breakableProxy(database.url)
  closers.push(() => proxy.close())
  const { log, errors } = openLog({ url: proxy.url })
  proxy.refuse()
  for (let i = 0; i < 5; i++) {
    log.accept(accepted())
    log.refuse(refused(`body ${i}`))
  }
  log.countUnauthenticated('missing_api_key')
  await until(() => errors.length > 0)
  log.refuse(refused('body 5'))
  proxy.accept()
  await until(
    () => countOf('ingest_refused'),
    ({ rows }) => rows === 6,
  )
  await until(
    () => countOf('ingest_accepted'),
    ({ rows }) => rows === 5,
  )
  const counts = await until(
    () => database.sql`select reason, count::int from ingest_unauthenticated`,
    ({ length }) => length > 0,
  )
  expect([...counts]).toEqual([{ reason: 'missing_api_key', count: 1 }])
})

test('what waits is written when the server stops', async () => {
  const { log } = openLog()
  for (let i = 0; i < 7; i++) log.accept(accepted())
  log.refuse(refused('last words'))
  log.countUnauthenticated('invalid_api_key')
  await log.close()
  expect([await countOf('ingest_accepted'), await countOf('ingest_refused')]).toMatchObject([{ rows: 7 }, { rows: 1 }])
})

test('bodies beyond what is kept go, the oldest first; those over a week old go in any case', async () => {
  const { log } = openLog({ maxKeptBytes: 10_000 })
  const now = Date.now()
  for (let i = 0; i < 10; i++) log.refuse(refused(`${i}`.repeat(2_000), now - (10 - i) * 1_000))
  log.refuse(refused('old', now - 8 * 86_400_000))
  await until(
    () => countOf('ingest_refused'),
    ({ rows }) => rows === 11,
  )
  await log.prune()
  const left = await database.sql`select left(body, 1) as body from ingest_refused order by at`
  expect(left.map(({ body }) => body)).toEqual(['7', '8', '9'])
})

test('more than can be named is said as such', async () => {
  const { log, named } = openLog()
  for (let i = 0; i < 101; i++) log.accept(accepted())
  await until(() => named.length > 0)
  expect(named).toEqual([null])
  const one = accepted()
  log.accept(one)
  await until(() => named.length > 1)
  expect(named[1]).toEqual([one.id])
})

test('while the database is away for long, the oldest entries are forgotten and that is counted', async () => {
  const proxy = await breakableProxy(database.url)
  closers.push(() => proxy.close())
  proxy.refuse()
  const { log } = openLog({ url: proxy.url })
  const body = 'x'.repeat(1024 * 1024)
  for (let i = 0; i < 70; i++) log.refuse(refused(body))
  // 64 MiB may wait.
  expect(log.counters.forgotten).toBe(6)
  proxy.accept()
  await until(
    () => countOf('ingest_refused'),
    ({ rows }) => rows === 64,
  )
})
