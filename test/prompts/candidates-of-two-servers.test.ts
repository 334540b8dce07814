// Two servers on one database: whatever comes through both, each repeated failure has one candidate.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { promptsOn, failingRuns } from '../support/prompt-stand.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let servers: TestServer[]
let stands: Awaited<ReturnType<typeof promptsOn>>[]
beforeAll(async () => {
  database = await newDatabase()
  servers = await Promise.all([startServer({ database }), startServer({ database })])
  stands = await Promise.all(servers.map(promptsOn))
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  await database.drop()
})

const uuidOf = (id: string) => Buffer.from(id, 'base64').toString().split(':')[1]!

test('the same failures through both at once make one candidate for each agent and pattern', async () => {
  const agents = Array.from({ length: 8 }, (_, i) => `Both ${i}`)
  const tools = ['a', 'b'].map((letter) => `tool-${letter}`)
  await Promise.all(
    agents.flatMap((agent) =>
      servers.map((server, i) =>
        server.ingestA(tools.flatMap((tool) => failingRuns(agent, 6, { tool, from: 1 + 100 * i }))),
      ),
    ),
  )
  for (const agent of agents) await stands[0]!.candidates(agent, 2)
  await Promise.all(stands.map(({ lookedAt }) => lookedAt()))
  const rows = await database.sql`
    select agent, subject, count(*)::int as made from prompt_versions where agent like 'Both%' group by agent, subject`
  expect(rows).toHaveLength(16)
  expect(new Set(rows.map(({ made }) => made))).toEqual(new Set([1]))
  const [numbers] = await database.sql`
    select count(*)::int as versions, max(version) as most from prompt_versions where agent = 'Both 0'`
  expect(numbers).toEqual({ versions: 2, most: 2 })
})

test('what was decided while a server was about to make a candidate counts: it makes none of the same sessions', async () => {
  const { sql } = database
  const first = await stands[0]!.candidate('Slow maker')
  await stands[0]!.decide('reject', { id: first.id, revision: 1, reason: 'No' })
  const key = `prompts of 1 Slow maker`
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`
    await stands[1]!.fail('Slow maker', 5, { from: 20 })
    await until(
      async () => (await sql`select from pg_locks where locktype = 'advisory' and not granted`).length,
      (waiting) => waiting > 0,
    )
    // Meanwhile another has made it of the same sessions, and somebody rejected it.
    await tx`
      insert into prompt_versions (id, project_id, agent, version, state, prompt, maker, pattern_id, created_at, decided_at)
      select gen_random_uuid(), project_id, agent, 2, 'REJECTED', prompt, maker, pattern_id, clock_timestamp(), clock_timestamp()
      from prompt_versions where id = ${uuidOf(first.id)}`
  })
  await stands[1]!.lookedAt()
  expect((await stands[0]!.ofAgent('Slow maker')).map(({ state }) => state)).toEqual(['REJECTED', 'REJECTED'])
})

test('an activation on one is fetched from the other within a second', async () => {
  const made = await stands[0]!.byHand('Across')
  await stands[0]!.decide('activate', { id: made.id, revision: 1, reason: 'Go' })
  await until(
    async () => (await (await stands[1]!.active('Across')).json()).version,
    (version) => version === 1,
    1_000,
  )
  await stands[1]!.decide('retire', { id: made.id, revision: 2, reason: 'Stop' })
  await until(
    async () => (await (await stands[0]!.active('Across')).json()).version,
    (version) => version === null,
    1_000,
  )
})

test('20 activations at once through both leave exactly one active, and the history of each agrees with its state', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => stands[i % 2]!.byHand('Race', `Text ${i}.`)))
  expect(made.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, i) => i + 1),
  )
  const answers = await Promise.all(
    made.map(({ id }, i) => stands[i % 2]!.decide('activate', { id, revision: 1, reason: `Try ${i}` })),
  )
  const taken = answers.filter(({ state }) => state === 'ACTIVE')
  expect(taken).toHaveLength(1)
  expect(new Set(answers.map(({ refused }) => refused))).toEqual(new Set([undefined, 'CONFLICT']))
  const all = await stands[0]!.ofAgent('Race')
  expect(all.filter(({ state }) => state === 'ACTIVE').map(({ id }) => id)).toEqual([taken[0].id])
  for (const { state, decisions, activatedAt } of all) {
    expect(decisions.map(({ action }: any) => action)).toEqual(
      state === 'ACTIVE' ? ['ACTIVATED', 'CREATED'] : ['CREATED'],
    )
    expect(activatedAt === null).toBe(state !== 'ACTIVE')
  }
})

test('20 activations at once, each after the one it saw, follow one another without a gap', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => stands[i % 2]!.byHand('Chain', `Text ${i}.`)))
  let tries = 0
  await Promise.all(
    made.map(async ({ id }, i) => {
      const stand = stands[i % 2]!
      for (; tries < 2_000; tries++) {
        const [row] = await database.sql`select version from prompt_versions where agent = 'Chain' and state = 'ACTIVE'`
        const answer = await stand.decide('activate', {
          id,
          revision: 1,
          activeVersion: row?.version ?? null,
          reason: 'Next',
        })
        if (!answer.refused) return
        expect(answer.refused).toBe('CONFLICT')
      }
    }),
  )
  const all = await stands[0]!.ofAgent('Chain')
  const isActive = ({ state }: { state: string }) => state === 'ACTIVE'
  expect([all.filter(isActive).length, all.filter(({ state }) => state === 'RETIRED').length]).toEqual([1, 19])
  const steps = await database.sql`
    select d.action, v.version from prompt_decisions d join prompt_versions v on v.id = d.prompt_id
    where v.agent = 'Chain' and d.action <> 'CREATED' order by d.id`
  // Each takes the place of the one before: retired, activated, retired, activated.
  let active: number | null = null
  for (const { action, version } of steps) {
    if (action === 'RETIRED') expect(version).toBe(active)
    active = action === 'RETIRED' ? null : version
    if (action === 'ACTIVATED') expect(version).toBeTruthy()
  }
  expect(active).toBe(all.find(isActive).version)
})
