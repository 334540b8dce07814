// What ingest loses by a part of the product: two servers on one database, with and without it, loaded in turns.
import type postgres from 'postgres'
import type { ShapeName } from './events.ts'
import { cpuOf, empty, runLoad } from './ingest.ts'
import type { LoadJob } from './load.ts'
import { median, whole } from './report.ts'
import { KEY, stop, type Stand } from './stand.ts'

const ROUNDS = 5
const WARM_UP_MS = 1_500
const MEASURE_MS = 6_000
const LOADS: { name: string; path: string; shape: ShapeName; connections: number }[] = [
  { name: 'executions of 10 node runs', path: '/api/ingest/platform-b', shape: 'execution', connections: 32 },
  { name: 'single events', path: '/api/ingest/platform-a', shape: 'single', connections: 64 },
]

export interface Compared {
  load: string
  /** medians of all rounds, in events a second */
  withRate: number
  withoutRate: number
  mostLeft: number
}

interface Comparison {
  url: string
  sql: postgres.Sql
  /** loaded into a server before it starts: takes the part out */
  without: string
  /** how much of its work the part had not done when a load ended */
  left(): Promise<number>
}

export async function compare(stand: Stand, { url, sql, without, left }: Comparison): Promise<Compared[]> {
  const preload = ['--import', 'tsx', '--import', new URL(without, import.meta.url).href]
  const arms = { with: await stand.server(url), without: await stand.server(url, preload) }
  const rounds = new Map<string, { perSecond: number; left: number }[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name: load, path, shape, connections } of LOADS) {
      // In turns, so that neither always comes first.
      const names = ['with', 'without'] as const
      for (const name of round % 2 ? names : names.toReversed()) {
        await empty(sql)
        const { child } = await stand.helper('./load.ts', {})
        const server = arms[name]
        const used = cpuOf(stand, server.child.pid!, child.pid!)
        const target = { host: '127.0.0.1', port: Number(server.url.port), key: KEY, path, shape, connections }
        const job: LoadJob = { ...target, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS, prefix: `f${round}` }
        const result = await runLoad(child, job, used.mark)
        await stop(child)
        const perSecond = result.events / result.seconds
        const key = `${load} ${name}`
        rounds.set(key, [...(rounds.get(key) ?? []), { perSecond, left: await left() }])
        console.log(
          `round ${round + 1}: ${key}: ${whole(perSecond)}/s, left ${rounds.get(key)!.at(-1)!.left}, refused ${result.refused}`,
        )
      }
    }
  }
  return LOADS.map(({ name }) => {
    const rate = (arm: string) => median(rounds.get(`${name} ${arm}`)!.map(({ perSecond }) => perSecond))
    const mostLeft = Math.max(...rounds.get(`${name} with`)!.map((one) => one.left))
    return { load: name, withRate: rate('with'), withoutRate: rate('without'), mostLeft }
  })
}
