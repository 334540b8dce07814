// When an attempt is made again, as a property of any history and any wish of a receiver: no clock, no server.
import { describe, expect, test } from 'vitest'
import { GIVE_UP_AFTER_MS, pauseAfter, readRetryAfter } from '../../server/alerts/retry.ts'

const DAY = 86_400_000
const PLAN = [5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200].map((seconds) => seconds * 1_000)

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const attempt = (own: Partial<Parameters<typeof pauseAfter>[0]> = {}) => ({
  retries: 0,
  queuedForMs: 0,
  retryAfterMs: null,
  isFinal: false,
  ...own,
})

describe('pauses', () => {
  test('grow as the issue says, 5 s to hours, when nothing is added by chance', () => {
    expect(PLAN.map((_, retries) => pauseAfter(attempt({ retries }), 0))).toEqual(PLAN)
    expect(PLAN.slice(0, 6)).toEqual([5_000, 30_000, 120_000, 600_000, 3_600_000, 10_800_000])
  })

  test('are never sooner than planned or asked for, at most a fifth later, and never past the day', () => {
    const next = numbers(7)
    for (let i = 0; i < 20_000; i++) {
      const retries = Math.floor(next() * PLAN.length)
      const queuedForMs = next() < 0.2 ? next() * 2 * DAY : next() * DAY
      const retryAfterMs = next() < 0.5 ? null : 10 ** (next() * 12)
      const random = next() < 0.1 ? 0 : next()
      const pause = pauseAfter(attempt({ retries, queuedForMs, retryAfterMs }), random)
      const left = DAY - queuedForMs
      if (left <= 0) {
        expect(pause).toBeNull()
        continue
      }
      const least = Math.max(PLAN[retries]!, retryAfterMs ?? 0)
      expect(pause).toBeGreaterThanOrEqual(Math.min(least, left))
      expect(pause).toBeLessThanOrEqual(Math.min(least * 1.2, left))
      expect(Number.isFinite(pause)).toBe(true)
    }
    expect(GIVE_UP_AFTER_MS).toBe(DAY)
  })

  test('are spread, so that hundreds that failed at once do not come back at once', () => {
    const next = numbers(11)
    const pauses = Array.from({ length: 500 }, () => pauseAfter(attempt({ retries: 3 }), next())!)
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(0.15 * 600_000)
    expect(new Set(pauses).size).toBeGreaterThan(400)
  })

  test('end: any receiver that fails is given up after at most 9 attempts and at most a day', () => {
    const next = numbers(13)
    for (let i = 0; i < 2_000; i++) {
      let queuedForMs = next() * 100
      let attempts = 1
      for (let retries = 0; ; retries++) {
        const retryAfterMs = next() < 0.3 ? 10 ** (next() * 11) : null
        const pause = pauseAfter(attempt({ retries, queuedForMs, retryAfterMs }), next())
        if (pause === null) break
        expect(pause).toBeGreaterThan(0)
        attempts += 1
        queuedForMs += pause
        expect(queuedForMs).toBeLessThanOrEqual(DAY + 1)
        // An attempt takes up to 10 s.
        queuedForMs += next() * 10_000
      }
      expect(attempts).toBeLessThanOrEqual(9)
    }
  })

  test('a receiver that only fails is tried over most of a day before it is given up', () => {
    for (const random of [0, 0.5, 1]) {
      let queuedForMs = 0
      for (let retries = 0; ; retries++) {
        const pause = pauseAfter(attempt({ retries, queuedForMs }), random)
        if (pause === null) break
        queuedForMs += pause
      }
      expect(queuedForMs).toBeGreaterThan(20 * 3_600_000)
      expect(queuedForMs).toBeLessThanOrEqual(DAY)
    }
  })

  test('what another try cannot help is given up at once, whatever was asked for', () => {
    expect(pauseAfter(attempt({ isFinal: true, retryAfterMs: 1_000 }), 0.5)).toBeNull()
  })
})

describe('Retry-After', () => {
  const NOW = Date.UTC(2026, 10, 6, 8, 49, 0)

  test.each([
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['999999999', 999_999_999_000],
    ['Fri, 06 Nov 2026 08:49:37 GMT', 37_000],
    ['Fri, 06 Nov 2026 08:48:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59) - NOW],
  ])('%j is read', (header, ms) => {
    expect(readRetryAfter(header, NOW)).toBe(ms)
  })

  test.each([
    undefined,
    '',
    '-5',
    '1.5',
    '1e9',
    'soon',
    '5 s',
    '0x10',
    '99999999999999999999',
    'Fri, 99 Foo 2026',
    'NaN',
  ])('%j says nothing', (header) => {
    expect(readRetryAfter(header, NOW)).toBeNull()
  })

  // RFC 9110, 5.6.7: whoever reads a date must take all three forms.
  test.each([
    ['Friday, 06-Nov-26 08:49:37 GMT', 37_000],
    ['Fri Nov  6 08:49:37 2026', 37_000],
  ])('the older form of a date %j is read too', (header, ms) => {
    expect(readRetryAfter(header, NOW)).toBe(ms)
  })

  test('whatever a header says, the pause that comes of it is a number up to a day', () => {
    const next = numbers(17)
    const signs = '0123456789 ,:-+.eGMTFrioNv\u00e9'
    for (let i = 0; i < 5_000; i++) {
      const header = Array.from({ length: next() * 30 }, () => signs[Math.floor(next() * signs.length)]).join('')
      const ms = readRetryAfter(header, NOW)
      if (ms !== null) expect(ms).toBeGreaterThanOrEqual(0)
      const pause = pauseAfter(attempt({ retryAfterMs: ms }), next())!
      expect(pause).toBeGreaterThanOrEqual(5_000)
      expect(pause).toBeLessThanOrEqual(DAY)
    }
  })
})
