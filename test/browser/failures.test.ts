// The failures page in a real browser: what fails again is one line, live and in its place.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { rolled } from '../support/rolled.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { failingRuns, isLive, panelOf, patternGrid, titlesOf, within } from './failing-runs.ts'
import { signIn, type SignedIn } from './signed-in.ts'

let browser: Browser
let server: TestServer
let opened: WatchedPage[] = []
let admin: SignedIn
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  admin = await signIn(browser, server)
})
afterEach(async () => {
  for (const { context } of opened) await context.close()
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

async function open(path: string, viewport = { width: 1280, height: 800 }) {
  const watched = await openPage(browser, server.url, { storageState: admin, viewport })
  opened.push(watched)
  await watched.page.goto(path)
  await watched.page.mouse.move(5, 400)
  return watched
}
const { fail, patternOf } = failingRuns(() => server)

test('where nothing ever failed it says what is looked for, and the first failure appears by itself', async () => {
  await server.ingestA({ session_id: 'fine', type: 'session.end', status: 'success' })
  const watched = await open('/')
  const { page, faults } = watched
  await isLive(watched)
  await page.keyboard.press('g')
  await page.keyboard.press('f')
  await page.getByRole('heading', { name: 'Nothing has failed yet' }).waitFor()
  await fail('orders.lookup', 'HTTP 502 Bad Gateway')
  await page.getByRole('row', { name: /HTTP 502 Bad Gateway.*Tool failure.*orders\.lookup.*Order desk/ }).waitFor()
  await page.getByRole('grid', { name: /by category and day/ }).waitFor()
  expect(faults).toEqual([])
})

test('what fails again counts up in its place, and what is new waits for the list to be read anew', async () => {
  await fail('crm.find', 'connect ECONNREFUSED 10.0.0.4:443')
  await fail('crm.find', 'connect ECONNREFUSED 10.0.0.4:443')
  await patternOf('ECONNREFUSED', 2)
  const watched = await open('/failures')
  const { page, faults } = watched
  await isLive(watched)
  await page.getByRole('row', { name: /ECONNREFUSED.*2 of \d+ runs/ }).waitFor()
  const before = await titlesOf(watched)
  expect(before[0]).toContain('ECONNREFUSED')
  for (let i = 0; i < 3; i++) await fail('orders.lookup', 'HTTP 502 Bad Gateway')
  await page.getByRole('row', { name: /HTTP 502.*4 of \d+ runs/ }).waitFor()
  expect(await titlesOf(watched)).toEqual(before)
  await fail('mail.send', 'mailbox is full')
  const pill = page.getByRole('button', { name: '1 new pattern' })
  await pill.waitFor()
  expect(await titlesOf(watched)).toEqual(before)
  await pill.click()
  await until(async () => (await titlesOf(watched)).length === before.length + 1, Boolean, within)
  expect((await titlesOf(watched))[0]).toContain('HTTP 502')
  expect(faults).toEqual([])
})

test('filters are in the address, and where nothing matches they are cleared', async () => {
  await fail('mail.send', 'mailbox is full', 'Newsletter')
  await rolled(server)
  const watched = await open('/failures')
  const { page, faults } = watched
  await page.getByRole('row', { name: /ECONNREFUSED/ }).waitFor()
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('Newsletter')
  await page.waitForURL(/agent=Newsletter/)
  await until(async () => (await titlesOf(watched)).length === 1, Boolean, within)
  await page.getByRole('combobox', { name: 'Category' }).selectOption('Endless loop')
  await page.waitForURL(/category=infinite-loop/)
  await page.getByRole('heading', { name: 'No failure matches these filters' }).waitFor()
  await page.locator('main').getByRole('button', { name: 'Clear filters' }).last().click()
  await page.waitForURL(/failures$/)
  await page.getByRole('row', { name: /ECONNREFUSED/ }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('CRM.find')
  await page.waitForURL(/q=CRM\.find/)
  await until(async () => (await titlesOf(watched)).length === 1, Boolean, within)
  await page.getByRole('button', { name: '24 h' }).click()
  await page.waitForURL(/range=24h/)
  await page.getByRole('combobox', { name: 'State' }).selectOption('Resolved')
  await page.getByRole('heading', { name: 'No failure matches these filters' }).waitFor()
  expect(faults).toEqual([])
})

test('a cell of the days carries its number and leads to the sessions of that day', async () => {
  const watched = await open('/failures')
  const { page, faults } = watched
  const cell = page.getByRole('grid', { name: /by category and day/ }).getByRole('link', { name: /^Tool failure/ })
  await cell.waitFor()
  const count = await cell.textContent()
  expect(await cell.getAttribute('aria-label')).toMatch(new RegExp(`: ${count} sessions$`))
  await fail('crm.find', 'connect ECONNREFUSED 10.0.0.4:443')
  await until(async () => (await cell.textContent()) === String(Number(count) + 1), Boolean, within)
  const href = new URL((await cell.getAttribute('href'))!, server.url)
  expect(href.searchParams.get('category')).toBe('tool-failure')
  const day = new Date().toISOString().slice(0, 10)
  expect(href.searchParams.get('from')).toBe(`${day}T00:00:00.000Z`)
  await cell.click()
  await page.waitForURL(/\/sessions\?from=.*&category=tool-failure/)
  await page.getByRole('button', { name: /Remove filter From/ }).waitFor()
  await page
    .getByRole('row', { name: /Order desk/ })
    .first()
    .waitFor()
  expect(faults).toEqual([])
})

test('after a lost connection all that is loaded is read again', async () => {
  const watched = await open('/failures')
  const { page, context } = watched
  await isLive(watched)
  await page.getByRole('row', { name: /ECONNREFUSED/ }).waitFor()
  const before = await titlesOf(watched)
  await context.setOffline(true)
  await page.getByText('Offline', { exact: true }).waitFor({ timeout: 30_000 })
  const { sessions } = await patternOf('ECONNREFUSED')
  await fail('crm.find', 'connect ECONNREFUSED 10.0.0.4:443')
  await fail('ftp.put', 'disk quota exceeded')
  await patternOf('disk quota')
  await context.setOffline(false)
  await page.getByRole('row', { name: new RegExp(`ECONNREFUSED.*${sessions + 1} of`) }).waitFor({ timeout: 30_000 })
  await page.getByRole('button', { name: '1 new pattern' }).waitFor()
  expect(await titlesOf(watched)).toEqual(before)
})

test('more patterns than a page holds are read as one goes down, each once', async () => {
  for (let i = 0; i < 60; i++) await fail(`tool.${i}`, `failure of the kind ${String.fromCharCode(97 + (i % 26))}${i}x`)
  await patternOf('kind h59x')
  const all = await until(
    async () => {
      const { failurePatterns } = await server.query('{ failurePatterns(first: 100) { nodes { id } } }')
      return failurePatterns.nodes.length as number
    },
    (count) => count > 60,
    within,
  )
  const watched = await open('/failures?state=all')
  await patternGrid(watched).getByRole('row').nth(2).waitFor()
  const seen = new Set<string>()
  await until(
    async () => {
      const links = await patternGrid(watched).locator('.title a').all()
      for (const link of links) seen.add((await link.getAttribute('href').catch(() => null)) ?? '')
      await patternGrid(watched).evaluate((element) => {
        element.scrollTop += element.clientHeight / 2
        return new Promise<void>((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))
      })
      return seen.size >= all
    },
    Boolean,
    within,
  )
  expect(seen.size).toBe(all)
  const count = async () => Number(await patternGrid(watched).getAttribute('aria-rowcount'))
  expect(await count()).toBe(all + 1)
})

test('what failed earlier than the range is named, with one click to see it', async () => {
  const { sql } = server.database
  await sql`update failures set seen_at = seen_at - interval '12 days'`
  await sql`update sessions set first_seen_at = first_seen_at - interval '12 days'`
  const { page } = await open('/failures?range=24h')
  await page.getByRole('heading', { name: 'Nothing failed in the last 24 hours' }).waitFor()
  await page.getByRole('button', { name: 'Show the last 30 days' }).click()
  await page.waitForURL(/range=30d/)
  await page.getByRole('row', { name: /ECONNREFUSED/ }).waitFor()
})

test('on a phone the filters fold away, and a pattern takes the screen', async () => {
  const watched = await open('/failures?range=30d', { width: 390, height: 800 })
  const { page, faults } = watched
  await page.getByRole('row', { name: /ECONNREFUSED/ }).waitFor()
  expect(await page.getByRole('combobox', { name: 'Category' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Filters' }).click()
  await page.getByRole('combobox', { name: 'Category' }).waitFor()
  await page.getByRole('button', { name: 'Filters' }).click()
  await page.getByText(/Sessions with a failure, by/).click()
  await page
    .getByRole('link', { name: /^Tool failure, .* to .*: \d+ sessions$/ })
    .first()
    .waitFor()
  await page.getByRole('row', { name: /ECONNREFUSED/ }).click()
  const panel = panelOf(watched)
  await panel.waitFor()
  expect((await panel.boundingBox())!.width).toBe(390)
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  expect(faults).toEqual([])
})
