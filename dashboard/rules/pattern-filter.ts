// Owns the filter of the failures page: URL to filter and back, filter to the schema's input, and what still matches.
import type { PatternRow } from '../queries-failures.ts'
import {
  CATEGORIES,
  fromUrlWord,
  rankOf,
  SEVERITIES,
  toUrlWord,
  type Category,
  type Severity,
} from './failure-words.ts'

export type PatternState = PatternRow['state']

export const failureRanges = [
  { value: 'LAST_24_HOURS', word: '24h', label: '24 h', words: 'last 24 hours', hours: 24 },
  { value: 'LAST_7_DAYS', word: '7d', label: '7 d', words: 'last 7 days', hours: 168 },
  { value: 'LAST_30_DAYS', word: '30d', label: '30 d', words: 'last 30 days', hours: 720 },
] as const
export type FailureRange = (typeof failureRanges)[number]['value']
export const failureRangeOf = (range: FailureRange) => failureRanges.find((each) => each.value === range)!

const notDone: readonly PatternState[] = ['OPEN', 'REOPENED']
/** What of them is listed; the first is what is listed unless something else is asked for. */
export const stateChoices = [
  { word: '', label: 'Not resolved', states: notDone },
  { word: 'open', label: 'Open', states: ['OPEN'] },
  { word: 'reopened', label: 'Reopened', states: ['REOPENED'] },
  { word: 'resolved', label: 'Resolved', states: ['RESOLVED'] },
  { word: 'all', label: 'All states', states: null },
] as const satisfies readonly { word: string; label: string; states: readonly PatternState[] | null }[]
export type StateChoice = (typeof stateChoices)[number]['word']

export interface PatternFilter {
  range: FailureRange
  state: StateChoice
  category: Category | null
  /** The least. */
  severity: Severity | null
  /** Null stands for sessions without a name; undefined leaves it open. */
  agent: string | null | undefined
  muted: boolean | null
  search: string
}

export const emptyPatternFilter: PatternFilter = {
  range: 'LAST_7_DAYS',
  state: '',
  category: null,
  severity: null,
  agent: undefined,
  muted: null,
  search: '',
}

export function patternFilterFromQuery(query: URLSearchParams): PatternFilter {
  const range = failureRanges.find(({ word }) => word === query.get('range'))
  const state = stateChoices.find(({ word }) => word === query.get('state'))
  const muted = query.get('muted')
  return {
    range: range?.value ?? emptyPatternFilter.range,
    state: state?.word ?? '',
    category: fromUrlWord(CATEGORIES, query.get('category')),
    severity: fromUrlWord(SEVERITIES, query.get('severity')),
    agent: query.has('agent') ? query.get('agent') || null : undefined,
    muted: muted === 'yes' ? true : muted === 'no' ? false : null,
    search: query.get('q')?.trim() ?? '',
  }
}

/** @param pattern the one that is open beside the list */
export function patternFilterToQuery(filter: PatternFilter, pattern: string | null = null): URLSearchParams {
  const query = new URLSearchParams()
  if (filter.range !== emptyPatternFilter.range) query.set('range', failureRangeOf(filter.range).word)
  if (filter.state) query.set('state', filter.state)
  if (filter.category) query.set('category', toUrlWord(filter.category))
  if (filter.severity) query.set('severity', toUrlWord(filter.severity))
  if (filter.agent !== undefined) query.set('agent', filter.agent ?? '')
  if (filter.muted !== null) query.set('muted', filter.muted ? 'yes' : 'no')
  if (filter.search) query.set('q', filter.search)
  if (pattern !== null) query.set('pattern', pattern)
  return query
}

const statesOf = ({ state }: PatternFilter): readonly PatternState[] | null =>
  stateChoices.find(({ word }) => word === state)!.states

export function patternFilterToInput(filter: PatternFilter) {
  const states = statesOf(filter)
  return {
    ...(states && { states: [...states] }),
    ...(filter.category && { category: filter.category }),
    ...(filter.severity && { minSeverity: filter.severity }),
    ...(filter.agent !== undefined && { agents: [filter.agent] }),
    ...(filter.muted !== null && { muted: filter.muted }),
    ...(filter.search && { search: filter.search.slice(0, 200) }),
  }
}

/** Nothing is narrowed; a range is no filter. */
export const isEmptyPatternFilter = (filter: PatternFilter) =>
  patternFilterToQuery({ ...filter, range: emptyPatternFilter.range }).size === 0

export const isMuted = ({ mutedUntil }: { mutedUntil: string | null }, nowMs: number) =>
  mutedUntil !== null && Date.parse(mutedUntil) > nowMs

/** Growing old out of the range is told by the server alone: its count is then 0. */
export function patternMatches(pattern: PatternRow, filter: PatternFilter, nowMs: number): boolean {
  if (pattern.sessions === 0) return false
  if (statesOf(filter)?.includes(pattern.state) === false) return false
  if (filter.category && pattern.category !== filter.category) return false
  if (filter.severity && rankOf(pattern.severity ?? 'LOW') < rankOf(filter.severity)) return false
  if (filter.agent !== undefined && pattern.agent !== filter.agent) return false
  if (filter.muted !== null && isMuted(pattern, nowMs) !== filter.muted) return false
  const search = filter.search.toLowerCase()
  return [pattern.title, pattern.subject, pattern.agent].some((text) => text?.toLowerCase().includes(search))
}
