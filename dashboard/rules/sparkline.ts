// Owns a small picture of counts over time: the bars, and what it says in words.
import { formatCount, formatDuration } from './format.ts'

export interface SparkBar {
  x: number
  height: number
}

/** Bars of one unit of width each, in a height of `height`; what is not 0 is never thinner than 2. */
export function sparkBars(counts: readonly number[], height: number): SparkBar[] {
  const most = Math.max(...counts, 1)
  return counts.flatMap((count, x) => (count === 0 ? [] : [{ x, height: Math.max(2, (count / most) * height) }]))
}

/** "At most 5 within 7 h 00 m, 2 d 22 h ago; none in the last 21 h 00 m" */
export function sparkWords(counts: readonly number[], hours: number): string {
  const partMs = (hours * 3_600_000) / counts.length
  const most = Math.max(...counts, 0)
  if (most === 0) return 'None in this span'
  const agoOf = (index: number) => formatDuration((counts.length - 1 - index) * partMs)
  const peak = counts.lastIndexOf(most)
  const last = counts.findLastIndex((count) => count > 0)
  const when = peak === counts.length - 1 ? 'now' : `${agoOf(peak)} ago`
  const since = last === counts.length - 1 ? '' : `; none in the last ${agoOf(last)}`
  return `At most ${formatCount(most)} within ${formatDuration(partMs)}, ${when}${since}`
}
