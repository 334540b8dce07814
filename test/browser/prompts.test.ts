// The prompts in a real browser: a candidate is read, edited, activated, rejected and rolled back, and nothing typed is lost.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { INSTRUCTION, promptStand, within } from './prompt-stand.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

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
  for (const { context } of opened) await context.close()
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

async function open(path: string, storageState = admin, viewport = { width: 1280, height: 800 }) {
  const watched = await openPage(browser, server.url, { storageState, viewport })
  opened.push(watched)
  await watched.page.goto(path)
  await watched.page.mouse.move(5, 400)
  return watched
}
const { candidate, fail, write, edit, activate, reject, propose, fetchActive, versionsOf } = promptStand(() => server)
const isLive = ({ page }: WatchedPage) => page.getByText('Live', { exact: true }).waitFor()
const pathOf = (agent: string, version?: number) =>
  `/prompts/${encodeURIComponent(agent)}${version === undefined ? '' : `?version=${version}`}`
const editorOf = ({ page }: WatchedPage) => page.getByRole('textbox', { name: '1. This text, in front' })
/** Dialogs take the button's name too. */
const confirm = async ({ page }: WatchedPage, action: string, reason: string) => {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason)
  await dialog.getByRole('button', { name: action, exact: true }).click()
  return dialog
}

test('without a prompt it says what would have to happen, and the first candidate appears by itself', async () => {
  const watched = await open('/')
  const { page, faults } = watched
  await isLive(watched)
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await page.getByRole('heading', { name: 'No prompt has been proposed yet' }).waitFor()
  await page.getByText(/seen in 5 sessions within 7 days/).waitFor()
  expect(await page.getByRole('link', { name: 'See what fails' }).getAttribute('href')).toBe('/failures')
  await candidate('Booking desk')
  await page.getByRole('row', { name: /Booking desk.*none active.*1 waits, new/ }).waitFor()
  await page.getByText('1 new candidate since this page was opened').waitFor()
  // Under the pointer nothing moves: what is new waits.
  await page.getByRole('row', { name: /Booking desk/ }).hover()
  await candidate('Zebra desk 1.2')
  await page.getByRole('button', { name: '1 new agent' }).waitFor()
  expect(await page.getByRole('row').count()).toBe(2)
  await page.getByRole('button', { name: '1 new agent' }).click()
  await page.getByRole('row', { name: /Zebra desk/ }).click()
  await page.waitForURL(/\/prompts\/Zebra%20desk%201\.2$/)
  await page.reload()
  await page.getByRole('heading', { name: 'Zebra desk 1.2' }).waitFor()
  expect(faults).toEqual([])
})

test('a candidate is read beside the instruction it goes in front of, edited, activated and fetched', async () => {
  const agent = 'Booking desk'
  await propose(agent, 1, 'Write every date as YYYY-MM-DD.', 'You book appointments. Dates are YYYY-MM-DD.')
  const watched = await open(pathOf(agent))
  const { page, faults } = watched
  await page.getByRole('heading', { name: 'No version is active' }).waitFor()
  await page.getByRole('button', { name: 'curl' }).click()
  await page.waitForURL(/recipe=curl$/)
  await page
    .getByText(/curl .*agent_name=Booking desk/)
    .first()
    .waitFor()
  await page.getByRole('region', { name: 'Candidates' }).getByRole('link', { name: 'Version 1' }).click()
  await page.waitForURL(/version=1$/)
  await page.getByText('Tool failure, invalid input in book_slot').waitFor()
  expect(await page.getByRole('region', { name: "The workflow's own instruction" }).textContent()).toBe(INSTRUCTION)
  await page.getByRole('link', { name: 'booking-1', exact: true }).waitFor()
  const rules = await editorOf(watched).inputValue()
  expect(rules).toContain('YYYY-MM-DD')
  await page.getByRole('button', { name: 'By gpt-4o-mini' }).click()
  expect(await editorOf(watched).inputValue()).toBe('Write every date as YYYY-MM-DD.')
  await page.getByText('812 tokens sent, 96 answered, $0.0002').waitFor()
  await page
    .getByRole('region', { name: 'A full rewrite, to paste yourself' })
    .getByText(/Nothing fetches it/)
    .waitFor()
  await page.getByRole('button', { name: 'Rule-built' }).click()
  expect(await editorOf(watched).inputValue()).toBe(rules)

  await editorOf(watched).fill('Ask for the date, and write it as YYYY-MM-DD.\n')
  await page.getByText('Not saved yet').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Not saved yet').waitFor({ state: 'detached' })
  await editorOf(watched).fill('Ask for the day, and write it as YYYY-MM-DD.')
  await page.getByRole('button', { name: 'Activate' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('It replaces nothing: no version is active.').waitFor()
  const text = await dialog.getByRole('region', { name: 'Text that workflows will fetch' }).textContent()
  expect(text).toBe('Ask for the day, and write it as YYYY-MM-DD.')
  await dialog.getByRole('button', { name: 'Activate', exact: true }).click()
  await dialog.getByText('Say why: whoever comes later will ask.').waitFor()
  await confirm(watched, 'Activate', 'Dates are the trouble')
  await page.getByRole('button', { name: 'Retire' }).waitFor()
  expect(await fetchActive(agent)).toBe(text)
  await page
    .getByText(/Activated by .* now: Dates are the trouble/)
    .first()
    .waitFor()
  await page.getByText(/Before 100 per 100 runs \(5 of 5\), since no runs\./).waitFor()
  await page.getByText(/Only 0 runs since: too few to tell/).waitFor()
  await page.getByText(/Fetched 1 time, last/).waitFor()
  expect(faults).toEqual([])
})

test('where none was fetched the numbers are said to say nothing', async () => {
  const agent = 'Unfetched desk'
  await activate(await candidate(agent))
  const { page } = await open(pathOf(agent))
  await page.getByText('No workflow has fetched this version yet, so the numbers say nothing about it.').waitFor()
  await page.getByRole('link', { name: 'Prompts' }).first().click()
  await page.getByRole('row', { name: /Unfetched desk Version 1, no workflow has fetched it yet none/ }).waitFor()
})

test('one that would replace the active text is compared with it, or put below it, and one can roll back', async () => {
  const agent = 'Booking desk'
  const before = await fetchActive(agent)
  await write(agent, 'Ask for the hour.')
  const watched = await open(pathOf(agent, 2))
  const { page, faults } = watched
  await page.getByRole('heading', { name: 'Compared with version 1, which is active' }).waitFor()
  await until(() => page.locator('ins').filter({ hasText: 'hour' }).count(), Boolean, within)
  await page.getByRole('button', { name: 'Put below the active text' }).click()
  expect(await editorOf(watched).inputValue()).toBe(`${before}\n\nAsk for the hour.`)
  expect(await page.getByRole('button', { name: 'Put below the active text' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Activate' }).click()
  await page.getByRole('dialog').getByText('It replaces version 1, which retires.').waitFor()
  await confirm(watched, 'Activate', 'Hours too')
  await page.getByRole('button', { name: 'Retire' }).waitFor()
  expect(await fetchActive(agent)).toBe(`${before}\n\nAsk for the hour.`)

  await page.goto(pathOf(agent, 1))
  await page.getByRole('heading', { name: 'Compared with version 2, which is active' }).waitFor()
  await page.getByRole('button', { name: 'Roll back to this version' }).click()
  await confirm(watched, 'Roll back', 'Hours confused it')
  await page.getByRole('button', { name: 'Retire' }).click()
  expect(await fetchActive(agent)).toBe(before)
  await page.getByText('Workflows that fetch get an empty text from now on.').waitFor()
  await confirm(watched, 'Retire', 'The tool was mended')
  await page.getByRole('button', { name: 'Roll back to this version' }).waitFor()
  expect(await fetchActive(agent)).toBe('')
  expect(faults).toEqual([])
})

test('a candidate is rejected with a reason, which stands in the history', async () => {
  const agent = 'Zebra desk 1.2'
  const watched = await open(pathOf(agent, 1))
  const { page, faults } = watched
  await page.getByRole('button', { name: 'Reject' }).click()
  await confirm(watched, 'Reject', 'We mend the tool instead')
  await page.getByText('Rejected', { exact: true }).waitFor()
  expect(await editorOf(watched).count()).toBe(0)
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: agent }).click()
  await page
    .getByRole('list', { name: 'All versions' })
    .getByText(/Rejected by .* now: We mend the tool instead/)
    .waitFor()
  expect((await versionsOf(agent))[0]).toMatchObject({ state: 'REJECTED' })
  expect(faults).toEqual([])
})

test('what is typed is kept when somebody else was first, and it is said what they changed', async () => {
  const agent = 'Shared desk'
  const made = await write(agent, 'The first text.')
  const watched = await open(pathOf(agent, 1))
  const { page, faults } = watched
  await isLive(watched)
  await editorOf(watched).fill('My own text.')
  await edit(made, 'Their text.', 'Shorter')
  const banner = page.getByRole('region', { name: 'Changed meanwhile' })
  await banner.getByText(/Text changed by .*: Shorter/).waitFor()
  expect(await editorOf(watched).inputValue()).toBe('My own text.')
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await banner.getByRole('button', { name: 'Go on with my text' }).click()

  // Offline to pushes: what the server refuses is read again, and the text and the reason stay.
  await page.getByRole('button', { name: 'Pause' }).click()
  await edit((await versionsOf(agent))[0]!, 'Their second text.', 'Shorter still')
  await page.getByRole('button', { name: 'Save' }).click()
  await banner.getByText(/Text changed by .*: Shorter still/).waitFor()
  expect(await editorOf(watched).inputValue()).toBe('My own text.')
  await banner.getByRole('button', { name: 'Go on with my text' }).click()
  const other = await write(agent, 'A text of somebody else.')
  await page.getByRole('button', { name: 'Activate' }).click()
  await activate(other)
  const dialog = await confirm(watched, 'Activate', 'Mine is better')
  await dialog.getByText('Version 2 is active by now').first().waitFor()
  await dialog.getByText('It replaces version 2').waitFor()
  expect(await dialog.getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('Mine is better')
  await dialog.getByRole('button', { name: 'Activate', exact: true }).click()
  await page.getByRole('button', { name: 'Retire' }).waitFor()
  expect(await fetchActive(agent)).toBe('My own text.')
  expect(faults).toEqual([])
})

test('what was typed over a candidate that is rejected meanwhile becomes a new candidate', async () => {
  const agent = 'Late desk'
  const made = await write(agent, 'The first text.')
  const watched = await open(pathOf(agent, 1))
  const { page } = watched
  await isLive(watched)
  await editorOf(watched).fill('My late text.')
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: agent }).click()
  await page.getByRole('region', { name: 'Candidates' }).getByRole('link', { name: 'Version 1' }).click()
  expect(await editorOf(watched).inputValue()).toBe('My late text.')
  await reject(made, 'Not needed')
  await page.getByText('This version is rejected by now, so its text stays as it is.').waitFor()
  await page.getByRole('button', { name: 'Make a new candidate of my text' }).click()
  await page.waitForURL(/version=2$/)
  await until(
    () => editorOf(watched).inputValue(),
    (text) => text === 'My late text.',
    within,
  )
})

test('a version is written by hand for any agent by its name', async () => {
  await fail('Never prompted', 1)
  const watched = await open('/prompts')
  const { page, faults } = watched
  await page.getByRole('button', { name: 'Write a version' }).click()
  await page.waitForURL(/prompts\?write=/)
  const form = page.getByRole('form', { name: 'Write a version' })
  await form.getByRole('button', { name: 'Make a candidate' }).click()
  await form.getByText('Name the agent as its runs name it.').waitFor()
  await form.getByText('Write what the model is to read first.').waitFor()
  await until(() => form.locator('option[value="Never prompted"]').count(), Boolean, within)
  await form.getByRole('combobox', { name: 'Agent' }).fill('Never prompted')
  await form.getByRole('textbox', { name: /^Text to put/ }).fill('x'.repeat(4001))
  await form.getByText('It has 4,001 characters; at most 4,000 are allowed.').waitFor()
  await form.getByRole('textbox', { name: /^Text to put/ }).fill('Be brief.')
  await form.getByRole('button', { name: 'Make a candidate' }).click()
  await page.waitForURL(/prompts\/Never%20prompted\?version=1$/)
  expect(await editorOf(watched).inputValue()).toBe('Be brief.')
  await page.getByText('By a person').waitFor()
  expect(faults).toEqual([])
})

test('a viewer reads everything and is told why nothing can be decided', async () => {
  const agent = 'Viewed desk'
  await activate(await write(agent, 'Be brief.'))
  await candidate(agent)
  const watched = await open(pathOf(agent, 2), viewer)
  const { page, faults } = watched
  await page.getByText('You are signed in as a viewer. Only admins decide about prompts and write them.').waitFor()
  await page.getByRole('heading', { name: 'Compared with version 1, which is active' }).waitFor()
  await page.getByText('Rule-built').first().waitFor()
  expect(await page.getByRole('textbox').count()).toBe(0)
  expect(await page.getByRole('button', { name: /Activate|Reject|Save|Put below|Retire/ }).count()).toBe(0)
  await page.goto('/prompts')
  await page.getByRole('row', { name: /Viewed desk/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Write a version' }).count()).toBe(0)
  expect(faults).toEqual([])
})

test('on a phone the prompts are under More, and both texts stand below each other', async () => {
  const watched = await open('/', admin, { width: 390, height: 800 })
  const { page, faults } = watched
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('link', { name: 'Prompts' }).click()
  await page.getByRole('row', { name: /Viewed desk/ }).click()
  await page.getByRole('region', { name: 'Candidates' }).getByRole('link', { name: 'Version 2' }).click()
  const own = await page.getByRole('region', { name: "The workflow's own instruction" }).boundingBox()
  const proposed = await editorOf(watched).boundingBox()
  expect(own!.y).toBeGreaterThan(proposed!.y + proposed!.height)
  expect(faults).toEqual([])
})
