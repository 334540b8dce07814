// The rules of the thresholds: what is typed, what is stored, and where a refusal is shown.
import { describe, expect, it } from 'vitest'
import {
  fixedWords,
  isSameLimits,
  limitWords,
  noLimits,
  readLimits,
  refusalOf,
  trialSentence,
  typedLimits,
  type Typed,
} from '../../dashboard/rules/threshold-fields.ts'

const left: Typed = { latencyMs: null, costUsd: null, tokens: null, loopRounds: null }

describe('a limit that is typed', () => {
  it('is stored in its own unit, and left alone where it is not fixed', () => {
    expect(readLimits({ latencyMs: ' 2.5 ', costUsd: '0,02', tokens: '5000', loopRounds: null })).toEqual({
      limits: { latencyMs: 2500, costUsd: 0.02, tokens: 5000, loopRounds: null },
      wrong: {},
    })
  })
  it.each([
    ['latencyMs', '', 'Give a number of seconds, such as 2.5'],
    ['latencyMs', 'soon', 'Give a number of seconds, such as 2.5'],
    ['costUsd', '1e3', 'Give a number of USD, such as 2.5'],
    ['costUsd', '-1', 'Give a number of USD, such as 2.5'],
    ['costUsd', '9'.repeat(400), 'Give a number of USD, such as 2.5'],
    ['tokens', '2.5', 'Give whole tokens'],
    ['loopRounds', 'x', 'Give a number of rounds, such as 30'],
  ])('%s of %s is wrong', (name, text, sentence) => {
    expect(readLimits({ ...left, [name]: text }).wrong).toEqual({ [name]: sentence })
  })
  it('is shown again as it was typed', () => {
    const limits = { latencyMs: 1234.5, costUsd: 0.0000001, tokens: 50_000, loopRounds: 20 }
    expect(typedLimits(limits)).toEqual({
      latencyMs: '1.2345',
      costUsd: '0.0000001',
      tokens: '50000',
      loopRounds: '20',
    })
    expect(readLimits(typedLimits(limits)).limits).toEqual(limits)
    expect(typedLimits(noLimits)).toEqual(left)
  })
  it('is compared with what is stored', () => {
    expect([isSameLimits(noLimits, { ...noLimits }), isSameLimits(noLimits, { ...noLimits, tokens: 1 })]).toEqual([
      true,
      false,
    ])
  })
})

describe('a refusal', () => {
  it.each([
    [
      'latencyMs must be more than 0 and at most a year in milliseconds, not 0.',
      { latencyMs: 'Duration must be more than 0 and at most a year.' },
    ],
    ['loopRounds must be 2 to 1,000,000, not 1.', { loopRounds: 'Loop rounds must be 2 to 1,000,000, not 1.' }],
    [
      'Variable "$thresholds" got invalid value 3000000000 at "thresholds.loopRounds"; Int cannot represent non 32-bit signed integer value: 3000000000',
      { loopRounds: 'Loop rounds must be a smaller number.' },
    ],
    ['The server cannot be reached. Check the connection and try again.', null],
  ])('%s belongs to its field', (message, expected) => expect(refusalOf(message)).toEqual(expected))
})

describe('the words of limits', () => {
  it('have a unit', () => {
    expect([
      limitWords(38_200, 'MS'),
      limitWords(0.02, 'USD'),
      limitWords(50_000, 'TOKENS'),
      limitWords(1, 'ROUNDS'),
    ]).toEqual(['38.2 s', '$0.0200', '50,000 tokens', '1 round'])
    expect([fixedWords({ ...noLimits, latencyMs: 2500 }, 'latencyMs'), fixedWords(noLimits, 'tokens')]).toEqual([
      '2.50 s',
      null,
    ])
  })
  it.each([
    [1204, 3, 17, 'Of 1,204 runs of the last 30 days 3 would gain a failure and 17 would lose one.'],
    [1, 0, 0, 'Of 1 run of the last 30 days none would gain a failure and none would lose one.'],
    [0, 0, 0, 'No run of the last 30 days can be compared with these limits.'],
  ])('say what %i runs would have been', (checked, gained, lost, sentence) =>
    expect(trialSentence({ checked, gained, lost })).toBe(sentence),
  )
})
