// Deleting while events come: what single events cost beside a deletion in batches, and beside a partition that goes.
import { once } from 'node:events'
import type postgres from 'postgres'
import { dropPartition, ensurePartitions } from '../../server/database/partitions.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { machineFacts } from './machine.ts'
import { median, ms, whole, type Section } from './report.ts'
import { ADMIN, KEY, Stand, stop } from './stand.ts'
import { verify } from './verify.ts'

const ROUNDS = 3
const WARM_UP_MS = 1_000
const MEASURE_MS = 8_000
const CONNECTIONS = 64
const DAY_MS = 86_400_000
const OLD_SESSIONS = 60_000
const EVENTS_EACH = 10
const AGENT = 'Long gone'

interface Round {
  eventsPerSecond: number
  p50: number
  p99: number
  /** sessions that were deleted meanwhile */
  deleted: number
}

export async function benchDelete(stand: Stand): Promise<{ facts: string[]; section: Section }> {
  await stand.start()
  const { url, sql } = await stand.database('deleting')
  const facts = await machineFacts(sql, stand.folder)
  const server = await stand.server(url)
  const arms: [string, (round: number) => Promise<() => Promise<number>>][] = [
    ['nothing is deleted', async () => async () => 0],
    ['an agent is deleted', (round) => deleteAgent(sql, server.url, round)],
    ['a day is dropped', (round) => dropDay(sql, round)],
  ]
  const rounds = new Map<string, Round[]>(arms.map(([name]) => [name, []]))
  const verdicts: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, [name, begin]] of arms.entries()) {
      await sql`truncate sessions, events, ingest_accepted`
      const whileMeasured = await begin(round)
      await sql`checkpoint`
      const { load, deleted } = await loadRound(stand, server.url, `d${round}a${index}`, whileMeasured)
      const eventsPerSecond = load.events / load.seconds
      rounds.get(name)!.push({ eventsPerSecond, p50: load.p50, p99: load.p99, deleted })
      console.log(`round ${round + 1}: ${name}: ${whole(eventsPerSecond)} events/s, ${whole(deleted)} sessions deleted`)
      const { sentence } = await verify(sql, load.acknowledged)
      verdicts.push(`round ${round + 1}, ${name}: of the load ${sentence}`)
    }
  }
  const rate = (name: string) => median(rounds.get(name)!.map((round) => round.eventsPerSecond))
  const alone = rate('nothing is deleted')
  return {
    facts,
    section: {
      title: 'Deleting',
      rows: arms.map(([name]) => {
        const own = rounds.get(name)!
        const p99 = median(own.map((round) => round.p99))
        return {
          what: `single events while ${name}`,
          figure: `${whole(rate(name))} events/s, p99 ${ms(p99)}`,
          beside: `${(rate(name) / alone).toFixed(2)} of nothing deleted`,
          note: `${whole(median(own.map((round) => round.deleted)))} old sessions went meanwhile`,
        }
      }),
      notes: [
        `${CONNECTIONS} connections, median of ${ROUNDS} interleaved rounds of ${MEASURE_MS / 1000} s. ${whole(OLD_SESSIONS)} old sessions with ${EVENTS_EACH} events each are there when a round begins; a day that is dropped has its session rows deleted first.`,
        ...verdicts,
      ],
    },
  }
}

async function fillOld(sql: postgres.Sql, first: Date): Promise<string> {
  await ensurePartitions(sql, first.getTime())
  const day = first.toISOString().slice(0, 10)
  await sql`
    insert into sessions (id, project_id, platform, external_id, agent, status, first_seen_at, last_event_at, event_count,
      error_count, llm_calls, tool_calls, unpriced_calls, tokens_estimated, models, coverage, revision, content_revision)
    select md5(${day} || n)::uuid, 1, 'PLATFORM_A', 'old-' || n, ${AGENT}, 'COMPLETED', ${first}, ${first}, ${EVENTS_EACH}::int,
      0, 0, 0, 0, false, '{}', '[]', 1, 1
    from generate_series(1, ${OLD_SESSIONS}::int) n`
  await sql`
    insert into events (session_id, day, event_key, revision, order_us, sequence, place, type, input, tokens_estimated,
      received_at, skewed, masked)
    select md5(${day} || n)::uuid, ${day}::date, md5(n || ' ' || e)::uuid, 1, e, e, 0, 'SPAN', repeat('old text ', 40), false,
      ${first}, false, false
    from generate_series(1, ${OLD_SESSIONS}::int) n, generate_series(1, ${EVENTS_EACH}::int) e`
  await sql`analyze sessions, events`
  return day
}

async function deleteAgent(sql: postgres.Sql, server: URL, round: number): Promise<() => Promise<number>> {
  await fillOld(sql, new Date(Date.now() - (40 + round) * DAY_MS))
  const signedIn = await fetch(new URL('/api/auth/sign-in', server), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN),
  })
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const countOf = async () => {
    const [row] = await sql`select count(*)::int as count from sessions where agent = ${AGENT}`
    return row!.count as number
  }
  return async () => {
    const before = await countOf()
    await fetch(new URL('/graphql', server), {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify({ query: `mutation { deleteAgentSessions(agent: "${AGENT}") { id } }` }),
    })
    await new Promise((resolve) => setTimeout(resolve, MEASURE_MS))
    const after = await countOf()
    // The rest of it must not go on into the next round.
    for (;;) {
      const [row] = await sql`select count(*)::int as count from deletions where finished_at is null`
      if (row!.count === 0) return before - after
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

async function dropDay(sql: postgres.Sql, round: number): Promise<() => Promise<number>> {
  const day = await fillOld(sql, new Date(Date.now() - (60 + round) * DAY_MS))
  await sql`delete from sessions where agent = ${AGENT}`
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, MEASURE_MS / 4))
    await dropPartition(sql, 'events', day)
    return OLD_SESSIONS
  }
}

async function loadRound(stand: Stand, url: URL, prefix: string, whileMeasured: () => Promise<number>) {
  const { child } = await stand.helper('./load.ts', {})
  const job: LoadJob = {
    host: '127.0.0.1',
    port: Number(url.port),
    path: '/api/ingest/platform-a',
    key: KEY,
    shape: 'single',
    connections: CONNECTIONS,
    warmUpMs: WARM_UP_MS,
    measureMs: MEASURE_MS,
    prefix,
  }
  let deleting: Promise<number> = Promise.resolve(0)
  const load = await new Promise<LoadResult>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the load generator ended (${code})`)))
    child.on('message', (message: { event?: string; result?: LoadResult }) => {
      if (message.result) resolve(message.result)
      else if (message.event === 'begin') deleting = whileMeasured()
    })
    child.send(job)
  })
  const deleted = await deleting
  const ended = once(child, 'exit')
  await stop(child)
  await ended.catch(() => {})
  return { load, deleted }
}
