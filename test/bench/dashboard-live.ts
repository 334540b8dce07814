// The list while 50 posts a second change the rows in sight: what the main thread does, and how soon it answers a key.
import type { CDPSession, Page } from 'playwright-core'
import { liveEvent, whenTrue, type DashboardStand } from './dashboard-stand.ts'
import { holds, upTo, type Measured } from './dashboard-budget.ts'
import { median, ms, quantile } from './report.ts'

const UPDATES_PER_SECOND = 50
const WINDOWS = 6
const WINDOW_MS = 3_000
const KEYS_A_WINDOW = 25
const KEY_EVERY_MS = 100
/** Words that find the rows that change, with a slip twice corrected. */
const SEARCH = [
  ...'live desk',
  ...Array(2)
    .fill([...Array(4).fill('Backspace'), ...'desk'])
    .flat(),
] as string[]
const MOST_SHARE = 0.1
const MOST_TASK_MS = 100
const MOST_CPU_MS_PER_KEY = 8
const ANSWER_MS = { p75: 100, p98: 200 }
/** Shorter ones are not told one by one. */
const SHORTEST_TOLD_MS = 16

const PROBE = `
  const seen = (globalThis.seen = { tasks: [], answers: new Map() })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.tasks.push(duration)
  }).observe({ type: 'longtask' })
  new PerformanceObserver((list) => {
    for (const { interactionId: id, duration } of list.getEntries())
      if (id) seen.answers.set(id, Math.max(duration, seen.answers.get(id) ?? 0))
  }).observe({ type: 'event', durationThreshold: ${SHORTEST_TOLD_MS} })`

export async function measureLive(stand: DashboardStand): Promise<Measured[]> {
  const { page, devtools, close } = await stand.open(PROBE)
  let messages = 0
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => String(payload).includes('sessionChanged') && messages++),
  )
  await page.goto('/sessions')
  await page.getByText('Live', { exact: true }).first().waitFor()
  await whenTrue(page, `document.querySelectorAll('[id^="row-"]').length > 20`)
  const inSight = await page.evaluate(() => {
    const bottom = document.querySelector('.scroller')!.getBoundingClientRect().bottom
    const rows = [...document.querySelectorAll('[id^="row-"]')].filter(
      (row) => row.getBoundingClientRect().bottom <= bottom,
    )
    return rows.map((row) => row.querySelector('.run code')!.getAttribute('title')!)
  })
  const threadClock = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'timeTicks' })
  await threadClock.send('Performance.enable', { timeDomain: 'threadTicks' })
  const updates = new Updates(stand, inSight)
  try {
    await page.waitForTimeout(WINDOW_MS / 2)
    await page.evaluate('seen.tasks.length = 0')
    const before = { posts: updates.answered, messages, at: performance.now() }
    const windows = []
    for (let i = 0; i < WINDOWS; i++) windows.push(await busy(page, devtools, threadClock, WINDOW_MS))
    const seconds = (performance.now() - before.at) / 1000
    const tasks = (await page.evaluate('seen.tasks')) as number[]
    const postsPerSecond = (updates.answered - before.posts) / seconds
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`
    const cpu = median(windows.slice(1).map(({ cpuShare }) => cpuShare))
    const measured = [
      upTo('main thread at 50 updates/s', median(windows.slice(1).map(({ share }) => share)), MOST_SHARE, percent, {
        note: `${postsPerSecond.toFixed(1)} posts/s answered, ${((messages - before.messages) / seconds).toFixed(1)} changes/s received for ${inSight.length} rows in sight; processor time of the thread ${percent(cpu)}`,
      }),
      {
        ...holds(
          `long tasks at 50 updates/s, in ${seconds.toFixed(0)} s`,
          `none > ${MOST_TASK_MS} ms`,
          tasks.every((task) => task <= MOST_TASK_MS),
          `${tasks.filter((task) => task > MOST_TASK_MS).length} > ${MOST_TASK_MS} ms, ${tasks.length} > 50 ms`,
          tasks.length > 0 ? `longest ${ms(Math.max(...tasks))}` : '',
        ),
        isTimed: true,
      },
      ...(await measureKeys(page, devtools, threadClock, 'moving by key', async () => {
        for (let i = 0; i < KEYS_A_WINDOW; i++) await press(page, i % 10 < 6 ? 'j' : 'k')
      })),
    ]
    await page.keyboard.press('Escape')
    const search = page.getByRole('searchbox')
    measured.push(
      ...(await measureKeys(
        page,
        devtools,
        threadClock,
        'typing a search',
        async () => {
          for (const key of SEARCH) await press(page, key)
        },
        async () => {
          await search.fill('')
          await search.focus()
          await page.waitForTimeout(4 * KEY_EVERY_MS)
        },
      )),
    )
    return measured
  } finally {
    await updates.stop()
    await close()
  }
}

async function measureKeys(
  page: Page,
  devtools: CDPSession,
  threadClock: CDPSession,
  what: string,
  pressKeys: () => Promise<void>,
  prepare = async () => {},
): Promise<Measured[]> {
  await page.evaluate('seen.answers.clear()')
  const perKey: number[] = []
  for (let i = 0; i < 4; i++) {
    await prepare()
    const still = await busy(page, devtools, threadClock, WINDOW_MS)
    const typed = await busy(page, devtools, threadClock, pressKeys)
    if (i > 0) perKey.push(((typed.cpuShare - still.cpuShare) * typed.ms) / KEYS_A_WINDOW)
  }
  const told = (await page.evaluate('[...seen.answers.values()]')) as number[]
  const shorter = Array<number>(Math.max(0, 4 * KEYS_A_WINDOW - told.length)).fill(SHORTEST_TOLD_MS)
  const answers = [...told, ...shorter]
  return [
    upTo(`${what}: answer p75`, quantile(answers, 0.75), ANSWER_MS.p75, ms, {
      note: `${answers.length} keys, event timing`,
    }),
    upTo(`${what}: answer p98`, quantile(answers, 0.98), ANSWER_MS.p98, ms, {
      note: `most ${ms(Math.max(...answers))}`,
    }),
    upTo(`${what}: processor time per key`, Math.max(0, median(perKey)), MOST_CPU_MS_PER_KEY, ms, {
      isTimed: false,
      note: 'main thread, above what the updates take',
    }),
  ]
}

async function press(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key)
  await page.waitForTimeout(KEY_EVERY_MS)
}

/** Share of the main thread over a time or a piece of work: of the clock, and as processor time. */
async function busy(
  page: Page,
  devtools: CDPSession,
  threadClock: CDPSession,
  work: number | (() => Promise<void>),
): Promise<{ share: number; cpuShare: number; ms: number }> {
  const began = performance.now()
  const [tasks, cpu] = [await taskSeconds(devtools), await taskSeconds(threadClock)]
  if (typeof work === 'number') await page.waitForTimeout(work)
  else await work()
  const elapsed = performance.now() - began
  const share = (((await taskSeconds(devtools)) - tasks) * 1000) / elapsed
  return { share, cpuShare: (((await taskSeconds(threadClock)) - cpu) * 1000) / elapsed, ms: elapsed }
}

async function taskSeconds(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')!.value
}

/** Posts one event after the other to the sessions in turn, evenly spaced, until it is stopped. */
class Updates {
  answered = 0
  private readonly began = performance.now()
  private sent = 0
  private open = new Set<Promise<void>>()
  private failure: Error | null = null
  private readonly timer: ReturnType<typeof setInterval>

  constructor(
    private readonly stand: DashboardStand,
    private readonly sessions: string[],
  ) {
    this.timer = setInterval(() => this.sendDue(), 1000 / UPDATES_PER_SECOND / 2)
  }

  private sendDue(): void {
    const due = Math.floor(((performance.now() - this.began) / 1000) * UPDATES_PER_SECOND)
    while (this.sent < due) {
      const turn = this.sent++
      const done: Promise<void> = this.stand
        .post(liveEvent(this.sessions[turn % this.sessions.length]!, turn))
        .then(
          () => void this.answered++,
          (error: Error) => void (this.failure ??= error),
        )
        .finally(() => this.open.delete(done))
      this.open.add(done)
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.timer)
    await Promise.all(this.open)
    if (this.failure) throw this.failure
  }
}
