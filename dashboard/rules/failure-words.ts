// Owns the words for failures: categories, severities and causes, in the URL and on screen.
import type { SessionRow } from '../queries.ts'

export type Category = SessionRow['failureCategories'][number]
export type Severity = NonNullable<SessionRow['severity']>

/** In the order in which the server ranks equally bad ones. */
export const CATEGORIES: readonly Category[] = [
  'TOOL_FAILURE',
  'MODEL_FAILURE',
  'RETRIEVAL_FAILURE',
  'RUN_FAILURE',
  'INFINITE_LOOP',
  'LATENCY_SPIKE',
  'COST_ANOMALY',
]

/** Ascending. */
export const SEVERITIES: readonly Severity[] = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL']
export const rankOf = (severity: Severity) => SEVERITIES.indexOf(severity) + 1

/** TOOL_FAILURE becomes Tool failure. */
const plainly = (value: string) => value[0] + value.slice(1).toLowerCase().replaceAll('_', ' ')

const otherWords: Partial<Record<Category, string>> = {
  INFINITE_LOOP: 'Endless loop',
  LATENCY_SPIKE: 'Slow run',
  COST_ANOMALY: 'Costly run',
}

export const categoryWords = (category: Category) => otherWords[category] ?? plainly(category)
export const severityWord = (severity: Severity) => plainly(severity)
export const causeWords = (cause: string) => (cause === 'OTHER' ? 'Other cause' : plainly(cause))

/** "High or worse", of a filter that takes all from this one up. */
export const leastSeverityWords = (severity: Severity) =>
  severity === 'CRITICAL' ? 'Critical' : `${severityWord(severity)} or worse`

/** How a value of these enums is spelled in the URL: tool-failure. */
export const toUrlWord = (value: string) => value.toLowerCase().replaceAll('_', '-')
export const fromUrlWord = <Value extends string>(values: readonly Value[], word: string | null): Value | null =>
  values.find((value) => toUrlWord(value) === word) ?? null
