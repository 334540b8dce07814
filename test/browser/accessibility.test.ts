// Every page in light and dark, wide and narrow: no violation of WCAG 2.2 AA that axe can find, no console error.
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage } from '../support/browser.ts'
import { platformBRecordings, recording } from '../fixtures/recordings.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

let browser: Browser
let server: TestServer
const paths: Record<string, string> = {}
let signedIn: Awaited<ReturnType<BrowserContext['storageState']>>
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  for (const { text } of platformBRecordings.slice(0, 30)) await server.ingestB(text)
  const { body } = await server.ingestB(recording(platformBRecordings, '16-agent-tool-error.json').text)
  paths.session = new URL(body.sessions[0].url).pathname
  await server.ingestA({
    session_id: 'running',
    type: 'llm.call',
    agent_name: 'Running agent',
    model: 'gpt-4o',
    prompt_tokens: 10,
  })
})
beforeAll(async () => {
  const { context } = await openPage(browser, server.url)
  await context.request.post('/api/auth/sign-in', { data: ADMIN })
  signedIn = await context.storageState()
  await context.close()
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

const PAGES = ['signIn', 'sessions', 'nothing', 'session', 'agents', 'settings'] as const
const pathOf = (name: (typeof PAGES)[number]) =>
  ({
    signIn: '/',
    sessions: '/',
    nothing: '/?q=nothing-like-this',
    session: paths.session!,
    agents: '/agents',
    settings: '/settings',
  })[name]

test.each(
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    [1280, 390, 320].flatMap((width) => PAGES.map((name) => [name, colorScheme, width] as const)),
  ),
)('%s, %s, %i px wide', async (name, colorScheme, width) => {
  const { page, context, faults } = await openPage(browser, server.url, {
    colorScheme,
    viewport: { width, height: 800 },
    storageState: name === 'signIn' ? undefined : signedIn,
  })
  await page.goto(pathOf(name))
  if (name === 'signIn') await page.getByRole('button', { name: 'Sign in' }).waitFor()
  else
    await page
      .locator('main')
      .getByRole(name === 'nothing' ? 'button' : name === 'agents' || name === 'settings' ? 'heading' : 'row')
      .nth(name === 'session' ? 2 : 0)
      .waitFor()
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`)).toEqual([])
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect(overflow).toBeLessThanOrEqual(0)
  expect(faults).toEqual([])
  await context.close()
})
