// Owns the words for prompt versions: states, makers, decisions, what they are about and what came of activating one.
import type { PromptAgentRow, PromptRow, PromptWhole } from '../queries-prompts.ts'
import { formatAgo, formatCost, formatCount, plural } from './format.ts'
import { kindWords } from './pattern-words.ts'

export type Proposal = PromptWhole['proposals'][number]
export type Decision = PromptRow['decisions'][number]
export type Effect = NonNullable<PromptWhole['effect']>
type Rate = Effect['before']

const stateWords: Record<PromptRow['state'], string> = {
  SHADOW: 'Candidate',
  ACTIVE: 'Active',
  REJECTED: 'Rejected',
  RETIRED: 'Retired',
}
export const promptStateWord = ({ state }: Pick<PromptRow, 'state'>) => stateWords[state]

/** The shape beside the word. */
export const promptGlyph = { SHADOW: 'QUIET', ACTIVE: 'COMPLETED', REJECTED: 'FAILED', RETIRED: 'NONE' } as const

const actionWords: Record<Decision['action'], string> = {
  CREATED: 'Made',
  PROPOSED: 'Proposal of the model came',
  EDITED: 'Text changed',
  ACTIVATED: 'Activated',
  REJECTED: 'Rejected',
  RETIRED: 'Retired',
  ROLLED_BACK: 'Activated again',
}

/** "Activated by ana@example.com" */
export const decisionWords = ({ action, decidedBy }: Decision) =>
  `${actionWords[action]}${decidedBy === null ? '' : ` by ${decidedBy}`}`

/** "Tool failure, invalid input in book_slot" */
export const aboutWords = (prompt: Pick<PromptRow, 'category' | 'cause' | 'subject'>) =>
  prompt.category === null
    ? 'Written by hand'
    : `${kindWords({ category: prompt.category, cause: prompt.cause })}${prompt.subject ? ` in ${prompt.subject}` : ''}`

/** Whose text a version holds now. */
export function makerWords(prompt: Pick<PromptRow, 'maker'> & { proposals?: readonly Proposal[] }): string {
  if (prompt.maker === 'RULES') return 'Rule-built'
  if (prompt.maker === 'PERSON') return 'By a person'
  return `By ${prompt.proposals?.find(({ maker }) => maker === 'MODEL')?.model ?? 'the model'}`
}

export const proposalLabel = ({ maker, model }: Proposal) =>
  maker === 'RULES' ? 'Rule-built' : `By ${model ?? 'the model'}`

/** "1,234 tokens, $0.0012"; what the provider did not say is not said. */
export function spentWords({ promptTokens, completionTokens, costUsd }: Proposal): string | null {
  const tokens =
    promptTokens === null && completionTokens === null
      ? null
      : `${formatCount(promptTokens ?? 0)} tokens sent, ${formatCount(completionTokens ?? 0)} answered`
  const cost = costUsd === null ? (tokens === null ? null : 'cost not known') : formatCost(costUsd)
  return tokens === null ? cost : `${tokens}, ${cost}`
}

/** Why the model has no text; null where it has one. */
export function modelProblem({ prompt, problem, nextAttemptAt }: Proposal): string | null {
  if (prompt !== null) return null
  if (problem === null) return nextAttemptAt === null ? 'It was not asked.' : 'It is being asked.'
  return nextAttemptAt === null ? problem : `${problem} It will be asked again.`
}

/** 34, 2.5, <0.1 */
function formatRate(per100: number): string {
  if (per100 > 0 && per100 < 0.1) return '<0.1'
  return per100 >= 10 || Number.isInteger(per100) ? String(Math.round(per100)) : per100.toFixed(1)
}

/** "34 per 100 runs (17 of 50)" */
export const rateWords = ({ runs, sessions, per100Runs }: Rate) =>
  per100Runs === null || runs === 0
    ? 'no runs'
    : `${formatRate(per100Runs)} per 100 runs (${formatCount(sessions)} of ${formatCount(runs)})`

const dayMs = 86_400_000
const daysOf = ({ since, until }: Rate) => Math.max(1, Math.round((Date.parse(until) - Date.parse(since)) / dayMs))

/** "Before 34 per 100 runs (17 of 50), since 2 per 100 runs (1 of 50)." */
export const effectSentence = ({ before, after }: Effect, isActive: boolean) =>
  `Before ${rateWords(before)}, ${isActive ? 'since' : 'while it was active'} ${rateWords(after)}.`

export const effectSpans = ({ before }: Effect) =>
  `Before is the ${plural(daysOf(before), 'day')} until it was activated.`

const enoughRuns = 20

/** What keeps the numbers from saying much; empty where nothing does. */
export function effectWarning({ after }: Effect, fetchCount: number | string, isActive: boolean): string {
  if (Number(fetchCount) === 0)
    return isActive
      ? 'No workflow has fetched this version yet, so the numbers say nothing about it.'
      : 'No workflow fetched this version while it was active, so the numbers say nothing about it.'
  if (after.runs >= enoughRuns) return ''
  return `Only ${plural(after.runs, 'run')} ${isActive ? 'since' : 'while it was active'}: too few to tell. From ${enoughRuns} on the numbers begin to say something.`
}

/** "Fetched 12 times, last 3 m ago" */
export function fetchedWords(
  { fetchCount, lastFetchedAt }: Pick<PromptWhole, 'fetchCount' | 'lastFetchedAt'>,
  nowMs: number,
): string {
  if (lastFetchedAt === null) return 'No workflow has fetched it yet'
  return `Fetched ${plural(Number(fetchCount), 'time')}, last ${formatAgo(lastFetchedAt, nowMs)}`
}

/** "2 wait, 1 of them new" */
export function candidateWords({ candidates }: Pick<PromptAgentRow, 'candidates'>, added: number): string {
  if (candidates === 0) return 'none'
  const wait = `${formatCount(candidates)} ${candidates === 1 ? 'waits' : 'wait'}`
  if (added === 0) return wait
  return added >= candidates ? `${wait}, new` : `${wait}, ${formatCount(added)} of them new`
}
