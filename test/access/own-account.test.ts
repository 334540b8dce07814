// Your own account: the password, the browsers that are signed in, and ending those.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserLabel } from '../../server/access/browser-label.ts'
import { PASSWORD, peopleStand } from '../support/people-stand.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { plainSocket } from '../support/socket.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const NEW = 'another password of mine'

let server: TestServer
let admin: string
const stand = peopleStand(() => server)
const { post, ask, join, signIn, mayAsk } = stand
beforeAll(async () => {
  server = await startServer({ env: { SIGN_IN_TRIES_PER_MINUTE: '1000' } })
  admin = await server.signIn()
})
afterAll(() => server.stop())

const signIns = async (cookie: string) =>
  (await ask(cookie, '{ signIns { browser signedInAt lastUsedAt isThis } }')).signIns
const change = (cookie: string, oldPassword: string, newPassword: string) =>
  post('password', { oldPassword, newPassword }, { cookie })

test('a new password takes the old one, keeps this browser and signs out all others, with their sockets', async () => {
  const email = 'changing@example.com'
  const mine = await join(admin, email)
  const other = await signIn(email)
  const socket = await plainSocket(server.url, { headers: { cookie: other } })
  socket.send({ type: 'connection_init' })
  expect((await change(mine, PASSWORD, NEW)).body).toEqual({ signedOutBrowsers: 1 })
  expect(await socket.closed).toBe(4401)
  expect([await mayAsk(mine), await mayAsk(other)]).toEqual([true, false])
  expect((await post('sign-in', { email, password: PASSWORD })).status).toBe(401)
  expect(await mayAsk(await signIn(email, NEW))).toBe(true)
})

test('what cannot be taken names the field, and changes nothing', async () => {
  const email = 'careful@example.com'
  const mine = await join(admin, email)
  const fields = async (...passwords: [string, string]) => {
    const { status, body } = await change(mine, ...passwords)
    return [status, body.errors.map(({ field }: { field: string }) => field)]
  }
  expect(await fields('wrong wrong wrong', NEW)).toEqual([422, ['oldPassword']])
  expect(await fields(PASSWORD, 'short')).toEqual([422, ['newPassword']])
  expect(await fields(PASSWORD, PASSWORD)).toEqual([422, ['newPassword']])
  expect(await fields('', '')).toEqual([422, ['oldPassword', 'newPassword']])
  expect((await change('', PASSWORD, NEW)).status).toBe(401)
  expect(await mayAsk(await signIn(email))).toBe(true)
})

test('who signs in with the old password while it is changed is not left signed in', async () => {
  const email = 'racing@example.com'
  let mine = await join(admin, email)
  let [old, next] = [PASSWORD, NEW]
  for (let round = 0; round < 5; round++) {
    const tries = Array.from({ length: 6 }, () => signIn(email, old))
    expect((await change(mine, old, next)).status).toBe(200)
    const cookies = (await Promise.all(tries)).filter(Boolean)
    expect(await Promise.all(cookies.map(mayAsk))).toEqual(cookies.map(() => false))
    ;[old, next] = [next, old]
  }
})

test('guessing the old password is slowed like guessing at sign-in', async () => {
  const strict = await startServer({ env: { SIGN_IN_TRIES_PER_MINUTE: '3' } })
  const there = peopleStand(() => strict)
  const cookie = await strict.signIn()
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) {
    const tried = { oldPassword: `wrong wrong wrong ${n}`, newPassword: NEW }
    statuses.push((await there.post('password', tried, { cookie })).status)
  }
  expect(statuses).toEqual([422, 422, 429])
  await strict.stop()
})

describe('the signed-in browsers', () => {
  test('are listed with what they call themselves, this one first, to their owner alone', async () => {
    const email = 'browsers@example.com'
    await join(admin, email)
    await signIn(email, PASSWORD, { 'user-agent': 'somebody/1.0' })
    const mine = await signIn(email, PASSWORD, { 'user-agent': FIREFOX })
    const list = await signIns(mine)
    expect(list.map((one: any) => [one.isThis, one.browser])).toEqual([
      [true, 'Firefox on Linux'],
      [false, null],
      [false, null],
    ])
    for (const { signedInAt, lastUsedAt } of list)
      expect(Date.parse(lastUsedAt)).toBeGreaterThanOrEqual(Date.parse(signedInAt))
    const before = list[0].lastUsedAt
    await mayAsk(mine)
    expect(Date.parse((await signIns(mine))[0].lastUsedAt)).toBeGreaterThan(Date.parse(before))
    expect(await server.query('{ signIns { browser } }')).toEqual({ signIns: [] })
    expect((await signIns(admin)).every((one: any) => one.browser !== 'Firefox on Linux')).toBe(true)
  })

  test('are signed out everywhere else, or everywhere', async () => {
    const email = 'leaving@example.com'
    const [first, second, mine] = [await join(admin, email), await signIn(email), await signIn(email)]
    const bystander = await signIn('admin@example.com')
    expect((await post('sign-out-elsewhere', {}, { cookie: mine })).body).toEqual({ signedOutBrowsers: 2 })
    expect([await mayAsk(first), await mayAsk(second), await mayAsk(mine)]).toEqual([false, false, true])
    const other = await signIn(email)
    const everywhere = await post('sign-out-everywhere', {}, { cookie: mine })
    expect([everywhere.status, everywhere.cookie]).toEqual([204, 'runwatch='])
    expect([await mayAsk(other), await mayAsk(mine), await mayAsk(bystander)]).toEqual([false, false, true])
    expect((await post('sign-out-elsewhere', {}, { cookie: mine })).status).toBe(401)
  })
})

test.each([
  [FIREFOX, 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36',
    'Chrome on Windows',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  [
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['<script>alert(1)</script>', null],
  [undefined, null],
])('%s is called %s', (userAgent, label) => {
  expect(browserLabel(userAgent)).toBe(label)
})
