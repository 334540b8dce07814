// The write path: group commit, one guilty request alone, the same write tried again, a bounded queue.
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ensurePartitions } from '../../server/database/partitions.ts'
import { kindOfError } from '../../server/database/connect.ts'
import type { ParsedSession } from '../../server/ingest/parsed.ts'
import { parsePlatformA } from '../../server/ingest/platform-a.ts'
import { parsePlatformB } from '../../server/ingest/platform-b.ts'
import { WriteQueue } from '../../server/ingest/write-queue.ts'
import { nextArrivalUs } from '../../server/sessions/identity.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { parseContext } from '../support/parse-context.ts'
import { breakableProxy } from '../support/proxy.ts'

let database: TestDatabase
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  database = await newDatabase()
  await ensurePartitions(database.sql)
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(() => database.drop())

function openQueue(url = database.url) {
  const sql = postgres(url, {
    max: 2,
    onnotice: () => {},
    backoff: () => 0.05,
    connection: { application_name: 'queue' },
  })
  const errors: unknown[] = []
  const committed: string[] = []
  const queue = new WriteQueue({
    sql,
    onCommitted: (written) => committed.push(...written.map((session) => session.id)),
    onError: (error) => errors.push(error),
  })
  closers.push(() => sql.end({ timeout: 1 }))
  return { queue, sql, errors, committed }
}

const context = () => parseContext({ arrivalUs: nextArrivalUs() })
const write = async (queue: WriteQueue, sessions: ParsedSession[], bytes = 100) =>
  (await queue.write({ sessions, bytes, key: null })).sessions
const a = (id: string, fields: object = {}): ParsedSession[] =>
  parsePlatformA({ session_id: id, type: 'span', ...fields }, context()).sessions
const b = (id: string, fields: object = {}): ParsedSession[] =>
  parsePlatformB({ execution: { id, workflowId: 'w', ...fields } }, context()).sessions
const countOf = async (prefix: string) => {
  const [row] = await database.sql`
    select count(distinct s.id)::int as sessions, count(e.*)::int as events, coalesce(sum(distinct s.event_count), 0)::int as counted
    from sessions s left join events e on e.session_id = s.id where s.external_id like ${`${prefix}%`}`
  return row
}

test('what waits while a flush runs is written together in the next', async () => {
  const { queue, committed } = openQueue()
  const written = await Promise.all(Array.from({ length: 300 }, (_, i) => write(queue, a(`group-${i}`))))
  expect(written.every((sessions) => sessions[0]!.status === 'RUNNING')).toBe(true)
  expect(committed).toHaveLength(300)
  expect(queue.counters.flushes).toBeLessThan(10)
})

test('one request that the database refuses fails alone; the others of its flush are written', async () => {
  const { queue, errors } = openQueue()
  const bad = a('guilty')
  bad[0]!.events[0]!.input = 'not storable: \0'
  const results = await Promise.allSettled([
    ...Array.from({ length: 60 }, (_, i) => write(queue, a(`beside-${i}`))),
    write(queue, bad),
  ])
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(60)
  expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'internal' } })
  expect(errors).toHaveLength(1)
  expect(await countOf('beside-')).toMatchObject({ sessions: 60, events: 60 })
  expect(await countOf('guilty')).toMatchObject({ sessions: 0 })
})

test('an array with one such event is refused whole', async () => {
  const { queue } = openQueue()
  const sessions = [...a('array-1'), ...a('array-2')]
  sessions[1]!.events[0]!.name = 'x\0'
  await expect(write(queue, sessions)).rejects.toMatchObject({ code: 'internal' })
  expect(await countOf('array-')).toMatchObject({ sessions: 0 })
})

test('a connection that dies after the commit was sent does not double anything: the same write is tried again', async () => {
  const proxy = await breakableProxy(database.url)
  closers.push(() => proxy.close())
  const { queue } = openQueue(proxy.url)
  await write(queue, a('warm-up'))
  for (let round = 0; round < 5; round++) {
    // The answer of the database to the next statement is swallowed and the connection cut.
    proxy.cutBeforeNextAnswer()
    const written = await Promise.all([
      write(queue, a(`cut-${round}-x`, { status: 'success', prompt_tokens: 5 })),
      write(queue, b(`cut-${round}-y`, { status: 'success' })),
    ])
    expect(written.map((sessions) => sessions[0]!.status)).toEqual(['COMPLETED', 'COMPLETED'])
  }
  expect(proxy.cuts).toBe(5)
  expect(queue.counters.retries).toBeGreaterThan(0)
  const rows = await database.sql`
    select s.external_id, s.event_count, s.prompt_tokens, (select count(*)::int from events e where e.session_id = s.id) as events
    from sessions s where external_id like 'cut-%-x'`
  expect(rows).toHaveLength(5)
  for (const row of rows) expect(row).toMatchObject({ event_count: 1, prompt_tokens: '5', events: 1 })
})

test('while the database is away callers hear 503 in time, and what comes after its return is written', async () => {
  const proxy = await breakableProxy(database.url)
  closers.push(() => proxy.close())
  const { queue } = openQueue(proxy.url)
  await write(queue, a('before-1'))
  proxy.refuse()
  const sent = performance.now()
  await expect(write(queue, a('while-1'))).rejects.toMatchObject({ status: 503 })
  expect(performance.now() - sent).toBeLessThan(6_500)
  proxy.accept()
  await expect(write(queue, a('after-1'))).resolves.toHaveLength(1)
  expect(await countOf('while-')).toMatchObject({ sessions: 0 })
})

test('a full queue refuses at once, and a closed one takes nothing more but finishes what it took', async () => {
  const { queue } = openQueue()
  await expect(write(queue, a('too-much'), 300 * 1024 * 1024)).rejects.toMatchObject({ code: 'unavailable' })
  const taken = write(queue, a('taken'))
  const closed = queue.close()
  await expect(write(queue, a('not-taken'))).rejects.toMatchObject({ code: 'unavailable' })
  await closed
  await expect(taken).resolves.toHaveLength(1)
})

test('two queues that write the same sessions at once neither deadlock nor lose a count', async () => {
  const queues = [openQueue().queue, openQueue().queue]
  const writes = Array.from({ length: 600 }, (_, i) => {
    const sessions = [
      ...a(`shared-${i % 7}`),
      ...a(`shared-${(i * 3) % 7}-b`),
      ...b(`shared-${i % 5}`, { status: 'success' }),
    ]
    return write(queues[i % 2]!, sessions)
  })
  await Promise.all(writes)
  const [row] = await database.sql`
    select sum(event_count)::int as counted, (select count(*)::int from events e join sessions s on s.id = e.session_id where s.external_id like 'shared-%') as events
    from sessions where external_id like 'shared-%'`
  expect(row).toEqual({ counted: 1200, events: 1200 })
})

test.each([
  ['23505', undefined, 'refused'],
  ['57014', undefined, 'refused'],
  ['57P01', 'FATAL', 'lost'],
  ['CONNECTION_CLOSED', undefined, 'lost'],
  ['ECONNREFUSED', undefined, 'unreachable'],
  ['57P03', 'FATAL', 'unreachable'],
])('an error %s says that the statement was %s', (code, severity, kind) => {
  expect(kindOfError({ code, severity })).toBe(kind)
})
