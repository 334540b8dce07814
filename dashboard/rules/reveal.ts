// Owns when new sessions may be shown at once instead of waiting behind the pill.
export interface Engagement {
  isAtTop: boolean
  hasActiveRow: boolean
  hasFocus: boolean
  hasPointer: boolean
  isTabVisible: boolean
  newPerSecond: number
}

export const mayRevealAtOnce = (reader: Engagement) =>
  reader.isAtTop &&
  !reader.hasActiveRow &&
  !reader.hasFocus &&
  !reader.hasPointer &&
  reader.isTabVisible &&
  reader.newPerSecond < 3

/** New rows per second over the last three seconds. */
export function arrivalRate(arrivedAtMs: readonly number[], nowMs: number): number {
  return arrivedAtMs.filter((at) => nowMs - at < 3000).length / 3
}
