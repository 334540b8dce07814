// The ingest log in a real browser: what is posted appears live, and what was refused is corrected and sent again.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
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

async function open(path: string, storageState = admin): Promise<WatchedPage> {
  const watched = await openPage(browser, server.url, { storageState })
  opened.push(watched)
  await watched.page.goto(path)
  // A pointer over the list means that someone reads there: new rows would wait.
  await watched.page.mouse.move(5, 400)
  return watched
}

const answersOf = ({ page }: WatchedPage) =>
  page.locator('[role=grid][aria-label=Requests] [role=rowgroup] .answer.tip').allTextContents()
const isLive = ({ page }: WatchedPage) => page.getByText('Live', { exact: true }).waitFor()

test('accepted, repeated and refused posts appear live, newest first, with words for each answer', async () => {
  const watched = await open('/ingest-log')
  const { page, faults } = watched
  await page.getByRole('heading', { name: 'Nothing was posted lately' }).waitFor()
  await isLive(watched)
  const once = { session_id: 'first', type: 'span', agent_name: 'Logged agent', event_id: 'e1' }
  await server.ingestA(once)
  await page.getByRole('row', { name: /Accepted/ }).waitFor()
  await server.ingestA(once)
  await page.getByRole('row', { name: /Accepted, all repeated/ }).waitFor()
  await server.ingestB({ execution: { status: 'success' } })
  await page.getByRole('row', { name: /Refused 422 invalid_payload/ }).waitFor()
  const answers = (await answersOf(watched)).map((text) => text.trim())
  expect(answers).toEqual(['Refused 422 invalid_payload', 'Accepted, all repeated', 'Accepted'])
  await page
    .getByRole('row', { name: /all repeated/ })
    .getByRole('link', { name: /Logged agent/ })
    .click()
  await page.getByRole('heading', { name: 'first' }).waitFor()
  expect(faults).toEqual([])
})

test('a refused one shows what was wrong and where, and is corrected and sent again', async () => {
  await server.ingestA({ session_id: 'run 7', type: 'spam', output: '<img src=x onerror="window.hacked=1">' })
  const watched = await open('/ingest-log?answer=refused')
  const { page, faults } = watched
  await page.getByRole('row', { name: /Platform A/ }).click()
  const panel = page.getByRole('complementary', { name: 'Request' })
  await panel.getByText('2 problems').waitFor()
  expect(page.url()).toContain('request=')
  const text = panel.getByRole('region', { name: 'Text of the body' })
  await text.locator('mark').nth(1).waitFor()
  await text.locator('mark').nth(1).waitFor()
  expect(await text.locator('mark').allTextContents()).toEqual(['1: "run 7"', '2: "spam"'])
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false)
  await panel.getByRole('button', { name: 'Show it in the body' }).nth(1).click()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('2: "spam"')
  expect(await page.evaluate(() => document.documentElement.scrollTop)).toBe(0)

  await panel.getByRole('button', { name: 'Correct it' }).click()
  const area = panel.getByLabel('Corrected body')
  const body = await area.inputValue()
  await area.fill(body.replace('run 7', 'run-7'))
  await panel.getByRole('button', { name: 'Send corrected' }).click()
  await panel.getByText(/Refused 422 invalid_payload\. type "spam" is not known/).waitFor()
  await area.fill(body.replace('run 7', 'run-7').replace('spam', 'span'))
  await panel.getByRole('button', { name: 'Send corrected' }).click()
  await panel.getByText('Accepted 1 event.').waitFor()
  await panel.getByText(/and accepted then/).waitFor()
  await page.getByRole('row', { name: /sent again/ }).waitFor()
  await panel.getByRole('link', { name: 'Open the session' }).click()
  await page.getByRole('heading', { name: 'run-7' }).waitFor()
  expect(faults).toEqual([])
})

test('a body that is no JSON is marked where it stops being JSON, and is sent again as it is', async () => {
  await server.post('/api/ingest/platform-a', '{"session_id": "broken", "output": "say "hi""}')
  const watched = await open('/ingest-log?answer=refused&endpoint=platform-a')
  const { page, faults } = watched
  await page.getByRole('row', { name: /400 invalid_json/ }).click()
  const panel = page.getByRole('complementary', { name: 'Request' })
  await panel.getByText(/line 1, column 42/).waitFor()
  await panel.locator('mark').first().waitFor()
  expect(await panel.locator('mark').allTextContents()).toEqual(['1: h'])
  await panel.getByRole('button', { name: 'Send again as it is' }).click()
  await panel
    .getByText(/Refused 400 invalid_json/)
    .nth(1)
    .waitFor()
  expect(faults).toEqual([])
})

test('what cannot be sent again says why', async () => {
  const half = 'x'.repeat(700_000)
  await server.ingestA({ session_id: 'too long for the log', input: half, output: half })
  await server.post('/api/ingest/platform-b', '')
  const watched = await open('/ingest-log?answer=refused')
  const { page } = watched
  const panel = page.getByRole('complementary', { name: 'Request' })
  await page.getByRole('row', { name: /1\.3 MB/ }).click()
  await panel.getByText(/it can only be sent again corrected/).waitFor()
  expect(await panel.getByRole('button', { name: 'Send again as it is' }).isDisabled()).toBe(true)
  await panel.getByRole('button', { name: 'Load 1.0 MB' }).click()
  await panel.getByText('Only its beginning was kept: 1 MB.').waitFor()
  await page.getByRole('row', { name: /0 bytes/ }).click()
  await panel.getByText('Its body was not kept, so it cannot be sent again.').waitFor()
  expect(await panel.getByRole('button', { name: 'Correct it' }).isDisabled()).toBe(true)
})

test('new requests wait while one is open, and the filter keeps others out', async () => {
  const watched = await open('/ingest-log?answer=refused')
  const { page, faults } = watched
  await isLive(watched)
  await page
    .getByRole('row', { name: /Refused/ })
    .first()
    .click()
  await page.getByRole('complementary', { name: 'Request' }).waitFor()
  const before = await answersOf(watched)
  await server.ingestA({ session_id: 'accepted-meanwhile', type: 'span' })
  await server.ingestA({ session_id: 'refused meanwhile', type: 'span' })
  const pill = page.getByRole('button', { name: '1 new request' })
  await pill.waitFor()
  expect(await answersOf(watched)).toEqual(before)
  await pill.click()
  await until(async () => (await answersOf(watched)).length === before.length + 1)
  expect(await answersOf(watched)).not.toContain('Accepted')
  expect(faults).toEqual([])
})

test('while it is paused nothing changes, and what waits is counted', async () => {
  const watched = await open('/ingest-log')
  const { page } = watched
  await isLive(watched)
  await page
    .getByRole('row', { name: /Refused/ })
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.mouse.move(5, 400)
  const before = await answersOf(watched)
  await server.ingestA({ session_id: 'while-paused', type: 'span', agent_name: 'Paused agent' })
  await page.getByRole('button', { name: 'Resume, 1 waiting' }).waitFor()
  expect(await answersOf(watched)).toEqual(before)
  await page.getByRole('button', { name: 'Resume, 1 waiting' }).click()
  await page
    .getByRole('button', { name: '1 new request' })
    .or(page.getByRole('row', { name: /Paused agent/ }))
    .waitFor()
})

test('the log is read page by page, and filters are in the address', async () => {
  for (let i = 0; i < 60; i++) await server.ingestB({ execution: { id: `p${i}`, status: 'success', workflowId: 'w' } })
  const watched = await open('/ingest-log?endpoint=platform-b')
  const { page, faults } = watched
  const scroller = page.locator('[role=grid][aria-label=Requests]')
  await page
    .getByRole('row', { name: /Platform B/ })
    .first()
    .waitFor()
  const isFirstIn = async () => {
    await scroller.evaluate((element) => (element.scrollTop = element.scrollHeight))
    return (await page.getByRole('row', { name: /Refused 422/ }).count()) > 0
  }
  await until(isFirstIn)
  await page.getByLabel('Endpoint').selectOption('Platform A')
  await page.waitForURL(/endpoint=platform-a/)
  await until(async () => (await page.getByRole('row', { name: /Platform B/ }).count()) === 0)
  const options = await page.getByLabel('Key').locator('option').allTextContents()
  expect(options.length).toBeGreaterThan(1)
  await page.getByLabel('Key').selectOption({ index: 1 })
  await page.waitForURL(/key=/)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.waitForURL(/ingest-log$/)
  expect(faults).toEqual([])
})

test('a viewer sees the row and the sentence, and neither the body nor a way to send it', async () => {
  const watched = await open('/ingest-log?answer=refused&endpoint=platform-a', viewer)
  const { page, faults } = watched
  await page
    .getByRole('row', { name: /Refused 422/ })
    .first()
    .click()
  const panel = page.getByRole('complementary', { name: 'Request' })
  await panel.getByText('The body is shown to admins only, and only they can send it again.').waitFor()
  await panel
    .getByText(/No event was recorded\./)
    .first()
    .waitFor()
  expect(await panel.getByRole('button', { name: /Send/ }).count()).toBe(0)
  expect(await page.getByLabel('Key').count()).toBe(0)
  expect(faults).toEqual([])
})

test('posts without a valid key are counted above the log, for admins', async () => {
  for (const headers of [{ 'x-api-key': '' }, { 'x-api-key': 'rw_wrong' }, { 'x-api-key': 'rw_wrong' }])
    expect((await server.ingestA({ session_id: 'stranger' }, headers)).status).toBe(401)
  const cookie = await server.signIn()
  await until(async () => {
    const counts = '{ unauthenticatedPosts { count } }'
    const { unauthenticatedPosts } = await server.query(counts, {}, { cookie })
    return unauthenticatedPosts.reduce((sum: number, { count }: { count: number }) => sum + count, 0) === 3
  })
  const { page } = await open('/ingest-log')
  const strip = page.getByRole('region', { name: 'Posts without a valid key' })
  await strip.waitFor()
  expect(await strip.textContent()).toMatch(/1 (post )?without a key/)
  expect(await strip.textContent()).toMatch(/2 (posts )?with an unknown key/)
  const other = await open('/ingest-log', viewer)
  await other.page
    .getByRole('row', { name: /Accepted/ })
    .first()
    .waitFor()
  expect(await other.page.getByRole('region', { name: 'Posts without a valid key' }).count()).toBe(0)
})

test('the keyboard opens the log, moves over it, opens one and lets go', async () => {
  const watched = await open('/')
  const { page } = watched
  await isLive(watched)
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await page.waitForURL('**/ingest-log')
  await page
    .getByRole('row', { name: /Accepted/ })
    .first()
    .waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  const panel = page.getByRole('complementary', { name: 'Request' })
  await panel.getByText('Endpoint').waitFor()
  const first = page.url()
  await page.keyboard.press('j')
  await until(() => page.url() !== first)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
})

/** Refusals as another server logs them, more at once than are told one by one. */
async function logElsewhere(code: string, count: number) {
  const { sql } = server.database
  await sql`
    insert into ingest_refused (id, at, project_id, endpoint, status, code, detail, problems, bytes, duration_ms, body_bytes, is_body_cut)
    select gen_random_uuid(), now() + make_interval(secs => i * 0.001), (select id from projects where name = 'default'),
      'PLATFORM_A', 422, ${code} || i, 'Refused elsewhere.', '[]', i, 1, 0, false
    from generate_series(1, ${count}::int) i`
  await sql.notify('runwatch_ingest_log', 'elsewhere')
}

test('more than is told one by one is read, and where too much was missed the list begins anew without a hole', async () => {
  const watched = await open('/ingest-log?answer=refused')
  const { page, faults } = watched
  await isLive(watched)
  await page
    .getByRole('row', { name: /Refused/ })
    .first()
    .waitFor()
  await page
    .getByRole('row', { name: /Refused/ })
    .first()
    .click()
  await logElsewhere('some_', 120)
  await page.getByRole('button', { name: '120 new requests' }).click()
  await page.getByRole('row', { name: /some_120/ }).waitFor()
  await logElsewhere('many_', 500)
  await page.getByRole('button', { name: '200+ new requests' }).click()
  await page.getByRole('row', { name: /many_500/ }).waitFor()
  const scroller = page.locator('[role=grid][aria-label=Requests]')
  const seen = new Set<number>()
  await until(
    async () => {
      const answers = await answersOf(watched)
      for (const text of answers) {
        const number = /many_(\d+)/.exec(text)?.[1]
        if (number) seen.add(Number(number))
      }
      // Down by less than a screen at a time, and on only when the rows there are drawn: none is passed by.
      await scroller.evaluate((element) => {
        element.scrollTop += element.clientHeight / 2
        return new Promise<void>((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))
      })
      return answers.some((text) => text.includes('some_120'))
    },
    Boolean,
    20_000,
  )
  expect(seen.size).toBe(500)
  expect(faults).toEqual([])
})
