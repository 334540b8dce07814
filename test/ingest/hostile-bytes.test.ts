// Bodies made to hurt: bombs, floods of values, and values that no program expects. Each gets its answer, and good
// traffic is served all the while.
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { goodTraffic } from '../support/good-traffic.ts'
import { exchange, rawPost, type RawAnswer } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const A = '/api/ingest/platform-a'
const B = '/api/ingest/platform-b'
const MIB = 1024 * 1024

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

let traffic: ReturnType<typeof goodTraffic>
beforeEach(() => void (traffic = goodTraffic(server)))
afterEach(() => traffic.stop())

const post = (body: string, headers: Record<string, string | string[]> = {}, path = A) => rawPost(path, body, headers)
const send = async (...parts: (string | Buffer)[]) => (await exchange(server.url, parts))[0]!
const countOf = async (id: string) => {
  const [row] = await server.database.sql`
    select coalesce(sum(event_count), 0)::int as count from sessions where external_id = ${id}`
  return row!.count as number
}
const isRefusal = ({ status, headers, body }: RawAnswer) => {
  expect(headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(Object.keys(body).slice(0, 2)).toEqual(['detail', 'message'])
  expect(body).toMatchObject({ status, message: body.detail })
  return true
}

describe('bombs', () => {
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  test.each([
    ['gzip', (zeros: Buffer) => gzipSync(zeros, { level: 1 })],
    ['deflate', (zeros: Buffer) => deflateSync(zeros, { level: 1 })],
    ['br', (zeros: Buffer) => brotliCompressSync(zeros, fast)],
  ])('eight times 200 MB of nothing in %s take neither memory nor the turn of others', async (encoding, pack) => {
    const packed = pack(Buffer.alloc(200 * MIB))
    const before = process.memoryUsage().rss
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => server.post(A, packed, { 'content-encoding': encoding })),
    )
    for (const answer of answers) {
      expect(answer.status).toBe(413)
      expect(answer.body.detail).toBe(
        'The body is larger than 5 MiB when unpacked. Send fewer or shorter events at once. No event was recorded.',
      )
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(700 * MIB)
  })

  test.each<[string, () => string, string, number, RegExp]>([
    [
      '200,000 tiny events',
      () => `[${Array(200_000).fill('{"session_id":"x"}')}]`,
      A,
      413,
      /^The request holds 200000 events; at most 10000 are allowed\. Send them in several requests\./,
    ],
    ['5 MiB of open brackets', () => '['.repeat(5 * MIB), A, 400, /^The JSON is nested deeper than 100 levels\./],
    [
      '16 million line breaks',
      () => `${'\n'.repeat(16_000_000)}x`,
      B,
      400,
      /line 16000001, column 1, a value is expected/,
    ],
    [
      '101 levels',
      () => `{"session_id":"deep-101","a":${'['.repeat(100)}${']'.repeat(100)}}`,
      A,
      400,
      /deeper than 100 levels/,
    ],
    [
      'an execution of 200,000 names for nothing',
      () => JSON.stringify({ execution: manyNames() }),
      B,
      422,
      /^execution\.id is missing or empty/,
    ],
  ])('%s: refused with a sentence', async (_what, body, path, status, sentence) => {
    const answer = await send(post(body(), {}, path))
    expect(isRefusal(answer) && answer.status).toBe(status)
    expect(answer.body.detail).toMatch(sentence)
  })

  test.each<[string, string, string, number]>([
    ['100 levels', `"a":${'['.repeat(99)}${']'.repeat(99)}`, '', 100],
    ['200,000 names', JSON.stringify(manyNames()).slice(1, -1), 'attributes_cut', 100],
    ['a text of 4 MB', `"input":"${'é'.repeat(2_000_000)}"`, '', 4_000_000],
  ])('%s: taken and readable', async (what, fields, warning, size) => {
    const id = what.replaceAll(/\W/g, '-')
    const answer = await send(post(`{"session_id":"${id}","type":"span",${fields}}`))
    expect(answer.body.warnings.map((one: any) => one.code).join()).toBe(warning)
    const { attributes, input } = await eventOf(id)
    expect(Buffer.byteLength(input ?? JSON.stringify(attributes))).toBeGreaterThanOrEqual(size)
  })

  test('9 MB that begin like a credential are masked whole', async () => {
    const message = `request failed with authorization: 1${'a'.repeat(9_000_000)}`
    const execution = { id: 'long-secret', workflowId: 'w', data: { resultData: { error: { message } } } }
    expect((await server.ingestB({ execution })).status).toBe(200)
    const { session } = await server.query(
      '{ session(platform: PLATFORM_B, externalId: "long-secret") { errorMessage } }',
    )
    expect(session.errorMessage).toBe('request failed with authorization: [masked]')
  })
})

describe('values that no program expects', () => {
  const digits = '9'.repeat(400)
  const numeric = ['prompt_tokens', 'completion_tokens', 'cost', 'duration_ms', 'timestamp', 'session_id', 'event_id']
  test.each(numeric)('400 digits as %s are refused, as a number and as text', async (field) => {
    for (const value of [digits, `"${digits}"`]) {
      const { body, status } = await send(post(`{"session_id":"digits","type":"span","${field}":${value}}`))
      expect([status, body.detail.split(' ')[0], body.errors[0].field]).toEqual([422, field, field])
      expect(body.detail.length).toBeLessThan(250)
    }
    expect(await countOf('digits')).toBe(0)
  })

  test('of a name that comes twice the last value counts', async () => {
    await send(
      post('{"session_id":"first","type":"nonsense","session_id":"second","type":"span","cost":"x","cost":0.5}'),
    )
    expect([await countOf('first'), await countOf('second')]).toEqual([0, 1])
  })

  test('__proto__ and constructor are ids and names like any other', async () => {
    const inner = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const body = `{"session_id":"__proto__","type":"span","__proto__":{"polluted":1},"toString":"t","a":[{"b":${inner}}]}`
    expect((await send(post(body))).body.sessions).toMatchObject([{ session_id: '__proto__' }])
    expect(JSON.stringify((await eventOf('__proto__')).attributes)).toBe(
      `{"a":[{"b":${inner}}],"toString":"t","__proto__":{"polluted":1}}`,
    )
    const execution = `{"execution":{"id":"constructor","workflowId":"__proto__","data":{"resultData":{"runData":{"__proto__":[{"startTime":1795219257000}]}}}}}`
    expect((await send(post(execution, {}, B))).status).toBe(200)
    expect(await countOf('constructor')).toBe(1)
    expect(({} as any).polluted).toBeUndefined()
  })

  test('a value is never cut in the middle of a character', async () => {
    const text = `x${'😀'.repeat(60)}`
    expect((await server.ingestA({ session_id: text })).body.detail.isWellFormed()).toBe(true)
    const answer = await server.ingestB({ execution: { id: 'cut', workflowId: 'w', startedAt: text } })
    expect(answer).toMatchObject({ status: 200, body: { warnings: [{ code: 'unreadable' }] } })
  })

  test('steps with negative execution indexes stand in the order of their keys', async () => {
    const run = (executionIndex: number) => [{ startTime: 1795219257000, executionIndex }]
    const runData = { A: run(-5), B: run(3), C: run(-(2 ** 53 - 1)), D: run(2 ** 53 - 1) }
    await server.ingestB({ execution: { id: 'negative', workflowId: 'w', data: { resultData: { runData } } } })
    const { session } = await server.query(
      '{ session(platform: PLATFORM_B, externalId: "negative") { events { nodes { orderKey } } } }',
    )
    const keys = session.events.nodes.map((one: any) => one.orderKey)
    expect(keys).toEqual(keys.toSorted())
  })
})

async function eventOf(externalId: string) {
  const { session } = await server.query(
    'query ($id: String) { session(platform: PLATFORM_A, externalId: $id) { events { nodes { id } } } }',
    { id: externalId },
  )
  const { event } = await server.query('query ($id: ID!) { event(id: $id) { input attributes } }', {
    id: session.events.nodes[0].id,
  })
  return event
}

function manyNames(): Record<string, number> {
  return Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`name-${i}`, i]))
}
