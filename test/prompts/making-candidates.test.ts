// When a repeated failure becomes a candidate: once, of enough new sessions, and never where nobody wants it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { promptStand, failingRuns, type PromptStand } from '../support/prompt-stand.ts'
import { untilAllClassified } from '../support/failed-runs.ts'
import { until } from '../support/until.ts'

let stand: PromptStand
beforeAll(async () => void (stand = await promptStand()))
afterAll(() => stand.stop())

const patternOf = (agent: string) =>
  until<string>(
    async () =>
      (
        await stand.server.query(
          `query ($agent: String!) { failurePatterns(filter: { agents: [$agent] }) { nodes { id } } }`,
          {
            agent,
          },
        )
      ).failurePatterns.nodes[0]?.id,
    Boolean,
  )
const onPattern = async (mutation: string, agent: string) => {
  await untilAllClassified(stand.server.database.sql)
  await stand.server.query(
    `mutation { ${mutation.replace('$id', JSON.stringify(await patternOf(agent)))} { id } }`,
    {},
    stand.admin,
  )
}

test('a burst of failures makes one candidate, however it is posted', async () => {
  await Promise.all(Array.from({ length: 40 }, (_, i) => stand.fail('Burst', 5, { from: 1 + 5 * i })))
  await stand.candidates('Burst')
  await stand.fail('Burst', 20, { from: 1_000 })
  await stand.lookedAt()
  const all = await stand.ofAgent('Burst')
  expect(all).toHaveLength(1)
  expect(all[0]).toMatchObject({ version: 1, state: 'SHADOW', revision: 1, maker: 'RULES', createdBy: null })
  expect(all[0].decisions).toMatchObject([{ action: 'CREATED', decidedBy: null }])
  expect(all[0].proposals).toMatchObject([{ maker: 'RULES', prompt: all[0].prompt }])
})

test('none is made of too few, of the nameless, of what is muted, resolved, switched off, or no longer new', async () => {
  await Promise.all([
    stand.rule('Off', { isEnabled: false, sessions: 1, days: 7 }),
    stand.rule('Resolved', { isEnabled: false, sessions: 5, days: 7 }),
    stand.rule('Many', { sessions: 8, days: 7 }),
    stand.rule('Aged', { sessions: 5, days: 1 }),
  ])
  const decided = await stand.candidate('Decided')
  expect(await stand.decide('reject', { id: decided.id, revision: 1, reason: 'Not needed' })).toMatchObject({
    state: 'REJECTED',
  })
  await Promise.all([
    stand.fail('Few', 4),
    stand.fail('Off', 9),
    stand.fail('Many', 7),
    stand.fail('Muted', 1),
    stand.fail('Resolved', 6),
    stand.fail(undefined, 9, { tool: 'of nobody' }),
    stand.fail('   ', 9, { tool: 'of blank' }),
    stand.fail('Decided', 4, { from: 50 }),
    stand.fail('Aged', 3),
  ])
  await onPattern('muteFailurePattern(id: $id, days: 3)', 'Muted')
  await onPattern('resolveFailurePattern(id: $id)', 'Resolved')
  await stand.server.database
    .sql`update failures set seen_at = now() - interval '2 days' where session_id in (select id from sessions where agent = 'Aged')`
  await stand.rule('Resolved', null)
  await Promise.all([
    stand.fail('Muted', 8, { from: 2 }),
    stand.fail('Resolved', 4, { from: 50 }),
    stand.fail('Aged', 4, { from: 50 }),
    // The same four, told of once more, and events that come late to sessions from before the decision.
    stand.fail('Few', 4),
    stand.server.ingestA(
      (failingRuns('Decided', 5) as { session_id: string }[]).map(({ session_id }) => ({
        session_id,
        type: 'span',
        name: 'late',
      })),
    ),
  ])
  await stand.lookedAt()
  const made = (await stand.versions()).map(({ agent }) => agent).filter((agent) => !/^(Control|Burst)/.test(agent))
  expect(made).toEqual(['Decided'])

  // One more each, and those that were one short are made.
  await Promise.all([
    ...['Few', 'Resolved', 'Decided', 'Aged'].map((agent) => stand.fail(agent, 1, { from: 90 })),
    stand.fail('Many', 1, { from: 90 }),
  ])
  for (const agent of ['Few', 'Resolved', 'Decided', 'Aged', 'Many']) await stand.candidates(agent)
  const [second, first] = await stand.ofAgent('Decided')
  expect([second.version, second.evidenceCount, first.state]).toEqual([2, 5, 'REJECTED'])
  expect((await stand.ofAgent('Resolved'))[0]).toMatchObject({ version: 1, evidenceCount: 5 })
  expect((await stand.ofAgent('Many'))[0]).toMatchObject({ evidenceCount: 8, evidenceDays: 7 })
  expect((await stand.ofAgent('Aged'))[0]).toMatchObject({ evidenceCount: 5, evidenceDays: 1 })
  for (const agent of ['Off', 'Muted']) expect(await stand.ofAgent(agent)).toEqual([])
})

test('an agent with many failures has at most ten open candidates, and the next when one is decided about', async () => {
  const tools = Array.from({ length: 14 }, (_, i) => `tool-${String.fromCharCode(97 + i)}`)
  await stand.server.ingestA(tools.flatMap((tool) => failingRuns('Storm', 5, { tool })))
  await stand.candidates('Storm', 10)
  await stand.lookedAt()
  const open = await stand.ofAgent('Storm')
  expect(open).toHaveLength(10)
  expect(new Set(open.map(({ version }) => version)).size).toBe(10)
  await stand.decide('reject', { id: open[0].id, revision: 1, reason: 'No' })
  const left = tools.find((tool) => open.every(({ subject }) => subject !== tool))!
  await stand.fail('Storm', 1, { tool: left, from: 60 })
  await until(async () => (await stand.ofAgent('Storm')).some(({ subject }) => subject === left), Boolean)
  expect((await stand.ofAgent('Storm')).filter(({ state }) => state === 'SHADOW')).toHaveLength(10)
})

test('what is set for the project holds for agents without a rule of their own, and a rule finds its agent', async () => {
  await stand.rule(null, { sessions: 2, days: 7 })
  await stand.rule('Own rule', { sessions: 3, days: 7 })
  await Promise.all([stand.fail('Of the project', 2), stand.fail('Own rule', 2)])
  await stand.candidates('Of the project')
  await stand.lookedAt()
  expect(await stand.ofAgent('Own rule')).toEqual([])
  await stand.fail('Own rule', 1, { from: 9 })
  expect((await stand.candidates('Own rule'))[0]).toMatchObject({ evidenceCount: 3 })
  const { setCandidateRule } = await stand.rule(null, null)
  expect(setCandidateRule[0]).toEqual({ agent: null, isEnabled: true, sessions: 5, days: 7, isDefault: true })
})

test.each([
  [{ sessions: 0, days: 7 }, 'sessions must be 1 to 1000, not 0.'],
  [{ sessions: 1_001, days: 7 }, 'sessions must be 1 to 1000, not 1001.'],
  [{ sessions: 5, days: 0 }, 'days must be 1 to 30, not 0.'],
  [{ sessions: 5, days: 31 }, 'days must be 1 to 30, not 31.'],
])('a rule of %j is refused in words', async (rule, sentence) => {
  await expect(stand.rule(null, rule)).rejects.toThrow(sentence)
})

test.each(['', '   ', 'a\u0000b', 'x'.repeat(501)])('a rule for an agent %j is refused in words', async (agent) => {
  await expect(stand.rule(agent, { sessions: 5, days: 7 })).rejects.toThrow(/agent must be 1 to 500 characters/)
})
