// A month of five agents with one cause planted in it: what an owner sees in the prompts, and whether following one shows.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sql } from '../../server/database/connect.ts'
import { letDaysPass, Month, type MonthRun } from '../support/month.ts'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const STEPS = 10
const DAYS_PER_STEP = 3
const BOOKINGS = 60
const ACTIVATED_AFTER = 5
const BURST_AT = 2
const AT_ONCE = 8

let server: TestServer
let admin: Record<string, string>
let sql: Sql
const month = new Month(20_260_301)
const posted: MonthRun[][] = []

beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
  sql = server.database.sql as unknown as Sql
})
afterAll(() => server.stop())

async function fetchActive(agent: string): Promise<string> {
  const answer = await fetch(`${server.url}/api/prompts/active?agent_name=${encodeURIComponent(agent)}`, {
    headers: { 'x-api-key': KEY, accept: 'text/plain' },
  })
  expect(answer.status).toBe(200)
  return await answer.text()
}

const RARE = [
  'HTTP 409 Conflict: the record was changed by another user',
  'getaddrinfo ENOTFOUND crm.internal',
  'HTTP 401 Unauthorized: the API key expired',
  'The request timed out after 30000 ms',
]

/** What runs in three days beside the bookings. */
function othersOf(step: number): MonthRun[] {
  return Array.from({ length: BOOKINGS }, (_, i) => [
    ...(i % 2 === 0 ? [month.order(step % 3 === 0 && i === 20)] : []),
    ...(i % 2 === 1 ? [month.digest(step === BURST_AT && i > 40 && i < 56)] : []),
    ...(i % 4 === 0 ? [month.sync(i === 8 && step % 2 === 0)] : []),
    ...(i % 4 === 2 ? [month.lead(i === 10 ? RARE[step % RARE.length]! : null)] : []),
  ]).flat()
}

async function letThreeDaysRun(step: number): Promise<void> {
  const done: MonthRun[] = []
  const post = async (runs: MonthRun[]) => {
    const bodies = runs.flatMap(({ body }) => body)
    const { status } = await (runs[0]!.platform === 'a' ? server.ingestA(bodies) : server.ingestB(bodies))
    expect(status).toBe(200)
    done.push(...runs)
  }
  let bookings = BOOKINGS
  const book = async () => {
    // Before each run its workflow asks for the prompt.
    while (bookings-- > 0) await post([month.booking(await fetchActive('Booking desk'))])
  }
  const others = othersOf(step)
  const ofPlatform = (platform: 'a' | 'b') => post(others.filter((run) => run.platform === platform))
  await Promise.all([...Array.from({ length: AT_ONCE }, book), ofPlatform('a'), ofPlatform('b')])
  posted.push(done)
  await until(async () => {
    const [open] = await sql`
      select count(*)::int as count from sessions
      where status = 'RUNNING' or classified_content < content_revision or analysed_content < content_revision`
    return open!.count === 0
  })
}

const PROMPTS = `{ promptVersions(first: 100) { nodes {
  id agent version state prompt category cause subject caution revision evidenceCount fetchCount
  effect { before { runs sessions per100Runs } after { runs sessions per100Runs } } } } }`
const promptsOf = async (agent?: string) =>
  (await server.query(PROMPTS)).promptVersions.nodes.filter((one: any) => agent === undefined || one.agent === agent)

const decide = (name: string, { id, revision }: { id: string; revision: number }) =>
  server.query(
    `mutation ($id: ID!, $revision: Int!) { ${name}(id: $id, revision: $revision, reason: "I read it") { state } }`,
    { id, revision },
    admin,
  )

const troubles = (agent: string, steps: MonthRun[][]) =>
  steps.flat().filter((run) => run.agent === agent && run.trouble !== null).length

test('a planted cause becomes one candidate, noise does not, and following the prompt shows in the numbers', async () => {
  for (let step = 0; step < ACTIVATED_AFTER; step++) {
    await letThreeDaysRun(step)
    if (step === 0) await until(async () => (await promptsOf('Booking desk')).length === 1)
    if (step === BURST_AT) {
      await until(async () => (await promptsOf('Mail digest')).length === 1)
      await decide('rejectPrompt', (await promptsOf('Mail digest'))[0])
    }
    if (step < ACTIVATED_AFTER - 1) await letDaysPass(sql, DAYS_PER_STEP)
  }
  const [candidate, ...others] = await promptsOf('Booking desk')
  expect(others).toEqual([])
  expect(candidate).toMatchObject({
    state: 'SHADOW',
    category: 'TOOL_FAILURE',
    cause: 'INVALID_INPUT',
    subject: 'create_booking',
    caution: null,
  })
  expect(candidate.prompt).toContain('"create_booking"')
  expect(candidate.prompt).toContain('dates as YYYY-MM-DD')
  expect(candidate.prompt).not.toMatch(/Friday|tomorrow|3\/9|März|14th/)
  const before = troubles('Booking desk', posted)
  await decide('activatePrompt', candidate)

  for (let step = ACTIVATED_AFTER; step < STEPS; step++) {
    await letDaysPass(sql, DAYS_PER_STEP)
    await letThreeDaysRun(step)
  }
  // A day later, so that both spans begin between two days of traffic.
  await letDaysPass(sql, 1)
  const half = BOOKINGS * ACTIVATED_AFTER
  const after = troubles('Booking desk', posted.slice(ACTIVATED_AFTER))
  const active = (await promptsOf('Booking desk')).find((one: any) => one.state === 'ACTIVE')
  expect(active.effect).toEqual({
    before: { runs: half, sessions: before, per100Runs: (100 * before) / half },
    after: { runs: half, sessions: after, per100Runs: (100 * after) / half },
  })
  expect(active.effect.before.per100Runs).toBeGreaterThan(24)
  expect(active.effect.before.per100Runs).toBeLessThan(36)
  expect(active.effect.after.per100Runs).toBeGreaterThan(0)
  expect(active.effect.after.per100Runs).toBeLessThan(5)

  await until(async () => Number((await promptsOf('Booking desk'))[0].fetchCount) === half)
  // It still happens now and then, and what the rules would propose is active already.
  expect(await promptsOf('Booking desk')).toHaveLength(1)
}, 60_000)

test('what was posted in the month is there once', async () => {
  const all = posted.flat()
  expect(all.length).toBeGreaterThan(1_450)
  const [counted] = await sql`
    select (select count(*)::int from sessions) as sessions,
      (select count(*)::int from failures) as failures,
      (select count(distinct (session_id, pattern_id))::int from failures) as distinct_failures,
      (select count(*)::int from events e join sessions s on s.id = e.session_id and e.day = (s.first_seen_at at time zone 'UTC')::date) as placed,
      (select count(*)::int from events) as events`
  expect(counted).toMatchObject({ sessions: all.length, failures: counted!.distinct_failures, placed: counted!.events })
  const withTrouble = all.filter(({ trouble }) => trouble !== null).length
  // The run of a refused booking failed too, and has no candidate of its own.
  expect(counted!.failures).toBe(withTrouble + troubles('Booking desk', posted))
})

test('the burst made one candidate that was rejected, and it does not come back without new evidence', async () => {
  expect(await promptsOf('Mail digest')).toMatchObject([
    { state: 'REJECTED', category: 'MODEL_FAILURE', cause: 'RATE_LIMIT' },
  ])
})

test('rare errors, slow runs and a workflow without a model lead to no candidate', async () => {
  const agents = (await promptsOf()).map((one: any) => one.agent)
  expect(new Set(agents)).toEqual(new Set(['Booking desk', 'Mail digest']))
  for (const agent of ['Lead scorer', 'Order status agent', 'Nightly stock']) {
    expect(troubles(agent, posted)).toBeGreaterThan(3)
  }
})
