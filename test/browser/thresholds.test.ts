// Thresholds in a real browser: what holds for an agent and why, trying limits on history, fixing and removing them.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { platformBRecordings, recording } from '../fixtures/recordings.ts'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { rolled } from '../support/rolled.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

const within = 20_000
let browser: Browser
let server: TestServer
let opened: WatchedPage[] = []
let admin: SignedIn
let viewer: SignedIn
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  admin = await signIn(browser, server)
  viewer = await signInViewer(browser, server)
  for (let i = 0; i < 3; i++) await run('Nightly report', 5_000)
  await rolled(server)
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
  await watched.page.getByRole('heading', { name: 'Settings' }).waitFor()
  return watched
}

let executions = 7000
/** A run that took so long; answers its categories of failure once it was classified. */
async function run(workflow: string, durationMs: number, headers?: Record<string, string>): Promise<string[]> {
  const { value } = recording(platformBRecordings, '01-basic-success.json')
  const execution = structuredClone(value)
  execution.id = String((executions += 1))
  execution.workflowData.name = workflow
  execution.stoppedAt = new Date(Date.parse(execution.startedAt) + durationMs).toISOString()
  const { body } = await server.ingestB({ execution }, headers)
  const id = decodeURIComponent(new URL(body.sessions[0].url).pathname.split('/').at(-1)!)
  const { session } = await until(
    () => server.query('query ($id: ID!) { session(id: $id) { classified failureCategories } }', { id }),
    ({ session }) => session === null || session.classified,
    within,
  )
  return session?.failureCategories ?? []
}

const fieldOf = ({ page }: WatchedPage, label: string) => page.getByRole('group', { name: label, exact: true })

test('what holds for an agent is said with its reason, a limit is tried on history and holds from then on', async () => {
  const watched = await open('/settings')
  const { page, faults } = watched
  await page.getByRole('link', { name: 'Thresholds' }).click()
  await page.getByRole('combobox', { name: 'Limits of' }).selectOption('Nightly report')
  await page.waitForURL(/settings\/thresholds\?agent=Nightly\+report/)
  const duration = fieldOf(watched, 'Duration')
  await duration.getByText(/Holds now, by default: 1 m 00 s, the default/).waitFor()
  await page.getByText('None. Choose an agent above').waitFor()
  const save = page.getByRole('button', { name: 'Save' })
  expect(await save.isDisabled()).toBe(true)

  await duration.getByRole('radio', { name: 'Fix at' }).check()
  const seconds = page.getByRole('textbox', { name: 'Duration in seconds' })
  expect(await seconds.inputValue()).toBe('60')
  await seconds.fill('2.5')
  await page.getByRole('button', { name: 'Try on history' }).click()
  const sentence = 'Of 3 runs of the last 30 days 3 would gain a failure and none would lose one.'
  await page.getByText(sentence).waitFor()
  await page.getByText('3 would gain a failure', { exact: true }).click()
  expect(await page.getByRole('link', { name: /Nightly report, 700\d/ }).count()).toBe(3)
  // What is not tried is not said.
  await seconds.fill('3')
  await page.getByText(sentence).waitFor({ state: 'detached' })

  await save.click()
  await page.getByText('Saved. It holds for runs that close from now on; what was found before stays.').waitFor()
  await duration.getByText('Holds now, fixed for this agent: 3.00 s.').waitFor()
  await page.getByRole('row', { name: /Nightly report 3\.00 s usual usual usual/ }).waitFor()
  expect(await run('Nightly report', 5_000)).toEqual(['LATENCY_SPIKE'])
  expect(await run('Another report', 5_000)).toEqual([])

  await page.getByRole('button', { name: 'Remove the limits of Nightly report' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove limits' }).click()
  await page.getByText('None. Choose an agent above').waitFor()
  await duration.getByText(/Holds now, by default: 1 m 00 s/).waitFor()
  expect(await duration.getByRole('radio', { name: 'Leave to what is usual' }).isChecked()).toBe(true)
  expect(faults).toEqual([])
})

test('what is wrong with a limit stands at its field, also where the server refuses it', async () => {
  const watched = await open('/settings/thresholds?agent=Nightly+report')
  const { page } = watched
  const fix = async (label: string, box: string, value: string) => {
    await fieldOf(watched, label).getByRole('radio', { name: 'Fix at' }).check()
    await page.getByRole('textbox', { name: box }).fill(value)
  }
  await fix('Duration', 'Duration in seconds', 'soon')
  await fix('Tokens', 'Tokens', '1.5')
  await page.getByRole('button', { name: 'Save' }).click()
  await fieldOf(watched, 'Duration').getByText('Give a number of seconds, such as 2.5').waitFor()
  await fieldOf(watched, 'Tokens').getByText('Give whole tokens').waitFor()
  await fieldOf(watched, 'Tokens').getByRole('radio', { name: 'Leave' }).check()
  await fix('Duration', 'Duration in seconds', '0')
  await page.getByRole('button', { name: 'Try on history' }).click()
  await fieldOf(watched, 'Duration').getByText('Duration must be more than 0 and at most a year.').waitFor()
  await fix('Duration', 'Duration in seconds', '10')
  await fix('Loop rounds', 'Loop rounds', '1')
  await page.getByRole('button', { name: 'Save' }).click()
  await fieldOf(watched, 'Loop rounds').getByText('Loop rounds must be 2 to 1,000,000, not 1.').waitFor()
  await fix('Loop rounds', 'Loop rounds', '3000000000')
  await page.getByRole('button', { name: 'Save' }).click()
  await fieldOf(watched, 'Loop rounds').getByText('Loop rounds must be a smaller number.').waitFor()
  expect((await server.query('{ fixedThresholds { agent } }')).fixedThresholds).toEqual([])
})

test('limits of a project hold for every agent without its own, and each project has its own', async () => {
  const cookie = await server.signIn()
  const { createApiKey } = await server.query(
    'mutation { createApiKey(input: { name: "other", project: "other", scopes: [INGEST] }) { secret } }',
    {},
    { cookie },
  )
  await run('Elsewhere', 1_000, { 'x-api-key': createApiKey.secret })
  await rolled(server)
  const watched = await open('/settings/thresholds')
  const { page, faults } = watched
  await page.getByRole('combobox', { name: 'Project' }).selectOption('default')
  await fieldOf(watched, 'Cost').getByText('Each agent is compared with its own last runs.').waitFor()
  await fieldOf(watched, 'Cost').getByRole('radio', { name: 'Fix at' }).check()
  await page.getByRole('textbox', { name: 'Cost in USD' }).fill('0.5')
  await page.getByRole('button', { name: 'Save' }).click()
  await fieldOf(watched, 'Cost').getByText('Holds now: $0.5000 for every agent without a limit of its own.').waitFor()
  await page.getByRole('combobox', { name: 'Limits of' }).selectOption('Nightly report')
  await fieldOf(watched, 'Cost').getByText('Holds now, fixed for the project: $0.5000.').waitFor()
  await fieldOf(watched, 'Cost').getByRole('radio', { name: 'Leave to the project: $0.5000' }).waitFor()
  await page.getByRole('combobox', { name: 'Project' }).selectOption('other')
  await page.waitForURL(/project=other/)
  await fieldOf(watched, 'Cost').getByText('Each agent is compared with its own last runs.').waitFor()
  const options = await page.getByRole('combobox', { name: 'Limits of' }).locator('option').allTextContents()
  expect(options).toEqual(['all agents of the project', 'Elsewhere'])
  expect(faults).toEqual([])
})

test('sessions without a name have no limits of their own, and that is said', async () => {
  await server.ingestA({ session_id: 'nameless', type: 'session.end', status: 'success' })
  const watched = await open('/settings/thresholds?agent=&project=default')
  await watched.page.getByText('Sessions without a name cannot have limits of their own.', { exact: false }).waitFor()
  await fieldOf(watched, 'Cost').getByText('Holds now, fixed for the project: $0.5000.').waitFor()
  expect(await watched.page.getByRole('button', { name: 'Save' }).count()).toBe(0)
})

test('a viewer reads what holds and changes nothing', async () => {
  const watched = await open('/settings/thresholds?agent=Nightly+report&project=default', viewer)
  const { page, faults } = watched
  await page.getByText('You are signed in as a viewer. Only admins fix limits.').waitFor()
  await fieldOf(watched, 'Cost').getByText('Holds now, fixed for the project: $0.5000.').waitFor()
  expect(await fieldOf(watched, 'Cost').getByRole('radio').first().isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: /Save|Try|Remove/ }).count()).toBe(0)
  expect(faults).toEqual([])
})
