// Owns how numbers, costs, durations and times are written. Unknown is null and stays null: it never becomes 0.
import type { BigIntValue } from '../graphql.ts'

const secondsMs = 1000
const minuteMs = 60 * secondsMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const two = (value: number) => String(value).padStart(2, '0')

/** 223 ms, 2.34 s, 12.8 s, 3 m 04 s, 2 h 05 m, 3 d 4 h. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs)
  if (ms > 0 && ms < 1) return '<1 ms'
  if (Math.round(ms) < secondsMs) return `${Math.round(ms)} ms`
  if (ms < 9_995) return `${hundredths.format(ms / secondsMs)} s`
  if (ms < 59_950) return `${tenths.format(ms / secondsMs)} s`
  return formatLong(Math.round(ms / secondsMs) * secondsMs)
}

/** A duration that still runs: whole seconds, because it is looked at once a second. */
export function formatRunning(durationMs: number): string {
  const ms = Math.max(0, durationMs)
  return ms < minuteMs ? `${Math.floor(ms / secondsMs)} s` : formatLong(ms)
}

function formatLong(ms: number): string {
  if (ms < hourMs) {
    const seconds = Math.floor(ms / secondsMs)
    return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  }
  if (ms < dayMs) {
    const minutes = Math.floor(ms / minuteMs)
    return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`
  }
  const hours = Math.floor(ms / hourMs)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

// Numbers and times are written as the browser's language has them; money is always US dollars.
const grouped = new Intl.NumberFormat()
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const withDecimals = (decimals: number, style?: 'currency') =>
  new Intl.NumberFormat(undefined, {
    style,
    currency: 'USD',
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
const tenths = withDecimals(1)
const hundredths = withDecimals(2)
const dollars = withDecimals(2, 'currency')
const smallDollars = withDecimals(4, 'currency')

export const formatCount = (value: BigIntValue) => grouped.format(typeof value === 'string' ? BigInt(value) : value)
export const formatCompact = (value: BigIntValue) => compact.format(typeof value === 'string' ? BigInt(value) : value)

/** Four decimals under one dollar, two above, so that the points stand under each other. */
export function formatCost(costUsd: string): string {
  const value = Number(costUsd)
  if (!Number.isFinite(value)) return costUsd
  if (value > 0 && value < 0.00005) return `<${smallDollars.format(0.0001)}`
  return (value < 0.99995 ? smallDollars : dollars).format(value)
}

/** now, 5 s ago, 3 m ago, 2 h ago, 4 d ago, then the date. */
export function formatAgo(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at)
  if (ms < 5 * secondsMs) return 'now'
  if (ms < minuteMs) return `${Math.floor(ms / secondsMs)} s ago`
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} m ago`
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h ago`
  if (ms < 7 * dayMs) return `${Math.floor(ms / dayMs)} d ago`
  return formatIn({ dateStyle: 'medium' }, at)
}

const formatIn = (options: Intl.DateTimeFormatOptions, at: string, timeZone = chosenZone) =>
  new Intl.DateTimeFormat(undefined, { ...options, timeZone }).format(Date.parse(at))

const wholeTime: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'medium' }
let chosenZone: string | undefined

/**
 * From now on absolute times are those of this zone.
 * @param name of the IANA; empty for the browser's own
 * @returns false where the browser does not know it, and nothing changes
 */
export function writeTimesIn(name: string): boolean {
  try {
    formatIn({}, '2000-01-01', name || undefined)
  } catch {
    return false
  }
  chosenZone = name || undefined
  return true
}

/** What is not the time of the clock on the wall says whose it is. */
export const formatTime = (at: string) => formatIn(wholeTime, at) + (chosenZone ? ` ${chosenZone}` : '')

/** The day without its year. */
export const formatDay = (at: string) => formatIn({ month: 'short', day: 'numeric' }, at)

/** Local time and UTC, for titles; before them the time in the chosen zone. */
export function formatBothTimes(at: string): string {
  const local = new Intl.DateTimeFormat(undefined, wholeTime).format(Date.parse(at))
  const utc = new Date(at).toISOString()
  return chosenZone ? `${formatTime(at)} (local ${local}, ${utc})` : `${local} (${utc})`
}

/** The beginning of a part of a span: a day in UTC, or the day and time of shorter ones. */
export const formatPart = (at: string, hours: number) =>
  hours >= 24
    ? formatIn({ month: 'short', day: 'numeric' }, at, 'UTC')
    : formatIn({ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' }, at)

export function formatShare(part: number, whole: number): string | null {
  if (whole === 0) return null
  const percent = (part / whole) * 100
  if (part > 0 && percent < 1) return '<1%'
  return `${Math.round(percent)}%`
}

export function truncateMiddle(text: string, length: number): string {
  if (text.length <= length) return text
  const tail = Math.floor((length - 1) / 2)
  return `${text.slice(0, length - 1 - tail)}…${text.slice(-tail)}`
}

export const plural = (count: number, one: string, many = `${one}s`) =>
  `${formatCount(count)} ${count === 1 ? one : many}`

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`
  return `${tenths.format(bytes / 1024 / 1024)} MB`
}
