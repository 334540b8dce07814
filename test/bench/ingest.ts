// Ingest: acknowledged events a second, beside what Postgres takes by COPY, what a bare server answers, and what a
// server with one transaction per request writes. All interleaved, in rounds, so that a slow moment hits all of them.
import type { ChildProcess } from 'node:child_process'
import type postgres from 'postgres'
import type { BaselineOptions } from './baseline-server.ts'
import { copyRows } from './copy.ts'
import type { ShapeName } from './events.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { cpuSeconds, machineCpuSeconds, machineFacts, postgresCpuSeconds } from './machine.ts'
import { profiled } from './profile.ts'
import { median, met, whole, type Row, type Section } from './report.ts'
import { KEY, Stand, stop } from './stand.ts'
import { verify } from './verify.ts'

const ROUNDS = 3
const WARM_UP_MS = 1_500
const MEASURE_MS = 10_000

interface Target {
  port: number
  pid: number
  sql: postgres.Sql | null
  isProduct: boolean
}

interface Round {
  eventsPerSecond: number
  p50: number
  p99: number
  /** processor seconds per second of the round */
  cpu: { server: number; postgres: number; load: number; others: number } | null
}

interface Arm {
  name: string
  target: 'product' | 'unlogged' | BaselineOptions['kind']
  shape: ShapeName
  connections: number
  isKeyed?: boolean
}

const ARMS: Arm[] = [
  { name: 'single events, 64 connections', target: 'product', shape: 'single', connections: 64 },
  { name: 'single events, 256 connections', target: 'product', shape: 'single', connections: 256 },
  { name: 'the same without the ingest log', target: 'unlogged', shape: 'single', connections: 256 },
  {
    name: 'the same with an Idempotency-Key each',
    target: 'product',
    shape: 'single',
    connections: 256,
    isKeyed: true,
  },
  { name: 'arrays of 100, 8 connections', target: 'product', shape: 'array100', connections: 8 },
  { name: 'arrays of 1,000, 8 connections', target: 'product', shape: 'array1000', connections: 8 },
  { name: 'bare server, 64', target: 'bare', shape: 'single', connections: 64 },
  { name: 'bare server, 256', target: 'bare', shape: 'single', connections: 256 },
  { name: 'bare server with validation, 64', target: 'validated', shape: 'single', connections: 64 },
  { name: 'bare server with validation, 256', target: 'validated', shape: 'single', connections: 256 },
  { name: 'one transaction per request, 64', target: 'transaction', shape: 'single', connections: 64 },
  { name: 'one statement per request, 64', target: 'statement', shape: 'single', connections: 64 },
]
const COPY = 'COPY, 1,000 events a transaction'

export async function benchIngest(stand: Stand, { profile }: { profile: boolean }) {
  await stand.start()
  const product = await stand.database('product')
  const single = await stand.database('single')
  const copied = await stand.database('copied')
  const facts = await machineFacts(product.sql, stand.folder)
  const server = await stand.server(product.url, profile ? profiled(stand.folder) : [])
  const targets = new Map<string, Target>([
    ['product', { port: Number(server.url.port), pid: server.child.pid!, sql: product.sql, isProduct: true }],
  ])
  if (!profile) {
    const preload = ['--import', 'tsx', '--import', new URL('./without-log.ts', import.meta.url).href]
    const { url, child } = await stand.server(product.url, preload)
    targets.set('unlogged', { port: Number(url.port), pid: child.pid!, sql: product.sql, isProduct: true })
  }
  for (const kind of ['bare', 'validated', 'transaction', 'statement'] as const) {
    const sql = kind === 'transaction' || kind === 'statement' ? single : null
    const options: BaselineOptions = { kind, ...(sql && { databaseUrl: sql.url }) }
    const { child, ready } = await stand.helper<number>('./baseline-server.ts', options)
    targets.set(kind, { port: ready, pid: child.pid!, sql: sql?.sql ?? null, isProduct: false })
  }
  const rounds = new Map<string, Round[]>([...ARMS.map((arm) => arm.name), COPY].map((name) => [name, []]))
  const verdicts: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, arm] of ARMS.entries()) {
      if (profile && arm.target !== 'product') continue
      const target = targets.get(arm.target)!
      if (target.sql) await empty(target.sql)
      const result = await loadRound(stand, target, arm, `r${round}a${index}`)
      rounds.get(arm.name)!.push(result.round)
      say(round, arm.name, result.round)
      if (result.load.refused > 0)
        verdicts.push(`${arm.name}: ${result.load.refused} refused, first: ${result.load.firstRefusal}`)
      if (!target.sql) continue
      const verdict = await verify(target.sql, result.load.acknowledged)
      if (target.isProduct || !verdict.isExact) verdicts.push(`round ${round + 1}, ${arm.name}: ${verdict.sentence}`)
      await empty(target.sql)
    }
    if (profile) continue
    const result = await copyRound(stand, copied.url)
    rounds.get(COPY)!.push(result)
    say(round, COPY, result)
    await empty(copied.sql)
  }
  if (profile) await stop(server.child)
  return { facts, section: sectionOf(rounds, verdicts) }
}

/** Every round begins with empty tables and no work left over from the one before. */
export async function empty(sql: postgres.Sql): Promise<void> {
  await sql`truncate sessions, events, failures, failure_patterns, idempotency_keys, ingest_accepted, agent_rollups, agent_rollups_due`
  await sql`checkpoint`
}

async function loadRound(stand: Stand, target: Target, arm: Arm, prefix: string) {
  const { child } = await stand.helper('./load.ts', {})
  const used = cpuOf(stand, target.pid, child.pid!)
  const job: LoadJob = {
    host: '127.0.0.1',
    port: target.port,
    path: '/api/ingest/platform-a',
    key: KEY,
    shape: arm.shape,
    connections: arm.connections,
    ...(arm.isKeyed && { isKeyed: true }),
    warmUpMs: WARM_UP_MS,
    measureMs: MEASURE_MS,
    prefix,
  }
  const load = await runLoad(child, job, used.mark)
  await stop(child)
  const { p50, p99 } = load
  return { load, round: { eventsPerSecond: load.events / load.seconds, p50, p99, cpu: used.between() } as Round }
}

async function copyRound(stand: Stand, databaseUrl: string): Promise<Round> {
  const used = cpuOf(stand, process.pid, null)
  const { events, seconds } = await copyRows(databaseUrl, { warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS }, used.mark)
  return { eventsPerSecond: events / seconds, p50: NaN, p99: NaN, cpu: used.between() }
}

export function runLoad(child: ChildProcess, job: LoadJob, tell: () => void): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the load generator ended (${code})`)))
    child.on('message', (message: { event?: string; result?: LoadResult }) => {
      if (message.result) resolve(message.result)
      else if (message.event) tell()
    })
    child.send(job)
  })
}

/** Processor time between the first and the second mark. */
export function cpuOf(stand: Stand, serverPid: number, loadPid: number | null) {
  const marks: { at: number; server: number; postgres: number; load: number; machine: number }[] = []
  return {
    mark: () => {
      const server = cpuSeconds(serverPid)
      const postgres = postgresCpuSeconds(stand.postgresPid)
      const load = loadPid === null ? 0 : cpuSeconds(loadPid)
      const machine = machineCpuSeconds()
      if (server !== null && postgres !== null && load !== null && machine !== null) {
        marks.push({ at: performance.now() / 1000, server, postgres, load, machine })
      }
    },
    between: (): Round['cpu'] => {
      const [first, last] = marks
      if (!first || !last) return null
      const share = (name: keyof typeof first) => (last[name] - first[name]) / (last.at - first.at)
      const own = { server: share('server'), postgres: share('postgres'), load: share('load') }
      return { ...own, others: Math.max(0, share('machine') - own.server - own.postgres - own.load) }
    },
  }
}

function say(round: number, name: string, result: Round): void {
  console.log(`round ${round + 1}: ${name}: ${whole(result.eventsPerSecond)} events/s (${cpuText(result)})`)
}

function cpuText({ cpu }: Round): string {
  if (!cpu) return ''
  return `cores used: server ${cpu.server.toFixed(2)}, Postgres ${cpu.postgres.toFixed(2)}, load ${cpu.load.toFixed(2)}, other programs ${cpu.others.toFixed(2)}`
}

function sectionOf(rounds: Map<string, Round[]>, verdicts: string[]): Section {
  const rate = (name: string) => median(rounds.get(name)!.map((round) => round.eventsPerSecond))
  const middle = (name: string) => rounds.get(name)!.toSorted((a, b) => a.eventsPerSecond - b.eventsPerSecond)[1]
  const compare = (name: string, beside: string, least?: number): Pick<Row, 'beside' | 'target'> => {
    const ratio = rate(name) / rate(beside)
    return {
      beside: `${ratio.toFixed(2)} of ${beside}`,
      ...(least !== undefined && { target: met(ratio >= least, `>= ${least}`) }),
    }
  }
  const besides: Record<string, [string, number?][]> = {
    'single events, 64 connections': [
      ['one transaction per request, 64', 4],
      ['one statement per request, 64'],
      ['bare server with validation, 64'],
      ['bare server, 64'],
    ],
    'single events, 256 connections': [['bare server with validation, 256', 0.55], ['bare server, 256']],
    'the same without the ingest log': [['single events, 256 connections']],
    'the same with an Idempotency-Key each': [['single events, 256 connections']],
    'arrays of 100, 8 connections': [[COPY, 0.45]],
    'arrays of 1,000, 8 connections': [[COPY, 0.45]],
  }
  const rows: Row[] = []
  for (const name of rounds.keys()) {
    const one = middle(name)
    if (!one) continue
    const latency = Number.isNaN(one.p50) ? '' : `p50 ${one.p50.toFixed(1)} ms, p99 ${one.p99.toFixed(1)} ms; `
    const [first, ...more] = (besides[name] ?? []).filter(([beside]) => rounds.get(beside)!.length > 0)
    rows.push({
      what: name,
      figure: `${whole(rate(name))} events/s`,
      note: latency + cpuText(one),
      ...(first && compare(name, ...first)),
    })
    for (const [beside, least] of more) rows.push({ what: '', figure: '', ...compare(name, beside, least) })
  }
  return {
    title: 'Ingest',
    rows,
    notes: [
      `Median of ${ROUNDS} interleaved rounds of ${MEASURE_MS / 1000} s after ${WARM_UP_MS / 1000} s of warm-up, all on loopback; every round begins with empty tables after a checkpoint.`,
      'Load, server and Postgres share the cores of one machine; the note gives how many each used, and how much other programs took. COPY has no load process and its rows are ready before its time begins; events of 400-600 bytes.',
      ...verdicts,
    ],
  }
}
