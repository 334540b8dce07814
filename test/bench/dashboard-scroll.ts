// 10,000 rows: scrolling the list and the timeline of one session, how soon that stands, and that nothing moves by itself.
import type { Page } from 'playwright-core'
import { liveEvent, MANY, whenTrue, type DashboardStand } from './dashboard-stand.ts'
import { holds, upTo, type Measured } from './dashboard-budget.ts'
import { median, ms, quantile, whole } from './report.ts'

const OPENINGS = 6
const WHEELS = 60
const WHEEL_PX = 1_600
const MOST_FRAME_MS = 33
const MOST_MOUNTED = 60
const FIRST_STEPS_MS = 1_000
const ALL_STEPS_MS = 1_500

/** Samples of each frame while `flung` runs: how long it took, rows in the document, places in sight without a row. */
const SCROLL_PROBE = `
  globalThis.flung = { frames: [], mounted: 0, samples: 0, blank: 0, isOn: false }
  globalThis.watchFrames = () => {
    const scroller = document.querySelector('[role=grid]')
    Object.assign(flung, { frames: [], mounted: 0, samples: 0, blank: 0, isOn: true })
    let last = null
    const look = (now) => {
      if (!flung.isOn) return
      if (last !== null) flung.frames.push(now - last)
      last = now
      flung.mounted = Math.max(flung.mounted, scroller.querySelectorAll('.drawn > [role=row]').length)
      const { left, top, width, height } = scroller.getBoundingClientRect()
      for (const share of [0.15, 0.5, 0.95]) {
        flung.samples += 1
        if (!document.elementFromPoint(left + width / 3, top + height * share)?.closest('[role=row]')) flung.blank += 1
      }
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }`

const TIMELINE_PROBE = `
  ${SCROLL_PROBE}
  const seen = (globalThis.seen = { firstMs: null, allMs: null })
  const drawn = (name) => {
    seen[name] = 0
    requestAnimationFrame(() => {
      const after = new MessageChannel()
      after.port1.onmessage = () => (seen[name] = performance.now())
      after.port2.postMessage(null)
    })
  }
  const observer = new MutationObserver(() => {
    const grid = document.querySelector('[role=grid][aria-label=Steps]')
    if (seen.firstMs === null && grid?.querySelector('#step-0')) drawn('firstMs')
    if (seen.allMs === null && Number(grid?.getAttribute('aria-rowcount')) > ${MANY}) {
      drawn('allMs')
      observer.disconnect()
    }
  })
  observer.observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['aria-rowcount'] })`

export async function measureScroll(stand: DashboardStand): Promise<Measured[]> {
  const { page, close } = await stand.open(SCROLL_PROBE)
  await page.goto('/sessions')
  await page.getByText('Live', { exact: true }).first().waitFor()
  const rows = await readAllRows(page)
  const measured = [...(await fling(page, `list of ${whole(rows)} rows`)), await prependWhileScrolled(stand, page)]
  await close()
  return [...measured, ...(await measureTimeline(stand))]
}

/** Scrolls to the end until the server has no more. */
async function readAllRows(page: Page): Promise<number> {
  await whenTrue(page, `document.getElementById('row-0') !== null`)
  await page.evaluate(`{
    const scroller = document.querySelector('[role=grid]')
    const down = () => {
      if (scroller.getAttribute('aria-rowcount') !== '-1') return
      scroller.scrollTop = scroller.scrollHeight
      setTimeout(down, 10)
    }
    down()
  }`)
  await whenTrue(page, `document.querySelector('[role=grid]').getAttribute('aria-rowcount') !== '-1'`)
  await page.evaluate(`document.querySelector('[role=grid]').scrollTop = 0`)
  const count = await page.getByRole('grid').getAttribute('aria-rowcount')
  return Number(count) - 1
}

/** Turns of a wheel down and up again, as fast as the page takes them. */
async function fling(page: Page, what: string): Promise<Measured[]> {
  const grid = page.getByRole('grid')
  await grid.hover()
  await page.evaluate('watchFrames()')
  for (const direction of [1, -1]) {
    for (let i = 0; i < WHEELS; i++) await page.mouse.wheel(0, direction * WHEEL_PX)
  }
  const { frames, mounted, samples, blank } = (await page.evaluate('((flung.isOn = false), flung)')) as {
    frames: number[]
    mounted: number
    samples: number
    blank: number
  }
  return [
    upTo(`${what}: frame p95 while scrolling`, quantile(frames, 0.95), MOST_FRAME_MS, ms, {
      note: `${frames.length} frames, p50 ${ms(median(frames))}, most ${ms(Math.max(...frames))}`,
    }),
    upTo(`${what}: rows mounted`, mounted, MOST_MOUNTED, String, { isTimed: false }),
    holds(`${what}: samples without a row`, '0', blank === 0, String(blank), `of ${whole(samples)}`),
  ]
}

async function prependWhileScrolled(stand: DashboardStand, page: Page): Promise<Measured> {
  await page.mouse.move(5, 5)
  await page.evaluate(`document.querySelector('[role=grid]').scrollTop = 34 * 5000 + 11`)
  const place = () =>
    page.evaluate(() => {
      const { left, top, height } = document.querySelector('[role=grid]')!.getBoundingClientRect()
      const row = document.elementFromPoint(left + 40, top + height / 2)!.closest('[role=row]')!
      return `${row.querySelector('a')!.getAttribute('href')} at ${row.getBoundingClientRect().top.toFixed(1)} px`
    })
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  const before = await place()
  const ids = Array.from({ length: 5 }, (_, i) => `new-${Date.now()}-${i}`)
  for (const id of ids) await stand.post(liveEvent(id, 0))
  await page.getByRole('button', { name: '5 new sessions' }).waitFor()
  const after = await place()
  return holds(
    '5 new sessions while scrolled to row 5,000',
    'same row, same pixel',
    before === after,
    before === after ? 'same' : `${before}, then ${after}`,
  )
}

async function measureTimeline(stand: DashboardStand): Promise<Measured[]> {
  const first: number[] = []
  const all: number[] = []
  let scrolled: Measured[] = []
  for (let i = 0; i < OPENINGS; i++) {
    const { page, close } = await stand.open(TIMELINE_PROBE)
    await page.goto(stand.longSession)
    await whenTrue(page, 'seen.firstMs > 0 && seen.allMs > 0')
    const seen = (await page.evaluate('seen')) as { firstMs: number; allMs: number }
    if (i > 0) {
      first.push(seen.firstMs)
      all.push(seen.allMs)
    }
    await page.waitForLoadState('networkidle')
    if (i === OPENINGS - 1) scrolled = await fling(page, `timeline of ${whole(MANY)} steps`)
    await close()
  }
  const note = (values: number[]) =>
    `median of ${values.length} from the start of loading, empty caches: ${values.map((value) => value.toFixed(0)).join(', ')}`
  return [
    upTo(`timeline of ${whole(MANY)} steps: first rows`, median(first), FIRST_STEPS_MS, ms, { note: note(first) }),
    upTo(`timeline of ${whole(MANY)} steps: complete`, median(all), ALL_STEPS_MS, ms, { note: note(all) }),
    ...scrolled,
  ]
}
