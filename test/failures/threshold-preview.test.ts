// Limits tried on history: which runs would gain or lose a failure, held against a count by hand, and nothing changes.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownProject, type OwnProject } from '../fixtures/own-project.ts'
import { execution, untilAllClassified } from '../support/failed-runs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { AS_RECORDED, changing, GeneratedExecution, rounds } from './generated-executions.ts'

interface Posted {
  id: string
  agent: string
  durationMs: number
  tokens: number
  rounds: number
  daysAgo: number
}
interface Limits {
  latencyMs?: number
  tokens?: number
  loopRounds?: number
}
type Category = 'LATENCY_SPIKE' | 'COST_ANOMALY' | 'INFINITE_LOOP'

const DAY_MS = 86_400_000
let server: TestServer
let project: OwnProject
let admin: { cookie: string }
const posted: Posted[] = []

/** Two agents with enough runs to have what is usual, one of few long runs, and one of loops. */
function history(): Posted[] {
  const all: Posted[] = []
  const add = (agent: string, i: number, own: Partial<Posted>) =>
    all.push({ id: `${agent}-${i}`, agent, durationMs: 2_000, tokens: 1_000, rounds: 0, daysAgo: 0, ...own })
  for (let i = 0; i < 45; i++) {
    const ms = 1_000 + ((i * 379) % 997)
    add('Steady', i, { durationMs: i % 11 === 10 ? ms * 9 : ms, tokens: 500 + i * 10, daysAgo: i < 12 ? 40 - i : 0 })
    add('Dear', i, { durationMs: 3_000 + i, tokens: i % 9 === 8 ? 30_000 : 2_000 + ((i * 97) % 500) })
  }
  for (let i = 0; i < 6; i++) add('Long', i, { durationMs: 20_000 * (i + 1), tokens: 15_000 * i })
  for (let i = 0; i < 6; i++) add('Loop', i, { rounds: 10 + i * 4, tokens: 0 })
  return all
}

beforeAll(async () => {
  server = await startServer()
  project = await ownProject(server)
  admin = { cookie: await server.signIn() }
  const { sql } = server.database
  for (const run of history()) {
    const { id, agent, durationMs, tokens, daysAgo } = run
    const { execution: made } = execution(id, { workflow: agent, durationMs, tokens })
    if (run.rounds > 0) {
      const looping = new GeneratedExecution(AS_RECORDED)
      rounds(looping, ['Fetch', 'Check'], run.rounds, changing)
      made.data = looping.execution().data
      delete made.data.workflowData
    }
    expect((await project.ingestB({ execution: made })).status).toBe(200)
    posted.push(run)
    if (daysAgo > 0) {
      await untilAllClassified(sql)
      // In the order in which they came: later ones are compared with them.
      const then = new Date(Date.now() - daysAgo * DAY_MS)
      await sql`update sessions set first_seen_at = ${then} where external_id = ${id}`
    }
  }
  await untilAllClassified(sql)
  // The analysis notes in the session that it has looked.
  await until(
    () => sql`select from sessions where analysed_content < content_revision`,
    (rows) => rows.length === 0,
    20_000,
  )
})
afterAll(() => server.stop())

const within = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!
/** What is usual, in words of its description: of at least 20 earlier runs, or what is taken without. */
const usual = (past: number[], least: number, unknown: number) =>
  past.length < 20 ? unknown : Math.max(3 * within(past, 0.5), 2 * within(past, past.length < 100 ? 0.95 : 0.98), least)

/** By hand: what each run would carry. */
function wouldCarry(run: Posted, place: number, limitsOf: (agent: string) => Limits): Category[] {
  const past = posted.slice(0, place).filter(({ agent }) => agent === run.agent)
  const { latencyMs, tokens, loopRounds } = limitsOf(run.agent)
  const isSlow =
    run.durationMs >
    (latencyMs ??
      usual(
        past.map((one) => one.durationMs),
        1_000,
        60_000,
      ))
  const isDear =
    run.rounds === 0 &&
    run.tokens >
      (tokens ??
        usual(
          past.map((one) => one.tokens),
          1_000,
          50_000,
        ))
  const isLoop = run.rounds >= (loopRounds ?? 20)
  return [
    ...(isSlow ? (['LATENCY_SPIKE'] as const) : []),
    ...(isDear ? (['COST_ANOMALY'] as const) : []),
    ...(isLoop ? (['INFINITE_LOOP'] as const) : []),
  ]
}

const preview = async (thresholds: Limits, agent: string | null = null) =>
  (
    await server.query(
      `query ($project: String!, $agent: String, $thresholds: ThresholdsInput!) {
        thresholdPreview(project: $project, agent: $agent, thresholds: $thresholds) {
          since checked isCut gained lost gainedSessions { externalId } lostSessions { externalId } } }`,
      { project: project.name, agent, thresholds },
      { 'x-api-key': project.key },
    )
  ).thresholdPreview
const set = (thresholds: Limits, agent: string | null = null) =>
  server.query(
    `mutation ($project: String!, $agent: String, $thresholds: ThresholdsInput!) {
      setThresholds(project: $project, agent: $agent, thresholds: $thresholds) { agent } }`,
    { project: project.name, agent, thresholds },
    admin,
  )
const stored = async () => {
  const { sql } = server.database
  return {
    sessions: await sql`select * from sessions order by id`,
    failures: await sql`select * from failures order by session_id, failure_key`,
    patterns: await sql`select * from failure_patterns order by id`,
    thresholds: await sql`select * from thresholds order by project_id, agent`,
  }
}
/** The categories that were found, by external id. */
const carried = async () => {
  const rows = await server.database.sql`
    select external_id, failure_categories from sessions s join projects p on p.id = s.project_id where p.name = ${project.name}`
  return new Map(rows.map((row) => [row.external_id as string, row.failure_categories as Category[]]))
}

async function compare(limits: Limits, agent: string | null, saved: Record<string, Limits> = {}) {
  const before = await carried()
  const limitsOf = (name: string): Limits =>
    agent === null ? { ...limits, ...saved[name] } : { ...saved[''], ...(name === agent ? limits : saved[name]) }
  const checked = posted.filter((run) => (agent === null || run.agent === agent) && run.daysAgo < 30)
  const gained: string[] = []
  const lost: string[] = []
  for (const run of checked) {
    const after = wouldCarry(run, posted.indexOf(run), limitsOf)
    const now = before.get(run.id)!
    if (after.some((one) => !now.includes(one))) gained.push(run.id)
    if (now.some((one) => !after.includes(one))) lost.push(run.id)
  }
  const was = await stored()
  const said = await preview(limits, agent)
  const ids = (sessions: any[]) => sessions.map(({ externalId }) => externalId).toSorted()
  expect(said).toMatchObject({ checked: checked.length, isCut: false, gained: gained.length, lost: lost.length })
  expect([ids(said.gainedSessions), ids(said.lostSessions)]).toEqual([gained.toSorted(), lost.toSorted()])
  expect(Math.abs(Date.now() - Date.parse(said.since) - 30 * DAY_MS)).toBeLessThan(60_000)
  expect(await stored()).toEqual(was)
  return { gained: gained.length, lost: lost.length }
}

test('what holds now finds what was found', async () => {
  const found = [...(await carried()).values()].flat()
  // There is something to lose of each kind.
  expect([...new Set(found)].toSorted()).toEqual(['COST_ANOMALY', 'INFINITE_LOOP', 'LATENCY_SPIKE'])
  expect(await compare({}, null)).toEqual({ gained: 0, lost: 0 })
  for (const agent of ['Steady', 'Dear', 'Long', 'Loop'])
    expect([agent, await compare({}, agent)]).toEqual([agent, { gained: 0, lost: 0 }])
})

test.each<[what: string, limits: Limits, agent: string | null]>([
  ['a lower duration for all', { latencyMs: 1_500 }, null],
  ['a higher duration for all', { latencyMs: 50_000 }, null],
  ['a duration between for all', { latencyMs: 9_000 }, null],
  ['fewer tokens for all', { tokens: 2_300 }, null],
  ['more tokens for all', { tokens: 1_000_000 }, null],
  ['fewer rounds for all', { loopRounds: 11 }, null],
  ['more rounds for all', { loopRounds: 27 }, null],
  ['all at once', { latencyMs: 3_010, tokens: 16_000, loopRounds: 1_000 }, null],
  ['one agent alone', { latencyMs: 1_200 }, 'Steady'],
  ['one agent alone, upwards', { latencyMs: 900_000, tokens: 900_000 }, 'Long'],
  ['rounds of one agent', { loopRounds: 15 }, 'Loop'],
  ['an agent that is not there', { latencyMs: 1 }, 'Nobody'],
])('%s: gains and losses are those counted by hand', async (_what, limits, agent) => {
  const { gained, lost } = await compare(limits, agent)
  expect(gained + lost > 0).toBe(agent !== 'Nobody')
})

test('for a project, agents with limits of their own keep those', async () => {
  await set({ latencyMs: 2_900 }, 'Dear')
  await set({ tokens: 40_000 })
  const saved = { Dear: { latencyMs: 2_900 }, '': { tokens: 40_000 } }
  await compare({ latencyMs: 1_000_000 }, null, saved)
  await compare({ latencyMs: 1_100, tokens: 2_100 }, null, saved)
  await compare({ latencyMs: 1_100 }, 'Steady', saved)
  // What is tried takes the place of all that the agent had.
  await compare({ tokens: 2_100 }, 'Dear', saved)
  await set({}, 'Dear')
  await set({})
})

test('at most 100 are listed, the newest first, and all are counted', async () => {
  const count = posted.length
  await project.ingestB(
    Array.from({ length: 120 }, (_, i) => execution(`many-${i}`, { workflow: 'Many', durationMs: 1_500 })),
  )
  await untilAllClassified(server.database.sql)
  const said = await preview({ latencyMs: 1_400 })
  expect(said.checked).toBe(count - posted.filter(({ daysAgo }) => daysAgo >= 30).length + 120)
  expect(said.gained).toBeGreaterThanOrEqual(120)
  expect(said.gainedSessions).toHaveLength(100)
  expect(said.gainedSessions.every(({ externalId }: any) => externalId.startsWith('many-'))).toBe(true)
})

test("another project's runs are neither checked nor shown", async () => {
  const stranger = await ownProject(server)
  const { body } = await server.graphql(
    `query ($project: String!) { thresholdPreview(project: $project, thresholds: { latencyMs: 1 }) { gained } }`,
    { project: project.name },
    { 'x-api-key': stranger.key },
  )
  expect(body.errors[0].extensions.code).toBe('NOT_FOUND')
  const own = await server.query(
    `query ($project: String!) { thresholdPreview(project: $project, thresholds: { latencyMs: 1 }) { checked gained } }`,
    { project: stranger.name },
    { 'x-api-key': stranger.key },
  )
  expect(own.thresholdPreview).toEqual({ checked: 0, gained: 0 })
})
