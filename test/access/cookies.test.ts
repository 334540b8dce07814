// What a browser's cookie is good for, from where, and until when; and what the answers tell a browser.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { plainSocket } from '../support/socket.ts'

const PLANTED = 'p'.repeat(43)

let server: TestServer
let cookie: string
beforeAll(async () => {
  server = await startServer({ env: { PUBLIC_URL: 'https://runwatch.example.com', SIGN_IN_TRIES_PER_MINUTE: '100' } })
  cookie = await server.signIn()
})
afterAll(() => server.stop())

const signIn = (headers: Record<string, string> = {}) =>
  fetch(`${server.url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(ADMIN),
  })
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')!.split(';')[0]!
const mayAsk = async (cookie: string) => (await server.graphql('{ viewer { email } }', {}, { cookie })).status === 200

describe('signing in', () => {
  test('gives a token that nobody could know before, whatever was planted', async () => {
    const given = cookieOf(await signIn({ cookie: `runwatch=${PLANTED}` }))
    expect(given).toMatch(/^runwatch=[\w-]{43}$/)
    expect(given).not.toContain(PLANTED)
    expect([await mayAsk(given), await mayAsk(`runwatch=${PLANTED}`)]).toEqual([true, false])
  })

  test('ends what the same browser was signed in with, and its sockets, and nothing of another browser', async () => {
    const other = cookieOf(await signIn())
    const planted = cookieOf(await signIn())
    const socket = await plainSocket(server.url, { headers: { cookie: planted } })
    socket.send({ type: 'connection_init' })
    const given = cookieOf(await signIn({ cookie: planted }))
    expect(given).not.toBe(planted)
    expect(await socket.closed).toBe(4401)
    expect([await mayAsk(given), await mayAsk(planted), await mayAsk(other)]).toEqual([true, false, true])
  })

  test('with a wrong password changes nothing', async () => {
    const mine = cookieOf(await signIn())
    const answer = await fetch(`${server.url}/api/auth/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: mine },
      body: JSON.stringify({ ...ADMIN, password: 'not this password' }),
    })
    expect([answer.status, answer.headers.get('set-cookie'), await mayAsk(mine)]).toEqual([401, null, true])
  })
})

test('a sign-in that is over in the database is over', async () => {
  const mine = cookieOf(await signIn())
  await server.database.sql`update sign_ins set expires_at = now() - interval '1 second'`
  expect(await mayAsk(mine)).toBe(false)
  cookie = await server.signIn()
})

describe('with the cookie, from a page of', () => {
  const CALLERS: [string, () => Record<string, string>, boolean][] = [
    ['another site', () => ({ origin: 'https://evil.example' }), false],
    ['another port of this host', () => ({ origin: 'http://127.0.0.1:1' }), false],
    ['no origin that can be named', () => ({ origin: 'null' }), false],
    ['an origin that is none', () => ({ origin: 'nonsense' }), false],
    ['another site, without its Origin', () => ({ 'sec-fetch-site': 'cross-site' }), false],
    ['a neighbour under the same domain', () => ({ 'sec-fetch-site': 'same-site' }), false],
    ['another site that looks like this one', () => ({ origin: 'https://runwatch.example.com.evil.example' }), false],
    ['this server', () => ({ origin: server.url, 'sec-fetch-site': 'same-origin' }), true],
    ['its public address', () => ({ origin: 'https://runwatch.example.com', 'sec-fetch-site': 'same-origin' }), true],
    ['nobody: the address was typed', () => ({ 'sec-fetch-site': 'none' }), true],
  ]
  test.each(CALLERS)('%s', async (_who, headersOf, isTaken) => {
    const headers = { ...headersOf(), cookie }
    const expected = isTaken ? 200 : 403
    expect((await server.graphql('{ viewer { email } }', {}, headers)).status).toBe(expected)
    expect((await fetch(`${server.url}/graphql?query={viewer{email}}`, { headers })).status).toBe(expected)
    expect((await fetch(`${server.url}/api/auth/state`, { headers })).status).toBe(expected)
    expect((await signIn(headersOf())).status).toBe(expected)
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers })
    const status = await new Promise((resolve) => {
      socket.on('open', () => resolve(200))
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
    })
    socket.on('error', () => {}).terminate()
    expect(status).toBe(expected)
  })
})

describe('to a browser', () => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers })
  const API: [string, () => Promise<{ headers: Headers }>][] = [
    ['/graphql', () => server.graphql('{ viewer { kind } }')],
    ['/graphql without a key', () => server.graphql('{ viewer { kind } }', {}, {})],
    ['/graphql by GET', () => get('/graphql?query={viewer{kind}}', { cookie })],
    ['/api/auth/state', () => get('/api/auth/state')],
    ['/api/auth/sign-in', () => signIn()],
    ['/healthz', () => get('/healthz')],
    ['/readyz', () => get('/readyz')],
    ['/metrics', () => get('/metrics')],
    ['a path that is not there', () => get('/api/nothing')],
    ['a wrong method', () => get('/api/auth/sign-in')],
  ]
  test.each(API)('%s is not to be kept, nor taken for another type', async (_what, ask) => {
    const { headers } = await ask()
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff'])
  })

  test('a receipt and a refusal of a platform are not to be taken for another type', async () => {
    for (const body of [{ session_id: 's', type: 'span' }, '{'])
      expect((await server.ingestA(body)).headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('the dashboard runs its own code only, in no frame, and tells nobody where it was', async () => {
    for (const path of ['/', '/sessions/anything', '/sign-in']) {
      const { headers } = await get(path, { accept: 'text/html' })
      const policy = headers.get('content-security-policy')!
      for (const part of ["default-src 'self'", "script-src 'self'", "object-src 'none'", "frame-ancestors 'none'"])
        expect(policy).toContain(part)
      expect(policy).not.toMatch(/unsafe/)
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'SAMEORIGIN',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-cache',
      })
    }
  })

  test('no answer lets pages of other sites read it', async () => {
    const origin = { origin: 'https://evil.example' }
    const answers = [await get('/healthz', origin), await get('/', origin), await server.ingestA({}, origin)]
    const preflight = await fetch(`${server.url}/graphql`, {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-method': 'POST' },
    })
    for (const { headers } of [...answers, preflight])
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})
