// The model of a session and its events, and the rules by which events move a session. Pure: no clock, no I/O.
import Big from 'big.js'

export type Platform = 'PLATFORM_A' | 'PLATFORM_B'
export type Status = 'RUNNING' | 'COMPLETED' | 'FAILED'
export type EventType = 'LLM_CALL' | 'TOOL_CALL' | 'RETRIEVAL' | 'SPAN' | 'SESSION_END'
export type NodeKind = 'LLM' | 'TOOL' | 'CODE' | 'HTTP_REQUEST' | 'AGENT' | 'TRIGGER' | 'OTHER'
export type DurationSource = 'REPORTED' | 'SPAN' | 'STEPS'
export type CostSource = 'REPORTED' | 'PRICED'

export interface EventError {
  message: string
  name: string | null
  cause: string | null
  httpStatus: string | null
}

/** One event as it will be stored. Times are epoch milliseconds, `orderUs` and `sequence` microseconds or an index. */
export interface EventDraft {
  key: string
  type: EventType
  kind: NodeKind | null
  /** how the kind is known: 'type', 'data' or 'name' */
  kindSource: string | null
  name: string | null
  runIndex: number | null
  parentKey: string | null
  parentName: string | null
  model: string | null
  input: string | null
  output: string | null
  promptTokens: number | null
  completionTokens: number | null
  tokensEstimated: boolean
  costUsd: string | null
  costSource: CostSource | null
  durationMs: number | null
  status: string | null
  error: EventError | null
  occurredAt: number | null
  receivedAt: number
  /** Timeline order: time, then arrival (A) or execution index (B), then place. */
  orderUs: number
  sequence: number
  place: number
  skewed: boolean
  masked: boolean
  attributes: Record<string, unknown> | null
  /** Platform A: what this event says about the end of its session. */
  closes: { reported: boolean; outcome: 'COMPLETED' | 'FAILED' } | null
}

export interface CoverageNote {
  code: string
  detail: string
}

/** What identifies a session and came with a request. */
export interface SessionIdentity {
  id: string
  projectId: number
  platform: Platform
  externalId: string
  workflowId: string | null
  agent: string | null
}

/** Where in the timeline something was said, and what: {orderUs, sequence, place, outcome}. The greatest decides. */
export type Position = [orderUs: number, sequence: number, place: number, outcome: number]

/** A bare end: the first to arrive decides, and what comes after the close changes nothing. */
export type Arrival = [sequence: number, place: number, orderUs: number, outcome: number]

const MAX_ERROR_LENGTH = 2_000
const MAX_MODELS = 50

export const OUTCOME = { COMPLETED: 1, FAILED: 2 } as const

/** One write to a session: all of a new one, or what an existing one of platform A is to gain. */
export interface SessionWrite extends SessionIdentity, Totals {
  mode: string | null
  status: Status
  reportedStatus: string | null
  errorMessage: string | null
  lastNode: string | null
  externalUrl: string | null
  retryOf: string | null
  firstSeenAt: number
  startedAt: number | null
  lastEventAt: number
  closedAt: number | null
  durationMs: number | null
  durationSource: DurationSource | null
  coverage: CoverageNote[]
  reported: Position | null
  ended: Arrival | null
  errorPosition: Position | null
  closedSequence: number | null
  spanStart: number | null
  spanEnd: number | null
  stepsMs: number | null
  rank: number | null
  stoppedAt: number | null
  /** Set where the rules were run before the write and found nothing: it counts as classified. */
  measures: { activeMs: number | null; loopRounds: number; equalRounds: number } | null
}

export interface Totals {
  eventCount: number
  errorCount: number
  llmCalls: number
  toolCalls: number
  unpricedCalls: number
  tokensEstimated: boolean
  models: string[]
  promptTokens: string | null
  completionTokens: string | null
  costUsd: string | null
}

/** What of an event counts in its session's totals. */
export type Countable = Pick<
  EventDraft,
  'type' | 'error' | 'model' | 'promptTokens' | 'completionTokens' | 'tokensEstimated' | 'costUsd'
>

/** Sums over events; a sum of which nothing is known is null, never 0. */
export function totalsOf(events: Iterable<Countable>): Totals {
  const models = new Set<string>()
  const totals: Totals = {
    eventCount: 0,
    errorCount: 0,
    llmCalls: 0,
    toolCalls: 0,
    unpricedCalls: 0,
    tokensEstimated: false,
    models: [],
    promptTokens: null,
    completionTokens: null,
    costUsd: null,
  }
  for (const event of events) {
    totals.eventCount += 1
    if (event.error) totals.errorCount += 1
    if (event.type === 'LLM_CALL') totals.llmCalls += 1
    if (event.type === 'TOOL_CALL') totals.toolCalls += 1
    if (event.model) models.add(event.model)
    if (event.tokensEstimated) totals.tokensEstimated = true
    totals.promptTokens = plus(totals.promptTokens, event.promptTokens)
    totals.completionTokens = plus(totals.completionTokens, event.completionTokens)
    totals.costUsd = plus(totals.costUsd, event.costUsd)
    const hasTokens = event.promptTokens !== null || event.completionTokens !== null
    if (hasTokens && event.costUsd === null) totals.unpricedCalls += 1
  }
  totals.models = [...models].sort().slice(0, MAX_MODELS)
  return totals
}

/** The session's own copy of an error is for lists and searches; the event keeps all of it. */
export function shortError<T extends string | null>(message: T): T {
  const isLong = message !== null && message.length > MAX_ERROR_LENGTH
  return (isLong ? `${message.slice(0, MAX_ERROR_LENGTH - 1).toWellFormed()}…` : message) as T
}

/** Exact decimal sum; null stands for unknown and adds nothing. */
export function plus(sum: string | null, value: string | number | null): string | null {
  if (value === null) return sum
  return sum === null ? String(value) : Big(sum).plus(value).toFixed()
}

/**
 * The table of platform A's transitions: what a closing event makes of the session, strongest first. A reported
 * outcome goes before a bare end; of reported ones the furthest along the timeline decides, of bare ends the first.
 */
export function statusOf(session: Pick<SessionWrite, 'reported' | 'ended'>): Status {
  const decisive = session.reported ?? session.ended
  if (!decisive) return 'RUNNING'
  return decisive[3] === OUTCOME.FAILED ? 'FAILED' : 'COMPLETED'
}

/** What events of platform A add to their session. The order in which they are given does not matter. */
export function foldEvents(identity: SessionIdentity, events: EventDraft[]): SessionWrite {
  let reported: Position | null = null
  let ended: Arrival | null = null
  let errorPosition: Position | null = null
  let errorMessage: string | null = null
  let closedSequence: number | null = null
  let startedAt = Infinity
  let lastEventAt = -Infinity
  let spanStart: number | null = null
  let spanEnd: number | null = null
  let stepsMs: number | null = null
  for (const event of events) {
    const { closes } = event
    const position: Position = [event.orderUs, event.sequence, event.place, closes ? OUTCOME[closes.outcome] : 0]
    if (closes) {
      if (closes.reported) reported = later(reported, position)
      else if (!ended || event.sequence < ended[0] || (event.sequence === ended[0] && event.place < ended[1])) {
        ended = [event.sequence, event.place, event.orderUs, OUTCOME[closes.outcome]]
      }
      closedSequence = Math.min(closedSequence ?? Infinity, event.sequence)
    }
    if (event.error && later(errorPosition, position) === position) {
      errorPosition = position
      errorMessage = shortError(event.error.message)
    }
    startedAt = Math.min(startedAt, Math.floor(event.orderUs / 1000))
    lastEventAt = Math.max(lastEventAt, event.receivedAt)
    if (event.occurredAt !== null && !event.skewed) {
      spanStart = Math.min(spanStart ?? Infinity, event.occurredAt)
      spanEnd = Math.max(spanEnd ?? -Infinity, event.occurredAt + (event.durationMs ?? 0))
    }
    if (event.durationMs !== null) stepsMs = (stepsMs ?? 0) + event.durationMs
  }
  const spanMs = spanStart !== null && spanEnd !== null && spanEnd > spanStart ? spanEnd - spanStart : null
  const totals = totalsOf(events)
  // Every field by name: spreading two objects into a third makes a slow one, 90 us for each session.
  return {
    id: identity.id,
    projectId: identity.projectId,
    platform: identity.platform,
    externalId: identity.externalId,
    workflowId: identity.workflowId,
    agent: identity.agent,
    eventCount: totals.eventCount,
    errorCount: totals.errorCount,
    llmCalls: totals.llmCalls,
    toolCalls: totals.toolCalls,
    unpricedCalls: totals.unpricedCalls,
    tokensEstimated: totals.tokensEstimated,
    models: totals.models,
    promptTokens: totals.promptTokens,
    completionTokens: totals.completionTokens,
    costUsd: totals.costUsd,
    mode: null,
    status: statusOf({ reported, ended }),
    reportedStatus: null,
    errorMessage,
    lastNode: null,
    externalUrl: null,
    retryOf: null,
    firstSeenAt: events[0]!.receivedAt,
    startedAt,
    lastEventAt,
    closedAt: reported ? reported[0] / 1000 : ended ? ended[2] / 1000 : null,
    durationMs: spanMs ?? stepsMs,
    durationSource: spanMs !== null ? 'SPAN' : stepsMs !== null ? 'STEPS' : null,
    coverage: [],
    reported,
    ended,
    errorPosition,
    closedSequence,
    spanStart,
    spanEnd,
    stepsMs,
    rank: null,
    stoppedAt: null,
    measures: null,
  }
}

function later(a: Position | null, b: Position): Position {
  if (!a) return b
  for (let i = 0; i < 4; i++) if (a[i] !== b[i]) return a[i]! > b[i]! ? a : b
  return b
}
