// Keys: what each may do on every path, and that strangers' keys cost the database nothing.
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { KeyRing } from '../../server/access/keys.ts'
import type { Sql } from '../../server/database/connect.ts'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { plainSocket } from '../support/socket.ts'

let server: TestServer
const keys: Record<string, string> = {}
beforeAll(async () => {
  server = await startServer()
  const cookie = await server.signIn()
  const mutate = async (fields: string) => (await server.graphql(`mutation { ${fields} }`, {}, { cookie })).body.data
  for (const [name, scopes] of Object.entries({ ingest: 'INGEST', read: 'READ', revoked: 'INGEST, READ' })) {
    const { createApiKey } = await mutate(
      `createApiKey(input: { name: "${name}", scopes: [${scopes}] }) { secret apiKey { id } }`,
    )
    keys[name] = createApiKey.secret
    if (name === 'revoked') await mutate(`revokeApiKey(id: "${createApiKey.apiKey.id}") { id }`)
  }
  Object.assign(keys, { both: KEY, unknown: `rw_${'x'.repeat(40)}`, 'almost known': KEY.slice(0, -1), none: '' })
})
afterAll(() => server.stop())
afterEach(() => void vi.useRealTimers())

const graphql = (headers: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${server.url}/graphql?query={viewer{kind}}`, { headers, ...init })
const subscription = JSON.stringify({ query: 'subscription { sessionChanged { resync } }' })

/** Every path that takes a key -> its status, or the code that a socket is closed with. */
const PATHS: Record<string, (key: string) => Promise<number>> = {
  'platform A': async (key) => (await server.ingestA({ session_id: 's', type: 'span' }, { 'x-api-key': key })).status,
  'platform B': async (key) =>
    (await server.ingestB({ execution: { id: '1', status: 'success' } }, { 'x-api-key': key })).status,
  query: async (key) => (await server.graphql('{ viewer { kind } }', {}, { 'x-api-key': key })).status,
  'query by bearer': async (key) => (await graphql({ authorization: `Bearer ${key}` })).status,
  'query by GET': async (key) => (await graphql({ 'x-api-key': key })).status,
  stream: async (key) => {
    const ended = new AbortController()
    const headers = { 'x-api-key': key, accept: 'text/event-stream', 'content-type': 'application/json' }
    const { status } = await graphql(headers, { method: 'POST', body: subscription, signal: ended.signal })
    ended.abort()
    return status
  },
  socket: async (key) => {
    const { socket, closed, send } = await plainSocket(server.url)
    send({ type: 'connection_init', payload: { 'x-api-key': key } })
    const acknowledged = new Promise<number>((resolve) => socket.once('message', () => resolve(200)))
    const outcome = await Promise.race([acknowledged, closed])
    socket.terminate()
    return outcome
  },
}
const reading = (status: number, socket: number) => ({
  query: status,
  'query by bearer': status,
  'query by GET': status,
  stream: status,
  socket,
})

test.each<[string, Record<string, number>]>([
  ['both', { 'platform A': 200, 'platform B': 200, ...reading(200, 200) }],
  ['ingest', { 'platform A': 200, 'platform B': 200, ...reading(403, 4403) }],
  ['read', { 'platform A': 403, 'platform B': 403, ...reading(200, 200) }],
  ['revoked', { 'platform A': 403, 'platform B': 403, ...reading(403, 4403) }],
  ['unknown', { 'platform A': 401, 'platform B': 401, ...reading(401, 4401) }],
  ['almost known', { 'platform A': 401, 'platform B': 401, ...reading(401, 4401) }],
  ['none', { 'platform A': 401, 'platform B': 401, ...reading(401, 4401) }],
])('a key "%s" may do on each path what it is for', async (name, expected) => {
  const outcomes = Object.entries(PATHS).map(async ([path, ask]) => [path, await ask(keys[name]!)])
  expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(expected)
})

test('a key signs nobody in', async () => {
  const state = await fetch(`${server.url}/api/auth/state`, { headers: { 'x-api-key': KEY } })
  expect(await state.json()).toEqual({ signedIn: false, setUpNeeded: false, person: null })
})

test('a flood of unknown keys asks the database once a second at most', async () => {
  let queries = 0
  const counted = ((...parts: Parameters<Sql>) => {
    queries += 1
    return server.database.sql(...parts)
  }) as unknown as Sql
  vi.useFakeTimers({ toFake: ['Date'] })
  const ring = new KeyRing(counted, () => {})
  await ring.load()
  const ofOneLoad = queries
  const flood = () =>
    Promise.all(Array.from({ length: 500 }, (_, i) => ring.authenticate(`rw_${i}`, 'READ').catch(({ code }) => code)))
  expect(new Set(await flood())).toEqual(new Set(['invalid_api_key']))
  expect(queries).toBe(ofOneLoad)
  vi.setSystemTime(Date.now() + 1_001)
  await flood()
  expect(queries).toBe(2 * ofOneLoad)
  expect((await ring.authenticate(KEY, 'READ')).name).toBe('INIT_API_KEY')
  expect(queries).toBe(2 * ofOneLoad)
})

test('no key is kept in memory as it was sent', async () => {
  const ring = new KeyRing(server.database.sql as unknown as Sql, () => {})
  await ring.load()
  await ring.authenticate(KEY, 'READ')
  const { inspect } = await import('node:util')
  expect(inspect(ring, { depth: 6, maxArrayLength: null, maxStringLength: null })).not.toContain(KEY)
})
