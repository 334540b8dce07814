// The dashboard in a real browser: from the first sign-in to a live timeline.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let browser: Browser
let server: TestServer
let opened: WatchedPage[] = []
beforeAll(async () => {
  ;[browser, server] = await Promise.all([
    launchBrowser(),
    startServer({ env: { INIT_ADMIN_EMAIL: '', INIT_ADMIN_PASSWORD: '' } }),
  ])
})
afterEach(async () => {
  for (const { context } of opened) await context.close()
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

async function open(path: string, options: { signedIn?: boolean } = {}): Promise<WatchedPage> {
  const watched = await openPage(browser, server.url)
  opened.push(watched)
  const { page } = watched
  await page.goto(path)
  if (options.signedIn !== false) {
    await page.getByLabel('E-mail').fill(ADMIN.email)
    await page.getByLabel('Password').fill(ADMIN.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    // A pointer over the list means that someone reads there: new rows would wait.
    await page.mouse.move(5, 400)
  }
  return watched
}

/** Texts of the first column, top to bottom. */
const rowsOf = ({ page }: WatchedPage) =>
  page.locator('[role=grid][aria-label=Sessions] [role=row] a[href*="/sessions/"]').allTextContents()
const runOf = (body: object) => server.ingestA({ type: 'llm.call', agent_name: 'Support triage', ...body })

test('the one-time link leads to an empty installation that makes a key and takes the first event, live', async () => {
  const watched = await open(server.runwatch.setUpLink!.replace(server.url, ''), { signedIn: false })
  const { page, faults } = watched
  await page.getByLabel('E-mail').fill(ADMIN.email)
  await page.getByLabel('Password').first().fill(ADMIN.password)
  await page.getByRole('button').first().click()
  await page.getByRole('heading', { name: 'No sessions yet' }).waitFor()
  await page.getByRole('button', { name: 'Create a key and fill it in' }).click()
  const line = page.getByRole('region', { name: /Platform A/ })
  await until(async () => (await line.textContent())!.includes('rw_'))
  const text = (await line.textContent())!
  const key = /rw_[A-Za-z0-9]{40}/.exec(text)![0]
  const body = /-d '(.*)'/s.exec(text)![1]!
  expect((await server.post('/api/ingest/platform-a', body, { 'x-api-key': key })).status).toBe(200)
  await page.getByRole('link', { name: 'Support triage' }).waitFor()
  expect(faults).toEqual([])
})

test('who is not signed in is asked to, and comes back to where they wanted to go', async () => {
  const watched = await open('/agents')
  await watched.page.waitForURL('**/agents*')
  await watched.page.getByRole('heading', { name: 'Agents' }).waitFor()
  await watched.page.getByText('Support triage').first().waitFor()
  const wrong = await open('/', { signedIn: false })
  await wrong.page.getByLabel('E-mail').fill(ADMIN.email)
  await wrong.page.getByLabel('Password').fill('not the password')
  await wrong.page.getByRole('button', { name: 'Sign in' }).click()
  await wrong.page.getByText('E-mail or password is not right.').waitFor()
})

test('a run appears while it runs, and changes in place when it closes', async () => {
  const watched = await open('/')
  const { page, faults } = watched
  await page.getByText('Live', { exact: true }).waitFor()
  await runOf({
    session_id: 'watched',
    agent_name: 'Watched agent',
    prompt_tokens: 1200,
    completion_tokens: 40,
    model: 'gpt-4o',
  })
  const row = page.getByRole('row', { name: /Watched agent/ })
  await row.waitFor()
  await row.getByText('Running').waitFor()
  const before = await rowsOf(watched)
  await server.ingestA({ session_id: 'watched', type: 'session.end', status: 'error', error: 'out of budget' })
  await row.getByText('Failed').waitFor()
  expect(await rowsOf(watched)).toEqual(before)
  expect(await row.textContent()).toMatch(/1\.2K.*\$0\.0034/)
  expect(faults).toEqual([])
})

test('new runs wait behind a pill while the reader is further down, and the row under the eye stays', async () => {
  await server.ingestA(
    Array.from({ length: 120 }, (_, i) => ({
      session_id: `many-${i}`,
      type: 'span',
      agent_name: `Agent ${i}`,
      status: 'success',
    })),
  )
  const watched = await open('/')
  const { page } = watched
  const scroller = page.locator('[role=grid][aria-label=Sessions]')
  await page
    .getByRole('row', { name: /Agent 1\d\d/ })
    .first()
    .waitFor()
  await scroller.evaluate((element) => (element.scrollTop = 700))
  const topRow = () =>
    scroller.evaluate(
      (element) =>
        document
          .elementFromPoint(element.getBoundingClientRect().left + 80, element.getBoundingClientRect().top + 120)
          ?.closest('[role=row]')?.textContent,
    )
  const seen = await until(topRow)
  for (let i = 0; i < 3; i++) await runOf({ session_id: `fresh-${i}`, agent_name: `Fresh ${i}`, status: 'success' })
  const pill = page.getByRole('button', { name: /3 new sessions/ })
  await pill.waitFor()
  expect(await topRow()).toBe(seen)
  await pill.click()
  await page.getByRole('row', { name: /Fresh 2/ }).waitFor()
  expect(await scroller.evaluate((element) => element.scrollTop)).toBe(0)
})

test('filters are in the URL and survive a reload; a search finds by error text', async () => {
  const watched = await open('/?status=failed')
  const { page } = watched
  await page.getByRole('row', { name: /Watched agent/ }).waitFor()
  expect(await rowsOf(watched)).toHaveLength(1)
  await page.goto('/')
  await page.getByLabel('Search run id, agent or error').fill('out of bud')
  await until(async () => (await rowsOf(watched)).length === 1)
  expect(page.url()).toContain('q=out')
  await page.reload()
  await until(async () => (await rowsOf(watched)).length === 1)
  await page.getByLabel('Search run id, agent or error').fill('nothing has this')
  await page.getByRole('button', { name: /Clear/ }).first().waitFor()
})

test('a timeline grows while one looks, and a step shows what went in and came out, as text', async () => {
  const { body } = await runOf({
    session_id: 'timeline',
    agent_name: 'Timeline agent',
    model: 'gpt-4o',
    input: '<img src=x onerror="window.hacked=1">',
    output: 'safe',
    duration_ms: 120,
  })
  const watched = await open(new URL(body.sessions[0].url).pathname)
  const { page, faults } = watched
  await page
    .getByRole('row', { name: /gpt-4o/ })
    .first()
    .waitFor()
  await server.ingestA({
    session_id: 'timeline',
    type: 'tool.call',
    tool_name: 'crm.lookup',
    error: 'connect ECONNREFUSED',
    duration_ms: 12,
  })
  const tool = page.getByRole('row', { name: /crm\.lookup/ })
  await tool.waitFor()
  await page.getByText('No final event').waitFor()
  await page
    .getByRole('row', { name: /gpt-4o/ })
    .first()
    .click()
  const panel = page.getByRole('complementary', { name: 'Step' })
  await panel.getByText('<img src=x onerror="window.hacked=1">').waitFor()
  expect(page.url()).toContain('step=')
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false)
  await server.ingestA({ session_id: 'timeline', type: 'session.end', status: 'error', error: 'gave up' })
  await page.getByRole('region', { name: 'What went wrong' }).getByText('gave up').waitFor()
  await page.reload()
  await panel.getByText('onerror').waitFor()
  expect(faults).toEqual([])
})

test('after the server was away the page catches up by itself', async () => {
  const watched = await open('/')
  const { page, context } = watched
  await page.getByText('Live', { exact: true }).waitFor()
  await context.setOffline(true)
  await page.evaluate(() => window.dispatchEvent(new Event('offline')))
  await runOf({ session_id: 'missed', agent_name: 'Missed agent', status: 'success' })
  await context.setOffline(false)
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await page.getByRole('row', { name: /Missed agent/ }).waitFor()
})

test('a key is made, shown once, and revoked', async () => {
  const watched = await open('/settings')
  const { page, faults } = watched
  await page.getByLabel('Name of a new key').fill('From the browser')
  await page.getByRole('button', { name: 'Create key' }).click()
  const secret = await until(async () => /rw_[A-Za-z0-9]{40}/.exec((await page.locator('main').textContent())!)?.[0])
  expect((await server.ingestA({ session_id: 'by-key', type: 'span' }, { 'x-api-key': secret! })).status).toBe(200)
  await page.reload()
  await page.getByText('From the browser').waitFor()
  expect(await page.locator('main').textContent()).not.toContain(secret)
  await page.getByRole('button', { name: 'Revoke From the browser' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('From the browser')
  await dialog.getByRole('button', { name: /Revoke/ }).click()
  await until(
    async () => (await server.ingestA({ session_id: 'by-key', type: 'span' }, { 'x-api-key': secret! })).status === 403,
  )
  expect(faults).toEqual([])
})

test('signing out ends it', async () => {
  const { page } = await open('/')
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await page.goto('/agents')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
})
