// Reads a time that a person mapped: ISO 8601, with the near misses that no-code tools send.

export interface ReadTime {
  /** epoch milliseconds, with a fraction where microseconds were sent */
  ms: number
  /** epoch microseconds */
  us: number
}
type Reading = { time: ReadTime | null; warning?: { code: string; detail: string } } | { problem: string }

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/
const BASIC_ISO = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})?(?:[.,](\d{1,9}))?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/
const MAX_OFFSET_MS = 14 * 3_600_000
const EXPECTED = 'must be an ISO 8601 time like 2026-11-21T10:15:30Z'
const RANGE = 'must lie between 1970 and 2200'
const YEAR_2200_MS = Date.UTC(2201, 0, 1)

export function readTimestamp(value: unknown): Reading {
  if (typeof value === 'number') return readEpoch(value)
  if (typeof value !== 'string') return { problem: EXPECTED }
  const text = value.trim()
  if (text === '')
    return { time: null, warning: { code: 'empty_time', detail: 'was empty; the time of receipt is used' } }
  if (/^-?\d+(\.\d+)?$/.test(text)) return readEpoch(Number(text))
  const match = ISO.exec(text) ?? BASIC_ISO.exec(text)
  if (!match) return { problem: EXPECTED }
  const [, year, month, dayOfMonth, hour, minute, second, fraction, zone] = match
  if (year === '0001') {
    return {
      time: null,
      warning: { code: 'year_0001', detail: 'was an unset date (year 0001); the time of receipt is used' },
    }
  }
  const utc = Date.UTC(+year!, +month! - 1, +dayOfMonth!, +(hour ?? 0), +(minute ?? 0), +(second ?? 0))
  const clock = +(hour ?? 0) * 3600 + +(minute ?? 0) * 60 + +(second ?? 0)
  const isClock = clock <= 86_400 && +(minute ?? 0) < 60 && +(second ?? 0) < 60
  const day = new Date(utc - clock * 1000)
  const isReal = isClock && day.getUTCMonth() === +month! - 1 && day.getUTCDate() === +dayOfMonth!
  // The calendar function takes years below 100 for those of the last century.
  if (!isReal || +year! < 100 || Math.abs(offsetMs(zone)) > MAX_OFFSET_MS)
    return { problem: `${EXPECTED} that exists in the calendar` }
  const us = (utc - offsetMs(zone)) * 1000 + Math.floor(Number((fraction ?? '').padEnd(6, '0').slice(0, 6)))
  if (us < 0 || us >= YEAR_2200_MS * 1000) return { problem: RANGE }
  const time = { ms: us / 1000, us }
  if (zone) return { time }
  return { time, warning: { code: 'no_timezone', detail: 'had no time zone and is taken as UTC' } }
}

/** Below 10^11 a number is taken as seconds, above as milliseconds: both then lie between 1970 and 5138. */
function readEpoch(value: number): Reading {
  if (!Number.isFinite(value) || value < 0) return { problem: RANGE }
  const isSeconds = value < 1e11
  const us = Math.round(value * (isSeconds ? 1e6 : 1e3))
  if (us >= YEAR_2200_MS * 1000) return { problem: RANGE }
  const unit = isSeconds ? 'seconds' : 'milliseconds'
  return {
    time: { ms: us / 1000, us },
    warning: { code: 'epoch_time', detail: `was a number and is taken as ${unit} since 1970` },
  }
}

function offsetMs(zone: string | undefined): number {
  if (!zone || /^z$/i.test(zone)) return 0
  const sign = zone[0] === '-' ? -1 : 1
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * 60_000
}
