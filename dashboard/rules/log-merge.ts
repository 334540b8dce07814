// Owns how entries enter a log on screen: each once, newest first, new ones wait, nothing on screen moves.
export interface Logged {
  id: string
  /** When it came about; it never changes. */
  at: string
}

export interface LogEntry<Item extends Logged> {
  item: Item
  /** Where the next page starts after this one; null for one that came live. */
  cursor: string | null
  /** Not any more: it has changed since it was listed. */
  matches: boolean
  isGone: boolean
}

export interface LogState<Item extends Logged> {
  rows: LogEntry<Item>[]
  /** New entries that wait to be shown, newest first. */
  fresh: LogEntry<Item>[]
  /** Older ones than the last row exist on the server. */
  hasMore: boolean
}

/** How an entry changes, where it does. */
export interface LogChanges<Item> {
  renewed?(held: Item, arrived: Item): Item
  matches?(item: Item): boolean
}

export const logEntry = <Item extends Logged>(item: Item, cursor: string | null = null): LogEntry<Item> => ({
  item,
  cursor,
  matches: true,
  isGone: false,
})

/** Many may come about at one moment: then they stand by the uuid in their global id, as they do on the server. */
function newestFirst({ item: one }: LogEntry<Logged>, { item: other }: LogEntry<Logged>): number {
  if (one.id === other.id) return 0
  const isOlder = one.at === other.at ? insideOf(one.id) < insideOf(other.id) : one.at < other.at
  return isOlder ? 1 : -1
}

function insideOf(id: string): string {
  try {
    return atob(id)
  } catch {
    return id
  }
}

/** Takes in what came live or was read again. */
export function mergeLog<Item extends Logged>(
  state: LogState<Item>,
  arrived: readonly LogEntry<Item>[],
  changes: LogChanges<Item> = {},
): LogState<Item> {
  const rows = [...state.rows]
  const places = new Map(rows.map((row, index) => [row.item.id, index]))
  const fresh = new Map(state.fresh.map((row) => [row.item.id, row]))
  const last = rows.at(-1)
  const renewed = (held: LogEntry<Item>, { item, cursor }: LogEntry<Item>) => ({
    ...held,
    item: changes.renewed?.(held.item, item) ?? item,
    cursor: held.cursor ?? cursor,
  })
  for (const entry of arrived) {
    const { id } = entry.item
    const matches = changes.matches?.(entry.item) ?? true
    const place = places.get(id)
    if (place !== undefined) rows[place] = { ...renewed(rows[place]!, entry), matches }
    else if (!matches) fresh.delete(id)
    else if (!state.hasMore || last === undefined || newestFirst(entry, last) <= 0)
      fresh.set(id, fresh.has(id) ? renewed(fresh.get(id)!, entry) : entry)
  }
  return { rows, fresh: [...fresh.values()].sort(newestFirst), hasMore: state.hasMore }
}

/** Those that are not stored any more stay where they stand and say so. */
export const markLogGone = <Item extends Logged>(state: LogState<Item>, ids: ReadonlySet<string>): LogState<Item> => ({
  rows: state.rows.map((row) => (ids.has(row.item.id) ? { ...row, isGone: true } : row)),
  fresh: state.fresh.filter((row) => !ids.has(row.item.id)),
  hasMore: state.hasMore,
})

/**
 * Shows what waits, lets go of what does not belong here any more, and keeps at most about `cap` rows where the next page
 * can start.
 */
export function revealLog<Item extends Logged>(
  state: LogState<Item>,
  cap: number,
): LogState<Item> & { isCut: boolean } {
  const kept = state.rows.filter((row) => row.matches && !row.isGone)
  const rows = [...state.fresh, ...kept].sort(newestFirst)
  const end = rows.length <= cap ? 0 : rows.slice(0, cap).findLastIndex((row) => row.cursor !== null) + 1
  return end === 0
    ? { rows, fresh: [], hasMore: state.hasMore, isCut: false }
    : { rows: rows.slice(0, end), fresh: [], hasMore: true, isCut: true }
}

/** The next older page below what is loaded. */
export function appendLog<Item extends Logged>(
  state: LogState<Item>,
  page: readonly LogEntry<Item>[],
  hasMore: boolean,
): LogState<Item> {
  const known = new Set([...state.rows, ...state.fresh].map((row) => row.item.id))
  return { rows: [...state.rows, ...page.filter((row) => !known.has(row.item.id))], fresh: state.fresh, hasMore }
}
