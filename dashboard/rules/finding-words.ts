// Owns the words for findings: what kind, and what could be saved. What is not known is not written, and nothing is 0.
import type { BigIntValue } from '../graphql.ts'
import type { SessionFinding } from '../queries-session.ts'
import { formatCost, formatCount, formatDuration, plural } from './format.ts'
import { isQuiet } from './quiet.ts'

export type FindingKind = SessionFinding['kind']

const kinds: Record<FindingKind, string> = {
  REPEATED_PROMPT: 'Same prompt sent again',
  RETRIES: 'Failed tries',
  DEARER_MODEL: 'Cheaper model in use elsewhere',
  FIXED_BEGINNING: 'Prompt that could be cached',
  GROWING_CONTEXT: 'Growing context',
  UNUSED_TOOL_ANSWER: 'Unused answer of a tool',
  CUT_OFF_OUTPUT: 'Answer cut off',
  UNUSUAL_COST: 'Unusual cost',
  UNUSUAL_DURATION: 'Unusual duration',
  UNPRICED_MODEL: 'Model without a price',
}
export const findingWords = (kind: FindingKind) => kinds[kind]

export interface Saving {
  savingUsd: string | null
  savingTokens: BigIntValue | null
  savingMs: number | null
}

/** What is written at least: it is the most that could be saved. */
const leastUsd = 0.0001

function amountsOf({ savingUsd: usd, savingTokens: tokens, savingMs: ms }: Saving): string[] {
  const amounts: string[] = []
  if (Number(usd) > 0) amounts.push(Number(usd) < leastUsd ? formatCost(String(leastUsd)) : formatCost(usd!))
  if (Number(tokens) > 0) amounts.push(`${formatCount(tokens!)} ${Number(tokens) === 1 ? 'token' : 'tokens'}`)
  if (Number(ms) > 0) amounts.push(formatDuration(Math.max(1, ms!)))
  return amounts
}

/** "at most $0.0026, 1,005 tokens and 3.20 s, estimated"; null where nothing is known to be saved. */
export function savingWords(saving: Saving): string | null {
  const amounts = amountsOf(saving)
  const last = amounts.pop()
  if (last === undefined) return null
  return `at most ${amounts.length > 0 ? `${amounts.join(', ')} and ${last}` : last}, estimated`
}

/** "money known for 12 of 40 runs"; null where it is of all, or of none. */
export const pricedWords = ({ pricedSessions, sessions }: { pricedSessions: number; sessions: number }) =>
  pricedSessions === 0 || pricedSessions >= sessions
    ? null
    : `money known for ${formatCount(pricedSessions)} of ${plural(sessions, 'run')}`

/** What is known of all together, and of how many nothing is. */
export function knownSavings(all: readonly Saving[]): Saving & { unknown: number } {
  const known = { savingUsd: null, savingTokens: null, savingMs: null, unknown: 0 } as Saving & { unknown: number }
  for (const saving of all) {
    const { savingUsd, savingTokens, savingMs } = saving
    if (savingUsd !== null) known.savingUsd = String(Number(known.savingUsd ?? 0) + Number(savingUsd))
    if (savingTokens !== null) known.savingTokens = String(BigInt(known.savingTokens ?? 0) + BigInt(savingTokens))
    if (savingMs !== null) known.savingMs = (known.savingMs ?? 0) + savingMs
    if (amountsOf(saving).length === 0) known.unknown += 1
  }
  return known
}

/** A run that goes on is not whole yet: nothing is said of it before it is quiet. */
export const hasFindings = (session: { status: string; quietAt: string | null }, nowMs: number) =>
  session.status !== 'RUNNING' || isQuiet(session, nowMs)
