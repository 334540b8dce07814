// The log of deliveries in a real browser: who is told, what came of it, trying again, and the same on a session's page.
import type { ServerResponse } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'
import { rolled } from '../support/rolled.ts'
import { until } from '../support/until.ts'
import { failingRuns, isLive, within } from './failing-runs.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

let browser: Browser
let stand: Awaited<ReturnType<typeof alertStand>>
let receiver: Receiver
let opened: WatchedPage[] = []
let admin: SignedIn
let viewer: SignedIn
const { fail } = failingRuns(() => stand.server)
/** Channels and their rules, by the agent that they hear of. */
const channels: Record<string, string> = {}
beforeAll(async () => {
  ;[browser, stand, receiver] = await Promise.all([launchBrowser(), alertStand(), startReceiver()])
  admin = await signIn(browser, stand.server)
  viewer = await signInViewer(browser, stand.server)
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

async function open(path: string, storageState = admin): Promise<WatchedPage> {
  const watched = await openPage(browser, stand.server.url, { storageState })
  opened.push(watched)
  await watched.page.goto(path)
  // A pointer over the list means that someone reads there: new rows would wait.
  await watched.page.mouse.move(5, 400)
  await isLive(watched)
  return watched
}
async function tell(agent: string, input: object = {}) {
  const { channel } = await stand.channel('WEBHOOK', { name: `${agent} hook`, url: receiver.url })
  channels[agent] = channel.id
  return stand.rule({ name: `${agent} rule`, agents: [agent], channels: [channel.id], ...input })
}
const of = (agent: string) => `/alerts/deliveries?agent=${encodeURIComponent(agent)}`
const rowsOf = ({ page }: WatchedPage, name: string | RegExp = /hook/) =>
  page.getByRole('grid', { name: 'Deliveries' }).getByRole('row', { name })
const panelOf = ({ page }: WatchedPage) => page.getByRole('complementary', { name: 'Delivery', exact: true })

test('a delivery appears live, waits after a failed attempt, and is tried at once when a person asks', async () => {
  const watched = await open(of('Waiting desk').split('?')[0]!)
  const { page, faults } = watched
  await page.getByText('No rule is switched on yet.').waitFor()
  expect(await page.getByRole('link', { name: 'Switch on a rule' }).getAttribute('href')).toBe('/alerts')
  await tell('Waiting desk')
  receiver.answers(answer(503, '<img src=x onerror="window.hacked=1"> down'))
  const run = await fail('crm.lookup', 'no answer', 'Waiting desk')
  const row = rowsOf(watched, /Waiting desk: .*no answer.* Waiting desk hook, webhook .*Waiting 2 in [23]\d s HTTP 503/)
  await row.waitFor()
  await row.click()
  const panel = panelOf(watched)
  await panel.getByText('Failed, HTTP 503').nth(1).waitFor()
  expect(await panel.locator('pre').first().textContent()).toBe('<img src=x onerror="window.hacked=1"> down')
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false)
  expect(page.url()).toContain('delivery=')

  receiver.answers(answer(200))
  await panel.getByRole('button', { name: 'Try now' }).click()
  await panel.getByText('Taken by the receiver, HTTP 200').waitFor()
  await panel.getByText('It was tried again, and the receiver has taken it.').waitFor()
  await rowsOf(watched, /Sent/).waitFor()
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  await panel.getByText(String(ids[0])).waitFor()
  expect(new Set(ids).size).toBe(1)
  await panel.getByRole('link', { name: run }).click()
  await page.getByRole('heading', { name: run }).waitFor()
  expect(faults).toEqual([])
})

test('one that was given up is sent again, and a refusal stands where it was asked for', async () => {
  await tell('Gone desk')
  receiver.answers(answer(410, 'gone'))
  await fail('crm.lookup', 'no answer', 'Gone desk')
  const [given] = await stand.settled({ agents: ['Gone desk'] })
  const watched = await open(`${of('Gone desk')}&state=given-up&delivery=${encodeURIComponent(given.id)}`)
  const { page, faults } = watched
  const panel = panelOf(watched)
  await panel.getByText('Given up after 1 attempt.').waitFor()
  const setEnabled = (isEnabled: boolean) =>
    stand.ask(
      'mutation ($id: ID!, $input: ChannelInput!) { updateChannel(id: $id, input: $input) { channel { id } } }',
      {
        id: channels['Gone desk'],
        input: { isEnabled },
      },
    )
  await setEnabled(false)
  await panel.getByRole('button', { name: 'Send again' }).click()
  await panel.getByText('Its channel is switched off or deleted.').waitFor()
  await setEnabled(true)
  receiver.answers(answer(200))
  await panel.getByRole('button', { name: 'Send again' }).click()
  await panel.getByRole('listitem').getByText('Taken by the receiver').waitFor()
  // It does not vanish under the reader, and says that it has left.
  await rowsOf(watched, /Sent, no longer matches/).waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await rowsOf(watched, /Waiting desk/).waitFor()
  expect(new URL(page.url()).searchParams.has('state')).toBe(false)
  expect(faults).toEqual([])
})

test('filters stand in the address, and new deliveries wait while one is open', async () => {
  const rule = await tell('Busy desk')
  receiver.answers(answer(200))
  await fail('crm.lookup', 'first', 'Busy desk')
  await stand.settled({ agents: ['Busy desk'] })
  await rolled(stand.server)
  const watched = await open('/alerts/deliveries')
  const { page, faults } = watched
  await page.getByLabel('Rule').selectOption({ label: 'Busy desk rule' })
  await page.getByLabel('Channel').selectOption({ label: 'Busy desk hook' })
  await page.getByLabel('State').selectOption('Sent')
  await page.getByLabel('Agent').selectOption('Busy desk')
  await page.waitForURL(
    (url) => url.searchParams.get('agent') === 'Busy desk' && url.searchParams.get('rule') === rule.id,
  )
  await until(
    () => rowsOf(watched).count(),
    (count) => count === 1,
    within,
  )
  await rowsOf(watched).click()
  await panelOf(watched).getByText('1 attempt', { exact: true }).waitFor()
  await fail('crm.lookup', 'second', 'Busy desk')
  const pill = page.getByRole('button', { name: '1 new delivery' })
  await pill.waitFor()
  expect(await rowsOf(watched).count()).toBe(1)
  await pill.click()
  await rowsOf(watched, /second/).waitFor()
  expect(await rowsOf(watched).first().textContent()).toContain('second')
  await page.getByLabel('State').selectOption('Not sent')
  await page.getByRole('heading', { name: 'No delivery matches these filters' }).waitFor()
  expect(faults).toEqual([])
})

test('while it is paused nothing changes, and what waits is counted', async () => {
  const watched = await open(of('Busy desk'))
  const { page } = watched
  await until(
    () => rowsOf(watched).count(),
    (count) => count === 2,
    within,
  )
  await page.getByRole('button', { name: 'Pause' }).click()
  await fail('crm.lookup', 'third', 'Busy desk')
  await page.getByRole('button', { name: 'Resume, 1 waiting' }).waitFor()
  expect(await rowsOf(watched).count()).toBe(2)
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: '1 new delivery' }).or(rowsOf(watched, /third/)).first().waitFor()
})

test('a viewer reads the log, is told what only admins see, and changes nothing', async () => {
  await tell('Watched desk')
  receiver.answers(answer(503, 'secret answer', { 'retry-after': '600' }))
  await fail('crm.lookup', 'no answer', 'Watched desk')
  const watched = await open(of('Watched desk'), viewer)
  const { page, faults } = watched
  await rowsOf(watched, /Waiting/).click()
  const panel = panelOf(watched)
  await panel.getByText('Only admins have it tried now. You are signed in as a viewer.').waitFor()
  expect(await panel.getByRole('button', { name: 'Try now' }).isDisabled()).toBe(true)
  await panel.getByText('What receivers answered is shown to admins only.').waitFor()
  expect(await page.getByText('secret answer').count()).toBe(0)
  expect(await page.getByLabel('Channel').count()).toBe(0)
  expect(faults).toEqual([])
})

test("a session's page says who is told of it, and what comes of that while it is open", async () => {
  await tell('Slow desk')
  const held: ServerResponse[] = []
  receiver.answers((response) => void held.push(response))
  const run = await fail('crm.lookup', 'no answer', 'Slow desk')
  const { sessions } = await stand.server.query('{ sessions(first: 100) { nodes { id externalId } } }')
  const { id } = sessions.nodes.find(({ externalId }: any) => externalId === run)
  const watched = await open(`/sessions/${encodeURIComponent(id)}`)
  const { page, faults } = watched
  const block = page.getByRole('region', { name: 'Alerts' })
  await block.getByText(/Trying now: alert to Slow desk hook/).waitFor()
  await until(() => held.length, Boolean, within)
  receiver.answers(answer(200))
  for (const response of held) answer(200)(response, receiver.received[0]!)
  await block.getByText(/Sent: alert to Slow desk hook.*by the rule "Slow desk rule"/).waitFor()
  await block.getByRole('link', { name: /Slow desk hook/ }).click()
  await panelOf(watched).getByText('Taken by the receiver, HTTP 200').waitFor()
  await page.goto('/')
  await fail('crm.lookup', 'nobody hears', 'Untold desk')
  const untold = (await until(
    () => stand.server.query('{ sessions(first: 1) { nodes { id agent classified } } }'),
    (read) => read.sessions.nodes[0].agent === 'Untold desk' && read.sessions.nodes[0].classified,
    within,
  )) as any
  await page.goto(`/sessions/${encodeURIComponent(untold.sessions.nodes[0].id)}`)
  await page
    .getByText(/nobody hears/)
    .first()
    .waitFor()
  expect(await block.count()).toBe(0)
  expect(faults).toEqual([])
})
