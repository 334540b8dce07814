// What a browser remembers for a person, and that lists are found as they were left.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

let browser: Browser
let server: TestServer
let admin: SignedIn
let viewer: SignedIn
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  for (let i = 0; i < 60; i += 1)
    await server.ingestA({
      session_id: `run-${i}`,
      type: 'tool.call',
      tool_name: `tool ${i}`,
      agent_name: `Agent ${i}`,
      error: `broken part ${'abcdefgh'[i % 8]!.repeat(i + 3)}`,
      status: 'error',
    })
  admin = await signIn(browser, server)
  viewer = await signInViewer(browser, server)
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

const rowHeight = (page: Page) =>
  page
    .getByRole('row', { name: /Agent \d/ })
    .first()
    .evaluate((row) => row.getBoundingClientRect().height)

test('time zone, theme, density, motion and keys hold at once, after a reload and before the first paint, also for a viewer', async () => {
  const { page, context, faults } = await openPage(browser, server.url, {
    storageState: viewer,
    timezoneId: 'America/New_York',
    reducedMotion: 'no-preference',
  })
  await page.goto('/settings/preferences')
  const choose = (group: string, name: string) =>
    page.getByRole('group', { name: group }).getByRole('button', { name, exact: true }).click()
  await page.getByText('Now it is').waitFor()
  await choose('Time zone', 'Another')
  await page.getByLabel('Name of the time zone').selectOption('Asia/Tokyo')
  await page.getByText(/Now it is .* Asia\/Tokyo\./).waitFor()
  await choose('Theme', 'Dark')
  await choose('Density', 'Compact')
  await choose('Motion', 'Reduced')
  await page.getByLabel('Single-key shortcuts are on').uncheck()
  await page.keyboard.press('?')
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(page.url()).toContain('/settings/preferences')

  await page.goto('/')
  const root = page.locator('html')
  expect(await root.evaluate(({ dataset }) => ({ ...dataset }))).toEqual({ theme: 'dark', motion: 'reduce' })
  expect(await rowHeight(page)).toBe(28)
  const title = await page
    .getByRole('row', { name: /Agent \d/ })
    .first()
    .locator('.started')
    .getAttribute('title')
  const [, at] = /(\d{4}-\d\d-\d\dT[\d:.]+Z)\)$/.exec(title!)!
  const inZone = (timeZone: string) =>
    new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium', timeZone }).format(Date.parse(at!))
  expect(title).toBe(`${inZone('Asia/Tokyo')} Asia/Tokyo (local ${inZone('America/New_York')}, ${at})`)
  const moves = () =>
    page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement('i'))
      probe.style.transition = 'left 1s'
      const { transitionProperty } = getComputedStyle(probe)
      probe.remove()
      return transitionProperty !== 'none'
    })
  expect(await moves()).toBe(false)
  // Without the application: what is set then is set before it paints.
  await page.route(/\/assets\/.*\.js$/, (route) => route.abort())
  await page.goto('/')
  expect(await root.evaluate(({ dataset }) => ({ ...dataset }))).toEqual({ theme: 'dark', motion: 'reduce' })
  await page.unrouteAll({ behavior: 'wait' })
  expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([])

  await page.goto('/settings/preferences')
  await choose('Time zone', 'UTC')
  await page.getByText(/Now it is .* UTC\./).waitFor()
  await choose('Time zone', 'Local')
  await choose('Motion', 'System')
  expect(await moves()).toBe(true)
  await context.close()
})

test('a stored zone that this browser does not know, or a storage that is closed, breaks nothing', async () => {
  const { page, context, faults } = await openPage(browser, server.url, { storageState: viewer })
  await page.addInitScript(() => localStorage.setItem('runwatch.timeZone', 'Mars/Olympus'))
  await page.goto('/settings/preferences')
  await page.getByText('Now it is').waitFor()
  expect(await page.getByRole('button', { name: 'Local', exact: true }).getAttribute('aria-pressed')).toBe('true')
  await page.addInitScript(() =>
    Object.defineProperty(window, 'localStorage', {
      get() {
        throw new DOMException('closed', 'SecurityError')
      },
    }),
  )
  await page.reload()
  await page.getByRole('button', { name: 'Compact' }).click()
  await page.getByText('does not let them be kept').waitFor()
  expect(faults).toEqual([])
  await context.close()
})

test.each([
  ['/?status=failed', 'Sessions', 600],
  ['/failures?state=all', 'Failures', 500],
  ['/ingest-log?endpoint=platform-a', 'Ingest log', 600],
])('%s is found as it was left by back', async (path, name, scrollTop) => {
  const { page, context, faults } = await openPage(browser, server.url, { storageState: admin })
  await page.goto(path)
  const grid = page.getByRole('grid').last()
  const rows = grid.getByRole('row').filter({ has: page.locator('a') })
  await rows.first().waitFor()
  const address = page.url()
  await grid.evaluate((element, top) => (element.scrollTop = top), scrollTop)
  await until(
    () => grid.evaluate((element) => element.scrollTop),
    (top) => top === scrollTop,
  )
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const active = () => grid.locator('[role=row].active a').first().getAttribute('href')
  const left = (await active())!
  const leftAt = await grid.evaluate((element) => element.scrollTop)
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  await server.ingestA({
    session_id: `later ${name}`.replace(' ', '-'),
    type: 'span',
    agent_name: 'Later',
    status: 'success',
  })
  await page.goBack()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  expect(page.url()).toBe(address)
  await rows.first().waitFor()
  expect(await grid.evaluate((element) => element.scrollTop)).toBe(leftAt)
  expect(await active()).toBe(left)
  expect(faults).toEqual([])
  await context.close()
})
