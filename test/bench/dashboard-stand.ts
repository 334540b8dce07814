// What the dashboard is measured in: the product on a Postgres of its own, 10,000 sessions, and a signed-in browser.
import http from 'node:http'
import type { Browser, CDPSession, Page } from 'playwright-core'
import type postgres from 'postgres'
import { unpackChromium } from '../support/chromium.ts'
import { launchBrowser, openPage } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { closingEvent, event } from './events.ts'
import { machineFacts } from './machine.ts'
import { ADMIN, KEY, Stand } from './stand.ts'

export const MANY = 10_000
const EVENTS_A_POST = 5_000
const LIVE_SESSIONS = 50
const READY_WITHIN_MS = 90_000
const ASK_EVERY_MS = 50

export interface Opened {
  page: Page
  devtools: CDPSession
  /** console errors and uncaught exceptions */
  faults: string[]
  close(): Promise<void>
}

export class DashboardStand {
  private readonly stand = new Stand()
  private agent = new http.Agent({ keepAlive: true, noDelay: true } as http.AgentOptions)
  private browser!: Browser
  private signedIn!: object
  private sql!: postgres.Sql
  url!: URL
  facts: string[] = []
  /** path of the session with 10,000 events */
  longSession = ''
  faults: string[] = []

  async start(): Promise<this> {
    await this.stand.start()
    const database = await this.stand.database('dashboard')
    this.sql = database.sql
    this.url = (await this.stand.server(database.url)).url
    this.facts = await machineFacts(database.sql, this.stand.folder)
    await this.fill()
    await unpackChromium()
    this.browser = await launchBrowser()
    this.stand.onClose(() => this.browser.close())
    this.facts.push(`Chromium ${this.browser.version()}, headless, 1280 x 800`)
    this.signedIn = await this.signIn(this.url)
    return this
  }

  onClose(closer: () => Promise<unknown>): void {
    this.stand.onClose(closer)
  }

  async close(): Promise<void> {
    this.agent.destroy()
    await this.stand.close()
  }

  /** Cookies are for a host, whatever its port: they hold for a server in between as well. */
  private async signIn(url: URL): Promise<object> {
    const { context } = await openPage(this.browser, url.href)
    await context.request.post('/api/auth/sign-in', { data: ADMIN })
    const state = await context.storageState()
    await context.close()
    return state
  }

  /**
   * A new page with empty caches, signed in, that is not yet anywhere.
   * @param script runs in the page before its own
   */
  async open(script: string, base: URL = this.url): Promise<Opened> {
    const { page, context, faults } = await openPage(this.browser, base.href, { storageState: this.signedIn as never })
    // Functions that are handed to the page were compiled with this helper.
    await page.addInitScript(`globalThis.__name = (it) => it;\n${script}`)
    const devtools = await context.newCDPSession(page)
    const close = async () => {
      this.faults.push(...faults)
      await context.close()
    }
    return { page, devtools, faults, close }
  }

  /** Sends events of platform A. @returns addresses of their sessions */
  post(events: object | object[]): Promise<string[]> {
    const body = Buffer.from(JSON.stringify(events))
    const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-api-key': KEY }
    return new Promise((resolve, reject) => {
      const request = http.request(
        new URL('/api/ingest/platform-a', this.url),
        { method: 'POST', agent: this.agent, headers },
        (response) => {
          const parts: Buffer[] = []
          response.on('data', (part: Buffer) => parts.push(part))
          response.on('end', () => {
            const text = Buffer.concat(parts).toString()
            if (response.statusCode !== 200) return reject(new Error(`a post was answered: ${text.slice(0, 300)}`))
            resolve((JSON.parse(text) as { sessions: { url: string }[] }).sessions.map(({ url }) => url))
          })
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  }

  /** Sessions that are over, one with 10,000 events, and on top of the list those that go on. */
  private async fill(): Promise<void> {
    for (let from = 0; from < MANY; from += EVENTS_A_POST) {
      await this.post(Array.from({ length: EVENTS_A_POST }, (_, i) => closingEvent(from + i, `run-${from + i}`)))
    }
    const types = ['llm.call', 'tool.call', 'retrieval', 'span'] as const
    const began = Date.now() - 3_600_000
    const steps = Array.from({ length: MANY }, (_, i) => ({
      ...event(types[i % types.length]!, i, 'long'),
      timestamp: new Date(began + i * 350).toISOString(),
      duration_ms: 100 + ((i * 37) % 900),
      ...(i % 500 === 499 && { error: `HTTP 502 Bad Gateway (${i})` }),
    }))
    const [address] = await this.post(steps)
    this.longSession = new URL(address!).pathname
    await this.post({ session_id: 'long', type: 'session.end', status: 'success' })
    await this.post(Array.from({ length: LIVE_SESSIONS }, (_, i) => liveEvent(`live-${i}`, i)))
    const left = async () =>
      (
        await this.sql`
        select count(*)::int as left from sessions where status <> 'RUNNING' and analysed_content < content_revision`
      )[0]!.left as number
    await until(left, (count) => count === 0, READY_WITHIN_MS)
  }
}

/** Asks now and then: what looks at every frame would be measured with the page, whose policy forbids it anyway. */
export async function whenTrue(page: Page, expression: string, withinMs = READY_WITHIN_MS): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await page.evaluate(expression))) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${expression}`)
    await page.waitForTimeout(ASK_EVERY_MS)
  }
}

/** Changes what the list shows of a session: tokens, cost and how long it runs. */
export const liveEvent = (session: string, turn: number) => ({
  session_id: session,
  agent_name: 'Live desk',
  type: 'llm.call',
  model: 'gpt-4o-mini',
  input: `Step ${turn}: what does the customer want?`,
  output: 'An answer by Friday.',
  prompt_tokens: 120 + (turn % 7),
  completion_tokens: 20,
  duration_ms: 400,
})
