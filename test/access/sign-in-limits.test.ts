// How guessing passwords is slowed: by address, by account, and never for the owner for ever.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

const OWN_ADDRESS = '198.51.100.1'

let server: TestServer
let nextAddress = 0
beforeAll(async () => void (server = await startServer({ env: { TRUST_PROXY: 'true' } })))
afterAll(() => server.stop())
// Each test has its own minute.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  aMinuteLater()
})
afterEach(() => void vi.useRealTimers())

let now = Date.now()
const aMinuteLater = () => vi.setSystemTime((now += 61_000))
const elsewhere = () => `203.0.113.${nextAddress++}`
const signIn = (from: string, password: string, email = ADMIN.email, url = server.url) =>
  fetch(`${url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body: JSON.stringify({ email, password }),
  })

/** Statuses of wrong passwords for one account, each from another address. */
async function guesses(count: number, email?: string): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push((await signIn(elsewhere(), `wrong password ${i}`, email)).status)
  return statuses
}
const tenThen429 = (count: number) => [...Array(10).fill(401), ...Array(count - 10).fill(429)]

test('guessing at one account from many addresses is slowed, and says for how long', async () => {
  expect(await guesses(14)).toEqual(tenThen429(14))
  const refused = await signIn(elsewhere(), ADMIN.password)
  const { code, detail } = (await refused.json()) as any
  const seconds = refused.headers.get('retry-after')!
  expect(seconds).toMatch(/^([1-9]|[1-5]\d|60)$/)
  expect([refused.status, code, detail]).toEqual([429, 'rate_limited', `Too many tries. Try again in ${seconds} s.`])
})

test('an account is the same in capitals', async () => {
  await guesses(5, 'Admin@Example.COM')
  await guesses(5, 'admin@EXAMPLE.com')
  expect(await guesses(1)).toEqual([429])
})

test('tries side by side count too', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => signIn(elsewhere(), `wrong password ${i}`)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual(tenThen429(30))
})

test('guessing at one account is nothing to another', async () => {
  await guesses(11)
  expect(await guesses(1, 'somebody@example.com')).toEqual([401])
})

test('the owner comes in from where they came in before, and from everywhere a minute later', async () => {
  expect((await signIn(OWN_ADDRESS, ADMIN.password)).status).toBe(200)
  await guesses(20)
  expect((await signIn(OWN_ADDRESS, ADMIN.password)).status).toBe(200)
  const from = elsewhere()
  expect((await signIn(from, ADMIN.password)).status).toBe(429)
  aMinuteLater()
  expect((await signIn(from, ADMIN.password)).status).toBe(200)
})

test('the right password is no guess', async () => {
  for (let i = 0; i < 12; i++) expect((await signIn(elsewhere(), ADMIN.password)).status).toBe(200)
})

test('one address may try ten accounts a minute, and the right password does not help it then', async () => {
  const from = elsewhere()
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) statuses.push((await signIn(from, 'wrong password', `person-${i}@example.com`)).status)
  expect(statuses).toEqual(tenThen429(12))
  expect((await signIn(from, ADMIN.password)).status).toBe(429)
})

test('SIGN_IN_TRIES_PER_MINUTE says how many', async () => {
  const strict = await startServer({ env: { SIGN_IN_TRIES_PER_MINUTE: '2' } })
  const statuses: number[] = []
  for (let i = 0; i < 3; i++) statuses.push((await signIn('', 'wrong password', undefined, strict.url)).status)
  expect(statuses).toEqual([401, 401, 429])
  await strict.stop()
})

test('an address that somebody wrote into the header in front of the proxy counts for nothing', async () => {
  const statuses: number[] = []
  // The proxy appends what it saw; what stands before it came from the caller.
  for (let i = 0; i < 12; i++)
    statuses.push((await signIn(`10.9.9.${i}, 203.0.113.250`, 'x', `made-up-${i}@example.com`)).status)
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401))
  expect(statuses.slice(10)).toEqual([429, 429])
})
