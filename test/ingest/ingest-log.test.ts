// The ingest log: what came with a key, what was refused and why, sending it again, and who only tried.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'

let server: TestServer
let admin: { cookie: string }
const others: TestServer[] = []
beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
})
afterEach(async () => {
  for (const other of others.splice(0)) await other.stop()
})
afterAll(() => server.stop())

const FIELDS = `id at platform keyName status code detail problems { pointer field code detail } events duplicate bytes
  durationMs session { externalId } sessionCount hasBody bodyCut sentAgainAt`

async function readLog(filter = '{}', on = server) {
  const { ingestLog } = await on.query(`{ ingestLog(filter: ${filter}, first: 100) { nodes { ${FIELDS} } } }`)
  return ingestLog.nodes as any[]
}
const firstThat = (isIt: (entry: any) => boolean, filter?: string, on = server) =>
  until<any>(async () => (await readLog(filter, on)).find(isIt), Boolean)
const bodyOf = async (id: string, headers: object = admin) =>
  server.graphql(`query ($id: ID!) { node(id: $id) { ... on IngestRequest { body } } }`, { id }, headers as any)
const sendAgain = async (id: string, body: string | null = null) => {
  const mutation = `mutation ($id: ID!, $body: String) { sendIngestRequestAgain(id: $id, body: $body) {
    status code detail accepted duplicate urls problems { field } } }`
  const answer = await server.graphql(mutation, { id, body }, admin)
  return answer.body.data?.sendIngestRequestAgain ?? answer.body.errors[0].extensions.code
}

test('an accepted request is logged with its key, its counts, its size, its time and its session', async () => {
  const body = JSON.stringify([
    { session_id: 'logged', type: 'span' },
    { session_id: 'logged-too', type: 'span' },
  ])
  await server.ingestA(body)
  const entry = await firstThat(({ session }) => session?.externalId === 'logged')
  expect(entry).toMatchObject({
    platform: 'PLATFORM_A',
    keyName: 'INIT_API_KEY',
    status: 200,
    code: null,
    detail: null,
    problems: [],
    events: 2,
    duplicate: false,
    bytes: body.length,
    sessionCount: 2,
    hasBody: false,
  })
  expect(entry.durationMs).toBeGreaterThan(0)
  await server.ingestB({ execution: { id: 'logged-b', workflowId: 'w' } })
  await server.ingestB({ execution: { id: 'logged-b', workflowId: 'w' } })
  const repeated = await firstThat(({ duplicate }) => duplicate === true)
  expect(repeated).toMatchObject({ platform: 'PLATFORM_B', events: 1, session: { externalId: 'logged-b' } })
})

test('a refused request is logged with its sentence, the field, and its body for admins alone', async () => {
  const body = '{"session_id": "refused run", "type": "span", "note": "sk-proj-abcdefghijklmnop0123456789"}'
  const { body: answer } = await server.ingestA(body)
  const entry = await firstThat(({ detail }) => detail?.includes('refused run'))
  expect(entry).toMatchObject({
    status: 422,
    code: 'invalid_payload',
    detail: answer.detail,
    problems: answer.errors,
    events: null,
    duplicate: null,
    session: null,
    hasBody: true,
    bodyCut: false,
  })
  expect(Buffer.from(entry.id, 'base64').toString()).toContain(answer.requestId)
  expect((await bodyOf(entry.id)).body.data.node.body).toBe(
    '{"session_id": "refused run", "type": "span", "note": "sk-proj-[masked]"}',
  )
  const forReader = await bodyOf(entry.id, { 'x-api-key': 'rw_test_0123456789abcdefghijklmnopqrstuvwxyz' })
  expect(forReader.body.errors[0].extensions.code).toBe('FORBIDDEN')
})

test.each([
  ['broken JSON', '{"session_id": "broken', {}, 400, '{"session_id": "broken'],
  ['form data', 'session_id=form', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'session_id=form'],
  ['bad UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), {}, 400, '{\ufffd}'],
  ['U+0000', Buffer.from('{\0}'), {}, 400, '{\ufffd}'],
  ['a type that is none', '{}', { 'content-type': 'foo' }, 415, null],
])('of %s the body is kept as far as it can be read', async (_what, body, headers, status, kept) => {
  const answer = await server.post('/api/ingest/platform-a', body, headers as Record<string, string>)
  expect(answer.status).toBe(status)
  const entry = await firstThat(({ id }) => Buffer.from(id, 'base64').toString().includes(answer.body.requestId))
  expect((await bodyOf(entry.id)).body.data.node.body).toBe(kept)
})

test('of a body over the limit the beginning is kept', async () => {
  const long = `{"session_id": "x", "input": "${'x'.repeat(6 * 1024 * 1024)}"}`
  const answer = await server.ingestA(long)
  expect(answer.status).toBe(413)
  const entry = await firstThat(({ code }) => code === 'body_too_large')
  expect(entry).toMatchObject({ hasBody: true, bodyCut: true, bytes: long.length })
})

test('one body that was refused several times counts once when each is sent again', async () => {
  const body = '{"session_id": "refused-twice", "type": "span"}'
  for (let i = 0; i < 2; i++) await server.post('/api/ingest/platform-a', body, { 'content-type': 'text/plain' })
  const entries = await until(
    async () =>
      (await readLog()).filter(({ detail, bytes }) => detail?.includes('text/plain') && bytes === body.length),
    ({ length }) => length === 2,
  )
  expect(await sendAgain(entries[0].id)).toMatchObject({ accepted: 1, duplicate: false })
  expect(await sendAgain(entries[1].id)).toMatchObject({ accepted: 1, duplicate: true })
})

test('a body that is too large is kept cut, and says that it cannot be sent as it is', async () => {
  const long = `{"session_id": "too large", "input": "${'x'.repeat(2 * 1024 * 1024)}"}`
  expect((await server.ingestA(long)).status).toBe(422)
  const entry = await firstThat(({ detail }) => detail?.includes('too large'))
  expect(entry).toMatchObject({ hasBody: true, bodyCut: true, bytes: long.length })
  expect((await bodyOf(entry.id)).body.data.node.body).toHaveLength(1024 * 1024)
  expect(await sendAgain(entry.id)).toBe('BAD_USER_INPUT')
})

test('a refused request can be sent again, corrected, and counts once however often', async () => {
  const { body: refused } = await server.ingestA({ session_id: 'correct me', type: 'span' })
  const entry = await firstThat(({ detail }) => detail === refused.detail)
  expect(await sendAgain(entry.id)).toMatchObject({ status: 422, code: 'invalid_payload', detail: refused.detail })
  const corrected = JSON.stringify({ session_id: 'corrected', type: 'span' })
  expect(await sendAgain(entry.id, corrected)).toMatchObject({ status: 200, code: null, accepted: 1, duplicate: false })
  expect(await sendAgain(entry.id, corrected)).toMatchObject({ status: 200, accepted: 1, duplicate: true })
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "corrected") { eventCount } }`)
  expect(session.eventCount).toBe(1)
  const again = await firstThat(({ session }) => session?.externalId === 'corrected')
  expect(again).toMatchObject({ keyName: null, status: 200 })
  expect((await readLog()).find(({ id }) => id === entry.id).sentAgainAt).not.toBeNull()
})

test('what was refused for a passing reason can be sent again as it is', async () => {
  const own = await startServer({ env: { RATE_LIMIT_PER_MINUTE: '1' } })
  others.push(own)
  await own.ingestA({ session_id: 'first' })
  await own.ingestA({ session_id: 'second' })
  await own.ingestA({ session_id: 'third' })
  await firstThat(({ code }) => code === 'rate_limited', '{}', own)
  // A flood is one line.
  expect((await readLog('{ refused: true }', own)).map(({ code, hasBody }) => [code, hasBody])).toEqual([
    ['rate_limited', false],
  ])
  await own.database.sql`
    update ingest_refused set body = '{"session_id": "as-it-is"}', body_bytes = 26 where code = 'rate_limited'`
  const [entry] = await readLog('{ refused: true }', own)
  const cookie = await own.signIn()
  const { sendIngestRequestAgain } = await own.query(
    `mutation ($id: ID!) { sendIngestRequestAgain(id: $id) { accepted urls } }`,
    { id: entry.id },
    { cookie },
  )
  expect(sendIngestRequestAgain).toMatchObject({ accepted: 1 })
  expect(sendIngestRequestAgain.urls[0]).toMatch(new RegExp(`^${own.url}/sessions/`))
})

test('the log is filtered and read page by page without a gap or a double', async () => {
  const own = await startServer()
  others.push(own)
  for (let i = 0; i < 7; i++) {
    await own.ingestA({ session_id: i % 2 ? `page-${i}` : `page ${i}` })
    await own.ingestB({ execution: { id: `b-${i}`, workflowId: 'w' } })
  }
  await until(
    () => readLog('{}', own),
    (entries) => entries.length === 14,
  )
  const seen: string[] = []
  let after: string | null = null
  do {
    const { ingestLog }: any = await own.query(
      `query ($after: String) { ingestLog(first: 3, after: $after) { nodes { id at } pageInfo { hasNextPage endCursor } } }`,
      { after },
    )
    seen.push(...ingestLog.nodes.map((node: any) => node.id))
    after = ingestLog.pageInfo.hasNextPage ? ingestLog.pageInfo.endCursor : null
  } while (after !== null)
  expect(new Set(seen).size).toBe(14)
  expect(seen).toEqual((await readLog('{}', own)).map(({ id }) => id))
  expect(await readLog('{ refused: true }', own)).toHaveLength(4)
  expect(await readLog('{ refused: false, platform: PLATFORM_A }', own)).toHaveLength(3)
  expect(await readLog('{ platform: PLATFORM_B }', own)).toHaveLength(7)
})

test('new entries arrive by subscription, also those of another server, and only those asked for', async () => {
  const other = await startServer({ database: server.database })
  others.push(other)
  const client = socketClient(server.url)
  const document = `subscription { ingestLogged(filter: { refused: true }) { resync request { code detail } } }`
  const entries = subscribe(client, document)
  // The server does not say when a subscription stands: until it does, what comes is missed.
  let n = 0
  const first = await until<any>(async () => {
    await server.ingestA({ session_id: `live ${n++}` })
    return entries.next(400).catch(() => null)
  }, Boolean)
  expect(first.data.ingestLogged).toMatchObject({ resync: false, request: { code: 'invalid_payload' } })
  await server.ingestA({ session_id: 'fine' })
  await other.ingestA({ session_id: 'from the other' })
  await until(
    async () => (await entries.next()).data.ingestLogged.request.detail as string,
    (detail) => detail.includes('from the other'),
  )
  await client.dispose()
})

test('posts without a valid key are counted by server and reason, without anything of them', async () => {
  const count = async () => {
    const { unauthenticatedPosts } = await server.query(
      `{ unauthenticatedPosts { server reason count lastAt } }`,
      {},
      admin,
    )
    return Object.fromEntries(unauthenticatedPosts.map(({ reason, count }: any) => [reason, count]))
  }
  const before = await count()
  const canary = { session_id: 'stranger-canary' }
  await server.ingestA(canary, { 'x-api-key': '' })
  for (let i = 0; i < 3; i++) await server.ingestA(canary, { 'x-api-key': 'rw_unknown' })
  const after = await until(count, (now) => now.invalid_api_key === (before.invalid_api_key ?? 0) + 3)
  expect(after.missing_api_key).toBe((before.missing_api_key ?? 0) + 1)
  const stored = await server.database.sql`select * from ingest_unauthenticated`
  expect(JSON.stringify(stored)).not.toMatch(/canary|rw_unknown/)
  expect(JSON.stringify(await readLog())).not.toContain('canary')
})
