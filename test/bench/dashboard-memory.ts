// What 180,000 updates leave in the page: an hour of them at 50 a second.
import type { CDPSession } from 'playwright-core'
import { until } from '../support/until.ts'
import { liveEvent, whenTrue, type DashboardStand } from './dashboard-stand.ts'
import { upTo, type Measured } from './dashboard-budget.ts'
import { Replay } from './dashboard-replay.ts'
import { whole } from './report.ts'

const UPDATES = 180_000
const UPDATES_PER_SECOND = 3_000
const WARM_UP = 5_000
const TAKEN_IN_WITHIN_MS = 30_000
const MB = 1_000_000
const MOST_MORE_HEAP = 10 * MB
const MOST_MORE = 0.1

export async function measureMemory(stand: DashboardStand): Promise<Measured[]> {
  const replay = new Replay(stand.url)
  const stop = new AbortController()
  stand.onClose(async () => stop.abort())
  stand.onClose(() => replay.close())
  const { page, devtools, close } = await stand.open('', await replay.listen())
  await page.goto('/sessions')
  await page.getByText('Live', { exact: true }).first().waitFor()
  const shown = await page.evaluate(() =>
    [...document.querySelectorAll('[id^="row-"] .run code')].map((code) => code.getAttribute('title')!),
  )
  const sessions = shown.filter((id) => id.startsWith('live-'))
  await until(async () => {
    await stand.post(sessions.map((id, i) => liveEvent(id, i)))
    return replay.recorded.size >= sessions.length
  })
  const play = async (count: number) => {
    const sent = await replay.play(count, UPDATES_PER_SECOND, stop.signal)
    const last = sent
      .filter(({ externalId }) => sessions.includes(externalId))
      .map(({ externalId, totalTokens }) => [externalId, `${whole(totalTokens)} tokens`])
    // Each row shows the last that was sent of it.
    await whenTrue(
      page,
      `${JSON.stringify(last)}.every(([id, tokens]) =>
        document.querySelector('[id^="row-"]:has(code[title="' + id + '"]) [title^="' + tokens + '"]'))`,
      TAKEN_IN_WITHIN_MS,
    )
  }
  await play(WARM_UP)
  const before = await footprint(devtools)
  const began = performance.now()
  await play(UPDATES)
  const seconds = (performance.now() - began) / 1000
  const after = await footprint(devtools)
  await close()
  await replay.close()
  const how = `${whole(UPDATES)} changes of ${replay.recorded.size} sessions, recorded from the server and sent again with newer revisions, ${whole(UPDATES / seconds)}/s; all shown at the end`
  const more = (name: keyof typeof after) => after[name] / before[name] - 1
  const percent = (share: number) => `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)} %`
  const grown = (value: number) => `${value < 0 ? '' : '+'}${(value / MB).toFixed(2)} MB`
  const always = (note: string) => ({ isTimed: false, note })
  return [
    upTo('heap after 180,000 updates', after.heap - before.heap, MOST_MORE_HEAP, grown, always(how)),
    upTo('nodes after them', more('nodes'), MOST_MORE, percent, always(`${before.nodes}, then ${after.nodes}`)),
    upTo(
      'listeners after them',
      more('listeners'),
      MOST_MORE,
      percent,
      always(`${before.listeners}, then ${after.listeners}`),
    ),
  ]
}

async function footprint(devtools: CDPSession): Promise<{ heap: number; nodes: number; listeners: number }> {
  await devtools.send('HeapProfiler.enable')
  for (let i = 0; i < 3; i++) await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  const { nodes, jsEventListeners } = await devtools.send('Memory.getDOMCounters')
  return { heap: usedSize, nodes, listeners: jsEventListeners }
}
