// What a run tells by itself: prompts sent again, tries after errors, context that grows, models without a price.
import { describe, expect, test } from 'vitest'
import { findGrowingContext } from '../../server/findings/rules-of-steps.ts'
import { found, runWith, sentences, step, tool, type Step } from '../support/analysed-run.ts'

const PROMPT = 'Classify this mail: my invoice is wrong'
const call = (own: Step = {}) =>
  step({
    name: 'Mail',
    model: 'dear',
    input: PROMPT,
    output: 'billing',
    promptTokens: 1_000,
    completionTokens: 10,
    ...own,
  })

describe('a prompt that is sent again', () => {
  test('is told with all that the later calls cost', () => {
    const calls = [call(), call(), call({ durationMs: 5 })]
    expect(found('REPEATED_PROMPT', calls)).toEqual([
      {
        kind: 'REPEATED_PROMPT',
        subject: 'Mail',
        sentence: 'A prompt of "Mail" that had been answered in this run was sent 2 times more.',
        advice:
          'Keep the first answer and use it again: move the call before the loop, or let it run once for all items (n8n: Execute Once).',
        saving: { usd: expect.closeTo(0.0208, 9), tokens: 2_020, ms: null },
        evidence: calls.map(({ key }) => key),
      },
    ])
  })

  test.each<[string, Step, Step]>([
    ['other words', {}, { input: `${PROMPT}.` }],
    ['another model', {}, { model: 'cheap' }],
    ['the same last message behind another conversation', { promptTokens: 300 }, { promptTokens: 900 }],
    ['a first try that failed', { hasError: true }, {}],
    ['a second try that failed', {}, { hasError: true }],
    ['so few letters that it may be chance', { input: 'yes' }, { input: 'yes' }],
    ['nothing', { input: '' }, { input: '' }],
    ['a text that was not read', { input: null }, { input: null }],
    ['a tool', { type: 'TOOL_CALL' }, { type: 'TOOL_CALL' }],
  ])('is none: %s', (_, first, second) => {
    expect(found('REPEATED_PROMPT', [call(first), call(second)])).toEqual([])
  })

  test('has an unknown price where one of the calls has none', () => {
    const [finding] = found('REPEATED_PROMPT', [call(), call(), call({ costUsd: null })])
    expect(finding!.saving).toEqual({ usd: null, tokens: 2_020, ms: null })
  })

  test('is told apart by its end, however long both are', () => {
    const long = 'x'.repeat(1_000_000)
    const cut = { input: long.slice(0, 16_384), inputLength: 1_000_001 }
    const calls = [call({ ...cut, inputDigest: 'one' }), call({ ...cut, inputDigest: 'two' })]
    expect(found('REPEATED_PROMPT', calls)).toEqual([])
  })
})

describe('tries after an error', () => {
  const failed = (own: Step = {}) => tool('book', { input: '{"day":1}', hasError: true, durationMs: 400, ...own })
  const worked = (own: Step = {}) => failed({ hasError: false, ...own })

  test('are told with the time that the failed ones took', () => {
    const [finding, ...more] = found('RETRIES', [failed(), failed(), worked()])
    expect(more).toEqual([])
    expect(finding).toMatchObject({
      subject: 'book',
      sentence: '"book" failed 2 times and was tried again until it worked; the tries that failed took 800 ms.',
      saving: { usd: null, tokens: null, ms: 800 },
    })
  })

  test('without success cost what all but the last took', () => {
    const [finding] = found('RETRIES', [failed(), failed(), failed()])
    expect(finding!.sentence).toBe(
      '"book" failed 3 times and was tried again without success; the tries that failed took 1.2 s.',
    )
    expect(finding!.saving.ms).toBe(800)
    expect(finding!.evidence).toHaveLength(3)
  })

  test('a failure after the try that worked is not counted among those that were tried again', () => {
    const [finding] = found('RETRIES', [failed(), worked(), failed()])
    expect(finding!.sentence).toBe(
      '"book" failed 1 time and was tried again until it worked; the tries that failed took 400 ms.',
    )
    expect(finding!.evidence).toHaveLength(1)
  })

  test('a failure of another item is not counted either', () => {
    const [finding] = found('RETRIES', [failed({ input: 'b' }), failed({ input: 'a' }), worked({ input: 'a' })])
    expect(finding!.saving.ms).toBe(400)
    expect(finding!.evidence).toHaveLength(1)
  })

  test.each([
    ['a loop over items of which one failed', [failed({ input: 'a' }), worked({ input: 'b' }), worked({ input: 'c' })]],
    ['items that are not known', [failed({ input: null }), worked({ input: null })]],
    ['another tool with the same input', [failed(), tool('cancel', { input: '{"day":1}' })]],
    ['a failure alone', [failed()]],
    ['the order turned round: it worked, then failed', [worked(), failed()]],
    ['steps that only hold others', [failed({ type: 'SPAN' }), worked({ type: 'SPAN' })]],
  ])('are none: %s', (_, events) => {
    expect(found('RETRIES', events)).toEqual([])
  })

  test('of a model cost tokens and money, unknown where they are', () => {
    const tries = [call({ hasError: true, durationMs: null }), call()]
    expect(found('RETRIES', tries)[0]!.saving).toEqual({ usd: expect.closeTo(0.0104, 9), tokens: 1_010, ms: null })
    const unknown = [call({ hasError: true, promptTokens: null, completionTokens: null, costUsd: null }), call()]
    expect(found('RETRIES', unknown)[0]!.saving).toEqual({ usd: null, tokens: null, ms: null })
    expect(sentences('RETRIES', unknown)).toEqual(['"Mail" failed 1 time and was tried again until it worked.'])
  })

  test('of several items are one finding with one sum', () => {
    const items = ['a', 'b', 'c'].flatMap((input) => [failed({ input }), worked({ input })])
    const [finding, ...more] = found('RETRIES', items)
    expect(more).toEqual([])
    expect(finding!.sentence).toMatch(/ The same was seen 2 times more in this run\.$/)
    expect(finding!.saving.ms).toBe(1_200)
    expect(finding!.evidence).toHaveLength(3)
  })
})

describe('a run that repeats another', () => {
  const retried = { durationMs: 5_000, costUsd: 0.3, tokens: 900 }
  test('costs what the other spent in vain', () => {
    const [finding] = found('RETRIES', [], { session: { retryOf: '45' }, surroundings: { retried } })
    expect(finding).toMatchObject({
      subject: null,
      sentence: 'The run repeats run 45; 5.0 s of that one were spent for nothing.',
      saving: { usd: 0.3, tokens: 900, ms: 5_000 },
    })
  })

  test('does not pay again for the steps that it takes over', () => {
    const kept = call({ occurredAt: 500, durationMs: 4_000, costUsd: 0.2, promptTokens: 590, completionTokens: 10 })
    const [finding] = found('RETRIES', [kept, call({ occurredAt: 1_500 })], {
      session: { retryOf: '45', startedAt: 1_000 },
      surroundings: { retried },
    })
    expect(finding!.sentence).toBe(
      'The run repeats run 45 and takes over 1 step of it; 1.0 s of that one were spent for nothing.',
    )
    expect(finding!.saving).toEqual({ usd: expect.closeTo(0.1, 9), tokens: 300, ms: 1_000 })
  })

  test('says only so where the other one is not stored', () => {
    const [finding] = found('RETRIES', [], { session: { retryOf: '45' } })
    expect(finding!.sentence).toBe('The run repeats run 45.')
    expect(finding!.saving).toEqual({ usd: null, tokens: null, ms: null })
  })
})

describe('a context that grows', () => {
  const said = (turns: number) =>
    `System: help. ${Array.from({ length: turns }, (_, i) => `Turn ${i}: ${'word '.repeat(60)}`).join('')}`
  const turn = (i: number, own: Step = {}) => call({ input: said(i + 1), promptTokens: 500 * (i + 1), ...own })
  const turns = (count: number, own: (i: number) => Step = () => ({})) =>
    Array.from({ length: count }, (_, i) => turn(i, own(i)))

  test('is told with what was sent above the first prompt', () => {
    const [finding, ...more] = found('GROWING_CONTEXT', turns(5))
    expect(more).toEqual([])
    expect(finding).toMatchObject({
      subject: 'Mail',
      sentence: 'The prompt of "Mail" grew with each of 5 calls, from 500 to 2,500 tokens.',
      saving: { usd: expect.closeTo(0.05, 9), tokens: 5_000, ms: null },
    })
    expect(finding!.evidence).toHaveLength(5)
  })

  test('is told too where the question stands behind it', () => {
    const asked = turns(5, (i) => ({ input: `${said(i + 1)}\nQuestion: ${'what now? '.repeat(40)}` }))
    expect(found('GROWING_CONTEXT', asked)).toHaveLength(1)
  })

  test('is none where a loop meets documents in order of size', () => {
    const documents = turns(6, (i) => ({ input: `Sum up: ${String.fromCharCode(97 + i).repeat(800 * (i + 1))}` }))
    expect(found('GROWING_CONTEXT', documents)).toEqual([])
  })

  test('of unread inputs takes six calls in a row', () => {
    expect(
      found(
        'GROWING_CONTEXT',
        turns(5, () => ({ input: null })),
      ),
    ).toEqual([])
    expect(
      found(
        'GROWING_CONTEXT',
        turns(6, () => ({ input: null })),
      ),
    ).toHaveLength(1)
  })

  test.each<[string, (i: number) => Step]>([
    ['tokens that are not known', () => ({ promptTokens: null })],
    ['less than twice the size', (i) => ({ promptTokens: 5_000 + 900 * i })],
    ['few tokens', (i) => ({ promptTokens: 10 * (i + 1) })],
    ['calls of branches side by side', (i) => ({ parentKey: `branch ${i}` })],
    ['one that stays as it is', () => ({ promptTokens: 5_000 })],
  ])('is none: %s', (_, own) => {
    expect(found('GROWING_CONTEXT', turns(5, own))).toEqual([])
  })

  test('saves no more than the calls really cost, and nothing known where one has no price', () => {
    const [paid] = found(
      'GROWING_CONTEXT',
      turns(5, () => ({ costUsd: 0.001 })),
    )
    expect(paid!.saving.usd).toBeCloseTo(0.004, 9)
    const [unpriced] = found(
      'GROWING_CONTEXT',
      turns(5, (i) => (i === 2 ? { costUsd: null } : {})),
    )
    expect(unpriced!.saving).toMatchObject({ usd: null, tokens: 5_000 })
  })
})

test('the price of a context that grows is that of each prompt, not of all of them as one', () => {
  const calls = Array.from({ length: 6 }, (_, i) => step({ model: 'tiers', promptTokens: 1_000 * (i + 1), costUsd: 1 }))
  const run = runWith(calls)
  // Twice the price above 20,000 tokens, which no prompt has but all have together.
  run.priceOf = (_, tokens) => (tokens > 20_000 ? 2e-6 : 1e-6) * tokens
  const [finding] = findGrowingContext(run)
  expect(finding!.saving).toEqual({ usd: expect.closeTo(0.015, 9), tokens: 15_000, ms: null })
  run.priceOf = (_, tokens) => (tokens > 4_000 ? 2e-6 : 1e-6) * tokens
  expect(findGrowingContext(run)[0]!.saving.usd).toBeCloseTo(0.001 + 0.002 + 0.003 + 0.009 + 0.011, 9)
})

describe('a model without a price', () => {
  const own = (more: Step = {}) => call({ model: 'llama', ...more })
  test('is told once for all its calls', () => {
    expect(sentences('UNPRICED_MODEL', [own(), own()])).toEqual([
      '2 calls of "llama" have tokens but no known price, so the cost of this run leaves them out.',
    ])
    expect(sentences('UNPRICED_MODEL', [own()])).toEqual([
      '1 call of "llama" has tokens but no known price, so the cost of this run leaves it out.',
    ])
  })

  test.each<[string, Step]>([
    ['a cost that was sent', { costUsd: 0 }],
    ['no tokens', { promptTokens: null, completionTokens: null }],
    ['a call that used none', { promptTokens: 0, completionTokens: 0 }],
    ['no name', { model: null }],
    ['a price that only misses one of the counts', { model: 'dear', completionTokens: null }],
  ])('is none: %s', (_, more) => {
    expect(found('UNPRICED_MODEL', [own(more)])).toEqual([])
  })

  test('is one with half of its counts too', () => {
    expect(found('UNPRICED_MODEL', [own({ completionTokens: null })])).toHaveLength(1)
  })
})
