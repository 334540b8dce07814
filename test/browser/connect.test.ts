// The Connect page in a real browser: what arrives and what is refused is said at once, and its recipes work as copied.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

const run = promisify(execFile)
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
  for (const { page, context } of opened) {
    await page.unrouteAll({ behavior: 'wait' })
    await context.close()
  }
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

async function open(path: string, storageState = admin, options = {}): Promise<WatchedPage> {
  const watched = await openPage(browser, server.url, {
    storageState,
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  })
  opened.push(watched)
  await watched.page.goto(path)
  return watched
}
const strip = ({ page }: WatchedPage) => page.getByRole('region', { name: 'What has arrived' })
const platform = (watched: WatchedPage, name: string) => strip(watched).getByRole('group', { name })

test('it waits, turns green in place with the first event, and says why a post was refused', async () => {
  const watched = await open('/connect')
  const { page, faults } = watched
  const [zapier, n8n] = [platform(watched, 'Zapier'), platform(watched, 'n8n')]
  await zapier.getByText('Waiting for your first event').waitFor()
  await n8n.getByText('Waiting for your first event').waitFor()
  await server.ingestA({ session_id: 'run-abc', type: 'llm.call', agent_name: 'Support triage' })
  await zapier.getByText(/Received .*: run-abc, llm\.call, Support triage\./).waitFor()
  expect(await zapier.locator('.glyph.completed').count()).toBe(1)
  await n8n.getByText('Waiting for your first event').waitFor()

  await server.ingestA({ session_id: 'run 12', type: 'llm.call' })
  await zapier.getByText(/Refused .* with 422:\s+session_id "run 12" contains a space/).waitFor()
  await server.ingestB({ execution: { id: '7', workflowId: 'w', workflowName: 'Intake', status: 'success' } })
  await n8n.getByText(/Received .*: 7, without its steps, Intake\./).waitFor()
  for (const key of ['', 'rw_wrong'])
    expect((await server.ingestA({ session_id: 'stranger' }, { 'x-api-key': key })).status).toBe(401)
  await strip(watched)
    .getByText(/Refused 1 post (without a key|with an unknown key), 1 .* in the last 24 hours/)
    .waitFor()

  await zapier.getByRole('link', { name: 'Open the refused post' }).click()
  await page.getByRole('complementary', { name: 'Request' }).getByText('1 problem').waitFor()
  await page.goBack()
  await zapier.getByRole('link', { name: 'Open session' }).click()
  await page.getByRole('heading', { name: 'run-abc' }).waitFor()
  await page.getByText('No final event').waitFor()
  await page.getByRole('link', { name: 'How to send it' }).click()
  await page.waitForURL('**/connect?with=zapier')
  // What is stored says so as well, long after the log has forgotten.
  await server.database.sql`truncate ingest_accepted, ingest_refused`
  await page.reload()
  await zapier.getByText(/Received .*: run-abc, llm\.call/).waitFor()
  expect(await strip(watched).getByText('Waiting').count()).toBe(0)
  expect(faults).toEqual([])
})

test('a key is made and shown once, the lines copied from the page work, and it is tried from here', async () => {
  const watched = await open('/connect?with=curl')
  const { page, faults } = watched
  const sample = page.getByRole('button', { name: 'Create a sample session' })
  expect(await sample.isDisabled()).toBe(true)
  await page.getByText('To try it from here, create a key first').waitFor()
  await page.getByLabel('Name of a new key').fill(' ')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Give the key a name').waitFor()
  await page.getByLabel('Name of a new key').fill('Connected')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('This is the only time it is shown').waitFor()

  for (const [name, arrived] of [
    ['Platform A line', /run-1, llm\.call, Support triage/],
    ['Platform B line', /1, without its steps, Invoice intake/],
  ] as const) {
    const button = page.getByRole('button', { name: `Copy ${name}` })
    await button.click()
    await until(async () => (await button.textContent())?.trim() === 'Copied')
    const line = await page.evaluate(() => navigator.clipboard.readText())
    const { stdout } = await run('sh', ['-c', `${line} -sS`])
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 1 })
    await strip(watched).getByText(arrived).waitFor()
  }
  await sample.click()
  await page.getByText(/Accepted as sample-\d+\./).waitFor()
  await strip(watched)
    .getByText(/sample-\d+, 5 events, Sample from the Connect page/)
    .waitFor()
  await page.getByRole('button', { name: 'Send a test event as n8n' }).click()
  await strip(watched)
    .getByText(/test-\d+, without its steps, Sample from the Connect page/)
    .waitFor()

  await page.getByRole('button', { name: 'Zapier', exact: true }).click()
  await page.waitForURL(/with=zapier/)
  const key = /rw_[A-Za-z0-9]{40}/
  expect(await page.getByRole('table', { name: 'Set up of the POST step' }).textContent()).toMatch(key)
  await page.getByRole('button', { name: 'n8n', exact: true }).click()
  await page.waitForURL(/with=n8n/)
  await page.getByRole('button', { name: 'Copy node JSON of the end node' }).click()
  const nodes = await page.evaluate(() => navigator.clipboard.readText())
  expect(JSON.parse(nodes).nodes[0].parameters.url).toBe(`${server.url}/api/ingest/platform-b`)
  expect(nodes).not.toMatch(key)
  expect(page.url()).not.toMatch(key)
  await page.getByRole('button', { name: 'I have copied it' }).click()
  expect(await page.locator('body').textContent()).not.toMatch(key)
  expect(faults).toEqual([])
})

test('a viewer sees what arrives and why keys are not made', async () => {
  const watched = await open('/connect?with=n8n', viewer)
  const { page, faults } = watched
  await platform(watched, 'n8n')
    .getByText(/Received/)
    .waitFor()
  await page.getByText('Posts that came without a valid key are not shown to viewers').waitFor()
  await page.getByText('You are signed in as a viewer, and only admins create').waitFor()
  expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Create a sample session' }).isDisabled()).toBe(true)
  expect(faults).toEqual([])
})

test('what cannot be read says so and is read again, and offline is told', async () => {
  const watched = await open('/agents')
  const { page } = watched
  let isDown = true
  await page.route('**/graphql', (route) =>
    isDown && route.request().postData()?.includes('Arrivals') ? route.abort() : route.continue(),
  )
  await page.getByRole('link', { name: 'Connect', exact: true }).click()
  const alert = strip(watched).getByRole('alert')
  await alert.getByText('The server cannot be reached').waitFor()
  expect(await strip(watched).getByText('Waiting').count()).toBe(0)
  isDown = false
  await alert.getByRole('button', { name: 'Retry' }).click()
  await platform(watched, 'Zapier')
    .getByText(/Received/)
    .waitFor()
  await alert.waitFor({ state: 'detached' })
  await page.routeWebSocket('**/graphql', (socket) => socket.close())
  await page.reload()
  await strip(watched).getByText('Offline: what is shown was read before').waitFor()
  await platform(watched, 'Zapier')
    .getByText(/Received/)
    .waitFor()
})

test.each(['light', 'dark'] as const)('everyone can use it in %s, wide and narrow', async (colorScheme) => {
  const watched = await open('/connect', admin, { colorScheme })
  const { page, faults } = watched
  await server.ingestA({ session_id: 'run 13', type: 'llm.call' })
  await strip(watched)
    .getByText(/Refused .* with 422/)
    .waitFor()
  for (const [recipe, width] of [
    ['n8n', 1280],
    ['Zapier', 390],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await page.getByRole('button', { name: recipe, exact: true }).click()
    const { violations } = await new AxeBuilder({ page }).include('.page').analyze()
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
    const isTooWide = () => document.querySelector('.page')!.scrollWidth > document.querySelector('.page')!.clientWidth
    expect(await page.evaluate(isTooWide)).toBe(false)
  }
  expect(faults).toEqual([])
})
