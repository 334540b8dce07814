// The alerts page in a real browser: rules that are switched on and made, channels and their secrets, muted agents.
import type { Browser } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { failedStep } from '../support/failed-runs.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

const within = 20_000
let browser: Browser
let stand: Awaited<ReturnType<typeof alertStand>>
let receiver: Receiver
let opened: WatchedPage[] = []
let admin: SignedIn
let viewer: SignedIn
beforeAll(async () => {
  ;[browser, stand, receiver] = await Promise.all([launchBrowser(), alertStand(), startReceiver()])
  admin = await signIn(browser, stand.server)
  viewer = await signInViewer(browser, stand.server)
  await stand.server.ingestA(failedStep('run-0'))
  const counted = () => stand.server.query('{ failurePatterns { nodes { id } } }')
  await until(counted, ({ failurePatterns: { nodes } }) => nodes.length === 1, within)
})
afterEach(async () => {
  for (const { context } of opened) await context.close()
  opened = []
})
afterAll(async () => {
  await browser.close()
  await stand.server.stop()
  await receiver.close()
})

async function open(path = '/alerts', storageState = admin, options = {}): Promise<WatchedPage> {
  const watched = await openPage(browser, stand.server.url, { storageState, ...options })
  opened.push(watched)
  await watched.page.goto(path)
  await watched.page.getByRole('heading', { name: 'Rules', exact: true }).waitFor()
  return watched
}
const entry = ({ page }: WatchedPage, name: string) => page.getByRole('listitem', { name, exact: true })
const ruleNamed = async (name: string) => (await stand.rules()).find((each) => each.name === name)

test('a rule that stands ready leads to its first channel, shows the secret once, and then tells', async () => {
  const watched = await open()
  const { page, faults } = watched
  await page.getByText('Nobody is told of anything: 3 rules stand ready to be switched on.').waitFor()
  const rule = entry(watched, 'High and critical failures')
  await rule.getByText('Off, ready to switch on').waitFor()
  await rule.getByRole('switch').click()
  await rule.getByRole('heading', { name: 'High and critical failures needs a channel to tell' }).waitFor()
  expect(await rule.getByRole('switch').isChecked()).toBe(false)
  expect(await rule.getByRole('radio', { name: 'E-mail' }).isDisabled()).toBe(true)
  await rule.getByText('the operator must set SMTP_URL and SMTP_FROM').waitFor()

  await rule.getByRole('button', { name: 'Create channel and switch on' }).click()
  await rule.getByText('Give the channel a name').waitFor()
  await rule.getByRole('textbox', { name: 'Name' }).fill('Ops')
  await rule.getByRole('textbox', { name: 'Address to post to' }).fill('ftp://example.com')
  await rule.getByRole('button', { name: 'Create channel and switch on' }).click()
  await rule.getByText('It must begin with https:// or http://, not ftp://.').waitFor()
  await rule.getByRole('textbox', { name: 'Address to post to' }).fill(`${receiver.url}/hooks/abcdefgh`)
  await rule.getByRole('button', { name: 'Create channel and switch on' }).click()

  const secret = (await page.locator('code', { hasText: /^whsec_/ }).textContent())!
  await rule.getByText('On', { exact: true }).waitFor()
  await rule.getByText('has a high or critical failure, tell "Ops", once for each run').waitFor()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByText(secret).waitFor({ state: 'detached' })
  const channel = entry(watched, 'Ops')
  await channel.getByText(`${receiver.url}/…efgh`).waitFor()
  await channel.getByText(`ends in ${secret.slice(-4)}`).waitFor()

  await stand.server.ingestA(failedStep('run-1'))
  await until(
    () => receiver.received.length,
    (count) => count === 1,
    within,
  )
  const [{ text, headers }] = receiver.received as any
  expect(new Webhook(secret).verify(text, headers)).toMatchObject({ type: 'alert.failure' })
  expect(faults).toEqual([])
})

test('another rule without channels lets one choose among those that are there', async () => {
  const watched = await open()
  const rule = entry(watched, 'New failure pattern')
  await rule.getByRole('button', { name: 'Switch on New failure pattern' }).click()
  expect(await rule.getByRole('checkbox', { name: 'Ops' }).isChecked()).toBe(true)
  await rule.getByRole('checkbox', { name: 'Ops' }).uncheck()
  await rule.getByRole('button', { name: 'Switch on', exact: true }).click()
  await rule.getByText('Choose where it tells').waitFor()
  await rule.getByRole('checkbox', { name: 'Ops' }).check()
  await rule.getByRole('button', { name: 'Switch on', exact: true }).click()
  await rule.getByText('On', { exact: true }).waitFor()
  await rule.getByRole('switch').click()
  await rule.getByText('Off', { exact: true }).waitFor()
  expect(await ruleNamed('New failure pattern')).toMatchObject({ isEnabled: false, channels: [{ name: 'Ops' }] })
})

test('a rule that is made says all along what it would do, and can be changed and deleted', async () => {
  const watched = await open()
  const { page, faults } = watched
  await page.getByRole('button', { name: 'New rule' }).click()
  await page.waitForURL(/alerts\?rule=new/)
  const form = page.getByRole('form', { name: 'New rule' })
  await form.getByText(/would have told on 2 occasions/).waitFor()
  await form.getByText('It cannot be saved like this: A rule that is switched on needs at least one channel').waitFor()
  await form.getByRole('button', { name: 'Create rule' }).click()
  await form.getByText('Give the rule a name').waitFor()
  await form.getByText('Choose where it tells, or leave it switched off').waitFor()

  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Tools of the desk')
  await form.getByRole('checkbox', { name: 'Tool failure' }).check()
  await form.getByRole('combobox', { name: 'Name of an agent' }).fill('Desk')
  await form.getByRole('combobox', { name: 'Name of an agent' }).press('Enter')
  await form.getByRole('button', { name: 'Take out Desk' }).waitFor()
  await form.getByRole('combobox', { name: 'Name of an agent' }).fill('Somebody else')
  await form.getByRole('radio', { name: 'Of the same failure at most once in' }).check()
  await form.getByRole('textbox', { name: 'Minutes between' }).fill('120')
  await form.getByText('Of the same failure it tells at most once in 2 hours.').waitFor()
  await form.getByRole('checkbox', { name: 'Ops' }).check()
  await form
    .getByText(/a run of "Desk" or "Somebody else" has a high or critical .*tell "Ops".*at most once in 2 hours/)
    .waitFor()
  await form.getByText(/would have told on 2 occasions, not counting mutes and the pause between/).waitFor()
  await form.getByRole('textbox', { name: 'Minutes between' }).fill('20000')
  await form.getByText('It cannot be saved like this: The time must be 0 to 10,080 minutes.').waitFor()
  await form.getByRole('button', { name: 'Create rule' }).click()
  await form.getByText('The time must be 0 to 10,080 minutes.', { exact: true }).waitFor()
  await form.getByRole('textbox', { name: 'Minutes between' }).fill('90')
  await form.getByRole('button', { name: 'Create rule' }).click()
  await form.waitFor({ state: 'detached' })
  expect(await ruleNamed('Tools of the desk')).toMatchObject({
    isEnabled: true,
    kind: 'FAILURE',
    minSeverity: 'HIGH',
    categories: ['TOOL_FAILURE'],
    agents: ['Desk', 'Somebody else'],
    cooldownMinutes: 90,
    channels: [{ name: 'Ops' }],
  })

  const rule = entry(watched, 'Tools of the desk')
  await rule.getByRole('button', { name: 'Edit Tools of the desk' }).click()
  await rule.getByRole('radio', { name: 'Many runs fail' }).check()
  await rule.getByRole('textbox', { name: 'Failed runs, at least % of all' }).fill('12,5')
  await rule.getByRole('textbox', { name: 'Within so many minutes' }).fill('120')
  await rule
    .getByRole('status')
    .getByText(/When 12\.5 % or more .* within 2 hours/)
    .waitFor()
  await rule.getByText('How often it would have told is not worked out for shares of runs.').waitFor()
  await rule.getByRole('button', { name: 'Save' }).click()
  await rule.getByRole('form').waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Edit Tools of the desk')
  expect(await ruleNamed('Tools of the desk')).toMatchObject({
    kind: 'FAILURE_RATE',
    failureShare: 0.125,
    windowMinutes: 120,
    cooldownMinutes: 0,
  })
  await rule.getByRole('button', { name: 'Delete Tools of the desk' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click()
  await rule.waitFor({ state: 'detached' })
  expect(await ruleNamed('Tools of the desk')).toBeUndefined()
  expect(faults).toEqual([])
})

test('a channel is tried, changed, given a new secret, switched off and deleted', async () => {
  const watched = await open()
  const { page } = watched
  await page.getByRole('button', { name: 'New channel' }).click()
  await page.getByRole('radio', { name: 'Slack' }).check()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('ops')
  await page.getByRole('textbox', { name: 'Address of the incoming webhook' }).fill(`${receiver.url}/services/first`)
  await page.getByRole('button', { name: 'Create channel' }).click()
  await page.getByText('There is a channel "ops" already.').waitFor()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Team')
  await page.getByRole('button', { name: 'Create channel' }).click()
  const team = entry(watched, 'Team')
  await team.getByText(`${receiver.url}/…irst`).waitFor()
  expect(await team.getByRole('button', { name: /New secret/ }).count()).toBe(0)

  receiver.answers(answer(503, '<b>come back later</b>'))
  await team.getByRole('button', { name: 'Test Team' }).click()
  await team.getByText(/Not delivered after [\d,<]+ ms.*503/).waitFor()
  await team.getByText('<b>come back later</b>').waitFor()
  receiver.answers(answer(200, 'thank you'))
  await team.getByRole('button', { name: 'Test Team' }).click()
  await team.getByText(/Delivered in [\d,<]+ ms, answer 200/).waitFor()
  await team.getByText('thank you').waitFor()

  await team.getByRole('button', { name: 'Edit Team' }).click()
  await team.getByText(/Leave the field empty to keep that/).waitFor()
  await team.getByRole('textbox', { name: 'Name', exact: true }).fill('Whole team')
  await team.getByRole('button', { name: 'Save' }).click()
  const whole = entry(watched, 'Whole team')
  await whole.getByText(`${receiver.url}/…irst`).waitFor()
  await whole.getByRole('button', { name: 'Edit Whole team' }).click()
  await whole.getByRole('textbox', { name: /^New/ }).fill(`${receiver.url}/services/other`)
  await whole.getByRole('button', { name: 'Save' }).click()
  await whole.getByText(`${receiver.url}/…ther`).waitFor()
  await whole.getByRole('switch').click()
  await whole.getByText('Off: it tells nobody').waitFor()

  const ops = entry(watched, 'Ops')
  await ops.getByRole('button', { name: 'New secret for Ops' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make a new secret' }).click()
  const secret = (await ops.locator('code', { hasText: /^whsec_/ }).textContent())!
  await ops.getByText(`ends in ${secret.slice(-4)}`).waitFor()
  await ops.getByRole('button', { name: 'I have copied it' }).click()
  await ops.getByRole('button', { name: 'Delete Ops' }).click()
  const dialog = page.getByRole('dialog')
  expect((await dialog.getByRole('listitem').allTextContents()).sort()).toEqual([
    'High and critical failures, which then tells nobody',
    'New failure pattern, which then tells nobody',
  ])
  await dialog.getByRole('button', { name: 'Delete channel' }).click()
  await ops.waitFor({ state: 'detached' })
  await entry(watched, 'High and critical failures').getByText('Off', { exact: true }).waitFor()
})

test('an agent is muted and told of again, here and among the agents', async () => {
  const watched = await open()
  const { page, faults } = watched
  await page.getByRole('combobox', { name: 'Agent', exact: true }).fill('Desk')
  await page.getByRole('textbox', { name: 'Days' }).fill('0')
  await page.getByRole('button', { name: 'Mute agent' }).click()
  await page.getByText('Give 1 to 365 days').waitFor()
  await page.getByRole('textbox', { name: 'Days' }).fill('3')
  await page.getByRole('button', { name: 'Mute agent' }).click()
  await page.getByText(/until .*, muted by admin@/).waitFor()
  const muted = async () => (await stand.ask('{ mutedAgents { agent mutedUntil } }')).mutedAgents
  const [{ agent, mutedUntil }] = await muted()
  expect([agent, Math.round((Date.parse(mutedUntil) - Date.now()) / 86_400_000)]).toEqual(['Desk', 3])

  await page.getByRole('link', { name: 'Agents', exact: true }).click()
  await page.getByRole('button', { name: 'Desk is muted: end it' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End mute' }).click()
  await page.getByRole('button', { name: 'Mute Desk' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Days' }).fill('400')
  await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click()
  await page.getByText('Give 1 to 365 days').waitFor()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Days' }).fill('30')
  await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click()
  await page.getByRole('button', { name: 'Desk is muted: end it' }).waitFor()

  for (const key of ['g', 'l']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'End mute of Desk' }).click()
  await page.getByText('No agent is muted.').waitFor()
  expect(await muted()).toEqual([])
  expect(faults).toEqual([])
})

test('a viewer reads the rules, and what only admins may do is not there', async () => {
  const watched = await open('/alerts?rule=new', viewer)
  const { page, faults } = watched
  await page.getByText('You are signed in as a viewer.').waitFor()
  const rule = entry(watched, 'High and critical failures')
  await rule.getByText('has a high or critical failure').waitFor()
  expect(await rule.getByRole('switch').isDisabled()).toBe(true)
  expect(await page.locator('main').getByRole('button').count()).toBe(0)
  expect(await page.getByRole('heading', { name: 'Channels' }).count()).toBe(0)
  expect(faults).toEqual([])
})

test('on a phone the alerts are under More', async () => {
  const { page } = await open('/alerts', admin, { viewport: { width: 390, height: 800 } })
  await page.getByRole('link', { name: 'Sessions', exact: true }).click()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('link', { name: 'Alerts' }).click()
  await page.waitForURL(/\/alerts$/)
  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.waitForURL(/\/alerts\/deliveries$/)
})

test('each project has rules of its own', async () => {
  await stand.ask('mutation { createApiKey(input: { name: "other", project: "other", scopes: [INGEST] }) { secret } }')
  const watched = await open()
  const { page } = watched
  await page.getByRole('combobox', { name: 'Project' }).selectOption('other')
  await page.waitForURL(/alerts\?project=other$/)
  await page.getByText('3 rules stand ready to be switched on.').waitFor()
  await entry(watched, 'Failure rate').getByRole('button', { name: 'Edit Failure rate' }).click()
  await page.waitForURL(/project=other&rule=/)
  await page.reload()
  await page.getByRole('form', { name: 'Edit Failure rate' }).getByText('There is no channel yet.').waitFor()
  await page.getByRole('button', { name: 'New channel' }).first().click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).last().fill('Others')
  await page.getByRole('textbox', { name: 'Address to post to' }).fill(receiver.url)
  await page.getByRole('button', { name: 'Create channel' }).click()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByText(/fail within an hour,.* tell "Others", at most once/).waitFor()
  expect(await page.getByRole('checkbox', { name: 'Others' }).isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('form', { name: 'Edit Failure rate' }).waitFor({ state: 'detached' })
  await entry(watched, 'Failure rate')
    .getByText(/tell "Others"/)
    .waitFor()
})

test('what cannot be read is said, with a way to try again', async () => {
  const watched = await openPage(browser, stand.server.url, { storageState: admin })
  opened.push(watched)
  const { page } = watched
  let isDown = true
  await page.route('**/graphql', (route) =>
    isDown && route.request().postData()?.includes('query AlertRules') ? route.abort() : route.continue(),
  )
  await page.goto('/alerts')
  await page.getByText('The server cannot be reached.').waitFor()
  isDown = false
  await page.getByRole('button', { name: 'Retry' }).click()
  await entry(watched, 'Failure rate').waitFor()
})
