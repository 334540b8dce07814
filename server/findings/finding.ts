// The model of findings: what could be better in a run although nothing went wrong, and what the analysis sees of it. Pure.
import type { EventType, Platform, Status } from '../sessions/session.ts'

/** In the order in which findings of equal saving are listed. */
export const FINDING_KINDS = [
  'REPEATED_PROMPT',
  'RETRIES',
  'DEARER_MODEL',
  'FIXED_BEGINNING',
  'GROWING_CONTEXT',
  'UNUSED_TOOL_ANSWER',
  'CUT_OFF_OUTPUT',
  'UNUSUAL_COST',
  'UNUSUAL_DURATION',
  'UNPRICED_MODEL',
] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

/** What could have been saved at most; null where it cannot be known. */
export interface Saving {
  usd: number | null
  tokens: number | null
  ms: number | null
}

export interface Finding {
  kind: FindingKind
  /** the step, tool or model it is about; null where it is about the run */
  subject: string | null
  /** what was seen, for people */
  sentence: string
  /** what to change */
  advice: string
  saving: Saving
  /** keys of events */
  evidence: string[]
}

/** A session as the analysis sees it. Times are epoch milliseconds. */
export interface AnalysedSession {
  id: string
  projectId: number
  platform: Platform
  agent: string | null
  status: Status
  firstSeenAt: number
  startedAt: number | null
  durationMs: number | null
  /** without the time in which it waited; null where that is not known */
  activeMs: number | null
  costUsd: number | null
  unpricedCalls: number
  /** external id of the run that this one retries */
  retryOf: string | null
}

/** Of so many steps of a session the texts are read. */
export const READ_TEXTS = 200

/** A step of it. Texts are cut: one is whole where its length is the length given. Digests are of the whole. */
export interface AnalysedEvent {
  key: string
  type: EventType
  name: string | null
  model: string | null
  parentKey: string | null
  hasError: boolean
  promptTokens: number | null
  completionTokens: number | null
  costUsd: number | null
  durationMs: number | null
  occurredAt: number | null
  /** null where there is none, or the event stands too far behind in a long run for its texts to be read */
  input: string | null
  inputLength: number | null
  inputDigest: string | null
  output: string | null
  outputLength: number | null
  /** why the model stopped, in the provider's word */
  finishReason: string | null
  /** how many tokens it was allowed to answer with */
  maxTokens: number | null
}

/** What is usual of a number in an agent's earlier runs. */
export interface UsualValue {
  median: number
  p95: number
  runs: number
}

/** How a step's first prompt began in an earlier run: a hash for each whole block, each over all before it. */
export interface Beginning {
  at: number
  chain: Int32Array
}

/** Calls of one model that do one kind of work, over the agents of a project. */
export interface ModelUse {
  model: string
  agents: number
  calls: number
  /** without an error, in runs that did not fail; 0 to 1 */
  success: number
}

export interface Surroundings {
  durationMs: UsualValue | null
  costUsd: UsualValue | null
  /** newest first, of the runs before this one, by step */
  beginnings: ReadonlyMap<string, Beginning[]>
  /** how the agent's own calls of a model fare, by kind of work and model */
  own: ReadonlyMap<string, ModelUse>
  /** what other agents use for a kind of work */
  others: ReadonlyMap<string, ModelUse[]>
  /** the run that this one retries; null where it is not stored */
  retried: { durationMs: number | null; costUsd: number | null; tokens: number | null } | null
}

/** USD of so many tokens sent and received; null where the price is not known. */
export type PriceOf = (model: string, promptTokens: number, completionTokens: number) => number | null

export interface Analysed {
  session: AnalysedSession
  /** in timeline order */
  events: AnalysedEvent[]
  surroundings: Surroundings
  priceOf: PriceOf
  /** USD saved where so many tokens of a prompt come from the provider's cache; null where it has no such price */
  cacheSavingOf: (model: string, promptTokens: number) => number | null
}

export const UNKNOWN_SAVING: Saving = { usd: null, tokens: null, ms: null }

/** Sum, or null where one of them is not known. */
export function sumOfAll(values: readonly (number | null)[]): number | null {
  let sum = 0
  for (const value of values) {
    if (value === null) return null
    sum += value
  }
  return sum
}

export const tokensOf = ({ promptTokens, completionTokens }: AnalysedEvent): number | null =>
  promptTokens === null && completionTokens === null ? null : (promptTokens ?? 0) + (completionTokens ?? 0)

/** What a step is called: by its name, else by what it does. */
export const nameOf = ({ name, model, type }: AnalysedEvent): string =>
  name ??
  model ??
  { LLM_CALL: 'model call', TOOL_CALL: 'tool', RETRIEVAL: 'retrieval', SPAN: 'step', SESSION_END: 'end' }[type]

/** Calls of one step: in a run, and from run to run. */
export const stepOf = ({ type, name, model }: AnalysedEvent): string => `${type} ${name ?? ''} ${model ?? ''}`

export function push<T>(groups: Map<string, T[]>, key: string, value: T): void {
  const group = groups.get(key)
  if (group) group.push(value)
  else groups.set(key, [value])
}
