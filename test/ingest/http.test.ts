// The answers of the two endpoints: the error table, bodies in every form, and the receipt.
import { request } from 'node:http'
import { connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY, startServer, type Answer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

const EVENT = { session_id: 'http', type: 'span' }
const A = '/api/ingest/platform-a'
const B = '/api/ingest/platform-b'
const without = { 'x-api-key': '' }

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect(Object.keys(answer.body)).toEqual([
    'detail',
    'message',
    'title',
    'status',
    'type',
    'code',
    'errors',
    'errorCount',
    'requestId',
  ])
  expect(answer.body).toMatchObject({ status, code })
  expect(answer.body.message).toBe(answer.body.detail)
  expect(answer.status).toBe(status)
}

describe('a refusal is a problem with a sentence', () => {
  test.each<[string, () => Promise<Answer>, number, string, RegExp]>([
    ['not JSON', () => server.post(A, '{"a": "say "hi""}'), 400, 'invalid_json', /line 1, column 13/],
    ['an empty body', () => server.post(A, ''), 400, 'invalid_json', /empty/],
    ['not UTF-8', () => server.post(A, new Uint8Array([0x22, 0xff, 0x22])), 400, 'invalid_json', /UTF-8/],
    ['too deep', () => server.post(A, '['.repeat(101) + ']'.repeat(101)), 400, 'invalid_json', /100 levels/],
    ['no key', () => server.post(A, EVENT, without), 401, 'missing_api_key', /X-API-Key is missing/],
    ['a wrong key', () => server.post(A, EVENT, { 'x-api-key': 'nope' }), 401, 'invalid_api_key', /not known/],
    ['two keys', () => server.post(A, EVENT, { 'x-api-key': `${KEY}, ${KEY}` }), 401, 'invalid_api_key', /not known/],
    [
      'another path',
      () => server.post('/api/ingest/platform-c', EVENT),
      404,
      'not_found',
      /platform-a or POST \/api\/ingest\/platform-b/,
    ],
    [
      'too many events',
      () => server.post(A, Array(10_001).fill(EVENT)),
      413,
      'body_too_large',
      /10001 events; at most 10000/,
    ],
    [
      'a body over 5 MiB',
      () => server.post(A, { ...EVENT, input: 'x'.repeat(5_300_000) }),
      413,
      'body_too_large',
      /5 MiB/,
    ],
    [
      'a form',
      () => server.post(A, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
      /"Payload Type" to JSON/,
    ],
    [
      'another charset',
      () => server.post(A, '{}', { 'content-type': 'application/json; charset=utf-16' }),
      415,
      'unsupported_media_type',
      /utf-16/,
    ],
    [
      'an unknown encoding',
      () => server.post(A, '{}', { 'content-encoding': 'zstd' }),
      415,
      'unsupported_media_type',
      /zstd/,
    ],
    ['broken gzip', () => server.post(A, 'abc', { 'content-encoding': 'gzip' }), 400, 'invalid_json', /not valid gzip/],
    [
      'a wrong field',
      () => server.post(A, { session_id: 'run 1' }),
      422,
      'invalid_payload',
      /^session_id "run 1" contains a space/,
    ],
    [
      'a bare execution',
      () => server.post(B, { id: '1', workflowId: 'w' }),
      422,
      'invalid_payload',
      /wrap it: \{"execution"/,
    ],
    ['a list call', () => server.post(B, { data: [{ id: 1 }] }), 422, 'invalid_payload', /answer of a list call/],
    [
      'no execution id',
      () => server.post(B, { execution: { id: '__UNKNOWN__' } }),
      422,
      'invalid_payload',
      /cannot be "__UNKNOWN__"/,
    ],
    [
      'a failed trigger',
      () => server.post(B, { trigger: { error: {} }, workflow: {} }),
      422,
      'invalid_payload',
      /trigger failed/,
    ],
  ])('%s', async (_what, send, status, code, sentence) => {
    const answer = await send()
    expectProblem(answer, status, code)
    expect(answer.body.detail).toMatch(sentence)
  })

  test('a wrong method names the right one', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(server.url + A, { method, headers: { 'x-api-key': KEY } })
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST'])
    }
  })

  test('of a list of executions all that are wrong are named, and none is recorded', async () => {
    const answer = await server.ingestB([{ execution: { id: 'list-1' } }, { execution: {} }, 7])
    expectProblem(answer, 422, 'invalid_payload')
    expect(answer.body.errors.map((error: any) => error.pointer)).toEqual(['/1/execution/id', '/2/execution'])
    const rows = await server.database.sql`select 1 from sessions where external_id = 'list-1'`
    expect(rows).toHaveLength(0)
  })

  test('a wrong path is not called a wrong method', async () => {
    for (const path of ['/ingest/platform-a', '/platform-a', '/', '/API/ingest/Platform-A', '/api/ingest/%zz']) {
      const answer = await server.post(path, EVENT)
      expect([path, answer.headers.get('content-type')]).toEqual([path, 'application/problem+json; charset=utf-8'])
      if (!path.includes('%')) expectProblem(answer, 404, 'not_found')
    }
  })

  test('what is no HTTP is a problem too', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () =>
        socket.write('BREW /pot HTCPCP/1.0\r\n\r\n'),
      )
      let text = ''
      socket.on('data', (data) => (text += data))
      socket.on('close', () => resolve(text))
      socket.on('error', () => {})
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/problem\+json/)
  })

  test('nothing of a refused array is recorded', async () => {
    await server.ingestA([
      { session_id: 'refused', type: 'span' },
      { session_id: 'refused', cost: 'free' },
    ])
    expect(await server.database.sql`select 1 from sessions where external_id = 'refused'`).toHaveLength(0)
  })
})

describe('keys', () => {
  const createKey = async (scopes: string) => {
    const cookie = await server.signIn()
    const { body } = await server.graphql(
      `mutation { createApiKey(input: { name: "k", scopes: [${scopes}] }) { secret apiKey { id } } }`,
      {},
      { cookie },
    )
    return { cookie, ...body.data.createApiKey }
  }

  test('a key that may only read may not post', async () => {
    const { secret } = await createKey('READ')
    expectProblem(await server.ingestA(EVENT, { 'x-api-key': secret }), 403, 'wrong_scope')
  })

  test('a revoked key stops at once', async () => {
    const { secret, apiKey, cookie } = await createKey('INGEST')
    expect((await server.ingestA(EVENT, { 'x-api-key': secret })).status).toBe(200)
    await server.graphql(`mutation ($id: ID!) { revokeApiKey(id: $id) { revokedAt } }`, { id: apiKey.id }, { cookie })
    expectProblem(await server.ingestA(EVENT, { 'x-api-key': secret }), 403, 'revoked_api_key')
  })

  test('the key is checked before the body is read', async () => {
    const status = await new Promise((resolve, reject) => {
      const posting = request(
        server.url + A,
        { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': 1000 } },
        (response) => {
          resolve(response.statusCode)
          posting.destroy()
        },
      )
      posting.on('error', reject)
      posting.write('{')
    })
    expect(status).toBe(401)
  })
})

describe('bodies', () => {
  const text = JSON.stringify({ session_id: 'packed', type: 'span', input: 'x'.repeat(5000) })
  test.each([
    ['gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
  ])('%s is unpacked', async (encoding, body) => {
    expect((await server.post(A, body, { 'content-encoding': encoding })).body).toMatchObject({ accepted: 1 })
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('a %s bomb is refused by its unpacked size', async (encoding, pack) => {
    const answer = await server.post(A, pack(Buffer.alloc(50 * 1024 * 1024, 0x20)), { 'content-encoding': encoding })
    expectProblem(answer, 413, 'body_too_large')
  })

  test('a byte order mark is stripped, Content-Type may have a charset', async () => {
    const answer = await server.post(A, `\ufeff${JSON.stringify(EVENT)}`, {
      'content-type': 'application/json; charset=utf-8',
    })
    expect(answer.status).toBe(200)
  })

  test('an empty array is 200 with 0', async () => {
    expect((await server.post(A, [])).body).toEqual({ accepted: 0, duplicate: false, sessions: [], warnings: [] })
  })

  test('a body that ends before its length is not recorded, and the server stays up', async () => {
    const { port } = new URL(server.url)
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        const body = JSON.stringify({ session_id: 'cut-off', type: 'span' })
        socket.write(
          `POST ${A} HTTP/1.1\r\nhost: x\r\nx-api-key: ${KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length + 5}\r\n\r\n${body}`,
        )
        socket.end()
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve())
      socket.resume()
    })
    expect((await server.ingestA(EVENT)).status).toBe(200)
    expect(await server.database.sql`select 1 from sessions where external_id = 'cut-off'`).toHaveLength(0)
  })
})

describe('the receipt', () => {
  test('says what was recorded, where to see it and what was changed on the way', async () => {
    const { body } = await server.ingestA([
      { session_id: 'receipt', type: 'llm.call', timestamp: new Date().toISOString().slice(0, 19) },
      { session_id: 'receipt', type: 'session.end' },
      { session_id: 'receipt-2', type: 'span', status: 'error', error: 'x' },
    ])
    expect(body).toEqual({
      accepted: 3,
      duplicate: false,
      sessions: [
        {
          session_id: 'receipt',
          status: 'completed',
          url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/sessions\/[0-9a-f-]{36}$/),
        },
        { session_id: 'receipt-2', status: 'failed', url: expect.any(String) },
      ],
      warnings: [expect.objectContaining({ pointer: '/0/timestamp', field: 'timestamp', code: 'no_timezone' })],
    })
  })

  test.each(['constructor', '__proto__', 'toString', 'done'])('the status word %s is only a word', async (status) => {
    const answer = await server.ingestB({ execution: { id: `word-${status}`, workflowId: 'w', status } })
    expect(answer.body.sessions).toMatchObject([{ status: 'completed' }])
  })

  test('four arrays of 10,000 sessions at once are all recorded', { timeout: 60_000 }, async () => {
    const arrays = Array.from({ length: 4 }, (_, n) =>
      Array.from({ length: 10_000 }, (_, i) => ({ session_id: `bulk-${n}-${i}`, type: 'span' })),
    )
    const answers = await Promise.all(arrays.map((events) => server.ingestA(events)))
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200])
    const [row] = await server.database.sql`select count(*)::int as count from sessions where external_id like 'bulk-%'`
    expect(row!.count).toBe(40_000)
  })

  test('an unreadable part of an execution is a warning and never an error', async () => {
    const { status, body } = await server.ingestB({
      execution: {
        id: 'odd',
        workflowId: 'w',
        startedAt: 'yesterday',
        data: { resultData: { runData: { A: 'x', B: [7, null, { startTime: {} }] } } },
      },
    })
    expect(status).toBe(200)
    expect(body.warnings.map((warning: any) => warning.code)).toContain('unreadable')
  })

  test('a key over its limit hears when to come back', async () => {
    const limited = await startServer({ env: { RATE_LIMIT_PER_MINUTE: '3' } })
    for (let i = 0; i < 3; i++) expect((await limited.ingestA(EVENT)).status).toBe(200)
    const answer = await limited.ingestA(EVENT)
    expectProblem(answer, 429, 'rate_limited')
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(answer.headers.get('ratelimit-limit')).toBe('3')
    await limited.stop()
  })
})
