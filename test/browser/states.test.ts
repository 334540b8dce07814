// Every page in every state: empty, first load, filled, cut off, refused by the server, without rights, not there.
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page, WebSocketRoute } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { PAGES, type PageCase } from './page-cases.ts'
import { promptStand } from './prompt-stand.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

const CASES = Object.entries(PAGES)

let browser: Browser
let server: TestServer
let admin: SignedIn
let viewer: SignedIn
let session = `/sessions/${btoa('Session:00000000-0000-4000-8000-000000000000')}`
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  admin = await signIn(browser, server)
  viewer = await signInViewer(browser, server)
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

/** A page of its own; what goes wrong in it fails the test. */
async function withPage(person: SignedIn | undefined, use: (opened: WatchedPage) => Promise<void>) {
  const opened = await openPage(browser, server.url, { storageState: person })
  try {
    await use(opened)
    await opened.page.unrouteAll({ behavior: 'wait' })
  } finally {
    await opened.context.close()
  }
}
const pathOf = ({ path }: PageCase) => (path === 'SESSION' ? session : path)
const isGraphql = (url: URL) => url.pathname === '/graphql'
const main = (page: Page) => page.locator('main')
const heading = (page: Page, { heading: name }: PageCase) =>
  main(page).getByRole('heading', { name, level: 1 }).first().waitFor()
const ready = (page: Page, { ready: text }: PageCase) => main(page).getByText(text).first()
const isReady = (page: Page, each: PageCase) => until(() => ready(page, each).count(), Boolean, 15_000)

async function violationsIn(page: Page) {
  const { violations } = await new AxeBuilder({ page })
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .setLegacyMode()
    .analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`)
}

describe('an empty installation', () => {
  test.concurrent.each(CASES)('%s', (_name, each) =>
    withPage(admin, async ({ page, faults }) => {
      await page.goto(pathOf(each))
      if (each.path !== 'SESSION') await heading(page, each)
      if (each.empty) await main(page).getByText(each.empty).first().waitFor()
      await until(
        () => main(page).getByText('Loading').count(),
        (count) => count === 0,
      )
      expect(await page.getByRole('alert').filter({ hasText: /\S/ }).count()).toBe(0)
      expect(faults).toEqual([])
    }),
  )
})

describe('with runs', () => {
  beforeAll(async () => {
    const run = { session_id: 'ready-1', agent_name: 'Ready agent' }
    const { body } = await server.ingestA([
      { ...run, type: 'tool.call', tool_name: 'step one', error: 'gone', status: 'error' },
      { ...run, type: 'session.end', status: 'error', error: 'gone' },
    ])
    session = new URL(body.sessions[0].url).pathname
    const { write, activate } = promptStand(() => server)
    await activate(await write('Prompted', 'Be brief.'))
    const found = () => server.query('{ failurePatterns { nodes { id } } }')
    await until(found, ({ failurePatterns: { nodes } }) => nodes.length > 0)
  })

  test.concurrent.each(CASES)('%s: late at first, then there without a jump, then cut off', (_name, each) =>
    withPage(admin, async ({ page, faults }) => {
      let release = () => {}
      const held = new Promise<void>((resolve) => (release = resolve))
      const sockets = new Set<WebSocketRoute>()
      let isCut = false
      await page.route(isGraphql, async (route) => {
        await held
        await route.continue().catch(() => {})
      })
      await page.routeWebSocket(/graphql/, (socket) => {
        if (isCut) return void socket.close({ code: 4000 })
        sockets.add(socket)
        socket.connectToServer()
      })
      await page.addInitScript(() => {
        Object.assign(window, { shifted: 0 })
        const add = (entry: unknown) => {
          const { value, hadRecentInput } = entry as { value: number; hadRecentInput: boolean }
          if (!hadRecentInput) (window as unknown as { shifted: number }).shifted += value
        }
        new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({
          type: 'layout-shift',
          buffered: true,
        })
      })
      await page.goto(pathOf(each))
      if (!each.readsNothing) {
        await page.getByText('Loading').first().waitFor({ state: 'attached' })
        if (each.empty && each.path !== '/alerts/deliveries')
          expect(await main(page).getByText(each.empty).count()).toBe(0)
      }
      release()
      await isReady(page, each)
      await heading(page, each)
      await page.getByText('Live', { exact: true }).waitFor()
      expect(await page.locator('.ruled').count()).toBe(0)
      const shifted = await page.evaluate(() => (window as unknown as { shifted: number }).shifted)
      expect(shifted).toBeLessThan(0.02)
      expect(faults).toEqual([])

      isCut = true
      for (const socket of sockets) await socket.close({ code: 4000 })
      await page.getByText('Offline', { exact: true }).waitFor()
      await page.getByText('Live updates are interrupted.', { exact: false }).last().waitFor()
      expect(await ready(page, each).count()).toBeGreaterThan(0)
      if (each.axe) expect(await violationsIn(page)).toEqual([])
    }),
  )

  const refusals = [
    { words: /The server answered 500/, with: { status: 500, body: '' } },
    {
      words: /did not work.*Request req-7/,
      with: {
        json: { errors: [{ message: 'It did not work.', extensions: { code: 'INTERNAL', requestId: 'req-7' } }] },
      },
    },
    { words: /The server cannot be reached/, with: null },
  ]
  // Connect reads only once somebody asks for it; people and the account are asked for apart from GraphQL or not yet at all.
  const reading = CASES.filter(([name, each]) => !each.readsNothing && !['connect', 'people', 'account'].includes(name))
  test.concurrent.each(reading.map(([name, each], index) => [name, each, refusals[index % 3]!] as const))(
    '%s: a reading that fails says so, and Retry reads it',
    (_name, each, refusal) =>
      withPage(admin, async ({ page }) => {
        await page.route(isGraphql, (route) => (refusal.with ? route.fulfill(refusal.with) : route.abort()))
        await page.goto(pathOf(each))
        const alert = page.getByRole('alert').filter({ hasText: refusal.words })
        await alert.first().waitFor()
        if (each.axe) expect(await violationsIn(page)).toEqual([])
        await page.unrouteAll({ behavior: 'wait' })
        await until(
          async () => {
            await page
              .getByRole('button', { name: 'Retry', exact: true })
              .first()
              .dispatchEvent('click', undefined, { timeout: 500 })
              .catch(() => {})
            return (await alert.count()) === 0
          },
          Boolean,
          20_000,
        )
        await isReady(page, each)
      }),
  )

  test.concurrent.each(CASES)('%s, for a viewer: nothing to do that is not allowed, and the reason', (_name, each) =>
    withPage(viewer, async ({ page, faults }) => {
      await page.goto(pathOf(each))
      await heading(page, each)
      await isReady(page, each)
      if (each.viewer) await main(page).getByText(each.viewer).first().waitFor()
      if (each.adminOnly)
        expect(await main(page).getByRole('button', { name: each.adminOnly, disabled: false }).count()).toBe(0)
      expect(faults).toEqual([])
    }),
  )
})

const GATES = [
  ['sign-in', '/sign-in', 'Sign in'],
  ['set-up', '/set-up', 'Set up Runwatch'],
  ['invitation', '/invitation', /./],
] as const
describe('before signing in', () => {
  test.each(GATES)('%s', (_name, path, name) =>
    withPage(undefined, async ({ page, faults }) => {
      await page.goto(path)
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      expect(await violationsIn(page)).toEqual([])
      expect(faults).toEqual([])
    }),
  )

  test.each([
    [500, /The server answered 500/],
    [null, /The server cannot be reached/],
  ])('a sign-in that answers %s says so, and works at the next try', (status, words) =>
    withPage(undefined, async ({ page }) => {
      const isSignIn = (url: URL) => url.pathname === '/api/auth/sign-in'
      await page.route(isSignIn, (route) => (status ? route.fulfill({ status }) : route.abort()))
      await page.goto('/sign-in')
      await page.getByLabel('E-mail').fill('somebody@example.com')
      await page.getByLabel('Password').fill('a password of somebody')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').filter({ hasText: words }).waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').filter({ hasText: 'E-mail or password is not right' }).waitFor()
    }),
  )

  test('who cannot be asked who they are reads that, and Retry asks again', () =>
    withPage(admin, async ({ page }) => {
      const isState = (url: URL) => url.pathname === '/api/auth/state'
      await page.route(isState, (route) => route.abort())
      await page.goto('/failures')
      await page.getByRole('alert').filter({ hasText: 'The server cannot be reached' }).waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      await page.getByRole('button', { name: 'Retry' }).click()
      await page.getByRole('heading', { name: 'Failures' }).waitFor()
    }))
})
