// Failures on screen: their words, their facts, and the steps that show them.
import { describe, expect, it } from 'vitest'
import type { SessionFailure } from '../../dashboard/queries-session.ts'
import { evidencePlaces, failedPlaces, loopNodes, nextPlace } from '../../dashboard/rules/evidence.ts'
import { measuredWords, patternWords, saysMore, unnamedWords } from '../../dashboard/rules/failure-facts.ts'
import {
  CATEGORIES,
  categoryWords,
  causeWords,
  fromUrlWord,
  leastSeverityWords,
  SEVERITIES,
  severityWord,
  toUrlWord,
} from '../../dashboard/rules/failure-words.ts'
import { stepsOf } from '../../dashboard/rules/steps.ts'
import { eventRow } from './row.ts'

const failure = (over: Partial<SessionFailure> = {}): SessionFailure => ({
  category: 'TOOL_FAILURE',
  severity: 'HIGH',
  cause: null,
  subject: null,
  sentence: '"Search" failed: no such index.',
  advice: 'Look.',
  errorText: null,
  measured: null,
  threshold: null,
  unit: null,
  thresholdSource: null,
  thresholdRuns: null,
  evidence: [],
  evidenceCount: 0,
  pattern: null,
  ...over,
})

describe('the words', () => {
  it('say every category and severity', () => {
    expect(CATEGORIES.map(categoryWords)).toEqual([
      'Tool failure',
      'Model failure',
      'Retrieval failure',
      'Run failure',
      'Endless loop',
      'Slow run',
      'Costly run',
    ])
    expect(SEVERITIES.map(severityWord)).toEqual(['Low', 'Medium', 'High', 'Critical'])
    expect(SEVERITIES.map(leastSeverityWords)).toEqual(['Low or worse', 'Medium or worse', 'High or worse', 'Critical'])
    expect(['RATE_LIMIT', 'OTHER'].map(causeWords)).toEqual(['Rate limit', 'Other cause'])
  })
  it('come back from the URL as they went', () => {
    for (const category of CATEGORIES) expect(fromUrlWord(CATEGORIES, toUrlWord(category))).toBe(category)
    expect([fromUrlWord(SEVERITIES, 'worst'), fromUrlWord(SEVERITIES, null)]).toEqual([null, null])
  })
})

describe('what was measured', () => {
  it.each<[Partial<SessionFailure>, string | null]>([
    [{}, null],
    [
      { measured: 38_200, threshold: 12_700, unit: 'MS', thresholdSource: 'ADAPTIVE', thresholdRuns: 200 },
      '38.2 s, limit 12.7 s, from its last 200 runs',
    ],
    [
      { measured: 1.2, threshold: 0.05, unit: 'USD', thresholdSource: 'FIXED_FOR_AGENT', thresholdRuns: 4 },
      '$1.20, limit $0.0500, fixed for this agent',
    ],
    [
      { measured: 90_000, threshold: 50_000, unit: 'TOKENS', thresholdSource: 'FIXED_FOR_PROJECT', thresholdRuns: 0 },
      '90,000 tokens, limit 50,000 tokens, fixed for the project',
    ],
    [
      { measured: 61, threshold: 20, unit: 'ROUNDS', thresholdSource: 'DEFAULT', thresholdRuns: 0 },
      '61 rounds, limit 20 rounds, the default while no earlier run is known',
    ],
    [
      { measured: 61, threshold: 20, unit: 'ROUNDS', thresholdSource: 'DEFAULT', thresholdRuns: 1 },
      '61 rounds, limit 20 rounds, the default while only 1 earlier run is known',
    ],
    [{ measured: 61, unit: 'ROUNDS' }, '61 rounds'],
  ])('%o is written %s', (over, words) => {
    expect(measuredWords(failure(over))).toBe(words)
  })
})

describe('the pattern', () => {
  it.each([
    [{ sessions: 12 }, 'Seen in 12 sessions of the last 7 days'],
    [{ sessions: 1, isMuted: true }, 'Seen in 1 session of the last 7 days, muted'],
    [{ sessions: 0, state: 'RESOLVED' as const }, 'Not seen in the last 7 days, resolved'],
    [
      { sessions: 2, state: 'REOPENED' as const },
      'Seen in 2 sessions of the last 7 days, seen again after it was resolved',
    ],
  ])('of %o reads %s', (over, words) => {
    expect(patternWords({ id: '1', state: 'OPEN', isMuted: false, ...over })).toBe(words)
  })
})

describe('the error as it came', () => {
  it.each([
    [null, false],
    ['no such index', false],
    ['no such\n  index.', false],
    ['no such index\n    at search (index.js:1:1)', true],
  ])('%j says more than the sentence: %s', (errorText, expected) => {
    expect(saysMore(failure({ errorText }))).toBe(expected)
  })
})

const loopOf = (rounds: number, extra: Record<number, string> = {}) =>
  stepsOf(
    Array.from({ length: rounds }, (_, round) => [
      eventRow(`check ${round}`, { name: 'Check', runIndex: round }),
      ...(extra[round] ? [eventRow(extra[round], { name: extra[round] })] : []),
      eventRow(`ready ${round}`, { name: 'Ready?', runIndex: round }),
    ]).flat(),
  )
const placesOf = (steps: ReturnType<typeof stepsOf>) => new Map(steps.map(({ event }, place) => [event.id, place]))
const checks = (rounds: number) => Array.from({ length: rounds }, (_, round) => `check ${round}`)

describe('the evidence', () => {
  const error = { message: 'no' }
  const steps = stepsOf([eventRow('a', { error }), eventRow('b'), eventRow('c'), eventRow('d', { error })])

  it('is marked where it is no error, which has a mark of its own', () => {
    expect(evidencePlaces(steps, [failure({ evidence: ['c', 'a', 'not read yet'] })])).toEqual([2])
    expect(failedPlaces(steps)).toEqual([0, 3])
  })
  it('is gone through with the errors in a circle, either way', () => {
    const places = [...failedPlaces(steps), 2]
    const went = [nextPlace(places, null, 1), nextPlace(places, 0, 1), nextPlace(places, 2, 1), nextPlace(places, 3, 1)]
    expect(went).toEqual([0, 2, 3, 0])
    expect([nextPlace(places, null, -1), nextPlace(places, 1, -1), nextPlace(places, 0, -1)]).toEqual([3, 0, 3])
  })
  it('of nothing leads nowhere', () => {
    expect(nextPlace([], null, 1)).toBeNull()
  })
  it('says how much the server does not name', () => {
    expect(unnamedWords(failure({ evidence: ['a'], evidenceCount: 1 }))).toBeNull()
    expect(unnamedWords(failure({ evidence: ['a'], evidenceCount: 1_302 }))).toBe('1,301 more are not listed')
  })
})

describe('a loop', () => {
  const loop = failure({ category: 'INFINITE_LOOP', evidence: checks(4) })

  it('shows the nodes of one round, not of one that was interrupted', () => {
    const steps = loopOf(4, { 0: 'Interruption' })
    expect(loopNodes(loop, steps, placesOf(steps))).toEqual(['Check', 'Ready?'])
  })
  it('shows none while its rounds are not read, and none of another failure', () => {
    const steps = loopOf(1)
    expect(loopNodes(loop, steps, placesOf(steps))).toBeNull()
    const whole = loopOf(4)
    expect(loopNodes(failure({ evidence: checks(4) }), whole, placesOf(whole))).toBeNull()
  })
  it('inside an agent leaves out what ran elsewhere', () => {
    const steps = stepsOf([
      eventRow('agent'),
      ...[0, 1].flatMap((round) => [
        eventRow(`check ${round}`, { name: 'Check', parentId: 'agent' }),
        eventRow(`inner ${round}`, { name: 'Inner', parentId: `check ${round}` }),
        eventRow(`model ${round}`, { name: null, model: 'gpt-4o', parentId: 'agent' }),
      ]),
    ])
    expect(loopNodes(loop, steps, placesOf(steps))).toEqual(['Check', 'gpt-4o'])
  })
})
