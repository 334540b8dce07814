// What people do with prompt versions: each way from state to state with who, when and why, and what came of it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patternStand } from '../support/pattern-stand.ts'
import { failingRuns, promptStand, type PromptStand } from '../support/prompt-stand.ts'
import { ADMIN } from '../support/server.ts'

let stand: PromptStand
beforeAll(async () => void (stand = await promptStand()))
afterAll(() => stand.stop())

const TEXTS = {
  activate: { reason: 'Go' },
  reject: { reason: 'No' },
  retire: { reason: 'Stop' },
  edit: { prompt: 'Other.' },
}
type Act = keyof typeof TEXTS
const WAYS: Record<string, Act[]> = {
  SHADOW: [],
  ACTIVE: ['activate'],
  REJECTED: ['reject'],
  RETIRED: ['activate', 'retire'],
}
const ALLOWED: Record<string, Partial<Record<Act, string>>> = {
  SHADOW: { edit: 'SHADOW', activate: 'ACTIVE', reject: 'REJECTED' },
  ACTIVE: { retire: 'RETIRED' },
  RETIRED: { activate: 'ACTIVE' },
  REJECTED: {},
}

test.each(Object.keys(WAYS).flatMap((state) => (Object.keys(TEXTS) as Act[]).map((act) => [state, act] as const)))(
  'from %s: %s',
  async (state, act) => {
    const agent = `${state} ${act}`
    let version = await stand.byHand(agent)
    for (const step of WAYS[state]!)
      version = await stand.decide(step, { id: version.id, revision: version.revision, ...TEXTS[step] })
    expect(version.state).toBe(state)
    const answer = await stand.decide(act, { id: version.id, revision: version.revision, ...TEXTS[act] })
    const to = ALLOWED[state]![act]
    if (to === undefined) {
      expect(answer).toMatchObject({
        refused: 'CONFLICT',
        says: expect.stringMatching(/^This version is .*: that cannot be done with it\.$/),
      })
      return expect((await stand.ofAgent(agent))[0]).toEqual(version)
    }
    expect(answer).toMatchObject({ state: to, revision: version.revision + 1 })
    const action = {
      edit: 'EDITED',
      activate: state === 'RETIRED' ? 'ROLLED_BACK' : 'ACTIVATED',
      reject: 'REJECTED',
      retire: 'RETIRED',
    }[act]
    expect(answer.decisions[0]).toMatchObject({
      action,
      decidedBy: ADMIN.email,
      reason: act === 'edit' ? null : (TEXTS[act] as { reason: string }).reason,
      prompt: act === 'edit' ? 'Other.' : null,
    })
    expect(Math.abs(Date.now() - Date.parse(answer.decisions[0].decidedAt))).toBeLessThan(60_000)
    expect(answer.activatedAt !== null).toBe(to === 'ACTIVE' || to === 'RETIRED')
    expect(answer.retiredAt !== null).toBe(to === 'RETIRED')
  },
)

test('who read an older text, or saw another version active, is told so, and nothing is decided', async () => {
  const [one, two] = [await stand.byHand('Read late'), await stand.byHand('Read late')]
  await stand.decide('edit', { id: one.id, revision: 1, prompt: 'Other.' })
  for (const act of ['activate', 'reject', 'edit'] as const)
    expect(await stand.decide(act, { id: one.id, revision: 1, ...TEXTS[act] })).toEqual({
      refused: 'CONFLICT',
      says: 'Somebody changed this version since you read it. Read it again, then decide.',
    })
  await stand.decide('activate', { id: one.id, revision: 2, reason: 'Go' })
  for (const activeVersion of [null, 2])
    expect(await stand.decide('activate', { id: two.id, revision: 1, activeVersion, reason: 'Go' })).toEqual({
      refused: 'CONFLICT',
      says: 'Version 1 is active by now. Compare with it, then decide.',
    })
  const taken = await stand.decide('activate', { id: two.id, revision: 1, activeVersion: 1, reason: 'Better' })
  expect(taken.state).toBe('ACTIVE')
  const [, before] = await stand.ofAgent('Read late')
  expect(before).toMatchObject({ state: 'RETIRED', revision: 4 })
  expect(before.decisions[0]).toMatchObject({
    action: 'RETIRED',
    decidedBy: ADMIN.email,
    reason: 'Version 2 took its place',
  })
})

test.each([
  ['reject', { reason: '  ' }, 'reason must not be empty'],
  ['activate', { reason: 'x'.repeat(1_001) }, 'reason takes at most 1000 characters, not 1001.'],
  ['edit', { prompt: ' \n ' }, 'prompt must not be empty'],
  ['edit', { prompt: 'x'.repeat(4_001) }, 'prompt takes at most 4000 characters, not 4001.'],
  ['edit', { prompt: 'a\u0000b' }, 'prompt holds a character that cannot be stored'],
])('%s with %j is refused in words', async (act, more, sentence) => {
  const { id } = await stand.byHand('Words')
  expect(await stand.decide(act, { id, revision: 1, ...more })).toMatchObject({
    refused: 'BAD_USER_INPUT',
    says: expect.stringContaining(sentence),
  })
})

test('what came of it is counted per 100 runs, before and after, each session once', async () => {
  const { age } = patternStand(stand.server, stand.admin)
  const agent = 'Effect'
  const good = (n: number, from: number) =>
    Array.from({ length: n }, (_, i) => ({
      session_id: `effect-good-${from + i}`,
      agent_name: agent,
      type: 'span',
      status: 'success',
    }))
  await stand.server.ingestA([...failingRuns(agent, 6), ...good(14, 0)])
  const [candidate] = await stand.candidates(agent)
  // One of them was seen too long ago to count.
  await age('Effect-book_slot-6', 8 * 24)
  const active = await stand.decide('activate', { id: candidate.id, revision: 1, reason: 'Go' })
  expect(active.effect).toEqual({
    before: { runs: 19, sessions: 5, per100Runs: (100 * 5) / 19 },
    after: { runs: 0, sessions: 0, per100Runs: null },
  })
  await stand.server.ingestA([
    ...failingRuns(agent, 1, { from: 50 }),
    // The same failure twice in one run, and a run that has not ended.
    ...failingRuns(agent, 1, { from: 50 }),
    ...failingRuns(agent, 1, { tool: 'other_tool', from: 60 }),
    ...good(2, 50),
    { session_id: 'effect-running', agent_name: agent, type: 'span' },
  ])
  await stand.lookedAt()
  expect((await stand.ofAgent(agent))[0].effect).toEqual({
    before: { runs: 19, sessions: 5, per100Runs: (100 * 5) / 19 },
    after: { runs: 4, sessions: 1, per100Runs: 25 },
  })
})
