// Owns how changes enter the list of patterns: rows are replaced where they stand, others wait, nothing on screen moves.
import type { PatternDecision, PatternRow } from '../queries-failures.ts'

export interface PatternEntry {
  pattern: PatternRow
  /** False: it was shown, and the filter does not find it any more. It stays, dimmed, until the list is read anew. */
  matches: boolean
  /** No session of it is kept any more. */
  isGone: boolean
}

export interface PatternsState {
  /** In the order of the reading, the most sessions first. */
  rows: PatternEntry[]
  /** Patterns that belong among the rows and wait for the list to be read anew. */
  fresh: PatternRow[]
  /** The server has more of them below the last row. */
  hasMore: boolean
}

export type Matches = (pattern: PatternRow) => boolean

const ranksBefore = (one: PatternRow, other: PatternRow) =>
  one.sessions === other.sessions ? (one.lastSeenAt ?? '') > (other.lastSeenAt ?? '') : one.sessions > other.sessions

/** Takes in patterns as they stand now, pushed or read. */
export function mergePatterns(state: PatternsState, changed: readonly PatternRow[], matches: Matches): PatternsState {
  const rows = [...state.rows]
  const places = new Map(rows.map(({ pattern }, index) => [pattern.id, index]))
  const fresh = new Map(state.fresh.map((pattern) => [pattern.id, pattern]))
  const last = state.rows.at(-1)?.pattern
  for (const pattern of changed) {
    const place = places.get(pattern.id)
    const isBelowWhatIsLoaded = state.hasMore && last !== undefined && !ranksBefore(pattern, last)
    if (place !== undefined) rows[place] = { pattern, matches: matches(pattern), isGone: false }
    else if (matches(pattern) && !isBelowWhatIsLoaded) fresh.set(pattern.id, pattern)
    else fresh.delete(pattern.id)
  }
  return { rows, fresh: [...fresh.values()], hasMore: state.hasMore }
}

/** All of it was read again: what was not found among it does not match any more. */
export function dimPatternsBut(state: PatternsState, found: ReadonlySet<string>): PatternsState {
  const rows = state.rows.map((row) => (found.has(row.pattern.id) || !row.matches ? row : { ...row, matches: false }))
  return { ...state, rows, fresh: state.fresh.filter(({ id }) => found.has(id)) }
}

export function markPatternGone(state: PatternsState, id: string): PatternsState {
  const rows = state.rows.map((row) => (row.pattern.id === id ? { ...row, matches: false, isGone: true } : row))
  return { ...state, rows, fresh: state.fresh.filter((pattern) => pattern.id !== id) }
}

/** The next page below what is loaded; a pattern that is loaded already is not shown twice. */
export function appendPatterns(state: PatternsState, page: readonly PatternRow[], hasMore: boolean): PatternsState {
  const known = new Set([...state.rows.map(({ pattern }) => pattern.id), ...state.fresh.map(({ id }) => id)])
  const added = page.filter(({ id }) => !known.has(id)).map((pattern) => ({ pattern, matches: true, isGone: false }))
  return { rows: [...state.rows, ...added], fresh: state.fresh, hasMore }
}

/** What a person decided, as its answer says it; the counts of that answer are of another range and are left. */
export function decidePattern(state: PatternsState, decision: PatternDecision, matches: Matches): PatternsState {
  const held = state.rows.find(({ pattern }) => pattern.id === decision.id)?.pattern
  return held ? mergePatterns(state, [{ ...held, ...decision }], matches) : state
}
