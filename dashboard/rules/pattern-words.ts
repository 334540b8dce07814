// Owns the words for a pattern: its state, how much of the agent's runs it is, and of which span its counts are.
import type { PatternDecision, PatternRow } from '../queries-failures.ts'
import { causeWords, categoryWords } from './failure-words.ts'
import { formatCount, formatDay, formatShare, plural } from './format.ts'
import { failureRanges, isMuted } from './pattern-filter.ts'

const stateWords: Record<PatternDecision['state'], string> = {
  OPEN: 'Open',
  RESOLVED: 'Resolved',
  REOPENED: 'Reopened',
}
export const stateWord = ({ state }: PatternDecision) => stateWords[state]

/** "muted until Nov 28" */
export const mutedWords = (pattern: PatternDecision, nowMs: number): string | null =>
  isMuted(pattern, nowMs) ? `muted until ${formatDay(pattern.mutedUntil!)}` : null

/** "Tool failure, timeout" */
export const kindWords = ({ category, cause }: Pick<PatternRow, 'category' | 'cause'>) =>
  cause === null ? categoryWords(category) : `${categoryWords(category)}, ${causeWords(cause).toLowerCase()}`

/** "12 of 340 runs"; a run that is gone may leave more sessions than runs, then only these are said. */
export const countWords = ({ sessions, runs }: Pick<PatternRow, 'sessions' | 'runs'>) =>
  runs < sessions ? plural(sessions, 'session') : `${formatCount(sessions)} of ${plural(runs, 'run')}`

export const shareWords = ({ sessions, runs }: Pick<PatternRow, 'sessions' | 'runs'>): string | null =>
  runs < sessions ? null : formatShare(sessions, runs)

/** The range that counts are of which begin there. */
export function spanSince(since: string, nowMs: number): (typeof failureRanges)[number] {
  const hours = (nowMs - Date.parse(since)) / 3_600_000
  const off = (range: { hours: number }) => Math.abs(Math.log(Math.max(hours, 1) / range.hours))
  return failureRanges.reduce((best, range) => (off(range) < off(best) ? range : best))
}
