// When a model is asked again: never at once, never for ever, and not before it wants to be.
import { expect, test } from 'vitest'
import { pauseAfter } from '../../server/prompts/candidates.ts'
import type { Proposal } from '../../server/prompts/provider.ts'

const failed = (own: object = {}): Proposal => ({
  kind: 'FAILED',
  problem: 'x',
  isFinal: false,
  retryAfterMs: null,
  ...own,
})
const usage = { promptTokens: 1, completionTokens: 1, costUsd: null }
const refused: Proposal = { kind: 'REFUSED', problem: 'x', usage }
const HOUR = 3_600_000

test('after calls that failed the pauses grow to an hour, and after about a day it is given up', () => {
  expect([1, 2, 3, 4, 5, 29, 30].map((attempts) => pauseAfter(failed(), attempts))).toEqual([
    2_000,
    15_000,
    60_000,
    600_000,
    HOUR,
    HOUR,
    null,
  ])
})

test('a provider that names a longer pause is given it, a shorter one is not', () => {
  expect(pauseAfter(failed({ retryAfterMs: 30_000 }), 1)).toBe(30_000)
  expect(pauseAfter(failed({ retryAfterMs: 10 }), 2)).toBe(15_000)
  expect(pauseAfter(failed({ retryAfterMs: 30_000 }), 30)).toBeNull()
})

test('what only a person can mend is tried again every hour', () => {
  expect(pauseAfter(failed({ isFinal: true, retryAfterMs: 30_000 }), 1)).toBe(HOUR)
})

test('an answer that is not shown is asked for once more', () => {
  expect([1, 2, 3].map((attempts) => pauseAfter(refused, attempts))).toEqual([2_000, null, null])
})

test('a proposal is not asked for again', () => {
  expect(pauseAfter({ kind: 'PROPOSED', prompt: 'x', rewrite: null, reason: null, usage }, 1)).toBeNull()
})

test('beyond the budget it waits for the next day in UTC', () => {
  const over: Proposal = { kind: 'OVER_BUDGET', problem: 'x' }
  const at = (time: string) => Date.parse(time) + pauseAfter(over, 1, Date.parse(time))!
  for (const time of ['2026-03-01T00:00:00Z', '2026-03-01T12:34:56Z', '2026-03-01T23:59:59.999Z'])
    expect(new Date(at(time)).toISOString()).toBe('2026-03-02T00:00:01.000Z')
})
