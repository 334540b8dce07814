// Owns the list's filter: URL to filter and back, filter to the schema's input, and whether a session still matches.
import type { SessionRow } from '../queries.ts'
import { formatTime } from './format.ts'
import {
  CATEGORIES,
  categoryWords,
  fromUrlWord,
  leastSeverityWords,
  rankOf,
  SEVERITIES,
  toUrlWord,
  type Category,
  type Severity,
} from './failure-words.ts'

export type Status = SessionRow['status']
export type Platform = SessionRow['platform']
export type Range = 'LAST_HOUR' | 'LAST_24_HOURS' | 'LAST_7_DAYS' | 'LAST_30_DAYS'

export interface ListFilter {
  status: Status | null
  platform: Platform | null
  /** Names; null stands for sessions without a name. */
  agents: (string | null)[]
  range: Range | null
  /** First seen at or after this time, and before that one. */
  from: string | null
  to: string | null
  /** With a failure of this category. */
  category: Category | null
  /** With a failure at least this bad. */
  severity: Severity | null
  search: string
}

export const emptyFilter: ListFilter = {
  status: null,
  platform: null,
  agents: [],
  range: null,
  from: null,
  to: null,
  category: null,
  severity: null,
  search: '',
}

export const statuses = [
  { value: 'RUNNING', word: 'running', label: 'Running' },
  { value: 'FAILED', word: 'failed', label: 'Failed' },
  { value: 'COMPLETED', word: 'completed', label: 'Completed' },
] as const
export const platforms = [
  { value: 'PLATFORM_A', word: 'zapier', label: 'Zapier' },
  { value: 'PLATFORM_B', word: 'n8n', label: 'n8n' },
] as const
export const ranges = [
  { value: 'LAST_HOUR', word: '1h', label: 'Last hour' },
  { value: 'LAST_24_HOURS', word: '24h', label: 'Last 24 hours' },
  { value: 'LAST_7_DAYS', word: '7d', label: 'Last 7 days' },
  { value: 'LAST_30_DAYS', word: '30d', label: 'Last 30 days' },
] as const

export const platformLabel = (platform: Platform) => (platform === 'PLATFORM_A' ? 'Zapier' : 'n8n')
export const agentLabel = (agent: string | null) => agent ?? 'No name'

type Choice<T> = readonly { value: T; word: string; label: string }[]
const valueOf = <T>(choices: Choice<T>, word: string | null) =>
  choices.find((each) => each.word === word)?.value ?? null
const wordOf = <T>(choices: Choice<T>, value: T) => choices.find((each) => each.value === value)!.word

const timeOf = (text: string | null) => (text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : null)

export function filterFromQuery(query: URLSearchParams): ListFilter {
  return {
    status: valueOf<Status>(statuses, query.get('status')),
    platform: valueOf<Platform>(platforms, query.get('platform')),
    agents: [...new Set(query.getAll('agent'))].map((name) => (name === '' ? null : name)),
    range: valueOf<Range>(ranges, query.get('range')),
    from: timeOf(query.get('from')),
    to: timeOf(query.get('to')),
    category: fromUrlWord(CATEGORIES, query.get('category')),
    severity: fromUrlWord(SEVERITIES, query.get('severity')),
    search: query.get('q')?.trim() ?? '',
  }
}

export function filterToQuery(filter: Partial<ListFilter>): URLSearchParams {
  const query = new URLSearchParams()
  if (filter.status) query.set('status', wordOf<Status>(statuses, filter.status))
  if (filter.platform) query.set('platform', wordOf<Platform>(platforms, filter.platform))
  for (const agent of filter.agents ?? []) query.append('agent', agent ?? '')
  if (filter.range) query.set('range', wordOf<Range>(ranges, filter.range))
  if (filter.from) query.set('from', filter.from)
  if (filter.to) query.set('to', filter.to)
  if (filter.category) query.set('category', toUrlWord(filter.category))
  if (filter.severity) query.set('severity', toUrlWord(filter.severity))
  if (filter.search) query.set('q', filter.search)
  return query
}

/** What the server is asked: relative ranges stay words, so that the server resolves them. */
export function filterToInput(filter: ListFilter) {
  return {
    ...(filter.status && { status: filter.status }),
    ...(filter.platform && { platform: filter.platform }),
    ...(filter.agents.length > 0 && { agents: filter.agents }),
    ...(filter.from && { since: filter.from }),
    ...(filter.to && { until: filter.to }),
    ...(filter.category && { category: filter.category }),
    ...(filter.severity && { minSeverity: filter.severity }),
    ...(filter.search && { search: filter.search }),
    ...(filter.range && { range: filter.range }),
  }
}

export const isEmptyFilter = (filter: ListFilter) => filterToQuery(filter).size === 0

/** Whether a loaded session can stop matching: a platform and a first sight never change. */
export const canStopMatching = (filter: ListFilter) =>
  filter.status !== null ||
  filter.agents.length > 0 ||
  filter.category !== null ||
  filter.severity !== null ||
  filter.search !== ''

/** Growing old out of a range does not count: rows do not vanish because time passes. */
export function stillMatches(session: SessionRow, filter: ListFilter): boolean {
  if (filter.status && session.status !== filter.status) return false
  if (filter.platform && session.platform !== filter.platform) return false
  if (filter.agents.length > 0 && !filter.agents.includes(session.agent)) return false
  if (filter.category && !session.failureCategories.includes(filter.category)) return false
  if (filter.severity && (session.severity === null || rankOf(session.severity) < rankOf(filter.severity))) return false
  if (filter.search === '') return true
  const search = filter.search.toLowerCase()
  return (
    session.externalId.toLowerCase().startsWith(search) ||
    (session.agent ?? '').toLowerCase().includes(search) ||
    (session.errorMessage ?? '').toLowerCase().includes(search)
  )
}

export interface Chip {
  key: string
  label: string
  without: ListFilter
}

/** One removable chip for everything the filter narrows. */
export function chipsOf(filter: ListFilter): Chip[] {
  const chips: Chip[] = []
  if (filter.platform)
    chips.push({
      key: 'platform',
      label: `Platform: ${platformLabel(filter.platform)}`,
      without: { ...filter, platform: null },
    })
  for (const agent of filter.agents)
    chips.push({
      key: `agent ${agent ?? ''}`,
      label: `Agent: ${agentLabel(agent)}`,
      without: { ...filter, agents: filter.agents.filter((each) => each !== agent) },
    })
  if (filter.range)
    chips.push({
      key: 'range',
      label: ranges.find((each) => each.value === filter.range)!.label,
      without: { ...filter, range: null },
    })
  if (filter.from || filter.to)
    chips.push({
      key: 'times',
      label: [filter.from && `From ${formatTime(filter.from)}`, filter.to && `before ${formatTime(filter.to)}`]
        .filter(Boolean)
        .join(', '),
      without: { ...filter, from: null, to: null },
    })
  if (filter.category)
    chips.push({
      key: 'category',
      label: `Failure: ${categoryWords(filter.category)}`,
      without: { ...filter, category: null },
    })
  if (filter.severity)
    chips.push({
      key: 'severity',
      label: `Severity: ${leastSeverityWords(filter.severity)}`,
      without: { ...filter, severity: null },
    })
  if (filter.search)
    chips.push({ key: 'search', label: `Search: ${filter.search}`, without: { ...filter, search: '' } })
  if (filter.status)
    chips.unshift({
      key: 'status',
      label: `Status: ${statuses.find((each) => each.value === filter.status)!.label}`,
      without: { ...filter, status: null },
    })
  return chips
}
