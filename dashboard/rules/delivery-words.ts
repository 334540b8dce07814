// Owns the words for a delivery: what became of it and why, its next attempt, and what the last one was answered.
import type { DeliveryAttempt, DeliveryRow } from '../queries-deliveries.ts'
import { deliveryStates } from './delivery-filter.ts'
import { formatRunning } from './format.ts'

type Kind = DeliveryRow['channelKind']
type Because = NonNullable<DeliveryRow['suppressedBy']>

const kindWords: Record<Kind, string> = { WEBHOOK: 'webhook', SLACK: 'Slack', EMAIL: 'email' }
export const channelKindWord = (kind: Kind) => kindWords[kind]

/** "Trying now" while it waits and an attempt is made. */
export const deliveryStateWords = ({ state, isTrying }: Pick<DeliveryRow, 'state' | 'isTrying'>) =>
  isTrying ? 'Trying now' : deliveryStates.find((each) => each.state === state)!.label

const becauseWords: Record<Because, [short: string, sentence: string]> = {
  AGENT_MUTED: ['agent muted', 'the agent was muted.'],
  PATTERN_MUTED: ['pattern muted', 'the pattern of the failure was muted.'],
  CHANNEL_OFF: ['channel off', 'the channel was switched off or deleted.'],
  RULE_OFF: ['rule off', 'the rule was switched off or deleted before.'],
  COOLDOWN: ['told before', 'the rule had told of the same pattern a short while before.'],
  FAILURE_GONE: ['failure gone', 'when the run was looked at again, the failure was not found any more.'],
}
/** In two words. */
export const becauseShort = (because: Because) => becauseWords[because][0]
export const becauseSentence = (because: Because) => `Nobody was told: ${becauseWords[because][1]}`

/** "in 24 s"; "due" for as long as it waits for its turn or its receiver's pause; null where no attempt is planned. */
export function nextAttemptWords({ nextAttemptAt }: Pick<DeliveryRow, 'nextAttemptAt'>, nowMs: number): string | null {
  if (nextAttemptAt === null) return null
  const ms = Date.parse(nextAttemptAt) - nowMs
  return ms <= 0 ? 'due' : `in ${formatRunning(Math.ceil(ms / 1000) * 1000)}`
}

/** "HTTP 503", "no answer"; null where no attempt has ended. */
export function answerWords(kind: Kind, status: number | null, problem: string | null): string | null {
  if (status !== null) return `${kind === 'EMAIL' ? 'SMTP' : 'HTTP'} ${status}`
  return problem === null ? null : 'no answer'
}

const occasions: Record<DeliveryRow['alert']['kind'], string> = {
  FAILURE: 'a run that failed',
  NEW_PATTERN: 'a failure that was new, or back',
  FAILURE_RATE: 'the failure rate of an agent',
}
export const occasionWords = (kind: DeliveryRow['alert']['kind']) => occasions[kind]

/** What became of one attempt. The last without an end is being made, or its server ended in it. */
export function attemptWords(attempt: DeliveryAttempt, isBeingMade: boolean): string {
  if (attempt.durationMs === null)
    return isBeingMade ? 'Being made now' : 'Its outcome is not known: the server ended while it was made'
  return attempt.isDelivered ? 'Taken by the receiver' : 'Failed'
}
