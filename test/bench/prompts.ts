// Fetching prompts: how many a second beside /healthz of the same server, whole and unchanged, measured in turns.
import type { ChildProcess } from 'node:child_process'
import type { FetchJob, FetchResult } from './fetch-load.ts'
import { cpuOf } from './ingest.ts'
import { machineFacts } from './machine.ts'
import { median, met, ms, whole, type Row, type Section } from './report.ts'
import { KEY, type Stand, stop } from './stand.ts'

const ROUNDS = 5
const WARM_UP_MS = 500
const MEASURE_MS = 2_500
const CONNECTIONS = 32
const AGENTS = 200
const AGENT = 'Agent 100'
const PATH = `/api/prompts/active?agent_name=${encodeURIComponent(AGENT)}`
const PROMPT =
  'Before you call the tool, check what you are about to send: every field that it requires is there. '.repeat(8)

type Arm = Pick<FetchJob, 'path' | 'headers' | 'status'>

export async function benchPrompts(stand: Stand): Promise<{ facts: string[]; section: Section }> {
  await stand.start()
  const { url, sql } = await stand.database('prompts')
  const facts = await machineFacts(sql, stand.folder)
  await sql`insert into projects (name) values ('default') on conflict do nothing`
  await sql`
    insert into prompt_versions (id, project_id, agent, version, state, prompt, maker, activated_at)
    select gen_random_uuid(), p.id, 'Agent ' || n, 1, 'ACTIVE', ${PROMPT}, 'PERSON', now()
    from generate_series(1, ${AGENTS}::int) n, projects p where p.name = 'default'`
  const server = await stand.server(url)
  const port = Number(server.url.port)
  const key = { 'x-api-key': KEY }
  const answer = await fetch(new URL(PATH, server.url), { headers: key })
  const etag = answer.headers.get('etag')!
  const bytes = (await answer.arrayBuffer()).byteLength
  const arms: Record<string, Arm> = {
    healthz: { path: '/healthz', headers: {}, status: '200' },
    fetched: { path: PATH, headers: key, status: '200' },
    unchanged: { path: PATH, headers: { ...key, 'if-none-match': etag }, status: '304' },
    none: { path: '/api/prompts/active?agent_name=Nobody', headers: key, status: '200' },
  }
  const rounds = new Map<string, (FetchResult & { cores: number })[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 ? Object.keys(arms) : Object.keys(arms).toReversed()) {
      const { child } = await stand.helper('./fetch-load.ts', {})
      const used = cpuOf(stand, server.child.pid!, child.pid!)
      const job: FetchJob = {
        ...arms[name]!,
        port,
        connections: CONNECTIONS,
        warmUpMs: WARM_UP_MS,
        measureMs: MEASURE_MS,
      }
      const result = await runFetches(child, job, used.mark)
      await stop(child)
      const cores = used.between()?.server ?? NaN
      rounds.set(name, [...(rounds.get(name) ?? []), { ...result, cores }])
      console.log(
        `round ${round + 1}: ${name}: ${whole(result.answers / result.seconds)}/s, p99 ${ms(result.p99)}, refused ${result.refused}`,
      )
    }
  }
  const rate = (name: string) => median(rounds.get(name)!.map(({ answers, seconds }) => answers / seconds))
  const row = (name: string, what: string): Row => {
    const all = rounds.get(name)!
    const ratio = rate(name) / rate('healthz')
    // Processor time of the server for one answer, times a thousand answers a second.
    const load = median(all.map(({ answers, seconds, cores }) => (1_000 * cores * seconds) / answers))
    return {
      what,
      figure: `${whole(rate(name))}/s`,
      beside: `${ratio.toFixed(2)} of /healthz`,
      target: name === 'healthz' ? '' : met(ratio >= 0.5, '>= 0.5'),
      note: `p50 ${ms(median(all.map(({ p50 }) => p50)))}, p99 ${ms(median(all.map(({ p99 }) => p99)))}; 1,000/s take ${load.toFixed(2)} cores; refused ${all.reduce((sum, { refused }) => sum + refused, 0)}`,
    }
  }
  const rows = [
    row('healthz', '/healthz'),
    row('fetched', `active prompt as JSON, ${whole(bytes)} bytes, one of ${AGENTS} agents`),
    row('unchanged', 'the same, unchanged (304)'),
    row('none', 'an agent without one'),
  ]
  return { facts, section: { title: 'Fetching prompts', rows, notes: [] } }
}

function runFetches(child: ChildProcess, job: FetchJob, tell: () => void): Promise<FetchResult> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the load generator ended (${code})`)))
    child.on('message', (message: { event?: string; result?: FetchResult }) => {
      if (message.result) resolve(message.result)
      else if (message.event) tell()
    })
    child.send(job)
  })
}
