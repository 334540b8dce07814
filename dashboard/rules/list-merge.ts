// Owns how changes enter the list: rows are replaced in place by revision, new ones wait, nothing on screen moves.
import type { SessionRow } from '../queries.ts'
import { isNewer } from './revision.ts'
import { stillMatches, type ListFilter } from './session-filter.ts'

export interface ListRow {
  session: SessionRow
  /** Where the next page starts after this row; null for a row that came live. */
  cursor: string | null
  /** False: it was shown, and the filter does not find it any more. It stays, dimmed, until the next reveal. */
  matches: boolean
  /** It was deleted; what is posted to it later has a newer revision and brings it back. */
  isGone: boolean
}

export interface ListState {
  rows: ListRow[]
  /** New sessions that wait to be shown, newest first. */
  fresh: ListRow[]
  /** Older sessions than the last row exist on the server. */
  hasMore: boolean
}

const newestFirst = (one: ListRow, other: ListRow) => {
  if (one.session.firstSeenAt === other.session.firstSeenAt) return 0
  return one.session.firstSeenAt < other.session.firstSeenAt ? 1 : -1
}

/** Takes in changed sessions, wherever they come from: a push, a page read again, rows read by id. */
export function mergeSessions(
  state: ListState,
  changed: readonly SessionRow[],
  filter: ListFilter,
  cursors: ReadonlyMap<string, string> = new Map(),
): ListState {
  const rowIndexes = new Map(state.rows.map((row, index) => [row.session.id, index]))
  const fresh = new Map(state.fresh.map((row) => [row.session.id, row]))
  const rows = [...state.rows]
  const last = rows.at(-1)?.session.firstSeenAt
  for (const session of changed) {
    const index = rowIndexes.get(session.id)
    const cursor = cursors.get(session.id) ?? null
    if (index !== undefined) {
      rows[index] = mergeRow(rows[index]!, session, filter, cursor)
      continue
    }
    const waiting = fresh.get(session.id)
    const merged = waiting
      ? mergeRow(waiting, session, filter, cursor)
      : { session, cursor, matches: stillMatches(session, filter), isGone: false }
    const isBelowWhatIsLoaded = state.hasMore && last !== undefined && session.firstSeenAt < last
    if (merged.matches && !isBelowWhatIsLoaded) fresh.set(session.id, merged)
    else fresh.delete(session.id)
  }
  return { rows, fresh: [...fresh.values()].sort(newestFirst), hasMore: state.hasMore }
}

function mergeRow(row: ListRow, session: SessionRow, filter: ListFilter, cursor: string | null): ListRow {
  const newest = isNewer(session.revision, row.session.revision) ? session : row.session
  if (newest === row.session && row.isGone) return row
  const matches = stillMatches(newest, filter)
  const isSame = newest === row.session && matches === row.matches
  if (isSame && (cursor === null || row.cursor !== null)) return row
  // One that was deleted and is back was first seen anew: its old place in the pages is not its place any more.
  const held = newest.firstSeenAt === row.session.firstSeenAt ? row.cursor : null
  return { session: newest, cursor: held ?? cursor, matches, isGone: false }
}

/** Sessions that the server does not have any more: rows stay, dimmed; what waits is not shown at all. */
export function markGone(state: ListState, ids: ReadonlySet<string>): ListState {
  return {
    rows: state.rows.map((row) =>
      ids.has(row.session.id) && !row.isGone ? { ...row, matches: false, isGone: true } : row,
    ),
    fresh: state.fresh.filter((row) => !ids.has(row.session.id)),
    hasMore: state.hasMore,
  }
}

/** Shows what waits, drops what no longer matches, and keeps at most about `cap` rows where the next page can start. */
export function revealFresh(state: ListState, cap: number): ListState {
  const rows = [...state.fresh, ...state.rows.filter((row) => row.matches)].sort(newestFirst)
  if (rows.length <= cap) return { rows, fresh: [], hasMore: state.hasMore }
  let end = cap
  while (end > 0 && rows[end - 1]!.cursor === null) end -= 1
  if (end === 0) return { rows, fresh: [], hasMore: state.hasMore }
  return { rows: rows.slice(0, end), fresh: [], hasMore: true }
}

/** The next older page below what is loaded; a session that is loaded already is not shown twice. */
export function appendPage(state: ListState, page: ListRow[], hasMore: boolean): ListState {
  const known = new Set([...state.rows, ...state.fresh].map((row) => row.session.id))
  return { rows: [...state.rows, ...page.filter((row) => !known.has(row.session.id))], fresh: state.fresh, hasMore }
}
