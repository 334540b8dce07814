// What could be better, in a real browser: live on the page of a session, and summed up on the page of an agent.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ownProject } from '../fixtures/own-project.ts'
import { untilAllAnalysed } from '../support/analysed.ts'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { rolled } from '../support/rolled.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { isLive, within } from './failing-runs.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

let browser: Browser
let server: TestServer
let admin: SignedIn
let opened: WatchedPage[] = []
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

async function open(path: string, width = 1280, storageState = admin): Promise<WatchedPage> {
  const watched = await openPage(browser, server.url, { storageState, viewport: { width, height: 800 } })
  watched.page.setDefaultTimeout(within)
  opened.push(watched)
  await watched.page.goto(path)
  return watched
}
const better = ({ page }: WatchedPage) => page.getByRole('region', { name: 'What could be better' })

const prompt = 'Classify this mail: my invoice is wrong and nobody answers'
const call = (session_id: string, agent_name: string, model = 'gpt-4o', more = {}) => ({
  session_id,
  agent_name,
  type: 'llm.call',
  model,
  input: prompt,
  output: 'billing',
  prompt_tokens: 1000,
  completion_tokens: 5,
  ...more,
})
const closed = (session_id: string, agent_name: string) => ({ session_id, agent_name, status: 'success' })
const pathOf = ({ body }: Awaited<ReturnType<TestServer['ingestA']>>) => new URL(body.sessions[0].url).pathname
/** A run that sends a prompt twice. */
const wasteful = async (id: string, agent: string, ...models: string[]) =>
  pathOf(
    await server.ingestA([
      ...models.flatMap((model) => [call(id, agent, model), call(id, agent, model)]),
      closed(id, agent),
    ]),
  )

test('what could be better appears some moments after the run closed, and its buttons lead to the steps', async () => {
  const path = pathOf(
    await server.ingestA([call('open', 'Mail'), { ...closed('open', 'Mail'), status: undefined, type: 'span' }]),
  )
  const watched = await open(path)
  const { page, faults } = watched
  await isLive(watched)
  await page.getByText('No final event').waitFor()
  await server.ingestA(call('open', 'Mail'))
  await page
    .getByRole('row', { name: /gpt-4o/ })
    .nth(1)
    .waitFor()
  expect(await better(watched).count()).toBe(0)
  await server.ingestA(closed('open', 'Mail'))
  const block = better(watched)
  await block.getByRole('heading', { name: 'Same prompt sent again' }).waitFor()
  await block.getByText('Could save at most $0.0026 and 1,005 tokens, estimated').waitFor()
  await block.getByText('that had been answered in this run was sent once more').waitFor()
  await block.getByText('Keep the first answer and use it again').waitFor()
  // It is no failure: the page opened none by itself.
  expect(page.url()).not.toContain('step=')
  await block.getByRole('button', { name: 'Step 3' }).click()
  await page.waitForURL(/step=/)
  await page.getByRole('complementary', { name: 'Step' }).getByRole('heading', { name: 'gpt-4o' }).waitFor()
  expect(await block.getByRole('button', { name: 'Step 3' }).getAttribute('aria-current')).toBe('true')
  const address = page.url()
  await page.keyboard.press('e')
  await page.waitForURL((url) => url.href !== address)
  expect(await block.getByRole('button', { name: 'Step 1' }).getAttribute('aria-current')).toBe('true')
  expect(faults).toEqual([])
})

test('of many findings the first three are shown, below what went wrong', async () => {
  const session_id = 'many'
  const models = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini']
  const path = pathOf(
    await server.ingestA([
      ...models.flatMap((model) => [call(session_id, 'Mail', model), call(session_id, 'Mail', model)]),
      { session_id, type: 'tool.call', tool_name: 'crm.find', error: 'connect ECONNREFUSED', status: 'error' },
    ]),
  )
  const watched = await open(path)
  const { page, faults } = watched
  const block = better(watched)
  await block.getByRole('button', { name: '1 more', exact: true }).waitFor()
  const headings = block.getByRole('heading', { level: 3 })
  expect(await headings.count()).toBe(3)
  const wrong = (await page.getByRole('region', { name: 'What went wrong' }).boundingBox())!
  expect((await block.boundingBox())!.y).toBeGreaterThanOrEqual(wrong.y + wrong.height)
  await block.getByRole('button', { name: '1 more', exact: true }).click()
  expect(await headings.count()).toBe(4)
  await block.getByRole('button', { name: 'Show fewer' }).click()
  expect(await headings.count()).toBe(3)
  expect(faults).toEqual([])
})

const booking = (run: number) => [
  call(`booking-${run}`, 'Booking desk', 'gpt-4o', { input: `System: You book appointments.\nHuman: caller ${run}` }),
  {
    session_id: `booking-${run}`,
    agent_name: 'Booking desk',
    type: 'tool.call',
    tool_name: 'book_slot',
    input: `{"date": "next Tuesday ${run}"}`,
    error: `Invalid date "next Tuesday ${run}": the field date must be a date in the format YYYY-MM-DD`,
    status: 'error',
  },
]

test('a prompt that was made against a failure is linked from it as soon as it waits, and when it is active', async () => {
  const path = pathOf(await server.ingestA(booking(1)))
  for (let run = 2; run <= 4; run++) await server.ingestA(booking(run))
  const watched = await open(path)
  const { page, faults } = watched
  const strip = page.getByRole('region', { name: 'What went wrong' })
  await strip.getByRole('heading', { name: /Tool failure/ }).waitFor()
  await isLive(watched)
  expect(await strip.getByRole('link', { name: /prompt/i }).count()).toBe(0)
  for (let run = 5; run <= 7; run++) await server.ingestA(booking(run))
  const link = strip.getByRole('link', { name: 'A candidate prompt waits' })
  await link.waitFor()
  expect(await link.getAttribute('href')).toBe('/prompts/Booking%20desk?version=1')

  const { promptVersions } = await server.query('{ promptVersions { nodes { id revision agent } } }')
  const { id, revision } = promptVersions.nodes.find(({ agent }: any) => agent === 'Booking desk')
  const ACTIVATE = `mutation ($id: ID!, $revision: Int!) { activatePrompt(id: $id, revision: $revision, reason: "Dates") { id } }`
  await server.query(ACTIVATE, { id, revision }, { cookie: await server.signIn() })
  await strip.getByRole('link', { name: 'Prompt version 1 against it is active' }).waitFor()
  expect(await link.count()).toBe(0)
  expect(faults).toEqual([])
})

const saving = ({ page }: WatchedPage) => page.getByRole('region', { name: 'What would save most' })
const fact = ({ page }: WatchedPage, name: string) =>
  page
    .locator('main dl > div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator('dd')

test('an agent has a page: what would save most first, counted live in its place, with ways on', async () => {
  const agent = 'Mail v1.2/eu'
  await wasteful('cheap-1', agent, 'gpt-4o-mini')
  await wasteful('dear-1', agent, 'gpt-4o')
  await wasteful('unknown-1', agent, 'house-model')
  await server.ingestA({
    session_id: 'broken',
    agent_name: agent,
    type: 'tool.call',
    tool_name: 'crm',
    error: 'no',
    status: 'error',
  })
  // What is found later keeps the order of before.
  await untilAllAnalysed(server.database.sql)
  await rolled(server)
  const watched = await open('/agents')
  const { page, faults } = watched
  await page.getByRole('link', { name: agent }).click()
  await page.waitForURL('**/agents/Mail%20v1.2%2Feu')
  await page.getByRole('heading', { name: agent, level: 1 }).waitFor()
  await isLive(watched)
  const headings = saving(watched).getByRole('heading', { level: 3 })
  await until(async () => (await headings.count()) === 4, Boolean, within)
  const ranked = [
    'Same prompt sent again: gpt-4o',
    'Same prompt sent again: gpt-4o-mini',
    'Same prompt sent again: house-model',
    'Model without a price: house-model',
  ]
  expect(await headings.allTextContents()).toEqual(ranked)
  await saving(watched)
    .getByText(/^Known savings in the last 7 days: at most \$0\.0027 and 3,015 tokens, estimated\./)
    .waitFor()
  await saving(watched).getByText('1 of 4 below have no known saving.').waitFor()
  await until(async () => (await fact(watched, 'Failed').textContent())!.includes('(25%)'), Boolean, within)
  await until(async () => (await fact(watched, 'Runs').textContent()) === '4', Boolean, within)

  // The cheap one takes the lead; its place is kept until somebody asks anew.
  for (let run = 2; run <= 4; run++)
    await server.ingestA([
      ...Array.from({ length: 40 }, () => call(`cheap-${run}`, agent, 'gpt-4o-mini')),
      closed(`cheap-${run}`, agent),
    ])
  await saving(watched).getByRole('listitem').nth(1).getByText('4 runs').waitFor()
  await until(async () => (await fact(watched, 'Runs').textContent()) === '7', Boolean, within)
  expect(await headings.allTextContents()).toEqual(ranked)
  await page.reload()
  await until(async () => (await headings.first().textContent()) === ranked[1], Boolean, within)

  await page.getByRole('button', { name: '24 h' }).click()
  await page.waitForURL('**/agents/Mail%20v1.2%2Feu?range=24h')
  await saving(watched).getByText('Known savings in the last 24 hours').waitFor()
  const hrefOf = (name: string) => page.locator('main').getByRole('link', { name, exact: true }).getAttribute('href')
  const encoded = 'Mail+v1.2%2Feu'
  expect(await hrefOf('Its sessions')).toBe(`/sessions?agent=${encoded}&range=24h`)
  expect(await hrefOf('Its failed sessions')).toBe(`/sessions?status=failed&agent=${encoded}&range=24h`)
  expect(await hrefOf('Its thresholds')).toBe(`/settings/thresholds?agent=${encoded}`)
  expect(await hrefOf('Its failures')).toBe(`/failures?range=24h&agent=${encoded}`)
  await saving(watched)
    .getByRole('link', { name: /Newest session/ })
    .first()
    .click()
  await better(watched).getByText('was sent 39 times more').waitFor()
  await page.goBack()
  await page.getByRole('region', { name: 'What fails' }).getByRole('link', { name: 'no', exact: true }).click()
  await page.waitForURL(/\/failures\?range=24h&agent=Mail.*pattern=/)
  await page.locator('aside').getByRole('heading', { name: 'no', exact: true }).waitFor()
  expect(faults).toEqual([])
})

test('a viewer reads the same, and the prompts of an agent as they stand', async () => {
  const watched = await open('/agents/Booking%20desk', 390, await signInViewer(browser, server))
  const { page, faults } = watched
  const prompts = page.getByRole('region', { name: 'Prompts' })
  await prompts.getByText('Version 1 is active, and no workflow has fetched it yet.').waitFor()
  expect(await prompts.getByRole('link', { name: 'Version 1' }).getAttribute('href')).toBe(
    '/prompts/Booking%20desk?version=1',
  )
  await prompts.getByText('No candidate waits.').waitFor()
  await page
    .getByRole('region', { name: 'What fails' })
    .getByRole('link', { name: /Invalid date/ })
    .waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  expect(faults).toEqual([])
})

test('an agent without runs in the range, and a name that nobody has, are told apart', async () => {
  await server.ingestA({ session_id: 'old', agent_name: 'Resting', type: 'span', status: 'success' })
  await server.database.sql`
    update sessions set first_seen_at = first_seen_at - interval '12 days' where external_id = 'old'`
  await server.database.sql`
    insert into agent_rollups_due select project_id, agent, date_trunc('hour', first_seen_at, 'UTC') from sessions where external_id = 'old'`
  await rolled(server)
  const watched = await open('/agents/Resting')
  const { page, faults } = watched
  await page.getByRole('heading', { name: 'No run in the last 7 days' }).waitFor()
  await page.getByRole('button', { name: 'Show the last 30 days' }).click()
  await page.waitForURL('**/agents/Resting?range=30d')
  await saving(watched).getByText('Nothing was noticed in the last 30 days').waitFor()
  await page.goto('/agents/Nobody')
  await page.getByRole('heading', { name: 'No session of an agent with this name is stored' }).waitFor()
  await page.getByRole('link', { name: 'All agents' }).click()
  await page.waitForURL('**/agents')
  expect(faults).toEqual([])
})

test('agents of the same name in two projects have a page each', async () => {
  const project = await ownProject(server)
  const failed = (run: number) => ({
    session_id: `shared-${run}`,
    agent_name: 'Shared',
    type: 'tool.call',
    tool_name: 'crm',
    status: 'error',
  })
  for (const run of [1, 2]) await project.ingestA({ ...failed(run), error: 'of the other project' })
  await server.ingestA({ ...failed(3), error: 'of the first project' })
  const watched = await open('/agents')
  const { page, faults } = watched
  await page
    .getByRole('row', { name: `Shared in ${project.name}` })
    .getByRole('link')
    .click()
  await page.waitForURL(`**/agents/Shared?project=${project.name}`)
  await page.getByText(`in ${project.name}`).waitFor()
  await page.getByRole('link', { name: 'of the other project' }).waitFor()
  await until(async () => (await fact(watched, 'Runs').textContent()) === '2', Boolean, within)
  expect(await page.getByRole('link', { name: 'of the first project' }).count()).toBe(0)
  await page.goto('/agents/Shared?project=default')
  await page.getByRole('link', { name: 'of the first project' }).waitFor()
  await until(async () => (await fact(watched, 'Runs').textContent()) === '1', Boolean, within)
  expect(faults).toEqual([])
})

test('where an agent cannot be read it says so, and reads again when it is asked', async () => {
  const watched = await openPage(browser, server.url, { storageState: admin })
  opened.push(watched)
  const { page } = watched
  let isBroken = true
  await page.route('**/graphql', (route) =>
    isBroken && route.request().postData()?.includes('AgentPage') ? route.fulfill({ status: 500 }) : route.continue(),
  )
  await page.goto('/agents/Mail')
  await page.getByText('The server answered 500').waitFor()
  isBroken = false
  await page.getByRole('button', { name: 'Retry' }).click()
  await saving(watched).getByRole('heading', { level: 3 }).first().waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})
