// Every page in light and dark, wide and narrow: no violation of WCAG 2.2 AA that axe can find, no console error.
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { platformBRecordings, recording } from '../fixtures/recordings.ts'
import { alertsOf } from '../support/alert-stand.ts'
import { rolled } from '../support/rolled.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { promptStand } from './prompt-stand.ts'
import { signIn, signInViewer, type SignedIn } from './signed-in.ts'

let browser: Browser
let server: TestServer
const paths: Record<string, string> = {}
let signedIn: SignedIn
let viewer: SignedIn
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchBrowser(), startServer()])
  for (const { text } of platformBRecordings.slice(0, 30)) await server.ingestB(text)
  const { body } = await server.ingestB(recording(platformBRecordings, '16-agent-tool-error.json').text)
  paths.session = new URL(body.sessions[0].url).pathname
  const loop = await server.ingestB(recording(platformBRecordings, '06-runaway-loop-61.json').text)
  paths.loop = new URL(loop.body.sessions[0].url).pathname
  await server.ingestA({
    session_id: 'running',
    type: 'llm.call',
    agent_name: 'Running agent',
    model: 'gpt-4o',
    prompt_tokens: 10,
  })
})
beforeAll(async () => {
  await server.ingestA([{ session_id: 'run 1', type: 'spam', output: 'sk-proj-0123456789abcdefghijklmnop' }, {}])
  await server.ingestA({ session_id: 'stranger' }, { 'x-api-key': 'rw_unknown' })
  const logged = () => server.query('{ ingestLog(filter: { refused: true }) { nodes { id } } }')
  const { ingestLog } = await until(logged, ({ ingestLog: { nodes } }) => nodes.length > 0)
  paths.request = `/ingest-log?request=${encodeURIComponent(ingestLog.nodes[0].id)}`
  const found = () => server.query('{ failurePatterns { nodes { id latest { errorText } } } }')
  const { failurePatterns } = await until(found, ({ failurePatterns: { nodes } }) => nodes.length > 3)
  const pattern = failurePatterns.nodes.find(({ latest }: any) => latest?.errorText)
  paths.pattern = `/failures?range=30d&pattern=${encodeURIComponent(pattern.id)}`
  await rolled(server)
  const { agents } = await server.query('{ agents { name platforms } }')
  const agent = agents.find(({ platforms }: any) => platforms.includes('PLATFORM_B'))
  paths.thresholds = `/settings/thresholds?agent=${encodeURIComponent(agent.name)}`
  const call = { session_id: 'twice', agent_name: 'Twice', type: 'llm.call', model: 'gpt-4o', prompt_tokens: 1000 }
  const twice = { ...call, input: 'Classify this mail: my invoice is wrong', output: 'billing' }
  const better = await server.ingestA([
    twice,
    twice,
    { session_id: 'twice', type: 'tool.call', error: 'gone', status: 'error' },
  ])
  paths.better = new URL(better.body.sessions[0].url).pathname
  signedIn = await signIn(browser, server)
  viewer = await signInViewer(browser, server)
})
beforeAll(async () => {
  const { channel, rule } = await alertsOf(server)
  const made = await channel('WEBHOOK', { name: 'Nowhere', url: 'https://alerts.invalid/hook' })
  await rule({ agents: ['Told agent'], channels: [made.channel.id] })
  const body = { session_id: 'told', agent_name: 'Told agent', type: 'tool.call', error: 'refused', status: 'error' }
  await server.ingestA(body)
  const told = () => server.query('{ deliveries { nodes { id attemptCount isTrying } } }')
  const isTried = ({ deliveries: { nodes } }: any) => nodes[0]?.attemptCount > 0 && !nodes[0].isTrying
  paths.delivery = `/alerts/deliveries?delivery=${encodeURIComponent((await until(told, isTried, 30_000)).deliveries.nodes[0].id)}`
})
beforeAll(async () => {
  const { write, activate, candidate, propose } = promptStand(() => server)
  await activate(await write('Prompted', 'Be brief.'))
  await candidate('Prompted')
  await propose('Prompted', 2, 'Write dates as YYYY-MM-DD.', 'You book appointments.')
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

const PAGES = [
  'signIn',
  'sessions',
  'picker',
  'nothing',
  'session',
  'loop',
  'better',
  'agents',
  'agent',
  'log',
  'request',
  'settings',
  'readOnly',
  'deletion',
  'failures',
  'pattern',
  'thresholds',
  'prices',
  'candidates',
  'alerts',
  'alertForms',
  'deliveries',
  'delivery',
  'prompts',
  'agentPrompts',
  'candidate',
] as const
const pathOf = (name: (typeof PAGES)[number]) =>
  ({
    signIn: '/',
    sessions: '/',
    picker: '/?category=tool-failure&severity=medium',
    nothing: '/?q=nothing-like-this',
    session: paths.session!,
    loop: paths.loop!,
    better: paths.better!,
    agents: '/agents',
    agent: '/agents/Twice',
    log: '/ingest-log',
    request: paths.request!,
    settings: '/settings',
    readOnly: '/settings',
    deletion: '/agents',
    failures: '/failures',
    pattern: paths.pattern!,
    thresholds: paths.thresholds!,
    prices: '/settings/prices',
    candidates: '/settings/candidates',
    alerts: '/alerts',
    alertForms: '/alerts?channel=new',
    deliveries: '/alerts/deliveries',
    delivery: paths.delivery!,
    prompts: '/prompts?write=',
    agentPrompts: '/prompts/Prompted',
    candidate: '/prompts/Prompted?version=2',
  })[name]

async function openAll(page: Page, name: (typeof PAGES)[number], width: number) {
  await page.goto(pathOf(name))
  if (name === 'signIn') await page.getByRole('button', { name: 'Sign in' }).waitFor()
  else if (name === 'request') await page.locator('mark').first().waitFor()
  else if (name === 'settings' || name === 'readOnly') await page.getByLabel('Mask credentials').waitFor()
  else if (name === 'prices') await page.getByRole('heading', { name: 'Own prices' }).waitFor()
  else if (name === 'candidates') await page.getByRole('radio', { name: 'Make a candidate' }).check()
  else if (name === 'alerts') {
    await page.getByRole('button', { name: 'Edit High and critical failures' }).click()
    await page.getByText('In the last 7 days').waitFor()
  } else if (name === 'alertForms') {
    await page.getByRole('textbox', { name: 'Address to post to' }).waitFor()
    await page.getByRole('switch', { name: 'Failure rate' }).click()
    await page.getByRole('button', { name: 'New channel' }).first().click()
    await page.getByRole('heading', { name: 'Failure rate needs a channel to tell' }).waitFor()
  } else if (name === 'deletion')
    await page
      .getByRole('button', { name: /Delete all/ })
      .first()
      .click()
  else if (name === 'picker') {
    await page
      .getByRole('row', { name: /Tool failure/ })
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Failures' }).click()
    await page.getByRole('radio', { name: 'Critical' }).waitFor()
  } else if (name === 'loop') {
    await page.getByText('Why nothing else was found').click()
    await page.getByRole('term').filter({ hasText: 'Costly run' }).waitFor()
    await page.getByRole('button', { name: 'and 56 more' }).click()
  } else if (name === 'better') await page.getByRole('heading', { name: 'Same prompt sent again' }).waitFor()
  else if (name === 'agent') {
    await page.getByRole('heading', { name: /^Same prompt sent again/ }).waitFor()
    await page.getByRole('row', { name: /gone/ }).waitFor()
  } else if (name === 'delivery') await page.locator('aside').getByText('Message id').waitFor()
  else if (name === 'prompts') await page.getByRole('form', { name: 'Write a version' }).waitFor()
  else if (name === 'agentPrompts') await page.getByRole('link', { name: 'Version 1' }).waitFor()
  else if (name === 'candidate') await page.locator('main ins').nth(1).waitFor()
  else if (name === 'pattern') await page.locator('aside pre').waitFor()
  else if (name === 'thresholds') {
    await page.getByText('Holds now').first().waitFor()
    await page.getByRole('radio', { name: 'Fix at' }).first().check()
    await page.getByRole('button', { name: 'Try on history' }).click()
    await page.getByText('Nothing was changed by trying.').waitFor()
  } else if (name === 'failures') {
    await page
      .getByRole('row', { name: /of \d+ run/ })
      .first()
      .waitFor()
    if (width < 720) await page.locator('summary').click()
    await page
      .getByRole('link', { name: /sessions?$/ })
      .first()
      .waitFor()
  } else
    await page
      .locator('main')
      .getByRole(name === 'nothing' ? 'button' : name === 'agents' ? 'heading' : 'row')
      .nth(name === 'session' ? 2 : name === 'log' || name === 'deliveries' ? 1 : 0)
      .waitFor()
}

/** Those of one kind of screen: a page is loaded once for a desk and once for a phone, as it then stays. */
const WIDTHS = [[1280], [390, 320]]
const THEMES = ['light', 'dark'] as const

// Light and dark differ in their style sheets only.
describe.each(WIDTHS.flatMap((widths) => PAGES.map((name) => [name, widths] as const)))(
  '%s, %j px wide',
  (name, widths) => {
    let opened: WatchedPage
    beforeAll(async () => {
      opened = await openPage(browser, server.url, {
        viewport: { width: widths[0]!, height: 800 },
        storageState: name === 'signIn' ? undefined : name === 'readOnly' ? viewer : signedIn,
      })
      await openAll(opened.page, name, widths[0]!)
    })
    afterAll(() => opened.context.close())

    test.each(widths.flatMap((width) => THEMES.map((theme) => [width, theme] as const)))(
      '%i px, %s',
      async (width, colorScheme) => {
        await opened.page.setViewportSize({ width, height: 800 })
        const { page, faults } = opened
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(
          colorScheme === 'dark',
        )
        // Only violations are read, so only they need be told in full; no page has frames, which legacy mode leaves out.
        const { violations } = await new AxeBuilder({ page })
          .options({ resultTypes: ['violations'] })
          .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
          .setLegacyMode()
          .analyze()
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`)).toEqual([])
        expect(page.frames()).toHaveLength(1)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
        expect(overflow).toBeLessThanOrEqual(0)
        expect(faults).toEqual([])
      },
    )
  },
)
