// Lists: how long reading takes in a database of 1,000,000 sessions, by the product's own code and over HTTP.
import http from 'node:http'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import postgres from 'postgres'
import { connectDatabase, type Sql } from '../../server/database/connect.ts'
import { ensurePartitions } from '../../server/database/partitions.ts'
import { readAgents, readBefore, readDurations, readParts, spanOfLast } from '../../server/agents/read.ts'
import { dueFrom, rollUp } from '../../server/agents/rollups.ts'
import {
  readSessions,
  readSessionsById,
  type Page,
  type SessionFilter,
  type SessionRow,
} from '../../server/sessions/read.ts'
import { readEvents } from '../../server/sessions/read-events.ts'
import { COMMON_ERROR, EVENTS_PER_SESSION, fill, RARE_ERROR, SESSIONS } from './fill.ts'
import { machineFacts } from './machine.ts'
import { median, met, ms, quantile, whole, type Row, type Section } from './report.ts'
import { LIST_FIELDS } from './session-list.ts'
import { KEY, type Stand } from './stand.ts'

const RUNS = 200
/** A slow query must not hold up the bench: after this time it is asked no more. */
const MAX_MS_PER_QUERY = 2_000
const WARM_UP_RUNS = 5
const PAGE = 50
const CONNECTIONS = 2
const NEEDED_GIB = 16
const TARGET_MEDIAN_MS = 3
const PROJECTS = [1]

interface Query {
  name: string
  inProcess: (sql: Sql) => Promise<unknown>
  graphql: { query: string; variables: object }
  /** lists have a target, statistics have none */
  hasTarget: boolean
}

export async function benchList(stand: Stand): Promise<{ facts: string[]; section: Section }> {
  const { bavail, bsize } = await statfs(tmpdir())
  const freeGib = (bavail * bsize) / 2 ** 30
  if (freeGib < NEEDED_GIB) {
    const sentence = `Left out: ${NEEDED_GIB} GiB must be free in ${tmpdir()}, and ${freeGib.toFixed(0)} are.`
    return { facts: [], section: { title: 'Lists', rows: [], notes: [sentence] } }
  }
  // The fill need not survive a crash: a partition made and filled in one transaction is then not logged.
  await stand.start({ wal_level: 'minimal', max_wal_senders: '0', maintenance_work_mem: '512MB' })
  const { url, sql: admin } = await stand.database('list')
  const facts = await machineFacts(admin, stand.folder)
  const began = performance.now()
  const filler = postgres(url, { max: CONNECTIONS, onnotice: () => {} })
  // The partitions that every database begins with are in the way.
  const partitions =
    await filler`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass`
  for (const { name } of partitions) await filler.unsafe(`drop table ${name}`)
  await fill(filler, CONNECTIONS, console.log)
  await ensurePartitions(filler)
  await Promise.all([filler`vacuum (analyze) events`, filler`vacuum (analyze) sessions`])
  const [size] = await filler`select pg_database_size(current_database()) / 2 ^ 30 as gib`
  await filler.end()
  const filled = `${whole(SESSIONS)} sessions and ${whole(SESSIONS * EVENTS_PER_SESSION)} events, ${Number(size!.gib).toFixed(1)} GiB, made in ${((performance.now() - began) / 1000).toFixed(0)} s.`
  console.log(filled)

  const database = connectDatabase({ url, prepare: true })
  stand.onClose(() => database.close())
  await database.analyse.unsafe(dueFrom('sessions'))
  const rolling = performance.now()
  await rollUp(database.analyse, 0, () => {})
  const rolled = `The sums of agents were worked out from all sessions in ${((performance.now() - rolling) / 1000).toFixed(1)} s.`
  console.log(rolled)
  const server = await stand.server(url)
  const rows: Row[] = []
  for (const query of await queries(database.reads)) {
    const own = await time(() => query.inProcess(database.reads))
    const http = await time(() => ask(server.url, query.graphql))
    rows.push(rowOf(query, own, http))
    console.log(`list: ${query.name}: ${rows.at(-1)!.figure}`)
  }
  return {
    facts,
    section: {
      title: 'Lists',
      rows,
      notes: [
        filled,
        rolled,
        `Median and 95th percentile of ${RUNS} runs one after the other (fewer where they would take more than ${MAX_MS_PER_QUERY / 1000} s), pages of ${PAGE}; the figure is by the product's reading code in this process, beside it the same over HTTP GraphQL.`,
      ],
    },
  }
}

async function queries(sql: Sql): Promise<Query[]> {
  const forward = (from: Page['from'] = null): Page => ({ limit: PAGE + 1, from, backward: false })
  const newest = await readSessions(sql, PROJECTS, {}, forward())
  const last = newest[PAGE - 1]!
  const cursor = Buffer.from(`${last.firstSeenAt.toISOString()}/${last.id}`).toString('base64url')
  const from = { firstSeenAt: last.firstSeenAt.toISOString(), id: last.id }
  const ofA = newest.find((session) => session.platform === 'PLATFORM_A')!
  const list = (name: string, filter: SessionFilter, variables: object = filter): Query => ({
    name,
    inProcess: (on) => readSessions(on, PROJECTS, filter, forward()),
    graphql: listQuery({ filter: variables }),
    hasTarget: true,
  })
  const lastDay = () => new Date(Date.now() - 86_400_000)
  const agents = (name: string, hours: number | null, range: string | null): Query => ({
    name,
    inProcess: async (on) => {
      const rows = await readAgents(on, PROJECTS, spanOfLast(hours))
      await Promise.all([readDurations(on, rows), readBefore(on, rows), readParts(on, rows)])
    },
    graphql: {
      query: `query($range: TimeRange) { agents(range: $range) { name runs failureRate p50DurationMs p95DurationMs costUsd
        before { failureRate costUsd } parts { startsAt runs failed } lastSeenAt } }`,
      variables: { range },
    },
    hasTarget: false,
  })
  return [
    list('no filter', {}),
    list('status FAILED', { status: 'FAILED' }),
    list('status RUNNING', { status: 'RUNNING' }),
    list('platform B', { platform: 'PLATFORM_B' }),
    list('one agent', { agents: ['Agent 07'] }),
    list('two agents', { agents: ['Agent 07', 'Agent 11'] }),
    list('an agent that does not exist', { agents: ['Agent 99'] }),
    list('last 24 hours', { since: lastDay() }, { range: 'LAST_24_HOURS' }),
    list('last 24 hours, FAILED', { since: lastDay(), status: 'FAILED' }, { range: 'LAST_24_HOURS', status: 'FAILED' }),
    list('search: start of an id', { search: ofA.externalId.slice(0, 12) }),
    list("search: part of an agent's name", { search: 'gent 07' }),
    list('search: common error text', { search: COMMON_ERROR }),
    list('search: rare error text', { search: RARE_ERROR }),
    list('search: found nowhere', { search: 'no such words' }),
    {
      name: 'second page',
      inProcess: (on) => readSessions(on, PROJECTS, {}, forward(from)),
      graphql: listQuery({ after: cursor }),
      hasTarget: true,
    },
    {
      name: `timeline of ${EVENTS_PER_SESSION} events`,
      inProcess: async (on) => {
        const [session] = await readSessionsById(on, PROJECTS, [ofA.id])
        return readEvents(on, session as SessionRow, { limit: 1001, after: null, changedAfter: null })
      },
      graphql: {
        query: `query($id: ID!) { session(id: $id) { ${LIST_FIELDS} events(first: 1000) { nodes {
          id type kind name model status promptTokens completionTokens costUsd durationMs occurredAt orderKey revision
          error { message } } } } }`,
        variables: { id: ofA.id },
      },
      hasTarget: true,
    },
    agents('agents, last 24 hours', 24, 'LAST_24_HOURS'),
    agents('agents, last 7 days', 7 * 24, 'LAST_7_DAYS'),
    agents('agents, last 30 days', 30 * 24, 'LAST_30_DAYS'),
    agents('agents, all time', null, null),
  ]
}

const listQuery = (variables: object) => ({
  query: `query($filter: SessionFilter, $after: String) { sessions(first: ${PAGE}, filter: $filter, after: $after) {
    pageInfo { hasNextPage endCursor } nodes { ${LIST_FIELDS} } } }`,
  variables,
})

async function time(run: () => Promise<unknown>): Promise<number[]> {
  for (let i = 0; i < WARM_UP_RUNS; i++) await run()
  const took: number[] = []
  const end = performance.now() + MAX_MS_PER_QUERY
  while (took.length < RUNS && performance.now() < end) {
    const before = performance.now()
    await run()
    took.push(performance.now() - before)
  }
  return took
}

const agent = new http.Agent({ keepAlive: true })

function ask(url: URL, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': KEY }
    const request = http.request(new URL('/graphql', url), { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('end', () => {
        if (response.statusCode === 200 && !text.includes('"errors"')) resolve()
        else reject(new Error(`GraphQL answered ${response.statusCode}: ${text.slice(0, 300)}`))
      })
    })
    request.on('error', reject)
    request.end(JSON.stringify(body))
  })
}

function rowOf({ name, hasTarget }: Query, own: number[], overHttp: number[]): Row {
  const both = (values: number[]) => `${ms(median(values))}, p95 ${ms(quantile(values, 0.95))}`
  return {
    what: name,
    figure: both(own),
    beside: `HTTP ${both(overHttp)}`,
    ...(hasTarget && { target: met(median(own) < TARGET_MEDIAN_MS, `< ${TARGET_MEDIAN_MS} ms`) }),
    ...(own.length < RUNS && { note: `${own.length} runs` }),
  }
}
