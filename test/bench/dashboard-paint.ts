// The first page: when something and when the first row is on screen, and what moved meanwhile.
import { whenTrue, type DashboardStand } from './dashboard-stand.ts'
import { upTo, type Measured } from './dashboard-budget.ts'
import { median, ms } from './report.ts'

const LOADS = 6
const SETTLE_MS = 700
const PAINT_MS = { 1: 300, 4: 800 } as const
const ROW_AFTER_PAINT_MS = 150
const MOST_SHIFT = 0.02

/** A row counts when the frame that shows it was drawn. */
const PROBE = `
  const seen = (globalThis.seen = { shift: 0, largest: { value: 0, what: '' }, rowMs: null })
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue
      seen.shift += value
      const what = sources.map(({ node, previousRect: from, currentRect: to }) =>
        (node?.outerHTML ?? node?.textContent ?? 'gone').slice(0, 60) + ' from ' + [from.x, from.y, from.width, from.height] + ' to ' + [to.x, to.y, to.width, to.height])
      if (value > seen.largest.value) seen.largest = { value, what: what.join('; ') }
    }
  }).observe({ type: 'layout-shift', buffered: true })
  const observer = new MutationObserver(() => {
    if (!document.getElementById('row-0')) return
    observer.disconnect()
    requestAnimationFrame(() => {
      const after = new MessageChannel()
      after.port1.onmessage = () => (seen.rowMs = performance.now())
      after.port2.postMessage(null)
    })
  })
  observer.observe(document, { childList: true, subtree: true })`

interface Load {
  paintMs: number
  rowMs: number
  shift: number
  /** what moved most, for people */
  largest: { value: number; what: string }
}

export async function measurePaint(stand: DashboardStand): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const slowdown of [1, 4] as const) {
    const loads: Load[] = []
    for (let i = 0; i < LOADS; i++) loads.push(await load(stand, slowdown))
    const kept = loads.slice(1)
    const note = `median of ${kept.length}, empty caches, ${slowdown}x slower processor`
    const all = (of: (one: Load) => number) => kept.map((one) => of(one).toFixed(0)).join(', ')
    const paint = median(kept.map(({ paintMs }) => paintMs))
    const worst = kept.toSorted((a, b) => b.shift - a.shift)[0]!
    const row = median(kept.map(({ rowMs, paintMs }) => rowMs - paintMs))
    measured.push(
      upTo(`first contentful paint, ${slowdown}x`, paint, PAINT_MS[slowdown], ms, {
        note: `${note}: ${all(({ paintMs }) => paintMs)}`,
      }),
      upTo(`first row after it, ${slowdown}x`, row, ROW_AFTER_PAINT_MS, ms, {
        note: all(({ rowMs, paintMs }) => rowMs - paintMs),
      }),
      upTo(`layout shift (all of it), ${slowdown}x`, worst.shift, MOST_SHIFT, (value) => value.toFixed(4), {
        isTimed: false,
        note: worst.shift > MOST_SHIFT ? worst.largest.what : `most of ${kept.length}`,
      }),
    )
  }
  return measured
}

async function load(stand: DashboardStand, slowdown: number): Promise<Load> {
  const { page, devtools, close } = await stand.open(PROBE)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  await page.goto('/sessions')
  await whenTrue(page, 'seen.rowMs !== null')
  await page.getByText('Live', { exact: true }).first().waitFor()
  await page.waitForTimeout(SETTLE_MS)
  const found = await page.evaluate(() => ({
    ...(globalThis as unknown as { seen: Omit<Load, 'paintMs'> }).seen,
    paintMs: performance.getEntriesByName('first-contentful-paint')[0]!.startTime,
  }))
  await close()
  return found
}
