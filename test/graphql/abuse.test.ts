// Queries and bodies made to hurt: each is answered with a code, on both transports, and the process stays up and small.
import { connect } from 'node:net'
import { getIntrospectionQuery } from 'graphql'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'

const MB = 1024 * 1024

let server: TestServer
let pulse = 0
beforeAll(async () => {
  server = await startServer()
  await server.ingestA({ session_id: 'run', type: 'llm.call', agent_name: 'Agent', input: 'text', status: 'success' })
})
afterEach(async () => {
  expect((await server.ingestA({ session_id: `pulse-${pulse++}`, type: 'span' })).status).toBe(200)
})
afterAll(() => server.stop())

const times = (count: number, text: (i: number) => string) => Array.from({ length: count }, (_, i) => text(i)).join(' ')
const cycle = (turns: number) =>
  `{ sessions(first: 1) { nodes ${'{ events(first: 1) { nodes { session '.repeat(turns)}{ id }${' } } }'.repeat(turns)} } }`
/** Each fragment spreads the next one twice: a few lines that stand for 2^count fields. */
const bomb = (count: number, spread: (i: number) => string) =>
  `{ sessions(first: 1) { nodes { ...F0 } } } ${times(count, (i) => `fragment F${i} on Session { ${spread(i + 1)} }`)} fragment F${count} on Session { id }`
const twice = (i: number) =>
  `a${i}: events(first: 1) { nodes { session { ...F${i} } } } b${i}: events(first: 1) { nodes { session { ...F${i} } } }`

async function onSocket(query: string, variables: Record<string, unknown>) {
  const client = socketClient(server.url)
  const operation = subscribe(client, query, variables)
  // Errors before execution end the operation, those of execution come as a result.
  const ended = operation.ended.then((reason) => ({ errors: reason as { extensions: any }[] }))
  const result = await Promise.race([operation.next(), ended])
  await client.dispose()
  return result.errors[0].extensions
}

describe('an operation', () => {
  test.each<[string, string, string, Record<string, unknown>?]>([
    ['of 2,000 aliases', `{ ${times(2_000, (i) => `a${i}: viewer { kind }`)} }`, 'QUERY_TOO_COSTLY'],
    [
      'of 51 aliases in a fragment',
      `{ ...A } fragment A on Query { ${times(51, (i) => `a${i}: viewer { kind }`)} }`,
      'QUERY_TOO_COSTLY',
    ],
    ['of 40 turns through a cycle', cycle(40), 'QUERY_TOO_COSTLY'],
    ['nested 9,000 deep', '{a'.repeat(9_000), 'QUERY_TOO_COSTLY'],
    ['nested 60,000 deep', '{a'.repeat(60_000), 'QUERY_TOO_COSTLY'],
    ['of one field 6,000 times', `{ viewer { ${times(6_000, () => 'kind')} } }`, 'QUERY_TOO_COSTLY'],
    ['of one comment of 100,000 characters', `{ viewer { kind } } #${'x'.repeat(100_000)}`, 'QUERY_TOO_COSTLY'],
    ['of fragments that stand for 2^24 fields', bomb(24, twice), 'QUERY_TOO_COSTLY'],
    ['of fragments that stand for 2^100 fields', bomb(100, (i) => `...F${i} ...F${i}`), 'QUERY_TOO_COSTLY'],
    [
      'of fragments that spread each other',
      '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'of a fragment that spreads itself in a field',
      `{ sessions { nodes { ...A } } } fragment A on Session { events { nodes { session { ...A } } } }`,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['of 600 directives', `{ viewer { kind ${times(600, () => '@skip(if: $no)')} } }`, 'QUERY_TOO_COSTLY'],
    [
      'of 150 directives',
      `query ($no: Boolean!) { viewer { kind ${times(150, () => '@skip(if: $no)')} } }`,
      'GRAPHQL_VALIDATION_FAILED',
      { no: false },
    ],
    ['of 1,000 unknown directives', `{ viewer { kind ${times(900, (i) => `@d${i}`)} } }`, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'that asks the schema for itself over and over',
      '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'of 150 operations without the name of one',
      times(150, (i) => `query q${i} { viewer { kind } }`),
      'OPERATION_RESOLUTION_FAILURE',
    ],
    ['without an operation', '# nothing', 'GRAPHQL_PARSE_FAILED'],
    ['that is no GraphQL', 'select * from people', 'GRAPHQL_PARSE_FAILED'],
    [
      'with a variable of another kind',
      'query ($n: Int) { sessions(first: $n) { nodes { id } } }',
      'BAD_USER_INPUT',
      { n: 'x'.repeat(200_000) },
    ],
    [
      'with 30,000 ids',
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      'BAD_USER_INPUT',
      { ids: Array(30_000).fill('x') },
    ],
    [
      'that subscribes to more than may be asked',
      'subscription { sessionChanged { session { events(first: 1000) { nodes { input output } } } } }',
      'QUERY_TOO_COSTLY',
    ],
  ])('%s is refused with a code', async (_what, query, code, variables = {}) => {
    const { body } = await server.graphql(query, variables)
    expect(body.errors[0].extensions.code).toBe(code)
    expect(body.errors[0].message.length).toBeLessThan(1_000)
    expect(await onSocket(query, variables)).toEqual({ code })
  })
})

describe('a body', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)))

  test.each<[string, string | Buffer, number, string, Record<string, string>?]>([
    ['of two operations', '[{"query":"{ viewer { kind } }"},{"query":"{ viewer { kind } }"}]', 422, 'INVALID_PAYLOAD'],
    [
      'of 10,000 operations',
      `[${Array(10_000).fill('{"query":"{ viewer { kind } }"}').join()}]`,
      422,
      'INVALID_PAYLOAD',
    ],
    ['that is null', 'null', 422, 'INVALID_PAYLOAD'],
    ['that is text', '"{ viewer { kind } }"', 422, 'INVALID_PAYLOAD'],
    ['without a query', '{}', 422, 'INVALID_PAYLOAD'],
    ['whose query is a number', '{"query":5}', 422, 'INVALID_PAYLOAD'],
    ['with an unknown member', '{"query":"{ viewer { kind } }","more":1}', 400, 'BAD_REQUEST'],
    ['whose variables are an array', '{"query":"{ viewer { kind } }","variables":[]}', 400, 'BAD_REQUEST'],
    ['of nothing', '', 400, 'INVALID_JSON'],
    ['that is cut off', '{"query":"{ viewer', 400, 'INVALID_JSON'],
    ['that is no UTF-8', bytes('{"query":"{ agent(name: \\"', [0xff, 0xfe], '\\") { runs } }"}'), 400, 'INVALID_JSON'],
    [
      'with variables nested 100,000 deep',
      `{"query":"{ viewer { kind } }","variables":{"a":${deep}}}`,
      400,
      'INVALID_JSON',
    ],
    [
      'of 2 MB',
      JSON.stringify({ query: '{ viewer { kind } }', variables: { a: 'x'.repeat(2 * MB) } }),
      413,
      'BODY_TOO_LARGE',
    ],
    [
      'of a form',
      'query=%7Bviewer%7Bkind%7D%7D',
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    [
      'of a form with files',
      '--x\r\n',
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      { 'content-type': 'multipart/form-data; boundary=x' },
    ],
    [
      'that is the query itself',
      '{ viewer { kind } }',
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      { 'content-type': 'application/graphql' },
    ],
    [
      'in UTF-16',
      bytes(Buffer.from('{"query":"{viewer{kind}}"}', 'utf16le') as never),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      { 'content-type': 'application/json; charset=utf-16' },
    ],
  ])('%s is refused with a code', async (_what, body, status, code, headers) => {
    const answer = await server.post('/graphql', body, headers)
    expect([answer.status, answer.body.errors[0].extensions]).toEqual([status, { code }])
  })
})

test('GET asks and changes nothing', async () => {
  const get = (query: string) =>
    fetch(`${server.url}/graphql?query=${encodeURIComponent(query)}`, { headers: { 'x-api-key': KEY } })
  expect(await (await get('{ viewer { kind } }')).json()).toEqual({ data: { viewer: { kind: 'KEY' } } })
  const cookie = await server.signIn()
  const mutation = encodeURIComponent(
    'mutation { setModelPrice(model: "m", inputUsdPerMillion: "1", outputUsdPerMillion: "1") { model } }',
  )
  const answer = await fetch(`${server.url}/graphql?query=${mutation}`, { headers: { cookie } })
  expect([answer.status, ((await answer.json()) as any).errors[0].extensions.code]).toEqual([405, 'BAD_REQUEST'])
  expect(await server.database.sql`select from model_prices`).toHaveLength(0)
})

test('long queries, each another one, take no memory that stays', { timeout: 60_000 }, async () => {
  const before = process.memoryUsage().rss
  const fields = times(300_000, () => 'id')
  for (let i = 0; i < 60; i++) {
    const { body } = await server.graphql(`#${i}\n{ sessions { nodes { ${fields} } } }`)
    expect(body.errors[0].extensions.code).toBe('QUERY_TOO_COSTLY')
  }
  const longest = `{ viewer { ${times(1_900, () => 'kind')} } }`
  for (let i = 0; i < 300; i++) await server.graphql(`#${i}\n${longest}`)
  expect(process.memoryUsage().rss - before).toBeLessThan(500 * MB)
})

test('a broken Host is answered, not taken for a fault of the server', async () => {
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.end(`GET /graphql?query={viewer{kind}} HTTP/1.1\r\nHost: [\r\nX-API-Key: ${KEY}\r\nConnection: close\r\n\r\n`)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  expect(answer).toMatch(/^HTTP\/1.1 200 /)
})

test('where introspection is off it is refused over HTTP and over the socket, and names are not hinted at', async () => {
  const closed = await startServer({ env: { INTROSPECTION: 'false' } })
  const ask = async (query: string) => (await closed.graphql(query)).body
  const hidden = [
    getIntrospectionQuery(),
    '{ __type(name: "Session") { name } }',
    '{ viewer { kind } ...A } fragment A on Query { a: __schema { queryType { name } } }',
  ]
  for (const query of hidden) {
    expect((await ask(query)).errors[0].extensions).toEqual({ code: 'INTROSPECTION_DISABLED' })
    const client = socketClient(closed.url)
    expect(await subscribe(client, query).ended).toMatchObject([{ extensions: { code: 'INTROSPECTION_DISABLED' } }])
    await client.dispose()
  }
  expect(await ask('{ viewer { __typename } }')).toEqual({ data: { viewer: { __typename: 'Viewer' } } })
  expect(JSON.stringify((await ask('{ sessionz { id } }')).errors)).not.toMatch(/did you mean/i)
  await closed.stop()
})
