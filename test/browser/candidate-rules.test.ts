// When candidate prompts are made, in a real browser: for a project, for one agent, not at all, and taken back.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
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
  // Too little is left of the day's tokens for a call: the model is never asked.
  const env = {
    LLM_BASE_URL: 'http://127.0.0.1:9/v1',
    LLM_MODEL: 'gpt-4o',
    LLM_TOKENS_PER_DAY: '12500',
    LLM_USD_PER_DAY: '2.5',
  }
  ;[browser, server] = await Promise.all([launchBrowser(), startServer({ env })])
  admin = await signIn(browser, server)
  viewer = await signInViewer(browser, server)
  await server.database.sql`
    insert into llm_usage (day, calls, tokens, cost_usd) values ((now() at time zone 'UTC')::date, 4, 12300, 0.04)`
  await failed('Refund desk', 1)
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
  await watched.page.getByRole('heading', { name: 'Candidate prompts' }).waitFor()
  return watched
}

const failed = (agent: string, run: number) =>
  server.ingestA({
    session_id: `${agent.replace(/\W/g, '-')}-${run}`,
    agent_name: agent,
    type: 'tool.call',
    tool_name: 'refund',
    error: `Invalid date "next Tuesday": the field date must be a date in the format YYYY-MM-DD`,
    status: 'error',
  })
const ruleOf = async (agent: string | null) =>
  (await server.query('{ candidateRules { agent isEnabled sessions days isDefault } }')).candidateRules.find(
    (rule: { agent: string | null }) => rule.agent === agent,
  )

test('a rule of an agent is set, makes its candidate sooner, and is taken back', async () => {
  const { page, faults } = await open('/settings/candidates')
  await page.getByText('12,300 of 12,500 tokens and $0.0400 of $2.50.').waitFor()
  await page.getByText('Holds now: 5 sessions in 7 days, by default.').waitFor()
  await page.getByRole('combobox', { name: 'Rule for' }).selectOption('Refund desk')
  await page.waitForURL(/settings\/candidates\?agent=Refund\+desk/)
  await page.getByText('Holds now: 5 sessions in 7 days, as for the project.').waitFor()
  const save = page.getByRole('button', { name: 'Save' })
  expect(await save.isDisabled()).toBe(true)

  await page.getByRole('radio', { name: 'Make a candidate' }).check()
  await page.getByRole('textbox', { name: 'Sessions with the failure' }).fill('2')
  await save.click()
  await page.getByText('Saved. It holds from the next failure on; candidates that were made stay.').waitFor()
  await page.getByText(/Holds now: 2 sessions in 7 days, set now by/).waitFor()
  await page.getByRole('row', { name: /Refund desk 2 sessions in 7 days/ }).waitFor()
  await failed('Refund desk', 2)
  const made = () => server.query('{ promptVersions { nodes { agent evidenceCount } } }')
  const { promptVersions } = await until(made, ({ promptVersions: { nodes } }) => nodes.length > 0, within)
  expect(promptVersions.nodes).toEqual([{ agent: 'Refund desk', evidenceCount: 2 }])

  await page.getByRole('radio', { name: 'Leave to the project: 5 sessions in 7 days' }).check()
  await save.click()
  await page.getByText('Taken back. What is above holds from the next failure on.').waitFor()
  await page.getByText('None. Choose an agent above to set a rule for it alone.').waitFor()
  expect(await ruleOf('Refund desk')).toBeUndefined()
  expect(faults).toEqual([])
})

test('a project makes none, its agents leave it to that, and the default comes back', async () => {
  const { page, faults } = await open('/settings/candidates')
  const save = page.getByRole('button', { name: 'Save' })
  await page.getByRole('radio', { name: 'Make none' }).check()
  await save.click()
  await page.getByText(/Holds now: none are made, set now by/).waitFor()
  expect(await ruleOf(null)).toMatchObject({ isEnabled: false, sessions: 5, days: 7, isDefault: false })
  await page.getByRole('combobox', { name: 'Rule for' }).selectOption('Refund desk')
  await page.getByRole('radio', { name: 'Leave to the project: none are made' }).waitFor()
  await page.getByRole('combobox', { name: 'Rule for' }).selectOption('all agents of the project')
  await page.getByRole('radio', { name: 'Leave to the default: 5 sessions in 7 days' }).check()
  await save.click()
  await page.getByText('Holds now: 5 sessions in 7 days, by default.').waitFor()
  expect(await ruleOf(null)).toMatchObject({ isEnabled: true, isDefault: true })
  expect(faults).toEqual([])
})

test('what is wrong with a number stands at its field, also where the server refuses it', async () => {
  const { page } = await open('/settings/candidates?agent=Refund+desk')
  const save = page.getByRole('button', { name: 'Save' })
  await page.getByRole('radio', { name: 'Make a candidate' }).check()
  const sessions = page.getByRole('textbox', { name: 'Sessions with the failure' })
  const days = page.getByRole('textbox', { name: 'Within days' })
  for (const [field, value, sentence] of [
    [sessions, 'few', 'Give a whole number of sessions, such as 5'],
    [sessions, '0', 'Sessions must be 1 to 1000, not 0.'],
    [days, '31', 'Days must be 1 to 30, not 31.'],
    [days, '3000000000', 'Days must be a number nearer to 0.'],
  ] as const) {
    await sessions.fill('5')
    await days.fill('7')
    await field.fill(value)
    await save.click()
    await page.getByText(sentence).waitFor()
  }
  expect(await ruleOf('Refund desk')).toBeUndefined()
})

test('a viewer reads the rule and what the model has spent, and changes nothing', async () => {
  const { page, faults } = await open('/settings/candidates', viewer)
  await page.getByText('You are signed in as a viewer. Only admins set this.').waitFor()
  await page.getByText(/12,300 of 12,500 tokens/).waitFor()
  expect(await page.getByRole('radio').first().isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  expect(faults).toEqual([])
})
