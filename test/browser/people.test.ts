// People in a real browser: from an invitation to a removal, the own account, and what a viewer sees of it.
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { peopleStand } from '../support/people-stand.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { signIn, type SignedIn } from './signed-in.ts'

const GUEST = 'guest@example.com'
const PASSWORD = 'a password of the guest'

let browser: Browser
let server: TestServer
let admin: SignedIn
let adminCookie: string
let opened: WatchedPage[] = []
const stand = peopleStand(() => server)
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer({ env: { SIGN_IN_TRIES_PER_MINUTE: '1000' } })])
  admin = await signIn(browser, server)
  adminCookie = await server.signIn()
})
afterEach(async () => {
  for (const { context } of opened) await context.close()
  opened = []
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

async function open(path: string, storageState?: SignedIn) {
  const watched = await openPage(browser, server.url, { storageState, permissions: ['clipboard-write'] })
  opened.push(watched)
  await watched.page.goto(path)
  return watched
}
const region = (page: Page, name: string) => page.getByRole('region', { name })
const isFocused = (page: Page, text: string) =>
  until(() => page.evaluate((part) => document.activeElement?.textContent?.includes(part) ?? false, text))

/** No violation wide in light and narrow in dark, and nothing that is wider than the screen. */
async function isAccessible({ page, faults }: WatchedPage) {
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    const { violations } = await new AxeBuilder({ page })
      .options({ resultTypes: ['violations'] })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
      .setLegacyMode()
      .analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`)).toEqual([])
    expect(await overflow()).toBeLessThanOrEqual(0)
  }
  await page.setViewportSize({ width: 320, height: 800 })
  expect(await overflow()).toBeLessThanOrEqual(0)
  await page.setViewportSize({ width: 1280, height: 800 })
  expect(faults).toEqual([])
}

test(
  'an admin invites somebody, who joins, becomes an admin, a viewer again, and is removed',
  { timeout: 90_000 },
  async () => {
    const host = await open('/settings/people', admin)
    const people = region(host.page, 'People')
    await people.getByText('The only admin, who stays one').waitFor()
    expect(await people.getByRole('button', { name: `Remove ${ADMIN.email}` }).isDisabled()).toBe(true)
    const form = people.getByRole('form', { name: 'Invite somebody' })
    await form.getByRole('button', { name: 'Make invitation link' }).click()
    await form.getByText('Enter an e-mail address').waitFor()
    await form.getByLabel('E-mail').fill(ADMIN.email)
    await host.page.keyboard.press('Enter')
    await form.getByText('Has an account already').waitFor()
    await form.getByLabel('E-mail').fill(GUEST)
    await host.page.keyboard.press('Enter')
    const once = people.getByRole('group', { name: `Invitation of ${GUEST}` })
    const link = (await once.locator('code').textContent())!
    await isFocused(host.page, link)
    await people.getByText(/^Viewer, invited by admin@example\.com, open for 6 d 23 h$/).waitFor()
    await isAccessible(host)
    await once.getByRole('button', { name: 'I have copied it' }).click()
    await isFocused(host.page, 'People')
    expect(await host.page.content()).not.toContain(link)

    const guest = await open(link)
    await guest.page.getByText(`You are invited as ${GUEST}, as viewer`).waitFor()
    await guest.page.getByLabel('Password').fill('short')
    await guest.page.getByRole('button', { name: 'Join' }).click()
    await guest.page.getByText('Use at least 12 characters', { exact: true }).waitFor()
    await isAccessible(guest)
    await guest.page.getByLabel('Password').fill(PASSWORD)
    await guest.page.getByRole('button', { name: 'Join' }).click()
    await guest.page.getByRole('heading', { name: 'No sessions yet' }).waitFor()
    expect(guest.page.url()).not.toContain('token')

    await guest.page.goto('/settings/people?from=here')
    await region(guest.page, 'People').getByText('You are signed in as a viewer').waitFor()
    expect(await region(guest.page, 'People').getByRole('button').count()).toBe(0)
    await isAccessible(guest)
    await guest.page.getByText('Live', { exact: true }).waitFor()

    // Without a reload: what an admin may do comes and goes with the role.
    await host.page.reload()
    await people.getByText(/^Viewer, joined .*, seen .*, 1 browser signed in$/).waitFor()
    await people.getByRole('button', { name: `Make ${GUEST} admin` }).click()
    await host.page.getByRole('dialog').getByRole('button', { name: 'Make admin' }).click()
    await guest.page.getByText('Your role was changed: you are an admin now.').waitFor()
    await region(guest.page, 'People')
      .getByRole('button', { name: `Remove ${ADMIN.email}` })
      .waitFor()
    await people.getByRole('button', { name: `Make ${GUEST} viewer` }).click()
    await host.page.getByRole('dialog').getByRole('button', { name: 'Make viewer' }).click()
    await guest.page.getByText('Your role was changed: you are a viewer now.').waitFor()
    await region(guest.page, 'People').getByText('You are signed in as a viewer').waitFor()
    expect(await guest.page.content()).not.toContain(ADMIN.email)

    await people.getByRole('button', { name: `Remove ${GUEST}` }).click()
    const dialog = host.page.getByRole('dialog')
    const remove = dialog.getByRole('button', { name: 'Remove' })
    expect(await remove.isDisabled()).toBe(true)
    await dialog.getByLabel('Type the e-mail').fill(GUEST)
    await remove.click()
    await guest.page.waitForURL(/\/sign-in\?return=%2Fsettings%2Fpeople%3Ffrom%3Dhere/)
    await guest.page.getByText('You are signed out: this sign-in was ended elsewhere, or is over.').waitFor()
    await until(async () => (await people.getByText(GUEST).count()) === 0)
    await isFocused(host.page, 'People')
    expect([host.faults, guest.faults]).toEqual([[], []])

    await guest.page.goto(link)
    await guest.page.getByText('This invitation was used already.').waitFor()
    // The browser itself says that the link was refused.
    expect(guest.faults.filter((fault) => !/403/.test(fault))).toEqual([])
  },
)

test('an invitation that is opened while somebody is signed in waits until they sign out', async () => {
  const { createInvitation } = await stand.invite(adminCookie, 'waiting@example.com', 'ADMIN')
  const path = createInvitation.link.replace(server.url, '')
  const own = await signIn(browser, server)
  const watched = await open(path, own)
  const { page } = watched
  await page.getByText(`You are signed in as ${ADMIN.email}.`).waitFor()
  await page.getByText('This invitation is for waiting@example.com').waitFor()
  await isAccessible(watched)
  await page.getByRole('button', { name: 'Sign out and go on' }).click()
  await page.getByText('You are invited as waiting@example.com, as admin').waitFor()
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No sessions yet' }).waitFor()
  expect(await page.getByTitle('waiting@example.com').count()).toBe(1)
  expect(watched.faults).toEqual([])
})

test(
  'an account shows its browsers, changes its password, and is signed out everywhere',
  { timeout: 60_000 },
  async () => {
    const email = 'account@example.com'
    await stand.join(adminCookie, email)
    const person = { email, password: ADMIN.password }
    const [mine, others] = [await signIn(browser, server, person), await signIn(browser, server, person)]
    const watched = await open('/settings/account', mine)
    const elsewhere = await open('/agents', others)
    await elsewhere.page.getByText('Live', { exact: true }).waitFor()
    const { page, faults } = watched
    const account = region(page, 'Your account')
    await account.getByRole('row', { name: /^Chrome on Linux \(this one\)/ }).waitFor()
    expect(await account.getByRole('row').count()).toBe(4)

    const form = account.getByRole('form', { name: 'Change your password' })
    const [old, wanted] = [form.getByLabel('Current password'), form.getByLabel('New password')]
    await old.fill('not this password')
    await wanted.fill(PASSWORD)
    await page.keyboard.press('Enter')
    await form.getByText('This is not your current password').waitFor()
    await until(() => old.evaluate((element) => element === document.activeElement))
    await isAccessible({ ...watched, faults: [] })
    await old.fill(ADMIN.password)
    await page.keyboard.press('Enter')
    await form.getByText('Password changed. 2 other browsers were signed out.').waitFor()
    await elsewhere.page.waitForURL(/\/sign-in\?return=%2Fagents/)
    await until(async () => (await account.getByRole('row').count()) === 2)
    await account.getByText('You are signed in nowhere else.').waitFor()

    await elsewhere.page.getByLabel('E-mail').fill(email)
    await elsewhere.page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await elsewhere.page.getByRole('button', { name: 'Sign in' }).click()
    await elsewhere.page.waitForURL(/\/agents/)
    await account.getByRole('button', { name: 'Sign out everywhere', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.waitForURL(/\/sign-in/)
    await elsewhere.page.waitForURL(/\/sign-in/)
    // The browser itself says that the wrong password was refused.
    expect(faults.filter((fault) => !/422/.test(fault))).toEqual([])
    expect(elsewhere.faults).toEqual([])
  },
)

test('an admin hands over a link for a new password', async () => {
  const email = 'forgetful@example.com'
  await stand.join(adminCookie, email)
  const { page } = await open('/settings/people', admin)
  const people = region(page, 'People')
  await people.getByRole('button', { name: `New password link for ${email}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make link' }).click()
  const once = people.getByRole('group', { name: `New password link of ${email}` })
  const link = (await once.locator('code').textContent())!
  await people.getByText(/^A link for a new password is open for 23 h 59 m\.$/).waitFor()
  const guest = await open(link)
  await guest.page.getByRole('heading', { name: 'Set a new password' }).waitFor()
  await guest.page.getByLabel('New password').fill(PASSWORD)
  await guest.page.getByRole('button', { name: 'Set password' }).click()
  await guest.page.getByRole('heading', { name: 'No sessions yet' }).waitFor()
  expect(guest.faults).toEqual([])
})
