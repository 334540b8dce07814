// People: the one-time link, signing in and out, and what the cookie is.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let fresh: TestServer
beforeAll(async () => {
  server = await startServer()
  fresh = await startServer({ env: { INIT_ADMIN_EMAIL: '', INIT_ADMIN_PASSWORD: '' } })
})
afterAll(async () => {
  await server.stop()
  await fresh.stop()
})

const send = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const stateOf = async (url: string, cookie = '') =>
  (await (await fetch(`${url}/api/auth/state`, { headers: { cookie } })).json()) as any

test('the one-time link makes the first admin, once', async () => {
  expect(await stateOf(fresh.url)).toEqual({ signedIn: false, setUpNeeded: true, person: null })
  const token = new URL(fresh.runwatch.setUpLink!).hash.slice('#token='.length)
  const wrong = await send(fresh.url, '/api/auth/set-up', { token: 'x', ...ADMIN })
  expect(wrong.status).toBe(403)
  const weak = await send(fresh.url, '/api/auth/set-up', { token, email: ADMIN.email, password: 'short' })
  expect((await weak.json()) as any).toMatchObject({ status: 422, errors: [{ field: 'password' }] })
  const answer = await send(fresh.url, '/api/auth/set-up', { token, ...ADMIN })
  expect(await answer.json()).toEqual({ person: { email: ADMIN.email, role: 'ADMIN' } })
  const again = await send(fresh.url, '/api/auth/set-up', {
    token,
    email: 'other@example.com',
    password: ADMIN.password,
  })
  expect(again.status).toBe(403)
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!
  expect(await stateOf(fresh.url, cookie)).toEqual({
    signedIn: true,
    setUpNeeded: false,
    person: { email: ADMIN.email, role: 'ADMIN' },
  })
})

test('the cookie cannot be read by a page, and ends with signing out', async () => {
  const answer = await send(server.url, '/api/auth/sign-in', ADMIN)
  const header = answer.headers.get('set-cookie')!
  expect(header).toMatch(/^runwatch=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
  const cookie = header.split(';')[0]!
  const stored = await server.database.sql`select token_hash from sign_ins`
  expect(stored.every((row) => !cookie.includes((row.token_hash as Buffer).toString('base64url')))).toBe(true)
  expect((await send(server.url, '/api/auth/sign-out', {}, { cookie })).status).toBe(204)
  expect((await stateOf(server.url, cookie)).signedIn).toBe(false)
  expect((await server.graphql('{ viewer { email } }', {}, { cookie })).status).toBe(401)
})

test('behind https the cookie is bound to the host', async () => {
  const proxied = await startServer({ env: { TRUST_PROXY: 'true' } })
  const answer = await send(proxied.url, '/api/auth/sign-in', ADMIN, { 'x-forwarded-proto': 'https' })
  expect(answer.headers.get('set-cookie')).toMatch(
    /^__Host-runwatch=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
  await proxied.stop()
})

test('a wrong password and an unknown person hear the same', async () => {
  const answers = await Promise.all([
    send(server.url, '/api/auth/sign-in', { email: ADMIN.email, password: 'wrong wrong wrong' }),
    send(server.url, '/api/auth/sign-in', { email: 'nobody@example.com', password: 'wrong wrong wrong' }),
  ])
  const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as any[]
  expect(bodies.map((body) => [body.status, body.detail])).toEqual(
    Array(2).fill([401, 'E-mail or password is not right.']),
  )
})

test('guessing is slowed down', async () => {
  const guessed = await startServer()
  const statuses: number[] = []
  for (let i = 0; i < 12; i++)
    statuses.push((await send(guessed.url, '/api/auth/sign-in', { email: 'a@b.c', password: `guess ${i}` })).status)
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401))
  expect(statuses.slice(10)).toEqual([429, 429])
  await guessed.stop()
})

test('a page of another site cannot sign anyone in or out', async () => {
  const answer = await send(server.url, '/api/auth/sign-in', ADMIN, { origin: 'https://evil.example' })
  expect(answer.status).toBe(403)
})
