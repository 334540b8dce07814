// A failure pattern in a real browser: what its newest failure says, and what people decide about it.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { failingRuns, isLive, panelOf, titlesOf, within } from './failing-runs.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

let browser: Browser
let server: TestServer
let opened: WatchedPage[] = []
let admin: SignedIn
let viewer: SignedIn
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  admin = await signIn(browser, server)
  viewer = await signInViewer(browser, server)
})
afterEach(async () => {
  for (const { context } of opened) await context.close()
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

async function open(path: string, storageState = admin) {
  const watched = await openPage(browser, server.url, { storageState })
  opened.push(watched)
  await watched.page.goto(path)
  await watched.page.mouse.move(5, 400)
  return watched
}
const { fail, patternOf } = failingRuns(() => server)
beforeAll(async () => {
  for (let i = 0; i < 2; i++) await fail('crm.find', 'connect ECONNREFUSED 10.0.0.4:443')
  await fail('mail.send', 'mailbox is full')
})

test('a pattern opens beside the list with what its newest failure says, and leads to the step', async () => {
  const session = await fail('crm.find', 'connect ECONNREFUSED 10.0.0.4:443')
  await patternOf('ECONNREFUSED', 3)
  const watched = await open('/failures')
  const { page, faults } = watched
  await page.getByRole('row', { name: /ECONNREFUSED/ }).click()
  await page.waitForURL(/pattern=/)
  const panel = panelOf(watched)
  await panel.getByText(/Tool "crm\.find" failed: connect ECONNREFUSED/).waitFor()
  await panel.getByText(/3 of \d+ runs, \d+%, in the last 7 days/).waitFor()
  await panel.getByText('High, the worst in the last 7 days').waitFor()
  await panel.getByRole('img', { name: /At most 3 within 7 h/ }).waitFor()
  const all = await panel.getByRole('link', { name: 'All its sessions' }).getAttribute('href')
  expect(all).toBe('/sessions?agent=Order+desk&range=7d&category=tool-failure')
  await panel.getByRole('link', { name: 'Open the newest session at the evidence' }).click()
  await page.getByRole('heading', { name: session }).waitFor()
  await page.waitForURL(/step=/)
  await page.getByRole('complementary', { name: 'Step' }).getByText('crm.find').first().waitFor()
  expect(faults).toEqual([])
})

test('it opens by its address where the list does not hold it, and follows what changes', async () => {
  const { id } = await patternOf('ECONNREFUSED')
  const watched = await open(`/failures?q=mailbox&pattern=${encodeURIComponent(id)}`)
  const panel = panelOf(watched)
  await panel.getByText(/3 of \d+ runs/).waitFor()
  await until(async () => (await titlesOf(watched)).length === 1, Boolean, within)
  await isLive(watched)
  await fail('crm.find', 'connect ECONNREFUSED 10.0.0.4:443')
  await panel.getByText(/4 of \d+ runs/).waitFor()
  expect((await titlesOf(watched)).length).toBe(1)
  await watched.page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  const unknown = btoa('FailurePattern:00000000-0000-4000-8000-000000000000')
  await watched.page.goto(`/failures?pattern=${encodeURIComponent(unknown)}`)
  await panel.getByText('This pattern is not known any more', { exact: false }).waitFor()
})

test('the text of an error is shown as text', async () => {
  await fail('web.read', '<img src=x onerror="window.hacked=1"> refused')
  const { id } = await patternOf('refused')
  const watched = await open(`/failures?pattern=${encodeURIComponent(id)}`)
  await panelOf(watched).locator('pre').getByText('<img src=x onerror="window.hacked=1"> refused').waitFor()
  expect(await watched.page.evaluate(() => 'hacked' in window)).toBe(false)
})

test('resolved, a pattern leaves the list at its next reading, and reopens when it is seen again', async () => {
  const watched = await open('/failures')
  const { page, faults } = watched
  await isLive(watched)
  const row = page.getByRole('row', { name: /mailbox is full/ })
  await row.click()
  const panel = panelOf(watched)
  await panel.getByRole('button', { name: 'Resolve' }).click()
  await panel.getByRole('heading', { name: 'Resolved' }).waitFor()
  await panel.getByText(/Resolved now by .*It reopens by itself/).waitFor()
  await row.getByText('no longer matches').waitFor()
  await fail('mail.send', 'mailbox is full')
  await panel.getByRole('heading', { name: 'Reopened' }).waitFor()
  await row.getByText('Reopened').waitFor()
  await panel.getByRole('button', { name: 'Resolve' }).click()
  await panel.getByRole('heading', { name: 'Resolved' }).waitFor()
  await page.reload()
  await page.getByRole('row', { name: /ECONNREFUSED/ }).waitFor()
  expect(await row.count()).toBe(0)
  await panel.getByRole('button', { name: 'Reopen' }).click()
  await panel.getByRole('heading', { name: 'Open' }).waitFor()
  expect(faults).toEqual([])
})

test('muting says until when, and is taken back', async () => {
  const { id } = await patternOf('mailbox')
  const watched = await open(`/failures?pattern=${encodeURIComponent(id)}`)
  const panel = panelOf(watched)
  await panel.getByRole('button', { name: 'Mute 7 days' }).click()
  await panel.getByRole('heading', { name: /Open, muted until/ }).waitFor()
  await panel.getByText(/Muted by .* It goes on being counted, and nobody is told of it\./).waitFor()
  await watched.page.getByRole('combobox', { name: 'Muted' }).selectOption('Muted')
  await watched.page.waitForURL(/muted=yes/)
  await until(async () => (await titlesOf(watched)).length === 1, Boolean, within)
  await panel.getByRole('button', { name: 'Unmute' }).click()
  await panel.getByRole('heading', { name: 'Open', exact: true }).waitFor()
})

test('a viewer sees all of it, and why they decide nothing', async () => {
  const { id } = await patternOf('mailbox')
  const watched = await open(`/failures?pattern=${encodeURIComponent(id)}`, viewer)
  const panel = panelOf(watched)
  await panel.getByText('Only admins resolve and mute. You are signed in as a viewer.').waitFor()
  expect(await panel.getByRole('button', { name: /Resolve|Mute/ }).count()).toBe(0)
  expect(watched.faults).toEqual([])
})
