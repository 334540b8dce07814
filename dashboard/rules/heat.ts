// Owns the strip of failures by day: its columns, what stands in a cell, how dark it is, and the span it leads to.
import type { FailureDay } from '../queries-failures.ts'
import { CATEGORIES, type Category } from './failure-words.ts'
import { failureRangeOf, type FailureRange } from './pattern-filter.ts'

const dayMs = 86_400_000

/** One or several days, in UTC as the server counts them. */
export interface HeatColumn {
  fromMs: number
  /** One past the end. */
  toMs: number
  /** The first day, or the days "15 to 21". */
  label: string
  /** For titles and screen readers. */
  words: string
}

const startOfDay = (ms: number) => Math.floor(ms / dayMs) * dayMs
const format = (options: Intl.DateTimeFormatOptions) => {
  const formatter = new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' })
  return (ms: number) => formatter.format(ms)
}
const numberOfDay = format({ day: 'numeric' })
const shortDay = format({ day: 'numeric', month: 'short' })
const weekday = format({ day: 'numeric', weekday: 'short' })
const wholeDay = format({ dateStyle: 'full' })

/** The days of a range that ends now, the oldest first; seven in one where `most` columns would not hold them. */
export function heatColumns(range: FailureRange, nowMs: number, most: number): HeatColumn[] {
  const sinceMs = nowMs - failureRangeOf(range).hours * 3_600_000
  const days = (startOfDay(nowMs) - startOfDay(sinceMs)) / dayMs + 1
  const daysEach = days <= most ? 1 : 7
  const columns: HeatColumn[] = []
  for (let toMs = startOfDay(nowMs) + dayMs; toMs > sinceMs; toMs -= daysEach * dayMs) {
    // The first day is cut where the range begins, so that its link leads to what was counted.
    const fromMs = Math.max(sinceMs, toMs - daysEach * dayMs)
    const lastMs = toMs - dayMs
    const isOneDay = startOfDay(fromMs) === lastMs
    columns.unshift({
      fromMs,
      toMs,
      label: '',
      words: isOneDay ? wholeDay(lastMs) : `${shortDay(fromMs)} to ${shortDay(lastMs)}`,
    })
  }
  let month = ''
  for (const column of columns) {
    const begins = shortDay(column.fromMs)
    const isNewMonth = begins.replace(/\d+/, '') !== month
    month = begins.replace(/\d+/, '')
    column.label =
      daysEach > 1
        ? begins
        : columns.length <= 8
          ? weekday(column.fromMs)
          : isNewMonth
            ? begins
            : numberOfDay(column.fromMs)
  }
  return columns
}

export interface HeatRow {
  category: Category
  /** One for each column. */
  counts: number[]
  total: number
}

/** Every category has its row, so that none appears later and pushes the page down. */
export function heatRows(days: readonly FailureDay[], columns: readonly HeatColumn[]): HeatRow[] {
  return CATEGORIES.map((category) => {
    const counts = columns.map(() => 0)
    for (const each of days) {
      if (each.category !== category) continue
      const at = Date.parse(`${each.day}T00:00:00Z`)
      const place = columns.findIndex(({ fromMs, toMs }) => at >= startOfDay(fromMs) && at < toMs)
      if (place >= 0) counts[place]! += each.sessions
    }
    return { category, counts, total: counts.reduce((sum, count) => sum + count, 0) }
  })
}

/** 0 for none, then 1 to 4 by the share of the most. */
export const heatLevel = (count: number, most: number) => (count === 0 ? 0 : Math.max(1, Math.ceil((count / most) * 4)))

export const mostOf = (rows: readonly HeatRow[]) => Math.max(1, ...rows.flatMap(({ counts }) => counts))

export type HeatMove = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End'

/** The next cell that leads somewhere, in the direction of a key; null where there is none. */
export function nextHeatCell(
  rows: readonly HeatRow[],
  [row, column]: readonly [number, number],
  key: string,
): [number, number] | null {
  const filled = (rows[row]?.counts ?? []).flatMap((count, index) => (count > 0 ? [index] : []))
  const to = (index: number | undefined): [number, number] | null => (index === undefined ? null : [row, index])
  if (key === 'ArrowRight') return to(filled.find((index) => index > column))
  if (key === 'ArrowLeft') return to(filled.findLast((index) => index < column))
  if (key === 'Home') return to(filled[0])
  if (key === 'End') return to(filled.at(-1))
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
  for (let next = row + step; step !== 0 && rows[next]; next += step) {
    const counts = rows[next]!.counts
    const near = counts.flatMap((count, index) => (count > 0 ? [index] : []))
    if (near.length === 0) continue
    return [next, near.reduce((best, index) => (Math.abs(index - column) < Math.abs(best - column) ? index : best))]
  }
  return null
}
