// Classification: processor time of the rules for one session, and what ingest loses by it, with and without in turns.
import { parsePlatformB } from '../../server/ingest/platform-b.ts'
import { runEventsOf } from '../../server/failures/first-look.ts'
import { classify } from '../../server/failures/classify.ts'
import type { Run } from '../../server/failures/failure.ts'
import { NO_SETTINGS, pastRuns, thresholdsOf } from '../../server/failures/thresholds.ts'
import type { SessionWrite } from '../../server/sessions/session.ts'
import type { ShapeName } from './events.ts'
import { executionBody } from './executions.ts'
import { cpuOf, empty, runLoad } from './ingest.ts'
import type { LoadJob } from './load.ts'
import { machineFacts } from './machine.ts'
import { median, met, whole, type Row, type Section } from './report.ts'
import { KEY, Stand, stop } from './stand.ts'

const ROUNDS = 5
const WARM_UP_MS = 1_500
const MEASURE_MS = 6_000
const LOADS: { name: string; path: string; shape: ShapeName; connections: number }[] = [
  { name: 'executions of 10 node runs', path: '/api/ingest/platform-b', shape: 'execution', connections: 32 },
  { name: 'single events', path: '/api/ingest/platform-a', shape: 'single', connections: 64 },
]

interface Round {
  perSecond: number
  cpu: string
  /** closed sessions that were not classified when the load ended */
  left: number
}

export async function benchClassify(stand: Stand): Promise<{ facts: string[]; section: Section }> {
  await stand.start()
  const { url, sql } = await stand.database('classified')
  const facts = await machineFacts(sql, stand.folder)
  const preload = ['--import', 'tsx', '--import', new URL('./without-classification.ts', import.meta.url).href]
  const arms = { with: await stand.server(url), without: await stand.server(url, preload) }
  const rounds = new Map<string, Round[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const load of LOADS) {
      // In turns, so that neither always comes first.
      const names = ['with', 'without'] as const
      for (const name of round % 2 ? names : names.toReversed()) {
        await empty(sql)
        const { child } = await stand.helper('./load.ts', {})
        const server = arms[name]
        const used = cpuOf(stand, server.child.pid!, child.pid!)
        const { path, shape, connections } = load
        const target = { host: '127.0.0.1', port: Number(server.url.port), key: KEY, path, shape, connections }
        const job: LoadJob = { ...target, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS, prefix: `c${round}` }
        const result = await runLoad(child, job, used.mark)
        await stop(child)
        const [row] = await sql`
          select count(*)::int as left from sessions where status <> 'RUNNING' and classified_content < content_revision`
        const left = row!.left as number
        const cpu = used.between()
        const perSecond = result.events / result.seconds
        const spent = cpu ? `server ${cpu.server.toFixed(2)}, Postgres ${cpu.postgres.toFixed(2)} cores` : ''
        const key = `${load.name} ${name}`
        rounds.set(key, [...(rounds.get(key) ?? []), { perSecond, cpu: spent, left: name === 'with' ? left : 0 }])
        console.log(
          `round ${round + 1}: ${key}: ${whole(perSecond)}/s, ${spent}, left ${left}, refused ${result.refused}`,
        )
      }
    }
  }
  const rows: Row[] = [
    ...[10, 100, 1_000, 10_000].map((steps): Row => {
      const micros = microsOf(runOf(steps, 0))
      const target =
        steps === 10 ? met(micros < 100, '< 100 us') : steps === 10_000 ? met(micros < 20_000, '< 20 ms') : ''
      return { what: `rules over a session of ${whole(steps)} events`, figure: `${micros.toFixed(0)} us`, target }
    }),
    { what: 'the same of 10 events, one of which failed', figure: `${microsOf(runOf(10, 1)).toFixed(0)} us` },
  ]
  for (const { name } of LOADS) {
    const rate = (arm: string) => median(rounds.get(`${name} ${arm}`)!.map(({ perSecond }) => perSecond))
    const ratio = rate('with') / rate('without')
    const left = Math.max(...rounds.get(`${name} with`)!.map((round) => round.left))
    rows.push({
      what: `${name}, classified`,
      figure: `${whole(rate('with'))}/s`,
      beside: `${ratio.toFixed(2)} of the same without classification (${whole(rate('without'))}/s)`,
      target: met(ratio >= 0.8, '>= 0.8'),
      note: `${rounds.get(`${name} with`)![0]!.cpu}; at most ${left} sessions behind when the load ended`,
    })
  }
  return { facts, section: { title: 'Classification', rows, notes: [] } }
}

/** Processor time of one classification with its thresholds, in microseconds. */
function microsOf(run: Run): number {
  const past = pastRuns(
    Array.from({ length: 200 }, (_, i) => ({
      latencyMs: 1_000 + ((i * 37) % 900),
      costUsd: 0.001 + i / 1e6,
      tokens: 300 + i,
      loopRounds: 0,
      equalRounds: 0,
      isLoop: false,
    })),
  )
  const times = Math.max(20, Math.ceil(20_000 / run.events.length))
  // A list of its own each time: what was found in one is remembered.
  const once = () => classify({ ...run, events: [...run.events], thresholds: thresholdsOf(past, NO_SETTINGS) })
  for (let i = 0; i < times; i++) once()
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) once()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

/** A session of so many steps as the store would read it. */
function runOf(steps: number, errors: number): Run {
  const body = executionBody(errors > 0 ? 20 : 1, 'measured')
  const runData = body.execution.data.resultData.runData
  const names = Object.keys(runData)
  for (const name of names) {
    const [first] = runData[name] as { startTime: number }[]
    for (let i = 1; i < steps / names.length; i++) {
      // Round after round, so that all of it is one loop: the most that the rules can have to do.
      const place = names.indexOf(name)
      const source = [
        place === 0
          ? { previousNode: names.at(-1), previousNodeRun: i - 1 }
          : { previousNode: names[place - 1], previousNodeRun: i },
      ]
      const later = { startTime: first!.startTime + i * 2_000, executionIndex: i * names.length + place, source }
      runData[name]!.push({ ...first, ...later })
    }
  }
  const { sessions } = parsePlatformB(body, {
    projectId: 1,
    receivedAt: Date.now(),
    arrivalUs: 0,
    price: () => '0.001',
    requestKey: null,
    mask: (text) => ({ text, masked: false }),
    mergesEqualEvents: false,
  })
  const session = sessions[0]!.execution!
  const events = runEventsOf(sessions[0]!.events)
  return { session: sessionOf(session), events, thresholds: thresholdsOf(pastRuns([]), NO_SETTINGS) }
}

const sessionOf = (session: SessionWrite): Run['session'] => ({
  ...session,
  tokens: Number(session.promptTokens ?? 0) + Number(session.completionTokens ?? 0),
  costUsd: session.costUsd === null ? null : Number(session.costUsd),
  coverage: session.coverage.map(({ code }) => code),
})
