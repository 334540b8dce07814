// What is stored and for how long, in a real browser: switches, retention with its dry run, and deleting.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

let browser: Browser
let server: TestServer
let admin: SignedIn
let viewer: SignedIn
let opened: WatchedPage[] = []
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

async function open(path: string, storageState = admin): Promise<WatchedPage> {
  const watched = await openPage(browser, server.url, { storageState })
  opened.push(watched)
  await watched.page.goto(path)
  await watched.page.mouse.move(5, 400)
  return watched
}

/** Posts an event and answers the path of its session's page. */
async function post(sessionId: string, more: object = {}): Promise<string> {
  const { body } = await server.ingestA({ session_id: sessionId, type: 'span', agent_name: 'Some agent', ...more })
  return new URL(body.sessions[0].url).pathname
}

const isLive = ({ page }: WatchedPage) => page.getByText('Live', { exact: true }).waitFor()

test('the switches hold for what comes from now on', async () => {
  const { page, faults } = await open('/settings')
  const masks = page.getByRole('switch', { name: 'Mask credentials' })
  expect([await masks.isChecked(), await page.getByRole('switch', { name: 'Merge equal events' }).isChecked()]).toEqual(
    [true, false],
  )
  await masks.click()
  const settings = () => server.query('{ projects { masksCredentials mergesEqualEvents } }')
  await until(async () => !(await settings()).projects[0].masksCredentials)
  await page.getByRole('switch', { name: 'Merge equal events' }).click()
  await until(async () => (await settings()).projects[0].mergesEqualEvents)
  const equal = { output: 'sk-proj-0123456789abcdefghijklmnop', timestamp: new Date().toISOString() }
  await post('merged', equal)
  const session = await post('merged', equal)
  await page.reload()
  await until(async () => !(await masks.isChecked()))
  await masks.click()
  await until(async () => (await settings()).projects[0].masksCredentials)
  await page.goto(session)
  await page.getByRole('row', { name: /Span/ }).first().click()
  await page.getByText('sk-proj-0123456789abcdefghijklmnop').waitFor()
  expect(await page.getByText('duplicate?').count()).toBe(0)
  expect(faults).toEqual([])
})

test('what a retention would delete is shown before it can be saved', async () => {
  await post('old-run', { agent_name: 'Old agent' })
  await post('old-run', { agent_name: 'Old agent' })
  await server.database.sql`
    update sessions set first_seen_at = now() - interval '40 days' where external_id = 'old-run'`
  const { page, faults } = await open('/settings')
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await page.getByLabel('For a number of days').check()
  const days = page.getByRole('textbox', { name: 'Days' })
  await days.fill('0')
  await page.getByText('Give whole days, from 1 to 3,650').waitFor()
  await days.fill('30')
  await page.getByText('Check first: a shorter time deletes sessions for good.').waitFor()
  expect(await save.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Check what would go' }).click()
  await page.getByText(/With 30 days, 1 session with 2 events would go/).waitFor()
  expect(await save.isEnabled()).toBe(true)
  // Another number was not looked at yet.
  await days.fill('20')
  expect(await save.isDisabled()).toBe(true)
  await days.fill('30')
  await save.click()
  await page.getByText('Saved. Sessions older than 30 days go within an hour.').waitFor()
  await page.reload()
  await until(async () => (await page.getByRole('textbox', { name: 'Days' }).inputValue()) === '30')
  // Longer takes nothing away.
  await page.getByRole('textbox', { name: 'Days' }).fill('60')
  expect(await save.isEnabled()).toBe(true)
  await page.getByLabel('Until they are deleted').check()
  await save.click()
  await page.getByText('Saved. Sessions are kept until they are deleted.').waitFor()
  expect((await server.query('{ projects { retentionDays } }')).projects).toEqual([{ retentionDays: null }])
  expect(faults).toEqual([])
})

test('a viewer sees what is decided and changes nothing', async () => {
  const { page, faults } = await open('/settings', viewer)
  await page.getByText('Only admins change what is stored and for how long.', { exact: false }).waitFor()
  expect(await page.getByRole('switch', { name: 'Mask credentials' }).isDisabled()).toBe(true)
  expect(await page.getByRole('radio', { name: 'Until they are deleted' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await page.goto(await post('seen-by-viewer'))
  await page.getByRole('heading', { name: 'seen-by-viewer' }).waitFor()
  expect(await page.getByRole('button', { name: 'Delete session' }).count()).toBe(0)
  await page.goto('/agents')
  await page.getByRole('row', { name: /Some agent/ }).waitFor()
  expect(await page.getByRole('button', { name: /Delete/ }).count()).toBe(0)
  expect(faults).toEqual([])
})

test('a deleted session goes from the list of others and from its open page, and comes back when it is posted to', async () => {
  const path = await post('unwanted', { agent_name: 'Unwanted agent' })
  const list = await open('/')
  const looking = await open(path)
  await isLive(list)
  await isLive(looking)
  const row = list.page.getByRole('row', { name: /Unwanted agent/ })
  await row.waitFor()
  await looking.page.getByRole('row', { name: /Span/ }).first().waitFor()

  const { page, faults } = await open(path)
  await page.getByRole('button', { name: 'Delete session' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete this session' })
  await dialog.getByText(/goes with 1 event/).waitFor()
  await dialog.getByRole('button', { name: 'Delete session' }).click()
  await page.waitForURL(/\/sessions$/)
  await row.getByText('deleted').waitFor()
  await looking.page.getByRole('heading', { name: 'This session was deleted' }).waitFor()
  expect(await looking.page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(true)
  await page.goto(path)
  await page.getByRole('heading', { name: 'This session is not stored' }).waitFor()

  await post('unwanted', { agent_name: 'Unwanted agent', status: 'success' })
  await row.getByText('Completed').waitFor()
  await until(async () => (await row.getByText('deleted').count()) === 0)
  await looking.page.getByRole('button', { name: 'Look again' }).click()
  await looking.page.getByRole('heading', { name: 'unwanted' }).waitFor()
  expect([...faults, ...list.faults, ...looking.faults]).toEqual([])
})

test('all sessions of an agent are deleted once its name is typed, and the deletion is on record', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, i) => post(`many-${i}`, { agent_name: 'Doomed agent' })))
  const { page, faults } = await open('/agents')
  await page.getByRole('button', { name: 'Delete all sessions of Doomed agent' }).click()
  const dialog = page.getByRole('dialog')
  const act = dialog.getByRole('button', { name: 'Delete all sessions' })
  expect(await act.isDisabled()).toBe(true)
  await dialog.getByLabel('Type the name of the agent').fill('Doomed agent')
  await act.click()
  await dialog.getByText('12 sessions deleted', { exact: true }).waitFor()
  await dialog.getByRole('heading', { name: 'All sessions of Doomed agent are deleted' }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('row', { name: /Doomed agent.*none left in this range/ }).waitFor()
  expect((await server.query('{ agents { name } }')).agents).not.toContainEqual({ name: 'Doomed agent' })
  await page.goto('/settings')
  await page.getByRole('row', { name: /Doomed agent.*admin@example\.com.*Finished.*12/ }).waitFor()
  expect(faults).toEqual([])
})

test('an event that may have come twice says so, and what to do about it', async () => {
  const twice = { agent_name: 'Repeating agent', output: 'the same' }
  await post('twice', twice)
  const path = await post('twice', twice)
  const { page, faults } = await open(path)
  const row = page.getByRole('row', { name: /duplicate\?/ })
  await row.waitFor()
  expect(await page.getByText('duplicate?').count()).toBe(1)
  await row.click()
  await page.getByText(/Send an event_id or an Idempotency-Key header/).waitFor()
  expect(faults).toEqual([])
})
