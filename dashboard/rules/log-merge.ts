// Owns how requests enter the ingest log on screen: each once, newest first, new ones wait, nothing on screen moves.
import type { LoggedRequest } from '../queries-ingest.ts'

export interface LogEntry {
  request: LoggedRequest
  /** Where the next page starts after this one; null for one that came live. */
  cursor: string | null
}

export interface LogState {
  rows: LogEntry[]
  /** New requests that wait to be shown, newest first. */
  fresh: LogEntry[]
  /** Older ones than the last row exist on the server. */
  hasMore: boolean
}

const newestFirst = (one: LogEntry, other: LogEntry) =>
  one.request.at === other.request.at ? 0 : one.request.at < other.request.at ? 1 : -1

/** Takes in what came live or with the newest page read again. */
export function mergeLog(state: LogState, arrived: readonly LogEntry[]): LogState {
  const rows = [...state.rows]
  const places = new Map(rows.map((row, index) => [row.request.id, index]))
  const fresh = new Map(state.fresh.map((row) => [row.request.id, row]))
  const last = rows.at(-1)?.request.at
  for (const entry of arrived) {
    const { id, at } = entry.request
    const place = places.get(id)
    if (place !== undefined) rows[place] = renewed(rows[place]!, entry)
    else if (!state.hasMore || last === undefined || at >= last)
      fresh.set(id, fresh.has(id) ? renewed(fresh.get(id)!, entry) : entry)
  }
  return { rows, fresh: [...fresh.values()].sort(newestFirst), hasMore: state.hasMore }
}

/** A request never changes but for having been sent again, which a later reading knows. */
const renewed = (held: LogEntry, { request, cursor }: LogEntry): LogEntry => ({
  request: request.sentAgainAt || !held.request.sentAgainAt ? request : held.request,
  cursor: held.cursor ?? cursor,
})

/** Shows what waits, and keeps at most about `cap` rows where the next page can start. */
export function revealLog(state: LogState, cap: number): LogState {
  const rows = [...state.fresh, ...state.rows].sort(newestFirst)
  const end = rows.length <= cap ? 0 : rows.slice(0, cap).findLastIndex((row) => row.cursor !== null) + 1
  return end === 0
    ? { rows, fresh: [], hasMore: state.hasMore }
    : { rows: rows.slice(0, end), fresh: [], hasMore: true }
}

/** The next older page below what is loaded. */
export function appendLog(state: LogState, page: readonly LogEntry[], hasMore: boolean): LogState {
  const known = new Set([...state.rows, ...state.fresh].map((row) => row.request.id))
  return { rows: [...state.rows, ...page.filter((row) => !known.has(row.request.id))], fresh: state.fresh, hasMore }
}
