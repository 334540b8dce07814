// Owns the short facts beside a failure: what was measured, against which limit, and how often it was seen lately.
import type { SessionFailure } from '../queries-session.ts'
import { formatCost, formatCount, formatDuration, plural } from './format.ts'

type Unit = NonNullable<SessionFailure['unit']>

const amounts: Record<Unit, (value: number) => string> = {
  MS: formatDuration,
  USD: (value) => formatCost(String(value)),
  TOKENS: (value) => plural(Math.round(value), 'token'),
  ROUNDS: (value) => plural(value, 'round'),
}

/** "38.2 s, limit 12.7 s, from its last 200 runs"; null where the rule measures nothing. */
export function measuredWords(failure: SessionFailure): string | null {
  const { measured, threshold, unit } = failure
  if (measured === null || unit === null) return null
  const amount = amounts[unit]
  if (threshold === null) return amount(measured)
  const source = sourceWords(failure)
  return `${amount(measured)}, limit ${amount(threshold)}${source ? `, ${source}` : ''}`
}

function sourceWords({ thresholdSource, thresholdRuns: runs }: SessionFailure): string | null {
  if (thresholdSource === 'FIXED_FOR_AGENT') return 'fixed for this agent'
  if (thresholdSource === 'FIXED_FOR_PROJECT') return 'fixed for the project'
  if (thresholdSource === 'ADAPTIVE') return runs === null ? 'from its last runs' : `from its last ${runs} runs`
  if (thresholdSource === null) return null
  if (!runs) return 'the default while no earlier run is known'
  return `the default while only ${plural(runs, 'earlier run')} ${runs === 1 ? 'is' : 'are'} known`
}

/** "Seen in 12 sessions of the last 7 days, muted" */
export function patternWords({ sessions, state, isMuted }: NonNullable<SessionFailure['pattern']>): string {
  const seen =
    sessions === 0 ? 'Not seen in the last 7 days' : `Seen in ${plural(sessions, 'session')} of the last 7 days`
  const became = state === 'RESOLVED' ? ', resolved' : state === 'REOPENED' ? ', seen again after it was resolved' : ''
  return `${seen}${became}${isMuted ? ', muted' : ''}`
}

/** Whether the error as it came says more than the sentence about it. */
export function saysMore({ errorText, sentence }: SessionFailure): boolean {
  const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()
  return errorText !== null && !oneLine(sentence).includes(oneLine(errorText).replace(/[.!?…]$/, ''))
}

const outcomes = {
  FOUND: 'Found',
  NOT_FOUND: 'Not found',
  CANNOT_TELL: 'Cannot tell',
  COULD_NOT_RUN: 'Could not run',
}
export const outcomeWords = (outcome: keyof typeof outcomes) => outcomes[outcome]

/** The server names at most 100 of the events that show a failure. */
export const unnamedWords = ({
  evidence,
  evidenceCount,
}: Pick<SessionFailure, 'evidence' | 'evidenceCount'>): string | null =>
  evidenceCount > evidence.length ? `${formatCount(evidenceCount - evidence.length)} more are not listed` : null
