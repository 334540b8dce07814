// `npm run pictures`: takes the pictures of the README from a week of demo traffic. The same traffic each time; times differ.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { buildDashboardIfStale } from '../server/dashboard-build.ts'
import type { Sql } from '../server/database/connect.ts'
import { ADMIN, KEY, Stand, stop } from './bench/stand.ts'
import { launchBrowser, openPage } from './support/browser.ts'
import { unpackChromium } from './support/chromium.ts'
import { indexedPng } from './support/indexed-png.ts'
import { letDaysPass } from './support/month.ts'
import { until } from './support/until.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = join(ROOT, '.github')
const DAYS = 6
const RUNS_A_DAY = [70, 55, 80, 64, 90, 75]
const RUNS_TODAY = 60
/** With each of the demo's rare troubles once in these days at least. */
const SEED = 20_260_490
const LIVE = ['--rate', '90', '--seconds', '120']
const SETTLE_MS = 600
const MOST_BYTES = 150_000
const MOST_MS = 4 * 60_000

interface Place {
  name: string
  /** where it is; a function where that depends on what was posted */
  path: string | (() => Promise<string>)
  theme?: 'dark'
  /** what shows that the page is there */
  shows: string
}

const stand = new Stand()
let isEnding = false
function end(why: string, code: number): void {
  if (isEnding) return
  isEnding = true
  console.error(`${why}: cleaning up.`)
  void stand.close().finally(() => process.exit(code))
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end('Stopped', 130))
const limit = setTimeout(() => end(`Not done after ${MOST_MS / 60_000} minutes`, 1), MOST_MS)

try {
  await main()
} catch (error) {
  if (!isEnding) console.error(error)
  process.exitCode = 1
} finally {
  clearTimeout(limit)
  if (!isEnding) await stand.close()
}

async function main(): Promise<void> {
  await buildDashboardIfStale(() => console.log('Building the dashboard.'))
  await stand.start()
  const database = await stand.database('pictures')
  const sql = database.sql as unknown as Sql
  const { url } = await stand.server(database.url)
  for (let day = 0; day < DAYS; day++) {
    await history(url, SEED + day, RUNS_A_DAY[day]!)
    await analysed(sql)
    await letDaysPass(sql, 1)
  }
  await history(url, SEED + DAYS, RUNS_TODAY)
  await analysed(sql)
  console.log('A week of demo traffic is there.')

  await unpackChromium()
  const browser = await launchBrowser()
  stand.onClose(() => browser.close())
  const { context } = await openPage(browser, url.href)
  await context.request.post('/api/auth/sign-in', { data: ADMIN })
  const signedIn = await context.storageState()
  await context.close()
  await mkdir(FOLDER, { recursive: true })

  // The list is shown while it moves, all other pages after that.
  const live = demo(url, SEED + DAYS + 1, LIVE)
  live.stdout!.resume()
  await until(
    () => running(sql),
    (count) => count >= 3,
    60_000,
  )
  const sessions = { path: '/sessions', shows: '[id="row-12"]' }
  await take(browser, url, signedIn, { name: 'sessions', ...sessions })
  await take(browser, url, signedIn, { name: 'sessions-dark', theme: 'dark', ...sessions })
  await stop(live)
  await analysed(sql)
  const places: Place[] = [
    { name: 'session', path: () => failedSession(sql), shows: '[id^="step-"]' },
    { name: 'agent', path: '/agents/Lead%20enrichment', shows: 'figure .part' },
    { name: 'failures', path: '/failures', shows: '[id="row-2"]' },
    { name: 'prompt', path: '/prompts/Lead%20enrichment?version=1', shows: 'h1' },
  ]
  for (const place of places) await take(browser, url, signedIn, place)
}

function demo(url: URL, seed: number, options: string[]): ChildProcess {
  const parameters = ['--url', url.origin, '--key', KEY, '--seed', String(seed), ...options]
  const child = spawn(process.execPath, ['--import', 'tsx', 'server/demo.ts', ...parameters], {
    cwd: ROOT,
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stand.onClose(() => stop(child))
  return child
}

/** Posts runs that are over, and nothing more. */
async function history(url: URL, seed: number, runs: number): Promise<void> {
  const child = demo(url, seed, ['--history', String(runs), '--rate', '1'])
  let said = ''
  for await (const text of child.stdout!) if ((said += text).includes('Posted ')) break
  if (!said.includes(`Posted ${runs} sessions`)) throw new Error(`the demo did not post its history: ${said}`)
  await stop(child)
}

/** Every run that is over was looked at, by the rules and by the analysis. */
async function analysed(sql: Sql): Promise<void> {
  const left = async () =>
    (
      await sql`
      select count(*)::int as left from sessions where status <> 'RUNNING' and analysed_content < content_revision`
    )[0]!.left as number
  await until(left, (count) => count === 0, 60_000)
}

async function running(sql: Sql): Promise<number> {
  const [row] = await sql`
    select count(*)::int as running from sessions
    where status = 'RUNNING' and first_seen_at > now() - interval '20 seconds'`
  return row!.running as number
}

/** The newest run whose agent asked the same tool on and on. */
async function failedSession(sql: Sql): Promise<string> {
  const [row] = await sql`
    select s.id from sessions s join failures f on f.session_id = s.id
    where s.agent = 'Order status agent' and f.category = 'INFINITE_LOOP' order by s.first_seen_at desc limit 1`
  return `/sessions/${row!.id}`
}

async function take(browser: Browser, url: URL, signedIn: object, place: Place): Promise<void> {
  const { page, context, faults } = await openPage(browser, url.href, {
    storageState: signedIn as never,
    colorScheme: place.theme ?? 'light',
  })
  await page.goto(typeof place.path === 'string' ? place.path : await place.path())
  await page.locator(place.shows).first().waitFor()
  await quiet(page)
  const picture = indexedPng(await page.screenshot())
  await context.close()
  if (faults.length > 0) throw new Error(`${place.name}: ${faults.join('; ')}`)
  if (picture.length > MOST_BYTES) throw new Error(`${place.name}.png has ${picture.length} bytes`)
  await writeFile(join(FOLDER, `${place.name}.png`), picture)
  console.log(`${place.name}.png, ${(picture.length / 1000).toFixed(0)} KB`)
}

/** Nothing is read any more, fonts are there, and live updates stand. */
async function quiet(page: Page): Promise<void> {
  await page.getByText('Live', { exact: true }).first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => document.fonts.ready.then(() => {}))
  await page.waitForTimeout(SETTLE_MS)
}
