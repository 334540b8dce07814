// Prices applied to what is stored already: what changes and what does not, beside posts, restarts and other servers.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectDatabase } from '../../server/database/connect.ts'
import { ensurePartitions } from '../../server/database/partitions.ts'
import { OwnPrices } from '../../server/sessions/own-prices.ts'
import { Repricing } from '../../server/sessions/repricing.ts'
import { call, execution, priceStand } from '../support/prices.ts'
import { startServer, type TestServer } from '../support/server.ts'

const DAY_MS = 86_400_000
let server: TestServer
let admin: { cookie: string }
let stand: ReturnType<typeof priceStand>
beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
  stand = priceStand(server, admin)
})
afterAll(() => server.stop())
const closers: (() => Promise<unknown>)[] = []
beforeEach(() => stand.forgetAll())
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const session = async (externalId: string, platform = 'PLATFORM_A') =>
  (
    await server.query(
      `{ session(platform: ${platform}, externalId: "${externalId}") { costUsd unpricedCalls revision
        events { nodes { costUsd costSource revision } } } }`,
    )
  ).session
/** What of all sessions and events has to do with money. */
const money = async () => ({
  sessions: await server.database.sql`select id, cost_usd, unpriced_calls from sessions order by id`,
  events: await server.database.sql`select event_key, cost_usd, cost_source from events order by session_id, event_key`,
})
/** Another server's, as far as it matters here. */
async function otherRepricing(onChanged: (self: Repricing) => void = () => {}) {
  const database = connectDatabase({ url: server.database.url, prepare: true })
  const prices = new OwnPrices(database.jobs, () => {})
  const errors: unknown[] = []
  const repricing: Repricing = new Repricing({
    sql: database.jobs,
    prices,
    onChanged: () => onChanged(repricing),
    onError: (error) => errors.push(error),
  })
  closers.push(() => repricing.close().then(() => database.close()))
  return { repricing, errors }
}

test('a price set after the events came is applied to both platforms, and to nothing that it does not concern', async () => {
  await server.ingestA([
    call('mixed'),
    call('mixed', { prompt_tokens: 3, completion_tokens: 7 }),
    call('mixed', { cost: '0.5000001' }),
    call('mixed', { completion_tokens: undefined }),
    call('mixed', { model: 'gpt-4o' }),
    { session_id: 'mixed', type: 'span' },
  ])
  await server.ingestA(call('table', { model: 'gpt-4o' }))
  await server.ingestB(execution('7'))
  const before = await session('mixed')
  const table = await session('table')
  expect(before).toMatchObject({ costUsd: '0.5035001', unpricedCalls: 3 })
  expect(await session('7', 'PLATFORM_B')).toMatchObject({ costUsd: null, unpricedCalls: 1 })

  await stand.setPrice('house-model', '0.3', '0.7')
  expect(await stand.apply()).toMatchObject({ sessions: 3, doneSessions: 3, changedSessions: 2 })

  const after = await session('mixed')
  expect(after).toMatchObject({ costUsd: '0.5038759', unpricedCalls: 1 })
  const [first, second, ...others] = after.events.nodes
  expect([first, second].map(({ costUsd, costSource }) => [costUsd, costSource])).toEqual([
    ['0.00037', 'PRICED'],
    ['0.0000058', 'PRICED'],
  ])
  expect(others).toEqual(before.events.nodes.slice(2))
  // Whoever follows the timeline is told of the changed events and of no others.
  expect(after.revision).toBe(before.revision + 1)
  expect([first.revision, second.revision]).toEqual([after.revision, after.revision])
  expect(await session('table')).toEqual(table)
  expect(await session('7', 'PLATFORM_B')).toMatchObject({
    costUsd: '0.00074',
    unpricedCalls: 0,
    events: { nodes: [{ costUsd: '0.00074', costSource: 'PRICED' }] },
  })
  const [row] = await server.database.sql`select content_revision from sessions where external_id = 'mixed'`
  expect(row!.content_revision).toBe('2')
  expect(await stand.disagreements()).toEqual([])
})

test('another price takes the place of the first, the same again changes nothing, and without one all is as it came', async () => {
  // The table's price of this model changes at half past four.
  const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)
  const at = (time: string, model = 'deepseek-chat') => ({ model, timestamp: `${yesterday}T${time}Z` })
  await server.ingestA([
    call('back', at('16:10:00')),
    call('back', at('16:40:00.123456')),
    call('back', { model: 'openai/gpt-4o' }),
    call('back', { model: 'gemini-2.5-pro', prompt_tokens: 300_000 }),
    call('back'),
  ])
  await server.ingestB(execution('8', { model: 'deepseek-chat', startTime: Date.parse(`${yesterday}T16:29:59.999Z`) }))
  const asItCame = await money()
  expect(new Set(asItCame.events.map((row) => row.cost_usd)).size).toBe(6)

  const models = ['deepseek-chat', 'openai/gpt-4o', 'gemini-2.5-pro', 'house-model']
  for (const model of models) await stand.setPrice(model, '1', '2')
  expect(await stand.apply()).toMatchObject({ changedSessions: 2 })
  expect(await session('back')).toMatchObject({ costUsd: '0.3050', unpricedCalls: 0 })
  for (const model of models) await stand.setPrice(model, '3', '0')
  expect(await stand.apply()).toMatchObject({ changedSessions: 2 })
  expect(await session('8', 'PLATFORM_B')).toMatchObject({ costUsd: '0.006' })
  expect(await stand.disagreements()).toEqual([])

  const before = await session('back')
  expect(await stand.apply()).toMatchObject({ doneSessions: 2, changedSessions: 0 })
  expect(await session('back')).toEqual(before)

  for (const model of models) await stand.removePrice(model)
  expect(await stand.apply()).toMatchObject({ changedSessions: 2 })
  expect(await money()).toEqual(asItCame)
})

test('only sessions of the asked days and project are looked at', async () => {
  const { sql } = server.database
  const { createApiKey } = await stand.mutate(
    `{ createApiKey(input: { name: "k", scopes: [INGEST], project: "elsewhere" }) { secret } }`,
  )
  await server.ingestA(call('theirs'), { 'x-api-key': createApiKey.secret })
  await server.ingestA([call('old'), call('new')])
  const then = new Date(Date.now() - DAY_MS - 60_000)
  await ensurePartitions(sql, then.getTime())
  const [old] = await sql`update sessions set first_seen_at = ${then} where external_id = 'old' returning id`
  await sql`update events set day = ${then.toISOString().slice(0, 10)}::date where session_id = ${old!.id}`
  await stand.setPrice('house-model', '1', '0')
  await stand.setPrice('house-model', '5', '0', 'elsewhere')
  const costs = async () =>
    Object.fromEntries(
      (await sql`select external_id, cost_usd from sessions`).map((row) => [row.external_id, row.cost_usd]),
    )

  const day = await stand.apply({ days: 1 })
  expect(day).toMatchObject({ project: 'default', requestedBy: 'admin@example.com', sessions: 1, doneSessions: 1 })
  expect(Date.parse(day.requestedAt) - Date.parse(day.since)).toBe(DAY_MS)
  expect(await costs()).toEqual({ new: '0.001', old: null, theirs: null })
  expect(await stand.apply()).toMatchObject({ since: null, sessions: 2, doneSessions: 2, changedSessions: 1 })
  expect(await costs()).toEqual({ new: '0.001', old: '0.001', theirs: null })
  expect(await stand.apply({ project: 'elsewhere', days: 3_650 })).toMatchObject({
    project: 'elsewhere',
    changedSessions: 1,
  })
  expect(await costs()).toEqual({ new: '0.001', old: '0.001', theirs: '0.005' })
})

/** Sessions that take several batches. */
async function fill(sessions: number, eventsEach: number) {
  for (let i = 0; i < sessions; i++) {
    const events = Array.from({ length: eventsEach }, (_, n) =>
      call(`s-${i}`, { prompt_tokens: n, event_id: `e-${n}` }),
    )
    await server.ingestA(events)
  }
}

test('stopped in the middle, it goes on where it was at the start of a server', async () => {
  await fill(8, 400)
  await stand.setPrice('house-model', '0.1', '0.3')
  const { repricing, errors } = await otherRepricing((self) => void self.close())
  const [project] = await server.database.sql`select id from projects where name = 'default'`
  const asked = await repricing.request(project!.id, 'somebody', null)
  expect(asked).toMatchObject({ sessions: 8, doneSessions: 0, finishedAt: null })
  await repricing.run()
  const [middle] = await repricing.list([project!.id])
  expect(middle).toMatchObject({ doneSessions: 2, changedSessions: 2, finishedAt: null })
  expect(errors).toEqual([])
  const unpriced = async () =>
    (await server.database.sql`select count(*)::int as count from sessions where unpriced_calls > 0`)[0]!.count
  expect(await unpriced()).toBe(6)

  const restarted = await startServer({ database: server.database })
  closers.push(() => restarted.stop())
  expect(await stand.finished(asked.id)).toMatchObject({ sessions: 8, doneSessions: 8, changedSessions: 8 })
  expect(await unpriced()).toBe(0)
  expect(await stand.disagreements()).toEqual([])
})

test('a session of very many events is done in parts, after each of which its sum is right', async () => {
  await fill(1, 2_500)
  await stand.setPrice('house-model', '0.1', '0.3')
  const { repricing } = await otherRepricing((self) => void self.close())
  const [project] = await server.database.sql`select id from projects where name = 'default'`
  const { id } = await repricing.request(project!.id, 'somebody', null)
  await repricing.run()
  expect((await repricing.list([project!.id]))[0]).toMatchObject({ doneSessions: 0, changedSessions: 0 })
  expect(await session('s-0')).toMatchObject({ unpricedCalls: 1_500 })
  expect(await stand.disagreements()).toEqual([])
  await server.ingestA(call('s-0'))

  const next = await stand.apply()
  expect(await stand.finished(id)).toMatchObject({ sessions: 1, doneSessions: 1, changedSessions: 1 })
  expect(next).toMatchObject({ doneSessions: 1, changedSessions: 0 })
  expect(await session('s-0')).toMatchObject({ unpricedCalls: 0 })
  expect(await stand.disagreements()).toEqual([])
})

test('two servers that are asked at once do it one after the other, and a batch never twice', async () => {
  await fill(12, 300)
  const other = await startServer({ database: server.database })
  closers.push(() => other.stop())
  await stand.setPrice('house-model', '0.1', '0.3')
  const ask = async (one: TestServer) =>
    (await one.query(`mutation { applyPricesToHistory { id } }`, {}, admin)).applyPricesToHistory.id
  const ids = await Promise.all([ask(server), ask(other), ask(server), ask(other)])
  const all = await Promise.all(ids.map(stand.finished))
  expect(all.map(({ doneSessions }) => doneSessions)).toEqual([12, 12, 12, 12])
  expect(all.map(({ changedSessions }) => changedSessions).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 12])
  expect(await stand.disagreements()).toEqual([])
})

test('a server that lost the lock and does not know it yet does no harm', async () => {
  await fill(16, 300)
  await stand.setPrice('house-model', '0.1', '0.3')
  const { sql } = server.database
  const batches = { robbed: 0, thief: 0 }
  const thief = await otherRepricing(() => (batches.thief += 1))
  const takeLock = async () => {
    await sql`
      select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 7240004
        and database = (select oid from pg_database where datname = current_database())`
    await thief.repricing.run()
  }
  let theft: Promise<void> | null = null
  const robbed = await otherRepricing(() => {
    batches.robbed += 1
    theft ??= takeLock()
  })
  const [project] = await sql`select id from projects where name = 'default'`
  const { id } = await robbed.repricing.request(project!.id, 'somebody', null)
  await robbed.repricing.run()
  await theft
  expect(await stand.finished(id)).toMatchObject({ sessions: 16, doneSessions: 16, changedSessions: 16 })
  expect(await stand.disagreements()).toEqual([])
  expect(Math.min(batches.robbed, batches.thief)).toBeGreaterThan(0)
  // Giving back the lock that it had lost was all that failed.
  expect([robbed.errors.length, thief.errors.length]).toEqual([1, 0])
})

test('what is posted, posted again and deleted meanwhile is in every sum once', async () => {
  await fill(16, 200)
  for (let i = 0; i < 8; i++) await server.ingestB(execution(`x-${i}`))
  let isOver = false
  let round = 0
  const posters = Array.from({ length: 6 }, async (_, poster) => {
    let accepted = 0
    while (!isOver) {
      round += 1
      const target = (round * 7 + poster) % 16
      const { status } =
        poster === 5
          ? await server.ingestB(execution(`x-${round % 8}`, { tokens: [round, 5] }))
          : await server.ingestA([call(`s-${target}`), call(`s-${target}`, { event_id: 'e-3', prompt_tokens: 3 })])
      if (status === 200) accepted += 1
    }
    return accepted
  })
  let isSet = { from: 0, to: 0 }
  for (const [input, output] of [
    ['0.1', '0.3'],
    ['7', '0.0000001'],
    ['0.123456789', '2'],
  ] as const) {
    const from = Date.now() - 1_000
    await stand.setPrice('house-model', input, output)
    isSet = { from, to: Date.now() }
    const { id } = (await stand.mutate(`{ applyPricesToHistory { id } }`)).applyPricesToHistory
    const [{ id: victim }] = await server.database.sql<[{ id: string }]>`
      select id from sessions where external_id like 's-%' order by random() limit 1`
    await stand.mutate(`($id: ID!) { deleteSession(id: $id) }`, { id: victim })
    await stand.finished(id)
    expect(await stand.disagreements()).toEqual([])
  }
  isOver = true
  for (const accepted of await Promise.all(posters)) expect(accepted).toBeGreaterThan(0)
  expect(await stand.disagreements()).toEqual([])
  // All calls have the price that was set last, but those that were being recorded when it was set.
  const [wrong] = await server.database.sql`
    select count(*)::int as count from events
    where cost_usd is distinct from (prompt_tokens * 0.123456789 + completion_tokens * 2) / 1000000
      and not received_at between ${new Date(isSet.from)} and ${new Date(isSet.to)}`
  expect(wrong!.count).toBe(0)
})
