// Model prices in the settings, in a real browser: what has none, a project's own, and applying them to history.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { call, priceStand } from '../support/prices.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

const PATH = '/settings/prices'

let browser: Browser
let server: TestServer
let admin: SignedIn
let viewer: SignedIn
let stand: ReturnType<typeof priceStand>
let opened: WatchedPage[] = []
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  admin = await signIn(browser, server)
  viewer = await signInViewer(browser, server)
  stand = priceStand(server, { cookie: await server.signIn() })
})
beforeEach(() => stand.forgetAll())
afterEach(async () => {
  for (const { context } of opened) await context.close()
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

async function open(storageState = admin) {
  const watched = await openPage(browser, server.url, { storageState })
  opened.push(watched)
  await watched.page.goto(PATH)
  const section = watched.page.getByRole('region', { name: 'Model prices' })
  const listItem = (model: string) => section.getByRole('listitem').filter({ hasText: model })
  return { ...watched, section, listItem }
}

const ownPrices = async () =>
  (await server.query('{ modelPrices { model inputUsdPerMillion outputUsdPerMillion } }')).modelPrices

test('a model without a price is named and gets one right there', async () => {
  await server.ingestA([call('s-1'), call('s-2'), call('s-3', { model: 'gpt-4o' })])
  const { page, section, listItem, faults } = await open()
  await listItem('house-model').getByText('2 sessions').waitFor()
  await listItem('house-model').getByText('last seen').waitFor()
  expect(await listItem('gpt-4o').count()).toBe(0)
  await section.getByText('None: the price table says what calls cost.').waitFor()

  const button = section.getByRole('button', { name: 'Set a price for house-model' })
  await button.click()
  const form = section.getByRole('form', { name: 'Price of house-model' })
  const input = form.getByLabel('Input, USD per million tokens')
  const output = form.getByLabel('Output, USD per million tokens')
  await form.getByText('The price table does not have both prices of this model.').waitFor()
  await until(() => input.evaluate((element) => element === document.activeElement))
  await input.fill('0.000125')
  await output.fill('2,50')
  await form.getByRole('button', { name: 'Set price' }).click()
  await form.getByText('Give a number with a point, like 2.50').waitFor()
  expect(await output.getAttribute('aria-invalid')).toBe('true')
  await until(() => output.evaluate((element) => element === document.activeElement))
  await form.getByRole('button', { name: 'Cancel' }).click()
  await until(() => button.evaluate((element) => element === document.activeElement))

  await button.click()
  await input.fill('0.000125')
  await output.fill('1234.5')
  await page.keyboard.press('Enter')
  await section.getByText('None: no model of the last 30 days is without a price.').waitFor()
  await listItem('house-model').getByText('$0.000125 input, $1,234.50 output per million tokens').waitFor()
  const title = section.getByRole('heading', { name: 'Models without a price' })
  await until(() => title.evaluate((element) => element === document.activeElement))
  expect(await ownPrices()).toEqual([
    { model: 'house-model', inputUsdPerMillion: '0.000125', outputUsdPerMillion: '1234.5' },
  ])
  expect(faults).toEqual([])
})

test('any model can have a price of its own, against what the table has; it is edited and removed', async () => {
  const { page, section, listItem, faults } = await open()
  const form = section.getByRole('form', { name: 'Add a price' })
  await form.getByRole('button', { name: 'Add price' }).click()
  await form.getByText('Give the name of the model, exactly as it is sent').waitFor()
  expect(await form.getByText('Give a price; 0 where it costs nothing').count()).toBe(2)
  const model = form.getByLabel('Model, exactly as it is sent')
  await model.fill('no-such-model')
  await form.getByText('The price table does not have both prices of this model.').waitFor()
  await model.fill('gpt-4o')
  await form.getByText('The price table has $2.50 input, $10.00 output per million tokens.').waitFor()
  await form.getByLabel('Input, USD per million tokens').fill('1')
  await form.getByLabel('Output, USD per million tokens').fill('4')

  // What the server refuses is shown where it is mended.
  const refused = 'A price lies between 0 and 1,000,000 USD per million tokens.'
  const isSetting = (post: string | null) => post?.includes('mutation SetModelPrice') ?? false
  await page.route('**/graphql', (route) =>
    isSetting(route.request().postData())
      ? route.fulfill({ json: { errors: [{ message: refused, extensions: { code: 'BAD_USER_INPUT' } }] } })
      : route.continue(),
  )
  await form.getByRole('button', { name: 'Add price' }).click()
  await form.getByText(refused).waitFor()
  expect(await form.getByLabel('Input, USD per million tokens').getAttribute('aria-invalid')).toBe('true')
  await page.unroute('**/graphql')
  await form.getByRole('button', { name: 'Add price' }).click()
  await listItem('gpt-4o').getByText('$1.00 input, $4.00 output per million tokens').waitFor()
  await until(async () => (await model.inputValue()) === '')
  await model.fill('gpt-4o')
  await form.getByText('This model has a price of its own already. It is replaced.').waitFor()

  await section.getByRole('button', { name: 'Edit the price of gpt-4o' }).click()
  const edit = section.getByRole('form', { name: 'Price of gpt-4o' })
  expect(await edit.getByLabel('Output, USD per million tokens').inputValue()).toBe('4')
  await edit.getByLabel('Output, USD per million tokens').fill('3.999')
  await edit.getByRole('button', { name: 'Set price' }).click()
  await listItem('gpt-4o').getByText('$1.00 input, $3.999 output per million tokens').waitFor()

  await section.getByRole('button', { name: 'Remove the price of gpt-4o' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove the price of gpt-4o' })
  await dialog
    .getByText('They go back to the price table, which has $2.50 input, $10.00 output per million tokens.')
    .waitFor()
  await dialog.getByRole('button', { name: 'Remove price' }).click()
  await section.getByText('None: the price table says what calls cost.').waitFor()
  expect(await ownPrices()).toEqual([])
  expect(faults).toEqual([])
})

test('prices are applied to history with progress, and who asked stays on record', async () => {
  const { sql } = server.database
  await server.ingestA(['old-1', 'old-2', 'new-1', 'new-2', 'new-3'].map((id) => call(id)))
  await sql`update sessions set first_seen_at = now() - interval '3 days' where external_id like 'old-%'`
  await stand.setPrice('house-model', '1', '1')
  const { page, section, faults } = await open()
  await section.getByText('Prices were not applied to history yet.').waitFor()
  await section.getByRole('button', { name: '7 days' }).click()
  await section.getByRole('button', { name: 'Apply to history' }).click()
  const dialog = page.getByRole('dialog', { name: 'Apply prices to the sessions of the last 7 days' })
  await dialog.getByText('Reported costs stay.', { exact: false }).waitFor()

  // Whoever holds one of the newer sessions holds up their batch.
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  let isHeld = () => {}
  const holds = new Promise<void>((resolve) => (isHeld = resolve))
  const holding = sql.begin(async (tx) => {
    await tx`select 1 from sessions where external_id = 'new-2' for update`
    isHeld()
    await held
  })
  await holds
  await dialog.getByRole('button', { name: 'Apply prices' }).click()
  const progress = section.getByRole('progressbar', { name: '2 of 5 sessions, 0 changed' })
  await progress.waitFor()
  expect([await progress.getAttribute('value'), await progress.getAttribute('max')]).toEqual(['2', '5'])
  letGo()
  await holding
  await section.getByRole('row', { name: /admin@example\.com.*since.*5\s*3$/ }).waitFor()
  expect(await section.getByRole('progressbar').count()).toBe(0)
  const { sessions } = await server.query('{ sessions { nodes { externalId costUsd } } }')
  expect(sessions.nodes.find((one: any) => one.externalId === 'new-1').costUsd).toBe('0.0011')

  // A price that is gone leaves its calls without one: the list is read again when that was applied.
  await stand.removePrice('house-model')
  await section.getByRole('button', { name: 'All', exact: true }).click()
  await section.getByRole('button', { name: 'Apply to history' }).click()
  await page.getByRole('dialog', { name: 'Apply prices to all sessions' }).getByText('Apply prices').last().click()
  await section.getByRole('row', { name: /at any time/ }).waitFor()
  await section.getByRole('button', { name: 'Set a price for house-model' }).waitFor()
  expect(faults).toEqual([])
})

test('a viewer reads the prices and changes nothing', async () => {
  await server.ingestA(call('seen'))
  await stand.setPrice('other-model', '1', '2')
  const { section, listItem, faults } = await open(viewer)
  await section.getByText('Only admins set prices and apply them to history.', { exact: false }).waitFor()
  await listItem('house-model').getByText('1 session').waitFor()
  await listItem('other-model').getByText('$1.00 input, $2.00 output per million tokens').waitFor()
  expect(await section.getByRole('button').count()).toBe(0)
  expect(await section.getByRole('textbox').count()).toBe(0)
  expect(faults).toEqual([])
})
