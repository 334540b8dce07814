// Owns which of many rows of one height are drawn.
export interface RowWindow {
  first: number
  /** One past the last row. */
  end: number
}

export function rowWindow(
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  count: number,
  spare = 12,
): RowWindow {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - spare)
  const end = Math.min(count, Math.ceil((scrollTop + viewHeight) / rowHeight) + spare)
  return { first: Math.min(first, Math.max(0, count - 1)), end: Math.max(end, 0) }
}

/** Where to scroll so that the row is in sight, or null if it is. */
export function scrollToShow(row: number, scrollTop: number, viewHeight: number, rowHeight: number): number | null {
  const top = row * rowHeight
  if (top < scrollTop) return top
  if (top + rowHeight > scrollTop + viewHeight) return top + rowHeight - viewHeight
  return null
}

export const scrollToCentre = (row: number, viewHeight: number, rowHeight: number) =>
  Math.max(0, row * rowHeight - (viewHeight - rowHeight) / 2)

/**
 * How many rows came before (or went from before) the one that stands at a place.
 * @param before ids as they stood, `now` as they stand; 0 where that row is gone
 */
export function movedBy(before: readonly string[], now: readonly string[], place: number): number {
  const id = before[place]
  if (id === undefined || now[place] === id) return 0
  const found = now.indexOf(id)
  return found === -1 ? 0 : found - place
}
