// Failures where sessions are: in the list with its filters, and on the page of a session, in a real browser.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { platformBRecordings, recording } from '../fixtures/recordings.ts'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, type SignedIn } from './signed-in.ts'

const SOON_MS = 20_000
let browser: Browser
let server: TestServer
let admin: SignedIn
let opened: WatchedPage[] = []
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  admin = await signIn(browser, server)
})
afterEach(async () => {
  for (const { page, context } of opened) {
    // What a page still asks for through a route is answered first: a closed page would throw into another test.
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  }
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

async function open(path: string, width = 1280): Promise<WatchedPage> {
  const watched = await openPage(browser, server.url, { storageState: admin, viewport: { width, height: 800 } })
  watched.page.setDefaultTimeout(SOON_MS)
  opened.push(watched)
  await watched.page.goto(path)
  // A pointer over the list means that someone reads there: new rows would wait.
  await watched.page.mouse.move(5, 400)
  return watched
}
const isLive = ({ page }: WatchedPage) => page.getByText('Live', { exact: true }).waitFor()
const strip = ({ page }: WatchedPage) => page.getByRole('region', { name: 'What went wrong' })
const panel = ({ page }: WatchedPage) => page.getByRole('complementary', { name: 'Step' })

type Answer = Awaited<ReturnType<TestServer['ingestA']>>
const pathOf = ({ body }: Answer) => new URL(body.sessions[0].url).pathname
const ofA = (sessionId: string, body: object) =>
  server.ingestA({ session_id: sessionId, agent_name: 'Failing agent', ...body })
/** A recorded execution, and its page once the rules have spoken. */
async function recorded(file: string): Promise<string> {
  const path = pathOf(await server.ingestB(recording(platformBRecordings, file).text))
  await classified(path)
  return path
}
async function classified(path: string) {
  const id = decodeURIComponent(path.split('/').at(-1)!)
  await until(
    async () => (await server.query('query ($id: ID!) { session(id: $id) { classified } }', { id })).session.classified,
    Boolean,
    SOON_MS,
  )
}

test('a run shows its failures in the list a moment after it closed, in place', async () => {
  const watched = await open('/')
  const { page, faults } = watched
  await isLive(watched)
  await ofA('closing', { type: 'tool.call', tool_name: 'crm.lookup', error: 'connect ECONNREFUSED' })
  const row = page.getByRole('row', { name: /Failing agent/ })
  await row.getByText('Running').waitFor()
  await row.getByText('1 error').waitFor()
  expect(await row.textContent()).not.toContain('Tool failure')
  await ofA('closing', { type: 'session.end', status: 'error', error: 'gave up' })
  await row.getByText('Tool failure').waitFor()
  await row.getByText('Failed', { exact: true }).waitFor()
  expect(await row.textContent()).toMatch(/High:\s*Tool failure\s*\+1 more/)
  await ofA('healthy', { type: 'span', agent_name: 'Healthy agent', status: 'success' })
  const healthy = page.getByRole('row', { name: /Healthy agent/ })
  await healthy.getByText('Completed').waitFor()
  expect(await healthy.getByRole('gridcell').nth(3).textContent()).toMatch(/^\s*$/)
  expect(faults).toEqual([])
})

test('on a phone the failure stands in the second line of its row', async () => {
  const watched = await open('/', 390)
  const row = watched.page.getByRole('row', { name: /Failing agent/ })
  const [agent, words] = [row.getByRole('link'), row.getByText('Tool failure')]
  await words.waitFor()
  expect((await words.boundingBox())!.y).toBeGreaterThan((await agent.boundingBox())!.y + 10)
  expect(await watched.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})

test('kind and severity are chosen, stand in the address and as chips, and survive a reload', async () => {
  const watched = await open('/')
  const { page, faults } = watched
  await page.getByRole('button', { name: 'Failures' }).click()
  await page.getByRole('radio', { name: 'Run failure' }).check()
  await page.getByRole('radio', { name: 'High or worse' }).check()
  await page.waitForURL('**/sessions?category=run-failure&severity=high')
  await page.keyboard.press('Escape')
  await page.reload()
  const agents = () => page.getByRole('row').getByRole('link').allTextContents()
  await until(async () => String(await agents()) === 'Failing agent', Boolean, SOON_MS)
  await page.getByRole('button', { name: 'Remove filter Severity: High or worse' }).click()
  await page.waitForURL('**/sessions?category=run-failure')
  await page.getByRole('button', { name: 'Remove filter Failure: Run failure' }).click()
  await page.getByRole('row', { name: /Healthy agent/ }).waitFor()
  expect(faults).toEqual([])
})

test('a filter of failures holds for what comes live, and a row that it loses stays, dimmed', async () => {
  const watched = await open('/?category=run-failure')
  const { page, faults } = watched
  await isLive(watched)
  await page.getByRole('row', { name: /Failing agent/ }).waitFor()
  await ofA('other-kind', { type: 'tool.call', agent_name: 'Other kind', error: 'no such tool', status: 'error' })
  const whole = { ...recording(platformBRecordings, '04-http-error-404.json').value, id: '77' }
  const { data: _data, ...bare } = whole
  await server.ingestB({ execution: { ...bare, error: { message: 'The workflow stopped.' } } })
  const row = page.getByRole('row', { name: /CRM sync/ })
  await row
    .or(page.getByRole('button', { name: '1 new session' }))
    .first()
    .waitFor()
  const pill = page.getByRole('button', { name: '1 new session' })
  if ((await pill.count()) > 0) await pill.click()
  await row.getByText('Run failure').waitFor()
  // The same run once more, now with its steps: a node is to blame, and no longer the run.
  await server.ingestB({ execution: whole })
  await row.getByText('no longer matches').waitFor()
  expect(await page.getByRole('row', { name: /Other kind/ }).count()).toBe(0)
  expect(faults).toEqual([])
})

test('a session says first what went wrong, and its evidence leads to the steps', async () => {
  const path = await recorded('06-runaway-loop-61.json')
  const watched = await open(path)
  const { page, faults } = watched
  const block = strip(watched)
  await block.getByRole('heading', { name: 'High: Endless loop' }).waitFor()
  await block.getByText('61 rounds, limit 20 rounds, the default while no earlier run is known').waitFor()
  await block.getByText(/^"Check Status" → "Ready\?" ran 61 rounds/).waitFor()
  await block.getByText('Give the loop a way out').waitFor()
  const round = block.getByText('One round:').locator('..')
  expect((await round.textContent())!.replace(/\s+/g, ' ')).toContain('Check Status→Ready?↺ 61 rounds')
  const link = block.getByRole('link', { name: 'Seen in 1 session of the last 7 days' })
  expect(await link.getAttribute('href')).toMatch(/^\/failures\?pattern=/)
  // It opens at the first round, where there is room for its details.
  await panel(watched).getByRole('heading', { name: 'Check Status (1)' }).waitFor()

  await block.getByRole('button', { name: 'and 56 more' }).click()
  await block.getByRole('button', { name: 'Step 101', exact: true }).click()
  await panel(watched).getByRole('heading', { name: 'Check Status (50)' }).waitFor()
  const row = page.getByRole('row', { name: /Check Status \(50\)/ })
  await row.waitFor()
  const rows = (await page.getByRole('grid', { name: 'Steps' }).boundingBox())!
  const middle = (box: { y: number; height: number }) => box.y + box.height / 2
  expect(Math.abs(middle((await row.boundingBox())!) - middle(rows))).toBeLessThan(60)
  const address = page.url()
  expect(address).toContain('step=')
  await block.getByRole('button', { name: 'Show fewer' }).click()
  expect(await block.getByRole('button', { name: /^Step/ }).count()).toBe(5)

  await page.keyboard.press('e')
  await panel(watched).getByRole('heading', { name: 'Check Status (51)' }).waitFor()
  await page.keyboard.press('Shift+E')
  await page.waitForURL(address)
  await page.getByRole('button', { name: /61 marked steps, next/ }).click()
  await panel(watched).getByRole('heading', { name: 'Check Status (51)' }).waitFor()
  expect(faults).toEqual([])
})

test('why nothing else was found is told rule by rule when somebody asks', async () => {
  const path = await recorded('16-agent-tool-error.json')
  const watched = await open(path)
  const { page, faults } = watched
  await strip(watched).getByRole('heading', { name: 'Medium: Tool failure' }).waitFor()
  expect(await page.getByRole('term').filter({ hasText: 'Costly run' }).count()).toBe(0)
  await page.getByText('Why nothing else was found').click()
  const said = async (rule: string) =>
    (await page.getByRole('term').filter({ hasText: rule }).locator('..').textContent())!.replace(/\s+/g, ' ')
  await page.getByRole('term').filter({ hasText: 'Costly run' }).waitFor()
  expect(await said('Tool failure')).toContain('Found.')
  expect(await said('Costly run')).toMatch(/Not found\. 2 model calls cost/)
  expect(await said('Endless loop')).toContain('Not found.')
  expect(faults).toEqual([])
})

test('while a run is looked at, its failures take their place a moment after the close, and nothing else comes first', async () => {
  const path = pathOf(await ofA('watched', { type: 'llm.call', model: 'gpt-4o', error: 'Rate limit reached' }))
  const watched = await open(path)
  const { page, faults } = watched
  await page.getByText('No final event').waitFor()
  await isLive(watched)
  expect(await page.getByText(/Why no/).count()).toBe(0)
  // Everything that is ever said of what went wrong.
  await page.evaluate(() => {
    const seen = ((window as any).seen = new Set<string>())
    const look = () => {
      for (const title of document.querySelectorAll('[aria-label="What went wrong"] .flow:first-child'))
        seen.add(title.textContent!.replace(/\s+/g, ' ').trim())
    }
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
  })
  await ofA('watched', { type: 'session.end', status: 'error', error: 'gave up' })
  await strip(watched).getByRole('heading', { name: 'High: Model failure' }).waitFor()
  await strip(watched).getByRole('heading', { name: 'High: Run failure' }).waitFor()
  // A late event brings another failure into the same place.
  await ofA('watched', { type: 'retrieval', tool_name: 'kb', error: 'index missing' })
  await strip(watched).getByRole('heading', { name: 'High: Retrieval failure' }).waitFor()
  const seen = await page.evaluate(() => [...((window as any).seen as Set<string>)])
  expect(seen.filter((title) => !/^High: (Model|Run|Retrieval) failure/.test(title))).toEqual([])
  expect(faults).toEqual([])
})

test('a failed run without a text says what to send, and a rule that could not run is named', async () => {
  const path = pathOf(await ofA('silent', { type: 'span', status: 'error' }))
  const watched = await openPage(browser, server.url, { storageState: admin })
  opened.push(watched)
  const { page, faults } = watched
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    if (body.data?.session?.rulesNotRun)
      body.data.session.rulesNotRun = [{ category: 'LATENCY_SPIKE', sentence: 'The rule LATENCY_SPIKE could not run.' }]
    await route.fulfill({ response, json: body })
  })
  await page.goto(path)
  await page.getByText('No error text was sent.').waitFor()
  await page.getByText('The rule "Slow run" could not run.').waitFor()
  await page.getByText(/Send the field error with the reason/).waitFor()
  await page.getByText('Why no failure was found').click()
  await page.getByText('No event of type tool.call carries the text of an error.').waitFor()
  expect(faults).toEqual([])
})

test('text of an error is text, and one that says more than the sentence can be opened', async () => {
  const error = `<img src=x onerror="window.hacked=1"> broke\n${'    at step (index.js:1:1)\n'.repeat(40)}`
  const path = pathOf(await ofA('hostile', { type: 'tool.call', tool_name: 'html', error, status: 'error' }))
  await classified(path)
  const watched = await open(path)
  const { page, faults } = watched
  await strip(watched)
    .getByText(/broke at step/)
    .waitFor()
  await strip(watched).getByRole('button', { name: 'Error as it came' }).click()
  await strip(watched).locator('pre').getByText('onerror="window.hacked=1"').waitFor()
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false)
  expect(faults).toEqual([])
})

test('evidence that the timeline has not come to opens at once, and is centred when it is read', async () => {
  const steps = Array.from({ length: 1_150 }, (_, i) => ({
    session_id: 'long',
    agent_name: 'Long agent',
    type: 'span',
    output: `part ${i}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + i * 1_000).toISOString(),
  }))
  const last = { ...steps.at(-1)!, type: 'tool.call', tool_name: 'last.tool', error: 'no such row', status: 'error' }
  const path = pathOf(await server.ingestA([...steps.slice(0, -1), last]))
  await classified(path)
  const watched = await openPage(browser, server.url, { storageState: admin })
  opened.push(watched)
  const { page, faults } = watched
  page.setDefaultTimeout(SOON_MS)
  let letThrough = () => {}
  const held = new Promise<void>((resolve) => (letThrough = resolve))
  await page.route('**/graphql', async (route) => {
    const { query, variables } = route.request().postDataJSON() ?? {}
    if (/query Session\(/.test(query ?? '') && variables.after) await held
    await route.continue()
  })
  await page.goto(path)
  await strip(watched).getByRole('button', { name: 'Step …' }).click()
  await panel(watched).getByText('no such row').waitFor()
  letThrough()
  await strip(watched).getByRole('button', { name: 'Step 1150' }).waitFor()
  await page.getByRole('row', { name: /last\.tool/ }).waitFor()
  expect(faults).toEqual([])
})
