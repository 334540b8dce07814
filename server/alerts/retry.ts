// When an attempt that failed is made again. Pure.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Growing pauses between attempts; what is not taken within a day is given up. */
const PAUSES_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR]
export const GIVE_UP_AFTER_MS = 24 * HOUR
const JITTER = 0.2

export interface FailedAttempt {
  /** retries before it, since it was queued */
  retries: number
  queuedForMs: number
  /** what the receiver asked for */
  retryAfterMs: number | null
  /** another try cannot help */
  isFinal: boolean
}

/**
 * How long to wait before the next attempt; null where it is given up. Never sooner than planned or asked for, and up to a
 * fifth later, so that a receiver which comes back is not met by all at once. The last one is made when the day is over,
 * whatever was asked for.
 * @param random 0 to 1
 */
export function pauseAfter(
  { retries, queuedForMs, retryAfterMs, isFinal }: FailedAttempt,
  random: number,
): number | null {
  const planned = PAUSES_MS[retries]
  const left = GIVE_UP_AFTER_MS - queuedForMs
  if (isFinal || planned === undefined || left <= 0) return null
  return Math.min(Math.max(planned, retryAfterMs ?? 0) * (1 + JITTER * random), left)
}

/** Seconds, or a date in one of the three forms of HTTP (RFC 9110, 10.2.3 and 5.6.7); null where it is neither. */
export function readRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
