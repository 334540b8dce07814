// `npm run demo`: believable traffic of both platforms through the public endpoints of a running Runwatch.
import { setMaxListeners } from 'node:events'
import { ConfigError, readConfig } from './config.ts'
import { OptionError, readOptions, type DemoOptions } from './demo/options.ts'
import { DemoError, makeKey, removeProject } from './demo/own-project.ts'
import { platformARun, type Run } from './demo/platform-a-run.ts'
import { platformBRun } from './demo/platform-b-execution.ts'
import { pause, Poster } from './demo/poster.ts'
import { Random } from './demo/random.ts'

const PLATFORM_B_SHARE = 0.4
const HISTORY_SPAN_MS = 6 * 3_600_000
const HISTORY_AT_ONCE = 8
const SAY_EVERY_MS = 5_000
const HIGHEST_EXECUTION = 9_000_000

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Both kinds of runs from one seed. */
function runMaker(seed: number): (startedAt: number | null) => Run {
  const random = new Random(seed)
  let execution = random.between(1_000, HIGHEST_EXECUTION)
  return (startedAt) =>
    random.chance(PLATFORM_B_SHARE)
      ? platformBRun(random, execution++, startedAt, Date.now())
      : platformARun(random, startedAt)
}

async function postHistory(poster: Poster, next: () => Run, count: number, stop: AbortSignal): Promise<void> {
  let left = count
  const work = async () => {
    while (left-- > 0 && !stop.aborted) await poster.play(next())
  }
  await Promise.all(Array.from({ length: HISTORY_AT_ONCE }, work))
  say(`Posted ${poster.counts.finished} sessions of the last hours.`)
}

async function postLive(poster: Poster, next: () => Run, options: DemoOptions, stop: AbortSignal): Promise<void> {
  const begun: string[] = []
  const report = setInterval(() => {
    const { counts, runningCount, lastProblem } = poster
    const titles = begun.splice(0)
    say(
      `${counts.finished} sessions posted, ${runningCount} running` +
        (titles.length > 0 ? `; begun: ${titles.slice(0, 4).join(', ')}${titles.length > 4 ? ', ..' : ''}` : '') +
        (counts.refused > 0 ? `; ${counts.refused} posts refused, last ${lastProblem}` : ''),
    )
  }, SAY_EVERY_MS)
  const every = 60_000 / options.sessionsPerMinute
  do {
    const run = next()
    begun.push(run.title)
    poster.begin(run)
  } while (await pause(every, stop))
  clearInterval(report)
  await poster.settled()
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  const config = readConfig()
  if (options.isDelete) {
    const removed = await removeProject(config)
    say(
      removed
        ? `Removed the project "demo": ${removed.sessions} sessions, ${removed.events} events and its keys.`
        : 'There is no project "demo".',
    )
    return
  }
  const stop = new AbortController()
  // Every waiting run listens.
  setMaxListeners(0, stop.signal)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())

  const url = options.url ?? config.demoUrl ?? `http://127.0.0.1:${config.port}`
  const given = options.key ?? config.demoKey
  const made = given === null ? await makeKey(config) : null
  const limit = Number.isFinite(options.seconds) ? setTimeout(() => stop.abort(), options.seconds * 1_000) : null
  try {
    say(
      `Posting ${options.sessionsPerMinute} sessions a minute to ${url}${made ? ' into the project "demo"' : ''} ` +
        `(seed ${options.seed}); ${limit ? `stops after ${options.seconds} s` : 'stop with Ctrl-C'}.`,
    )
    const poster = new Poster(url, made?.secret ?? given!, stop.signal)
    const next = runMaker(options.seed)
    if (options.history > 0) {
      const now = Date.now()
      let place = 0
      const past = () => next(now - HISTORY_SPAN_MS + (HISTORY_SPAN_MS * place++) / (options.history + 1))
      await postHistory(poster, past, options.history, stop.signal)
    }
    if (!stop.signal.aborted) await postLive(poster, () => next(null), options, stop.signal)
    const { counts, lastProblem } = poster
    say(
      `Done: ${counts.finished} sessions in ${counts.posts} posts` +
        (counts.cut > 0 ? `; ${counts.cut} were cut short and stay running` : '') +
        (counts.refused > 0 ? `; ${counts.refused} posts were refused, last ${lastProblem}` : '') +
        (made ? '. "npm run demo -- --delete" removes them.' : '.'),
    )
    if (counts.posts === 0) process.exitCode = 1
  } finally {
    if (limit) clearTimeout(limit)
    await made?.remove()
  }
}

try {
  await main()
} catch (error) {
  const isExpected = error instanceof OptionError || error instanceof DemoError || error instanceof ConfigError
  process.stderr.write(`${isExpected ? (error as Error).message : ((error as Error).stack ?? error)}\n`)
  process.exitCode = 1
}
