// The page of a session in a real browser: ten thousand steps, keys alone, following, a restart, payloads of any size.
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { platformBRecordings, recording } from '../fixtures/recordings.ts'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, type SignedIn } from './signed-in.ts'

const SOON_MS = 20_000
let browser: Browser
let database: TestDatabase
let server: TestServer
let admin: SignedIn
let opened: WatchedPage[] = []
beforeAll(async () => {
  ;[browser, database] = await Promise.all([launchBrowser(), newDatabase()])
  server = await startServer({ database })
  admin = await signIn(browser, server)
})
afterEach(async () => {
  for (const { context } of opened) await context.close()
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await database.drop()
})

async function open(path: string, viewport = { width: 1280, height: 800 }): Promise<WatchedPage> {
  const watched = await openPage(browser, server.url, { storageState: admin, viewport })
  watched.page.setDefaultTimeout(SOON_MS)
  opened.push(watched)
  await watched.page.goto(path)
  return watched
}
const grid = ({ page }: WatchedPage) => page.getByRole('grid', { name: 'Steps' })
const panel = ({ page }: WatchedPage) => page.getByRole('complementary', { name: 'Step' })
const isLive = ({ page }: WatchedPage) => page.getByText('Live', { exact: true }).waitFor()
/** Recent, or the times would count as skewed and give no order. */
const startedMs = Date.now() - 4 * 3_600_000
const at = (seconds: number) => new Date(startedMs + seconds * 1_000).toISOString()
const pathOf = ({ body }: Awaited<ReturnType<TestServer['ingestA']>>) => new URL(body.sessions[0].url).pathname
const ofA = async (sessionId: string, events: object[]) =>
  pathOf(await server.ingestA(events.map((event) => ({ session_id: sessionId, agent_name: 'Page agent', ...event }))))
const span = (name: string, seconds: number) => ({
  type: 'tool.call',
  tool_name: name,
  timestamp: at(seconds),
  duration_ms: 500,
})
/** How many steps the timeline has, drawn or not. */
const stepCount = async (watched: WatchedPage) => Number(await grid(watched).getAttribute('aria-rowcount')) - 1

test('ten thousand steps are all there, few are drawn, and no part of a fast scroll is blank', async () => {
  const events = Array.from({ length: 10_000 }, (_, i) => span(`step ${i}`, i))
  const path = await ofA('ten-thousand', events)
  const watched = await open(path)
  const { page, faults } = watched
  await until(
    () => stepCount(watched),
    (count) => count === 10_000,
    SOON_MS,
  )
  const seen = await grid(watched).evaluate(
    (element) =>
      new Promise<{ most: number; blanks: number; looks: number }>((resolve) => {
        let [most, blanks, looks] = [0, 0, 0]
        const look = () => {
          const box = element.getBoundingClientRect()
          for (const y of [60, box.height / 2, box.height - 20]) {
            looks += 1
            if (!document.elementFromPoint(box.left + 60, box.top + y)?.closest('[role=row]')) blanks += 1
          }
          most = Math.max(most, element.querySelectorAll('[role=row]').length)
          const isDone = element.scrollTop + element.clientHeight >= element.scrollHeight - 1
          if (isDone) return resolve({ most, blanks, looks })
          element.scrollTop += 8_000
          requestAnimationFrame(look)
        }
        look()
      }),
  )
  expect(seen.looks).toBeGreaterThan(90)
  expect(seen.blanks).toBe(0)
  expect(seen.most).toBeLessThanOrEqual(60)
  await page.getByRole('row', { name: /step 9999/ }).waitFor()
  expect(faults).toEqual([])
}, 60_000)

test('keys alone walk through the steps, errors and the panel of a session', async () => {
  const watched = await open(
    pathOf(await server.ingestB(recording(platformBRecordings, '11-agent-v3-tools-memory.json').text)),
  )
  const { page, faults } = watched
  // Sub-nodes stand under their agent.
  await page.getByRole('row', { name: /OpenAI Chat Model \(1\)/ }).waitFor()
  await grid(watched).focus()
  for (const key of ['ArrowDown', 'j', 'j', 'j', 'Enter']) await page.keyboard.press(key)
  await panel(watched).getByRole('heading', { name: 'OpenAI Chat Model (1)' }).waitFor()
  await panel(watched).getByText('$0.15 input, $0.60 output per million tokens (price table, OpenAI').waitFor()
  await panel(watched).getByText('tokens per second').waitFor()
  await panel(watched).getByText('You are a terse assistant.').waitFor()
  const before = (await panel(watched).boundingBox())!.width
  await page.getByRole('separator', { name: 'Width of the panel' }).focus()
  await page.keyboard.press('ArrowLeft')
  await until(async () => Math.abs((await panel(watched).boundingBox())!.width - before - 32) < 2)
  await panel(watched).getByRole('button', { name: 'Next step' }).press('Enter')
  await panel(watched).getByRole('heading', { name: 'get_weather' }).waitFor()
  await page.keyboard.press('z')
  await page.waitForURL(/step=.*axis=whole/)
  await page.keyboard.press('Escape')
  await panel(watched).waitFor({ state: 'detached' })
  expect(page.url()).not.toContain('step=')
  expect(faults).toEqual([])
})

test('following keeps the end in sight, scrolling up pauses it, and a restart of the server loses and doubles nothing', async () => {
  const path = await ofA(
    'followed',
    Array.from({ length: 60 }, (_, i) => span(`first ${i}`, i)),
  )
  const watched = await open(path)
  const { page, faults } = watched
  await isLive(watched)
  await page.keyboard.press('f')
  await page.getByRole('row', { name: /first 59/ }).waitFor()
  await ofA('followed', [span('second 0', 100)])
  await page.getByRole('row', { name: /second 0/ }).waitFor()
  await grid(watched).evaluate((element) => (element.scrollTop = 300))
  await page.getByRole('button', { name: 'Follow', exact: false, pressed: false }).first().waitFor()
  const topRow = () =>
    grid(watched).evaluate((element) => {
      const box = element.getBoundingClientRect()
      return document
        .elementFromPoint(box.left + 60, box.top + 70)
        ?.closest('[role=row]')
        ?.querySelector('button')?.textContent
    })
  const seen = await topRow()
  await ofA('followed', [span('third 0', 200), span('third 1', 201)])
  const pill = page.getByRole('button', { name: 'Following paused, 2 new steps' })
  await pill.waitFor()
  // One that comes late takes its place above, and the rows in sight stay where they are.
  await ofA('followed', [span('late', 2.5)])
  await until(
    () => stepCount(watched),
    (count) => count === 64,
  )
  expect(await topRow()).toBe(seen)

  const { port } = new URL(server.url)
  await server.stop()
  await page.getByText('Offline', { exact: true }).waitFor()
  server = await startServer({ database, env: { PORT: port } })
  await ofA('followed', [span('fourth 0', 300)])
  await until(
    () => stepCount(watched),
    (count) => count === 65,
    SOON_MS,
  )
  expect(await topRow()).toBe(seen)
  await page.getByRole('button', { name: /Following paused/ }).click()
  await page.getByRole('row', { name: /fourth 0/ }).waitFor()
  const names = async () => (await grid(watched).getByRole('row').locator('button').allTextContents()).slice(-4)
  expect((await names()).map((name) => name.split(',')[0])).toEqual(['second 0', 'third 0', 'third 1', 'fourth 0'])
  // What was cut off is said in the console, and nothing else.
  expect(faults.filter((fault) => !/ERR_CONNECTION|WebSocket|Failed to load/.test(fault))).toEqual([])
})

test('idle times are cut short where they are most of a session, and a link carries that', async () => {
  const watched = await open(
    await ofA('idle', [span('ask', 0), span('answer', 900), { type: 'session.end', timestamp: at(901) }]),
  )
  const { page, faults } = watched
  await page.getByRole('button', { name: /Cut idle times short \(99%\)/ }).click()
  await page.waitForURL(/idle=short/)
  await page.getByText('+15 m 00 s').waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Idle times are cut short', pressed: true }).waitFor()
  await page.getByText('Ingest requests').click()
  await page.getByText(/bytes, key .+, 3 accepted items/).waitFor()
  expect(faults).toEqual([])
})

test('JSON is a tree that can be searched, and large payloads are held back, cut or only saved', async () => {
  const list = Array.from({ length: 9_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a'] }))
  const watched = await open(
    await ofA('large', [
      { type: 'tool.call', tool_name: 'export', input: JSON.stringify(list), output: 'y'.repeat(2_200_000) },
    ]),
  )
  const { page, faults } = watched
  await page.getByRole('row', { name: /export/ }).click()
  const input = panel(watched).getByRole('region', { name: 'Input' })
  const output = panel(watched).getByRole('region', { name: 'Output' })
  await output.getByText('too large to show').waitFor()
  expect((await output.locator('pre').textContent())!.length).toBe(64 * 1024)
  expect(await output.getByRole('button', { name: 'Load anyway' }).count()).toBe(0)
  const saving = page.waitForEvent('download')
  await output.getByRole('button', { name: 'Download output' }).click()
  expect((await saving).suggestedFilename()).toBe('output.txt')

  await input.getByText('large, so it is not loaded by itself').waitFor()
  await input.getByRole('button', { name: 'Load anyway' }).click()
  const tree = input.getByRole('tree')
  await tree.waitFor()
  expect(await tree.getByRole('treeitem').count()).toBeLessThanOrEqual(60)
  await input.getByRole('searchbox').fill('row 89')
  await input.getByText('111 found').waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await input.getByText('2 of 111').waitFor()
  await page.keyboard.press('Shift+Enter')
  await input.getByText('1 of 111').waitFor()
  await input.getByText('[89].name').waitFor()
  expect(await tree.getByRole('treeitem', { selected: true }).textContent()).toContain('"row 89"')
  expect((await new AxeBuilder({ page }).analyze()).violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([])
  await tree.focus()
  await page.keyboard.press('ArrowLeft')
  await input.getByText('[89]', { exact: true }).waitFor()
  await page.keyboard.press('ArrowLeft')
  expect(await tree.getByRole('treeitem', { selected: true }).getAttribute('aria-expanded')).toBe('false')
  expect(faults).toEqual([])
})
