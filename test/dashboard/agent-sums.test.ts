// What is said of an agent's sums.
import { describe, expect, test } from 'vitest'
import type { AgentRow, AgentTotals } from '../../dashboard/queries-agents.ts'
import {
  costChange,
  costPerDay,
  costWithoutModel,
  costWords,
  inOrder,
  orderWord,
  rateChange,
  readOrder,
  runWords,
  sortings,
  wholeSpan,
} from '../../dashboard/rules/agent-sums.ts'

const sums = (fields: Partial<Omit<AgentTotals, '__typename'>> = {}) => ({
  runs: 0,
  running: 0,
  completed: 0,
  failed: 0,
  failureRate: null,
  p50DurationMs: null,
  p95DurationMs: null,
  costUsd: null,
  unpricedRuns: 0,
  promptTokens: null,
  completionTokens: null,
  estimatedRuns: 0,
  ...fields,
})
const agent = (name: string | null, fields: Partial<AgentRow> = {}) => ({ ...sums(), name, ...fields }) as AgentRow

describe('a span in parts', () => {
  const nowMs = Date.parse('2026-11-22T05:20:00Z')
  test('has no gap where nothing ran, and no part after now', () => {
    const startsAt = '2026-11-22T02:00:00.000Z'
    const parts = wholeSpan([{ startsAt, ...sums({ runs: 3 }) }], {
      since: '2026-11-22T01:00:00.000Z',
      partHours: 1,
      nowMs,
    })
    expect(parts.map(({ fromMs, sums }) => [new Date(fromMs).getUTCHours(), sums?.runs ?? null])).toEqual([
      [1, null],
      [2, 3],
      [3, null],
      [4, null],
      [5, null],
    ])
  })
  test('of days begins at midnight in UTC, within which the span does', () => {
    const parts = wholeSpan([], { since: '2026-11-20T05:00:00.000Z', partHours: 24, nowMs })
    expect(parts.map(({ fromMs }) => new Date(fromMs).toISOString())).toEqual([
      '2026-11-20T00:00:00.000Z',
      '2026-11-21T00:00:00.000Z',
      '2026-11-22T00:00:00.000Z',
    ])
    expect(parts.at(-1)!.toMs - parts.at(-1)!.fromMs).toBe(86_400_000)
  })
  test('is told in words for who cannot see the bars', () => {
    const parts = [
      { fromMs: 0, toMs: 3_600_000, sums: sums({ runs: 2, failed: 1 }) },
      { fromMs: 3_600_000, toMs: 7_200_000, sums: sums({ runs: 5 }) },
    ]
    expect(runWords(parts)).toBe('7 runs, 1 failed; at most 5 within an hour')
    expect(runWords([{ ...parts[0]!, sums: null }])).toBe('No runs')
    expect(runWords([])).toBe('No runs')
  })
})

describe('changes', () => {
  test.each([
    [0.12, 0.08, 'up 4 points'],
    [0.08, 0.12, 'down 4 points'],
    [0.101, 0.099, 'as before'],
    [0.02, 0.01, 'up 1 point'],
    [0.02, null, null],
    [null, 0.02, null],
    [0.02, undefined, null],
    [0, 0, 'as before'],
  ])('of a rate: %s after %s is %s', (now, before, words) => {
    expect(rateChange(now, before)).toBe(words)
  })
  test.each([
    ['1.4', '1', 'up 40%'],
    ['0.88', '1', 'down 12%'],
    ['1.001', '1', 'as before'],
    ['50', '1', 'up tenfold or more'],
    ['1', '0', null],
    ['1', null, null],
    [null, '1', null],
  ])('of a cost: %s after %s is %s', (now, before, words) => {
    expect(costChange(now, before)).toBe(words)
  })
})

describe('cost', () => {
  const day = 86_400_000
  test('a day is an average over the span as far as it went', () => {
    expect(costPerDay('7', new Date(0).toISOString(), 7 * day)).toBe('1')
    expect(costPerDay(null, new Date(0).toISOString(), day)).toBeNull()
    expect(costPerDay('7', null, day)).toBeNull()
  })
  test('says where calls are left out of it, and is nothing where none is known', () => {
    expect(costWords('1.5', 0)).toBe('$1.50')
    expect(costWords('1.5', 2)).toBe('≥$1.50')
    expect(costWords(null, 2)).toBeNull()
    expect(costWords('0', 0)).toBe('$0.0000')
  })
  test('that belongs to no known model is told apart from that of models, noise of sums is not', () => {
    expect(Number(costWithoutModel('10', [{ costUsd: '7' }]))).toBeCloseTo(3)
    expect(costWithoutModel('10', [{ costUsd: '9.9999999' }])).toBeNull()
    expect(costWithoutModel('10', [{ costUsd: null }])).toBe('10')
    expect(costWithoutModel(null, [])).toBeNull()
  })
})

describe('the order', () => {
  test.each(sortings.map(({ word }) => word))('by %s stands in the URL and comes back', (by) => {
    for (const isReversed of [false, true]) {
      const word = orderWord({ by, isReversed })
      expect(readOrder(new URLSearchParams(word === null ? {} : { sort: word }))).toEqual({ by, isReversed })
    }
  })
  test('that nobody knows is that of the last seen', () => {
    expect(readOrder(new URLSearchParams({ sort: '-nonsense' }))).toEqual({ by: 'seen', isReversed: false })
  })
  test('has the worst first, the unknown last both ways', () => {
    const agents = [
      agent('a', { failureRate: 0.1 }),
      agent('b', { failureRate: null }),
      agent('c', { failureRate: 0.7 }),
      agent(null, { failureRate: 0.2 }),
    ]
    const names = (isReversed: boolean) => inOrder(agents, { by: 'failures', isReversed }).map(({ name }) => name)
    expect(names(false)).toEqual(['c', null, 'a', 'b'])
    expect(names(true)).toEqual(['a', null, 'c', 'b'])
    expect(inOrder(agents, { by: 'name', isReversed: false }).map(({ name }) => name)).toEqual(['a', 'b', 'c', null])
  })
})
