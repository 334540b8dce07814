// What other runs tell of a run: unusual cost and duration, beginnings that are sent again and again, dearer models.
import { describe, expect, test } from 'vitest'
import type { Beginning, ModelUse } from '../../server/findings/finding.ts'
import { chainOf, useKey, usualOf, workOf } from '../../server/findings/rules-of-usual.ts'
import { found, step, tool, usual, type Around, type Step } from '../support/analysed-run.ts'

describe('a duration far from what is usual', () => {
  const around = (session: Around['session'], value: (i: number) => number = () => 1_000, count = 20): Around => ({
    session,
    surroundings: { durationMs: usual(count, value) },
  })

  test('is told with the step that took most of it, on either platform', () => {
    const slow = tool('search', { durationMs: 9_000 })
    const events = [tool('other', { durationMs: 100 }), slow]
    for (const platform of ['PLATFORM_A', 'PLATFORM_B'] as const) {
      expect(found('UNUSUAL_DURATION', events, around({ durationMs: 10_000, platform }))).toEqual([
        {
          kind: 'UNUSUAL_DURATION',
          subject: null,
          sentence: `The run took 10.0 s; half of the agent's last 20 runs took at most 1.0 s. 9.0 s of it went into "search".`,
          advice: 'Open "search" and compare what it was given with another run.',
          saving: { usd: null, tokens: null, ms: 9_000 },
          evidence: [slow.key],
        },
      ])
    }
  })

  test('names no step that only holds others', () => {
    const agent = step({ type: 'SPAN', name: 'Agent', durationMs: 10_000 })
    const [finding] = found(
      'UNUSUAL_DURATION',
      [agent, tool('t', { parentKey: agent.key })],
      around({ durationMs: 10_000 }),
    )
    expect(finding!.sentence).not.toContain('went into')
    expect(finding!.evidence).toEqual([])
  })

  test('does not count the time in which the run waited', () => {
    const waited = { durationMs: 172_800_000, activeMs: 1_100 }
    expect(found('UNUSUAL_DURATION', [], around(waited))).toEqual([])
    const [finding] = found('UNUSUAL_DURATION', [], around({ ...waited, activeMs: 60_000 }))
    expect(finding!.sentence).toMatch(/^The run took 1 min without the time it waited; half/)
    expect(finding!.saving.ms).toBe(59_000)
  })

  test.each<[string, Around]>([
    ['too few runs before it', around({ durationMs: 60_000 }, () => 1_000, 19)],
    ['a run that is not closed', around({ durationMs: 60_000, status: 'RUNNING' })],
    ['a duration that is not known', around({ durationMs: null })],
    ['less than three times the median', around({ durationMs: 2_999 })],
    ['a spread as wide as this', around({ durationMs: 10_000 }, (i) => 1_000 * (i % 10))],
    ['milliseconds of a run that takes none', around({ durationMs: 900 }, () => 0)],
  ])('is none: %s', (_, surroundings) => {
    expect(found('UNUSUAL_DURATION', [], surroundings)).toEqual([])
  })
})

describe('a cost far from what is usual', () => {
  const surroundings = { costUsd: usual(30, () => 0.01) }
  const events = [step({ name: 'Writer', costUsd: 0.09 }), step({ costUsd: 0.01 })]

  test('is told with the call that cost most of it', () => {
    const [finding] = found('UNUSUAL_COST', events, { surroundings })
    expect(finding!.sentence).toBe(
      `The run cost 0.1000 USD; half of the agent's last 30 runs cost at most 0.0100 USD. 0.0900 USD of it went into "Writer".`,
    )
    expect(finding!.saving).toEqual({ usd: expect.closeTo(0.09, 9), tokens: null, ms: null })
  })

  test('says "at least" where a call has no price', () => {
    const [finding] = found('UNUSUAL_COST', events, { surroundings, session: { unpricedCalls: 1 } })
    expect(finding!.sentence).toMatch(/^The run cost at least 0\.1000 USD;/)
  })

  test('is none where the cost is not known, or fractions of a cent', () => {
    expect(found('UNUSUAL_COST', [], { surroundings, session: { costUsd: null } })).toEqual([])
    const tiny = { costUsd: usual(30, () => 0.00001) }
    expect(found('UNUSUAL_COST', [], { surroundings: tiny, session: { costUsd: 0.0009 } })).toEqual([])
  })

  test('is compared with a median that neither order nor one odd run changes', () => {
    expect(usualOf([...Array(19).fill(1), 1_000].toReversed())).toEqual({ median: 1, p95: 1_000, runs: 20 })
    expect(usualOf(Array(19).fill(1))).toBeNull()
  })
})

describe('a beginning that is sent run after run', () => {
  const RULES = 'You answer for a dentist in Basel. '.repeat(300)
  const call = (own: Step = {}) =>
    step({
      name: 'Agent',
      model: 'dear',
      input: `${RULES}What now?`,
      promptTokens: 2_600,
      completionTokens: 10,
      ...own,
    })
  const earlier = (own: Partial<Beginning> = {}, count = 3, name = 'Agent'): Around => ({
    surroundings: {
      beginnings: new Map([
        [
          `LLM_CALL ${name} dear`,
          Array.from({ length: count }, () => ({ at: 900_000, chain: chainOf(`${RULES}Hello`), ...own })),
        ],
      ]),
    },
  })

  test('is told with what a cache would save', () => {
    const [finding, ...more] = found('FIXED_BEGINNING', [call(), call()], earlier())
    expect(more).toEqual([])
    expect(finding!.sentence).toMatch(/^The prompt of "Agent" begins with the same 2,\d{3} tokens run after run\.$/)
    expect(finding!.saving.usd).toBeGreaterThan(0.01)
    expect(finding!.saving.usd).toBeLessThan(0.0131)
    expect(finding!.evidence).toHaveLength(1)
  })

  test('never saves more than the call cost, and nothing known where that is unknown', () => {
    expect(found('FIXED_BEGINNING', [call({ costUsd: 0.0001 })], earlier())[0]!.saving.usd).toBe(0.0001)
    expect(found('FIXED_BEGINNING', [call({ costUsd: null })], earlier())[0]!.saving.usd).toBeNull()
    const [uncounted] = found('FIXED_BEGINNING', [call({ promptTokens: null })], earlier())
    expect(uncounted!.sentence).toMatch(/ the same 10,\d{3} characters run after run\.$/)
    expect(uncounted!.saving).toEqual({ usd: null, tokens: null, ms: null })
  })

  test.each<[string, Around, Step]>([
    ['two runs before it', earlier({}, 2), {}],
    ['the last one was longer ago than a cache keeps', earlier({ at: 1_000_000 - 3_600_001 }), {}],
    ['one of them began otherwise', earlier({ chain: chainOf('x'.repeat(9_000)) }), {}],
    ['another step', earlier({}, 3, 'Other'), {}],
    ['fewer tokens than are cached', earlier(), { promptTokens: 900 }],
    ['a short prompt', earlier(), { input: 'What now?' }],
    ['a prompt that was not read', earlier(), { input: null }],
  ])('is none: %s', (_, around, own) => {
    expect(found('FIXED_BEGINNING', [call(own)], around)).toEqual([])
  })

  test('is told apart by each letter of it', () => {
    expect(chainOf('a'.repeat(600))).toHaveLength(2)
    expect(chainOf(`b${'a'.repeat(599)}`)[1]).not.toBe(chainOf('a'.repeat(600))[1])
    expect(chainOf('a'.repeat(100_000))).toHaveLength(64)
  })
})

describe('a model that is dearer than what others use', () => {
  const call = (own: Step = {}) =>
    step({
      name: 'Mail',
      model: 'dear',
      input: 'x',
      output: 'billing',
      promptTokens: 1_000,
      completionTokens: 10,
      ...own,
    })
  const WORK = workOf(call())!
  const use = (model: string, own: Partial<ModelUse> = {}): ModelUse => ({
    model,
    agents: 1,
    calls: 100,
    success: 0.95,
    ...own,
  })
  const around = (other: ModelUse, mine = use('dear')): Around => ({
    surroundings: { own: new Map([[useKey(WORK, 'dear'), mine]]), others: new Map([[WORK, [other]]]) },
  })

  test('is told with the difference in price', () => {
    const [finding] = found(
      'DEARER_MODEL',
      [call(), call()],
      around(use('cheap', { agents: 2, calls: 1_200, success: 0.997 })),
    )
    expect(finding).toMatchObject({
      subject: 'dear',
      sentence:
        '"dear" wrote short labels from prompts of 500 to 2,000 tokens for 0.0208 USD; 2 other agents use "cheap" for such work with the same success (99.7 % of 1,200 calls, here 95 % of 100).',
      saving: { usd: expect.closeTo(0.01872, 9), tokens: null, ms: null },
    })
    expect(finding!.evidence).toHaveLength(2)
  })

  test('does not say that it was free where it cost next to nothing', () => {
    const small = call({ promptTokens: 5, completionTokens: 1 })
    const work = workOf(small)!
    const [finding] = found('DEARER_MODEL', [small], {
      surroundings: {
        own: new Map([[useKey(work, 'dear'), use('dear')]]),
        others: new Map([[work, [use('cheap')]]]),
      },
    })
    expect(finding!.sentence).toMatch(/ under 500 tokens for less than 0\.0001 USD; another agent uses "cheap" /)
    expect(finding!.saving.usd).toBeCloseTo(0.000081, 9)
  })

  test.each<[string, Around, Step]>([
    ['one that is hardly cheaper', around(use('as-dear')), {}],
    ['one of which too little is known', around(use('cheap', { calls: 29 })), {}],
    ['too little known of its own calls', around(use('cheap'), use('dear', { calls: 29 })), {}],
    ['one that fails more often', around(use('cheap', { success: 0.92 })), {}],
    ['one without a price', around(use('llama')), {}],
    ['the same model', around(use('dear')), {}],
    ['a call that failed', around(use('cheap')), { hasError: true }],
    ['tokens that are not known', around(use('cheap')), { completionTokens: null }],
    ['a cost that is not known', around(use('cheap')), { costUsd: null }],
    ['an answer that is not known', around(use('cheap')), { output: null }],
    ['another kind of work', around(use('cheap')), { output: '{"label": "billing"}' }],
    ['a cost so low already that the other is dearer', around(use('cheap')), { costUsd: 0.0001 }],
  ])('is none: %s', (_, surroundings, own) => {
    expect(found('DEARER_MODEL', [call(own)], surroundings)).toEqual([])
  })

  test('kinds of work are told by what is answered and by how much is given', () => {
    const said = (output: string, promptTokens: number | null = 100) =>
      workOf({ output, outputLength: output.length, promptTokens })
    expect(said('yes')).toBe('short labels from prompts under 500 tokens')
    expect(said('{"a": 1}', 8_000)).toBe('JSON from prompts over 8,000 tokens')
    expect(said('```json\n[]', 2_000)).toBe('JSON from prompts of 2,000 to 8,000 tokens')
    expect(said('word '.repeat(100))).toBe('short texts from prompts under 500 tokens')
    expect(said('word '.repeat(1_000))).toBe('long texts from prompts under 500 tokens')
    expect(said('')).toBeNull()
    expect(said('yes', null)).toBeNull()
  })
})
