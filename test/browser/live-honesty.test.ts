// Live, honestly: what cuts the wire, stops the timers or the server, and how the pages say it and catch up by themselves.
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/process.ts'
import { breakableProxy } from '../support/proxy.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, type SignedIn } from './signed-in.ts'

let browser: Browser
let database: TestDatabase
/** What the pages talk to, through the proxy; restarted by tests on the same port. */
let server: TestServer
/** On the same database, never stopped: what is posted here reaches the pages while the other one is away. */
let other: TestServer
let proxy: Awaited<ReturnType<typeof breakableProxy>>
let address: string
let port: string
let signedIn: SignedIn
let opened: WatchedPage[] = []

beforeAll(async () => {
  database = await newDatabase()
  port = String(await freePort())
  server = await startServer({ database, env: { PORT: port } })
  ;[browser, other, proxy] = await Promise.all([
    launchBrowser(),
    startServer({ database }),
    // A name instead of the number would be another site, and the cookie is for the site whatever its port.
    breakableProxy(server.url),
  ])
  address = new URL(proxy.url).origin
  await server.ingestA(
    Array.from({ length: 120 }, (_, i) => ({
      session_id: `old-${i}`,
      type: 'session.end',
      agent_name: `Old ${i}`,
      status: 'success',
    })),
  )
  signedIn = await signIn(browser, server)
})
afterEach(async () => {
  for (const { context } of opened) await context.close()
  opened = []
  proxy.refuse()
  await proxy.accept()
})
afterAll(async () => {
  await browser.close()
  await proxy.close()
  await other.stop()
  await server.stop()
  await database.drop()
})

async function open(path: string): Promise<WatchedPage> {
  const watched = await openPage(browser, address, { storageState: signedIn })
  opened.push(watched)
  await watched.page.goto(path)
  await isLive(watched.page)
  // A pointer over the list means that someone reads there: new rows would wait.
  await watched.page.mouse.move(5, 400)
  return watched
}

const isLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor()
const banner = (page: Page) => page.locator('.banner', { hasText: 'Live updates are interrupted.' })
const post = (to: TestServer, id: string, more: object = {}) =>
  to.ingestA({ session_id: id, type: 'session.end', agent_name: `Run ${id}`, status: 'success', ...more })
const agentsIn = (page: Page) =>
  page.locator('[role=grid][aria-label=Sessions] [role=row] a[href*="/sessions/"]').allTextContents()
const counted = (names: string[], name: string) => names.filter((each) => each === name).length
const topRow = (page: Page) =>
  page.locator('[role=grid][aria-label=Sessions]').evaluate((element) => {
    const { left, top } = element.getBoundingClientRect()
    return document
      .elementFromPoint(left + 80, top + 120)
      ?.closest('[role=row]')
      ?.querySelector('a')?.textContent
  })

test('a cut wire is said with a countdown and a button, rows stay, and what was missed comes once, without a jump', async () => {
  const { page } = await open('/')
  const scroller = page.locator('[role=grid][aria-label=Sessions]')
  await page.getByRole('row', { name: /Old/ }).first().waitFor()
  await scroller.evaluate((element) => (element.scrollTop = 340))
  const seen = await until(() => topRow(page))
  proxy.refuse()
  await page.getByText('Offline', { exact: true }).waitFor()
  await banner(page).waitFor()
  expect(await banner(page).textContent()).toMatch(/Retrying (in \d+ s|now) \(attempt \d+\)\..*Retry now/s)
  expect(await topRow(page)).toBeTruthy()
  // A screen reader hears it once, without seconds.
  const status = page.getByRole('status').filter({ hasText: 'Live updates are interrupted. Retrying.' })
  expect(await status.count()).toBe(1)
  for (let i = 0; i < 3; i++) await post(other, `cut-${i}`)
  // Further failures make the pauses longer: the button does not wait for them.
  await until(async () => /attempt ([3-9])/.test((await banner(page).textContent())!))
  await proxy.accept()
  await page.getByRole('button', { name: 'Retry now' }).click()
  await isLive(page)
  await banner(page).waitFor({ state: 'detached' })
  const pill = page.getByRole('button', { name: '3 new sessions' })
  await pill.waitFor()
  expect(await topRow(page)).toBe(seen)
  await until(async () => /Live updates resumed, 3 new sessions/.test((await page.locator('body').textContent())!))
  await pill.click()
  await until(async () => (await agentsIn(page))[0]?.startsWith('Run cut-'))
  const names = await agentsIn(page)
  for (let i = 0; i < 3; i++) expect(counted(names, `Run cut-${i}`)).toBe(1)
})

test('a wire that swallows everything is noticed when the page wakes, and nothing is missing or double', async () => {
  const { page } = await open('/')
  await page.getByRole('row', { name: /Old/ }).first().waitFor()
  const session = await page.context().newCDPSession(page)
  await session.send('Page.setWebLifecycleState', { state: 'frozen' })
  proxy.fallSilent()
  await post(other, 'slept')
  await session.send('Page.setWebLifecycleState', { state: 'active' })
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  // The socket says nothing of itself: only the question on waking finds it dead.
  await page.getByText('Offline', { exact: true }).waitFor()
  proxy.refuse()
  await proxy.accept()
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await isLive(page)
  await page.getByRole('row', { name: /Run slept/ }).waitFor()
  await post(other, 'after-sleep')
  await page.getByRole('row', { name: /Run after-sleep/ }).waitFor()
  const names = await agentsIn(page)
  expect(counted(names, 'Run slept')).toBe(1)
  expect(counted(names, 'Run after-sleep')).toBe(1)
})

test('a dial that is never answered is given up and tried again', async () => {
  const { page } = await open('/')
  proxy.refuse()
  await banner(page).waitFor()
  await proxy.accept()
  proxy.fallSilent()
  await page.getByRole('button', { name: 'Retry now' }).click()
  const attempt = async () => Number(/attempt (\d+)/.exec((await banner(page).textContent())!)![1])
  const before = await attempt()
  await until(async () => (await attempt()) > before, Boolean, 14_000)
})

test('after a restart of the server the list and an open session catch up by themselves', async () => {
  await other.ingestA({ session_id: 'going', type: 'tool.call', tool_name: 'step one', agent_name: 'Going' })
  const { page, context } = await open('/')
  const row = page.getByRole('row', { name: /Going/ })
  await row.getByText('Running').waitFor()
  const sessionPage = await context.newPage()
  await sessionPage.goto((await row.getByRole('link', { name: 'Going' }).getAttribute('href'))!)
  await sessionPage.getByRole('row', { name: /step one/ }).waitFor()
  await isLive(sessionPage)
  const order = await agentsIn(page)
  await server.stop()
  await Promise.all([page, sessionPage].map((each) => each.getByText('Offline', { exact: true }).waitFor()))
  await other.ingestA([
    { session_id: 'going', type: 'tool.call', tool_name: 'step two', agent_name: 'Going' },
    { session_id: 'going', type: 'session.end', status: 'error', error: 'out of budget' },
  ])
  await post(other, 'meanwhile')
  server = await startServer({ database, env: { PORT: port } })
  await Promise.all([page, sessionPage].map((each) => each.evaluate(() => window.dispatchEvent(new Event('online')))))
  await row.getByText('Failed').waitFor()
  await page.getByRole('row', { name: /Run meanwhile/ }).waitFor()
  await sessionPage.getByRole('row', { name: /step two/ }).waitFor()
  await sessionPage.getByText('out of budget').first().waitFor()
  expect((await agentsIn(page)).filter((name) => name !== 'Run meanwhile').slice(0, 20)).toEqual(order.slice(0, 20))
  expect(await sessionPage.getByRole('row', { name: /step (one|two)/ }).count()).toBe(2)
})

test('a list that could not be read at first is read when the server is back', async () => {
  const watched = await openPage(browser, address, { storageState: signedIn })
  opened.push(watched)
  const { page } = watched
  const isFirst = (url: URL) => url.pathname === '/graphql'
  await page.route(isFirst, (route) => route.abort())
  await page.goto('/')
  await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  proxy.refuse()
  await page.getByText('Offline', { exact: true }).waitFor()
  await proxy.accept()
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await page
    .getByRole('row', { name: /Old|Run/ })
    .first()
    .waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('paused, nothing moves and the waiting ones are counted, also in the rail; offline goes before paused', async () => {
  const { page } = await open('/')
  await page
    .getByRole('row', { name: /Old|Run/ })
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  const before = await agentsIn(page)
  await post(other, 'waits-1')
  await post(other, 'waits-2')
  // Both are new; a change of a row that is on screen, such as its classification, waits too.
  const waiting = async () => Number(/Paused, (\d+) waiting/.exec((await page.locator('.rail').textContent())!)?.[1])
  await until(waiting, (count) => count >= 2)
  expect(await page.getByRole('button', { name: /Resume, \d+ waiting/ }).count()).toBe(1)
  expect(await agentsIn(page)).toEqual(before)
  proxy.refuse()
  await page.getByText('Offline', { exact: true }).waitFor()
  await post(other, 'waits-3')
  await proxy.accept()
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await until(waiting, (count) => count >= 3)
  expect(await agentsIn(page)).toEqual(before)
  await page.getByRole('button', { name: /Resume, \d+ waiting/ }).click()
  await isLive(page)
  await until(async () => (await agentsIn(page)).filter((name) => name.startsWith('Run waits-')).length === 3)
})

test('a server with another build says so, and offers to reload', async () => {
  const watched = await openPage(browser, address, { storageState: signedIn })
  opened.push(watched)
  const { page } = watched
  let isNew = false
  await page.routeWebSocket(/graphql/, (socket) => {
    const upstream = socket.connectToServer()
    upstream.onMessage((message) => {
      const { type, payload } = JSON.parse(String(message))
      const isAck = type === 'connection_ack' && isNew
      socket.send(isAck ? JSON.stringify({ type, payload: { ...payload, build: 'another' } }) : message)
    })
  })
  await page.goto('/')
  await isLive(page)
  isNew = true
  proxy.refuse()
  await page.getByText('Offline', { exact: true }).waitFor()
  await proxy.accept()
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  const notice = page.getByRole('status').filter({ hasText: 'A new version of Runwatch is running on the server.' })
  await notice.waitFor()
  await notice.getByRole('button', { name: 'Reload' }).click()
  await isLive(page)
  expect(await notice.count()).toBe(0)
})

test('who is signed out elsewhere is led to sign in, and back to where they were', async () => {
  const { page } = await open('/failures?state=all')
  await database.sql`delete from sign_ins`
  // The wire comes back, and the server no longer knows who asks.
  proxy.refuse()
  await page.getByText('Offline', { exact: true }).waitFor()
  await proxy.accept()
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(new URL(page.url()).searchParams.get('return')).toBe('/failures?state=all')
})
