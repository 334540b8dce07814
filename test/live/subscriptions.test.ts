// What a subscriber is told, over graphql-ws and server-sent events.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

const SESSION_CHANGED = `subscription ($filter: SessionFilter, ids: [ID!]) {
  sessionChanged(filter: $filter, ids: $ids) { resync session { id externalId status eventCount revision } }
}`.replace(', ids', ', $ids')
const EVENTS_CHANGED = `subscription ($id: ID!, $after: BigInt!) {
  eventsChanged(sessionId: $id, after: $after) { revision more session { status } events { id name revision } }
}`

/** A subscription is known to listen once something posted after it has come through. */
async function listening<T>(
  subscription: { next(ms?: number): Promise<T>; waiting: T[] },
  post: () => Promise<unknown>,
): Promise<T> {
  for (;;) {
    await post()
    const message = await subscription.next(500).catch(() => null)
    if (message) return message
  }
}

test('a change that matches the filter arrives, one that does not stays away', async () => {
  const client = socketClient(server.url)
  const failed = subscribe(client, SESSION_CHANGED, { filter: { status: 'FAILED' } })
  let n = 0
  await listening(failed, () => server.ingestA({ session_id: `probe-${n++}`, type: 'span', status: 'error' }))
  failed.waiting.length = 0
  await server.ingestA({ session_id: 'fine', type: 'span', status: 'success' })
  await server.ingestA({ session_id: 'broken', type: 'span', status: 'error' })
  const { data } = await failed.next()
  expect(data.sessionChanged.session).toMatchObject({ externalId: 'broken', status: 'FAILED' })
  expect(failed.waiting).toEqual([])
  await client.dispose()
})

test('a listed session is followed also when it stops matching', async () => {
  await server.ingestA({ session_id: 'listed', type: 'span' })
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "listed") { id } }`)
  const client = socketClient(server.url)
  const running = subscribe(client, SESSION_CHANGED, { filter: { status: 'RUNNING' }, ids: [session.id] })
  await listening(running, () => server.ingestA({ session_id: 'listed', type: 'span' }))
  await server.ingestA({ session_id: 'listed', type: 'span', status: 'success' })
  const last = await until(
    async () => (await running.next()).data.sessionChanged.session,
    (row) => row.status === 'COMPLETED',
  )
  expect(last).toMatchObject({ externalId: 'listed', status: 'COMPLETED' })
  await client.dispose()
})

test('100 changes of one session in a row are a few messages, and the last one is the truth', async () => {
  const client = socketClient(server.url)
  const all = subscribe(client, SESSION_CHANGED, {})
  await listening(all, () => server.ingestA({ session_id: 'hot', type: 'span' }))
  for (let i = 0; i < 100; i++) await server.ingestA({ session_id: 'hot', type: 'span' })
  const [row] = await server.database.sql`select event_count from sessions where external_id = 'hot'`
  let messages = 1
  await until(
    async () => {
      messages += 1
      return (await all.next()).data.sessionChanged.session.eventCount
    },
    (count) => count === row!.event_count,
  )
  expect(messages).toBeLessThan(60)
  await client.dispose()
})

test('eventsChanged brings what was missed since a revision, then what follows', async () => {
  await server.ingestA({ session_id: 'timeline', type: 'tool.call', tool_name: 'one' })
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "timeline") { id revision } }`)
  await server.ingestA({ session_id: 'timeline', type: 'tool.call', tool_name: 'two' })
  const client = socketClient(server.url)
  const changes = subscribe(client, EVENTS_CHANGED, { id: session.id, after: session.revision })
  const missed = (await changes.next()).data.eventsChanged
  expect(missed.events.map((event: any) => event.name)).toEqual(['two'])
  expect(missed).toMatchObject({ revision: session.revision + 1, more: false })
  await server.ingestA({ session_id: 'timeline', type: 'tool.call', tool_name: 'three', status: 'success' })
  const next = (await changes.next()).data.eventsChanged
  expect(next).toMatchObject({
    revision: session.revision + 2,
    session: { status: 'COMPLETED' },
    events: [{ name: 'three', revision: session.revision + 2 }],
  })
  await client.dispose()
})

test('more than 100 changed events are said, not sent, and are to be read by page', async () => {
  await server.ingestA({ session_id: 'long', type: 'span' })
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "long") { id revision } }`)
  await server.ingestA(Array.from({ length: 250 }, () => ({ session_id: 'long', type: 'span' })))
  const client = socketClient(server.url)
  const changes = subscribe(client, EVENTS_CHANGED, { id: session.id, after: session.revision })
  expect((await changes.next()).data.eventsChanged).toMatchObject({ more: true, events: [] })
  const { session: read } = await server.query(
    `query ($id: ID!, $after: BigInt) { session(id: $id) { events(first: 1000, changedAfter: $after) { nodes { id } } } }`,
    { id: session.id, after: session.revision },
  )
  expect(read.events.nodes).toHaveLength(250)
  await client.dispose()
})

test('the change is published after the commit: a subscriber can read it at once', async () => {
  const client = socketClient(server.url)
  const all = subscribe(client, SESSION_CHANGED, {})
  let n = 0
  for (let i = 0; i < 20; i++) {
    const { data } = await listening(all, () => server.ingestA({ session_id: `commit-${n++}`, type: 'span' }))
    const { session } = data.sessionChanged
    const { node } = await server.query(`query ($id: ID!) { node(id: $id) { ... on Session { revision } } }`, {
      id: session.id,
    })
    expect(node.revision).toBeGreaterThanOrEqual(session.revision)
  }
  await client.dispose()
})

test('the same subscription works over server-sent events', async () => {
  const abort = new AbortController()
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    signal: abort.signal,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'x-api-key': KEY },
    body: JSON.stringify({ query: 'subscription { sessionChanged { session { externalId } } }' }),
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  await server.ingestA({ session_id: 'sse', type: 'span' })
  let text = ''
  await until(
    async () => (text += (await reader.read()).value),
    (all) => all.includes('"externalId":"sse"'),
  )
  expect(text).toContain('event: next')
  abort.abort()
})

test('a session of another project cannot be followed', async () => {
  const cookie = await server.signIn()
  const created = await server.graphql(
    `mutation { createApiKey(input: { name: "other", scopes: [INGEST, READ], project: "other" }) { secret } }`,
    {},
    { cookie },
  )
  const { secret } = created.body.data.createApiKey
  await server.ingestA({ session_id: 'mine', type: 'span' })
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "mine") { id } }`)
  const client = socketClient(server.url, { connectionParams: { Authorization: `Bearer ${secret}` } })
  const stolen = subscribe(client, EVENTS_CHANGED, { id: session.id, after: 0 })
  expect((await stolen.next()).errors[0].extensions.code).toBe('NOT_FOUND')
  const list = subscribe(client, SESSION_CHANGED, { ids: [session.id] })
  await listening(list, () =>
    Promise.all([
      server.ingestA({ session_id: 'mine', type: 'span' }),
      server.ingestA({ session_id: 'theirs', type: 'span' }, { 'x-api-key': secret }),
    ]),
  ).then(({ data }) => expect(data.sessionChanged.session.externalId).toBe('theirs'))
  expect(list.waiting.every((message) => message.data.sessionChanged.session.externalId === 'theirs')).toBe(true)
  await client.dispose()
})
