// Agents by their sums: the list and its order, the charts and tables of one, live.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { rolled } from '../support/rolled.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, type SignedIn } from './signed-in.ts'

let server: TestServer
let browser: Browser
let admin: SignedIn
let opened: WatchedPage[] = []
beforeAll(async () => {
  server = await startServer()
  browser = await launchBrowser()
  admin = await signIn(browser, server)
  for (let i = 0; i < 8; i++) {
    await run('Often failing', i, { status: i % 2 ? 'error' : 'success', durationMs: 1000 })
    await run('Dear', i, { model: 'gpt-4o', durationMs: 60_000 })
  }
  await run('Often failing', 9, { model: 'nobody-knows-it' })
  await until(
    async () => await server.database.sql`select id from sessions where model_use is null`,
    (left) => left.length === 0,
  )
  // One of them ran three days ago, two in the week before.
  await moveBack('Often failing', 0, 72)
  await moveBack('Often failing', 1, 200)
  await moveBack('Often failing', 2, 220)
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

async function run(agent: string, n: number, { status = 'success', model = 'gpt-4o-mini', durationMs = 0 } = {}) {
  const { body } = await server.ingestA([
    {
      session_id: `${agent.replace(' ', '-')}-${n}`,
      agent_name: agent,
      type: 'llm.call',
      model,
      prompt_tokens: 1000,
      completion_tokens: 100,
      ...(durationMs > 0 && { duration_ms: durationMs }),
      ...(status === 'error' && { status, error: 'gave up' }),
    },
    { session_id: `${agent.replace(' ', '-')}-${n}`, type: 'session.end', status },
  ])
  expect(body.error).toBeUndefined()
}

/** As if it had been first seen so many hours ago. */
async function moveBack(agent: string, n: number, hours: number) {
  const { sql } = server.database
  const id = `${agent.replace(' ', '-')}-${n}`
  const due = () => sql`
    insert into agent_rollups_due select project_id, agent, date_trunc('hour', first_seen_at, 'UTC') from sessions where external_id = ${id}`
  await due()
  await sql`update sessions set first_seen_at = first_seen_at - ${hours} * interval '1 hour' where external_id = ${id}`
  await due()
}

async function open(path: string, width = 1280): Promise<WatchedPage> {
  const watched = await openPage(browser, server.url, { storageState: admin, viewport: { width, height: 900 } })
  opened.push(watched)
  await watched.page.goto(path)
  return watched
}

test('agents stand in the order that is asked for, which the address keeps', async () => {
  const { page, faults } = await open('/agents')
  const names = () => page.getByRole('rowheader').getByRole('link').allTextContents()
  const rowOf = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name }) })
  await until(
    async () => (await rowOf('Often failing').textContent()) ?? '',
    (text) => text.includes('7'),
  )
  await page.getByRole('button', { name: 'Failed' }).click()
  await page.waitForURL('**/agents?sort=failures')
  expect(await names()).toEqual(['Often failing', 'Dear'])
  expect(await page.getByRole('columnheader', { name: 'Failed' }).getAttribute('aria-sort')).toBe('descending')
  await page.getByRole('button', { name: 'Failed' }).click()
  await page.waitForURL('**/agents?sort=-failures')
  expect(await names()).toEqual(['Dear', 'Often failing'])
  await page.getByRole('button', { name: 'Cost a day' }).click()
  expect(await names()).toEqual(['Dear', 'Often failing'])
  await page.reload()
  await page.getByRole('link', { name: 'Dear' }).waitFor()
  expect(await names()).toEqual(['Dear', 'Often failing'])
  // Of the seven in the week three failed; of the two before it, one.
  await rowOf('Often failing').getByText('(43%)').waitFor()
  await rowOf('Often failing').getByText('down 7 points').waitFor()
  await rowOf('Often failing').getByText(/^≥\$/).waitFor()
  await rowOf('Dear').getByRole('img', { name: '8 runs, 0 failed; at most 8 within 6 hours' }).waitFor()
  expect(faults).toEqual([])
})

test('an agent is shown part by part, as charts that lead to the sessions and as a table', async () => {
  const { page, faults } = await open('/agents/Often%20failing?range=30d')
  await page.getByRole('img', { name: /^Runs\. 9 runs, 4 failed; at most \d within a day$/ }).waitFor()
  await page.getByRole('img', { name: /^Duration\. Half within 99\d ms, 95 of 100 within 99\d ms\.$/ }).waitFor()
  await page.getByRole('img', { name: /^Cost\. ≥\$/ }).waitFor()
  await page.getByRole('img', { name: /^Tokens\. 9K in, 900 out\.$/ }).waitFor()
  const last = page.getByRole('img', { name: /^Runs/ }).locator('.part').last()
  await last.hover()
  await page.getByText(/: [67] runs, [23] failed, half within 99/).waitFor()
  await page.getByRole('button', { name: 'Table' }).click()
  await page.waitForURL('**/agents/Often%20failing?range=30d&view=table')
  const table = page.getByRole('region', { name: 'Runs, By the day (UTC)' })
  expect(await table.getByRole('row').count()).toBeGreaterThanOrEqual(31)
  // A day without runs says so, and knows no duration.
  expect(await table.getByRole('row').last().getByRole('cell').allTextContents()).toEqual(['0', ''])
  await page.getByRole('button', { name: '24 h' }).click()
  await page.waitForURL(/range=24h&view=table/)
  await page.getByRole('heading', { name: 'By the hour' }).waitFor()
  await page.getByRole('button', { name: 'Charts' }).click()
  await last.click()
  await page.waitForURL(/\/sessions\?agent=Often\+failing&from=.*&to=/)
  await page.getByRole('row').nth(5).waitFor()
  expect(faults).toEqual([])
})

test('models are listed with their share, and one without a price with none', async () => {
  const { page, faults } = await open('/agents/Often%20failing?range=30d', 390)
  const models = page.getByRole('region', { name: 'Models', exact: true }).last()
  await models.getByRole('row', { name: /gpt-4o-mini/ }).waitFor()
  const cells = async (name: RegExp) =>
    (await models.getByRole('row', { name }).getByRole('cell').allTextContents()).map((text) => text.trim())
  expect(await cells(/gpt-4o-mini/)).toEqual(['8', '8', '8K', '800', '$0.0017', '100%'])
  expect(await cells(/nobody-knows-it/)).toEqual(['1', '1', '1K', '100', '·not known', '·not known'])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  expect(faults).toEqual([])
})

test('sums follow what is posted while the page is open, and rows stay where they are', async () => {
  const { page, faults } = await open('/agents?sort=runs')
  const names = () => page.getByRole('rowheader').getByRole('link').allTextContents()
  await page.getByRole('link', { name: 'Dear' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  expect(await names()).toEqual(['Dear', 'Often failing'])
  for (let i = 20; i < 24; i++) await run('Often failing', i)
  await run('Brand new', 1)
  await page
    .getByRole('row', { name: /Often failing/ })
    .getByText('11', { exact: true })
    .waitFor()
  await page.getByRole('link', { name: 'Brand new' }).waitFor()
  expect(await names()).toEqual(['Dear', 'Often failing', 'Brand new'])
  await page.reload()
  await until(names, (now) => now[0] === 'Often failing')
  expect(faults).toEqual([])
})
