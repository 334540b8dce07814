// What is sent again: by Idempotency-Key, by event_id, as an execution, or without any of these.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { breakableProxy } from '../support/proxy.ts'
import { startServer, type Answer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
const others: TestServer[] = []
beforeAll(async () => void (server = await startServer()))
afterEach(async () => {
  for (const other of others.splice(0)) await other.stop()
})
afterAll(() => server.stop())

const keyed = (key: string) => ({ 'idempotency-key': key })
const receiptOf = ({ status, body, headers }: Answer) => ({
  status,
  replayed: headers.get('idempotency-replayed'),
  ...body,
})
async function sessionOf(externalId: string, on = server) {
  const { sessions } = await on.query(
    `query ($search: String) { sessions(filter: { search: $search }, first: 5) { nodes {
      externalId eventCount promptTokens costUsd status events { nodes { id name possibleDuplicate } } } } }`,
    { search: externalId },
  )
  return sessions.nodes.find((node: any) => node.externalId === externalId) ?? null
}

const twoSteps = (id: string) => [
  { session_id: id, type: 'llm.call', model: 'gpt-4o', prompt_tokens: 10, cost: '0.5', timestamp: '2026-11-20 10:00' },
  { session_id: id, type: 'session.end', status: 'success' },
]

test('the same request with its Idempotency-Key gets the same receipt, and counts once', async () => {
  const first = await server.ingestA(twoSteps('keyed'), keyed('k-1'))
  expect(receiptOf(first)).toMatchObject({ status: 200, replayed: null, accepted: 2, duplicate: false })
  expect(first.body.warnings).toHaveLength(1)
  for (const key of ['k-1', '"k-1"']) {
    const again = await server.ingestA(twoSteps('keyed'), keyed(key))
    expect(receiptOf(again)).toEqual({ ...receiptOf(first), duplicate: true, replayed: 'true' })
  }
  expect(await sessionOf('keyed')).toMatchObject({ eventCount: 2, promptTokens: 10, costUsd: '0.5' })
})

test('the receipt is the one of then, also when the session has moved on', async () => {
  const first = await server.ingestA({ session_id: 'moved', type: 'span' }, keyed('k-moved'))
  expect(first.body.sessions[0].status).toBe('running')
  await server.ingestA({ session_id: 'moved', status: 'error', error: 'late' })
  const again = await server.ingestA({ session_id: 'moved', type: 'span' }, keyed('k-moved'))
  expect(again.body).toEqual({ ...first.body, duplicate: true })
})

test('20 at once with one key are one request', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => server.ingestA(twoSteps('at-once'), keyed('k-20'))),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1)
  expect(new Set(answers.map(({ body }) => JSON.stringify({ ...body, duplicate: null }))).size).toBe(1)
  expect(await sessionOf('at-once')).toMatchObject({ eventCount: 2, promptTokens: 10 })
})

test('20 at once through two servers are one request', async () => {
  const other = await startServer({ database: server.database })
  others.push(other)
  const post = (i: number) => (i % 2 ? server : other).ingestA(twoSteps('two-servers'), keyed('k-two'))
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => post(i)))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1)
  expect(await sessionOf('two-servers')).toMatchObject({ eventCount: 2, promptTokens: 10 })
})

test('a key outlives a restart', async () => {
  const before = await startServer({ database: server.database })
  const first = await before.ingestA(twoSteps('restart'), keyed('k-restart'))
  await before.stop()
  const after = await startServer({ database: server.database })
  others.push(after)
  const again = receiptOf(await after.ingestA(twoSteps('restart'), keyed('k-restart')))
  const withoutUrls = (body: any) => ({ ...body, sessions: body.sessions.map((one: any) => one.session_id) })
  expect(withoutUrls(again)).toEqual({ ...withoutUrls(first.body), status: 200, duplicate: true, replayed: 'true' })
})

test('a commit whose answer was lost is found again: the caller hears of it once and it counts once', async () => {
  const proxy = await breakableProxy(server.database.url)
  const behind = await startServer({
    database: { ...server.database, url: proxy.url },
  })
  others.push(behind)
  await behind.ingestA({ session_id: 'warm-up' })
  for (let round = 0; round < 6; round++) {
    proxy.cutBeforeNextAnswer()
    const id = `cut-${round}`
    const first = await behind.ingestA(twoSteps(id), keyed(`k-${id}`))
    expect(receiptOf(first)).toMatchObject({ status: 200, accepted: 2, duplicate: false, replayed: null })
    const again = await behind.ingestA(twoSteps(id), keyed(`k-${id}`))
    expect(again.body).toEqual({ ...first.body, duplicate: true })
    expect(await sessionOf(id)).toMatchObject({ eventCount: 2, promptTokens: 10 })
  }
  expect(proxy.cuts).toBeGreaterThan(0)
  await others.pop()!.stop()
  await proxy.close()
})

test('a refused request does not use its key up', async () => {
  const refused = await server.ingestA({ session_id: 'bad id' }, keyed('k-burn'))
  expect(refused.status).toBe(422)
  const corrected = await server.ingestA({ session_id: 'good-id' }, keyed('k-burn'))
  expect(receiptOf(corrected)).toMatchObject({ status: 200, duplicate: false, replayed: null })
})

test('platform A: a key with another body is refused and says what to do; nothing of it is recorded', async () => {
  await server.ingestA({ session_id: 'reused-1' }, keyed('k-reused'))
  const { status, body } = await server.ingestA({ session_id: 'reused-2' }, keyed('k-reused'))
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' })
  expect(body.detail).toMatch(/Idempotency-Key was sent before with another body/)
  expect(body.errors).toMatchObject([{ field: 'Idempotency-Key' }])
  expect(await sessionOf('reused-2')).toBeNull()
})

test('platform B: a key with another body is a post like any other', async () => {
  const run = (status: string) => ({ execution: { id: '1', workflowId: 'keyed-b', status } })
  const first = await server.ingestB(run('running'), keyed('k-b'))
  expect(receiptOf(first)).toMatchObject({ duplicate: false })
  const second = await server.ingestB(run('error'), keyed('k-b'))
  expect(receiptOf(second)).toMatchObject({ status: 200, duplicate: false, replayed: null })
  expect(second.body.sessions[0].status).toBe('failed')
  const again = await server.ingestB(run('running'), keyed('k-b'))
  expect(receiptOf(again)).toEqual({ ...receiptOf(first), duplicate: true, replayed: 'true' })
})

test('a key belongs to its project and its endpoint', async () => {
  await server.ingestA({ session_id: '7' }, keyed('k-shared'))
  const onB = await server.ingestB({ execution: { id: '7' } }, keyed('k-shared'))
  expect(receiptOf(onB)).toMatchObject({ status: 200, duplicate: false })
  const cookie = await server.signIn()
  const made = await server.query(
    `mutation { createApiKey(input: { name: "x", scopes: [INGEST], project: "elsewhere" }) { secret } }`,
    {},
    { cookie },
  )
  const elsewhere = await server.ingestA(
    { session_id: 'another-body' },
    { ...keyed('k-shared'), 'x-api-key': made.createApiKey.secret },
  )
  expect(receiptOf(elsewhere)).toMatchObject({ status: 200, duplicate: false })
})

test.each([
  ['too long', 'x'.repeat(256)],
  ['not printable', 'caf\u00e9'],
])('a key that is %s is refused by its name', async (_what, key) => {
  const { status, body } = await server.ingestA({ session_id: 'x' }, keyed(key))
  expect({ status, code: body.code, field: body.errors[0].field }).toEqual({
    status: 422,
    code: 'invalid_payload',
    field: 'Idempotency-Key',
  })
  expect(body.detail).toMatch(/1 to 255 printable/)
})

test('a key of 255 characters is taken, a blank one is none', async () => {
  const long = 'x'.repeat(255)
  await server.ingestA({ session_id: 'long-key' }, keyed(long))
  expect((await server.ingestA({ session_id: 'long-key' }, keyed(long))).body.duplicate).toBe(true)
  const blank = await server.ingestA({ session_id: 'blank-key' }, keyed(' '))
  expect(blank.body.warnings).toMatchObject([
    { code: 'inferred_type' },
    { field: 'Idempotency-Key', code: 'blank_idempotency_key' },
  ])
  expect((await server.ingestA({ session_id: 'blank-key' }, keyed('""'))).body.duplicate).toBe(false)
  expect(await sessionOf('blank-key')).toMatchObject({ eventCount: 2 })
})

test('while a request is being recorded for long, another with its key hears that', { timeout: 20_000 }, async () => {
  const own = await startServer()
  others.push(own)
  await own.ingestA({ session_id: 'held' })
  const { sql } = own.database
  const { release } = await hold(sql, `select 1 from sessions where external_id = 'held' for update`)
  const first = own.ingestA({ session_id: 'held', type: 'span' }, keyed('k-held'))
  const second = await own.ingestA({ session_id: 'held', type: 'span' }, keyed('k-held'))
  expect({ status: second.status, code: second.body.code, again: second.headers.get('retry-after') }).toEqual({
    status: 409,
    code: 'request_in_progress',
    again: '1',
  })
  release()
  await first
  const third = await until(
    () => own.ingestA({ session_id: 'held', type: 'span' }, keyed('k-held')),
    ({ status }) => status === 200,
  )
  expect(third.body.accepted).toBe(1)
  expect(await sessionOf('held', own)).toMatchObject({ eventCount: 2 })
})

/** Holds a lock until it is released. */
async function hold(sql: TestServer['database']['sql'], statement: string) {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await new Promise<void>((held) => {
    void sql.begin(async (tx) => {
      await tx.unsafe(statement)
      held()
      await released
    })
  })
  return { release }
}

test('an event_id that was recorded before is said in the receipt and not counted', async () => {
  const step = { session_id: 'by-event-id', type: 'llm.call', prompt_tokens: 5, event_id: 'e-1' }
  expect((await server.ingestA(step)).body).toMatchObject({ duplicate: false, warnings: [] })
  const again = await server.ingestA(step)
  expect(again.body).toMatchObject({ accepted: 1, duplicate: true })
  expect(again.body.warnings).toMatchObject([{ pointer: '/event_id', field: 'event_id', code: 'already_recorded' }])
  const mixed = await server.ingestA([{ ...step, event_id: 'e-2' }, step, { ...step, event_id: 'e-2' }])
  expect(mixed.body).toMatchObject({ accepted: 3, duplicate: false })
  expect(mixed.body.warnings.map(({ pointer }: any) => pointer)).toEqual(['/1/event_id', '/2/event_id'])
  expect(mixed.body.warnings[0].detail).toMatch(/^Event 2 of 3: .*not counted again/)
  expect(await sessionOf('by-event-id')).toMatchObject({ eventCount: 2, promptTokens: 10 })
})

test('an execution that was recorded before is merged, and the receipt says so', async () => {
  const run = { execution: { id: '15', workflowId: 'again', status: 'success', stoppedAt: '2026-11-20T10:00:00Z' } }
  expect((await server.ingestB(run)).body).toMatchObject({ duplicate: false, warnings: [] })
  const again = await server.ingestB({ execution: { ...run.execution, stoppedAt: '2026-11-20T10:00:01Z' } })
  expect(again.body).toMatchObject({ duplicate: true, warnings: [{ code: 'already_recorded' }] })
  const news = await server.ingestB({
    execution: { ...run.execution, status: 'error', stoppedAt: '2026-11-20T10:00:02Z' },
  })
  expect(news.body).toMatchObject({ duplicate: false, warnings: [{ code: 'already_recorded' }] })
})

test('equal events without a key stay two and are marked, in one request or in several', async () => {
  const step = { session_id: 'equal', type: 'tool.call', tool_name: 'search', input: 'same', output: 'same' }
  await server.ingestA([step, { ...step, output: 'other' }])
  await server.ingestA(step)
  await server.ingestA({ ...step, timestamp: '2026-11-20T10:00:00Z' })
  await server.ingestA(step, keyed('k-equal'))
  await server.ingestA({ ...step, event_id: 'named' })
  const { eventCount, events } = await sessionOf('equal')
  expect(eventCount).toBe(6)
  // Only the one that came again without a time of its own, a key or an id.
  expect(events.nodes.filter((event: any) => event.possibleDuplicate)).toHaveLength(1)
})

test('a project that merges equal events counts those with an equal time once, and only those', async () => {
  const own = await startServer()
  others.push(own)
  const cookie = await own.signIn()
  const step = { session_id: 'merged', type: 'llm.call', prompt_tokens: 3 }
  const timed = { ...step, timestamp: '2026-11-20T10:00:00Z' }
  await own.ingestA(timed)
  await own.query(`mutation { updateProject(settings: { mergesEqualEvents: true }) { name } }`, {}, { cookie })
  await own.ingestA(timed)
  const repeated = await own.ingestA(timed)
  expect(repeated.body).toMatchObject({ accepted: 1, duplicate: true, warnings: [{ code: 'merged_equal' }] })
  await own.ingestA([step, step])
  await own.ingestA({ ...timed, timestamp: '2026-11-20T10:00:01Z' })
  const { eventCount, promptTokens, events } = await sessionOf('merged', own)
  // The first came before the switch: the second is another, marked.
  expect({ eventCount, promptTokens }).toEqual({ eventCount: 5, promptTokens: 15 })
  expect(events.nodes.filter((event: any) => event.possibleDuplicate)).toHaveLength(2)
})
