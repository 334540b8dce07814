// `npm run bench:dashboard [-- sizes|paint|live|scroll|memory]`: measures the built dashboard in a real browser against
// its budgets and prints one table. Ends with 1 where a budget is missed that could be judged, within six minutes.
import { availableParallelism, loadavg } from 'node:os'
import { buildDashboardIfStale } from '../../server/dashboard-build.ts'
import { budgetTable, isJudged, type Measured } from './dashboard-budget.ts'
import { measureLive } from './dashboard-live.ts'
import { measureMemory } from './dashboard-memory.ts'
import { measurePaint } from './dashboard-paint.ts'
import { measureScroll } from './dashboard-scroll.ts'
import { measureSizes } from './dashboard-sizes.ts'
import { DashboardStand } from './dashboard-stand.ts'

const PARTS = { paint: measurePaint, live: measureLive, scroll: measureScroll, memory: measureMemory }
type Part = keyof typeof PARTS
const NAMES = ['sizes', ...Object.keys(PARTS)]
const MOST_MS = 6 * 60_000

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !NAMES.includes(name))
if (unknown !== undefined) {
  console.error(`There is no part "${unknown}". Parts: ${NAMES.join(', ')}.`)
  process.exit(2)
}
const names = asked.length > 0 ? asked : NAMES
const parts = names.filter((name): name is Part => name !== 'sizes')

const began = performance.now()
const measured: Measured[] = []
const facts = [`load average ${loadText()} at the start, ${availableParallelism()} cores`]
let stand: DashboardStand | null = null
let ending: string | null = null

function loadText(): string {
  return loadavg()
    .map((load) => load.toFixed(2))
    .join(', ')
}

function end(why: string, code: number): void {
  // A Ctrl-C comes twice where npm passes it on.
  if (ending !== null) return
  ending = why
  console.error(`${why}: cleaning up.`)
  void (stand?.close() ?? Promise.resolve()).finally(() => {
    if (measured.length > 0) console.log(`\n${budgetTable(facts, measured)}`)
    process.exit(code)
  })
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end('Stopped', 130))
const limit = setTimeout(() => end(`Not done after ${MOST_MS / 60_000} minutes`, 1), MOST_MS)

const take = (name: string, some: Measured[]) => {
  measured.push(...some)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(
    `${name}: ${some.filter(({ isMet }) => isMet).length} of ${some.length} kept, ${seconds} s so far, load ${loadavg()[0]!.toFixed(2)}`,
  )
}

try {
  await buildDashboardIfStale(() => console.log('Building the dashboard.'))
  if (names.includes('sizes')) take('sizes', measureSizes())
  if (parts.length > 0) {
    stand = new DashboardStand()
    await stand.start()
    facts.unshift(...stand.facts)
    console.log(`ready after ${((performance.now() - began) / 1000).toFixed(0)} s`)
    for (const name of parts) take(name, await PARTS[name](stand))
    await stand.close()
    if (stand.faults.length > 0) facts.push(`the pages reported: ${[...new Set(stand.faults)].join('; ')}`)
  }
  facts.push(`load average ${loadText()} at the end, ${((performance.now() - began) / 1000).toFixed(0)} s in all`)
  if (ending === null) {
    console.log(`\n${budgetTable(facts, measured)}`)
    if (measured.some((one) => isJudged(one) && !one.isMet)) process.exitCode = 1
  }
} catch (error) {
  if (ending === null) {
    console.error(error)
    await stand?.close()
    process.exitCode = 1
  }
} finally {
  clearTimeout(limit)
}
