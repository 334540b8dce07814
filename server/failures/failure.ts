// The model of failures: their categories, severities and causes, and what a rule sees of a run. Pure.
import type { EventError, EventType, NodeKind, Platform, Status } from '../sessions/session.ts'

/** In the order in which the first of equal severity is the primary one. */
export const CATEGORIES = [
  'TOOL_FAILURE',
  'MODEL_FAILURE',
  'RETRIEVAL_FAILURE',
  'RUN_FAILURE',
  'INFINITE_LOOP',
  'LATENCY_SPIKE',
  'COST_ANOMALY',
] as const
export type FailureCategory = (typeof CATEGORIES)[number]

/** Ascending; stored as 1 to 4. */
export const SEVERITIES = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const
export type Severity = (typeof SEVERITIES)[number]
export const rankOfSeverity = (severity: Severity) => SEVERITIES.indexOf(severity) + 1
export const severityOf = (rank: number): Severity => SEVERITIES[rank - 1]!

export const CAUSES = [
  'TIMEOUT',
  'RATE_LIMIT',
  'AUTHENTICATION',
  'NOT_FOUND',
  'INVALID_INPUT',
  'CONNECTION',
  'CONTEXT_LENGTH',
  'CONTENT_FILTER',
  'PROVIDER_ERROR',
  'OTHER',
] as const
export type Cause = (typeof CAUSES)[number]

/** Which pattern changed, and whose it is: `project/id`. */
export type PatternNotice = `${number}/${string}`
export const patternNotice = (row: Record<string, any>): PatternNotice => `${row.project_id}/${row.pattern_id}`
export function readNotice(notice: string): { projectId: number; id: string } {
  const [projectId, id = ''] = notice.split('/')
  return { projectId: Number(projectId), id }
}

export type MeasureUnit = 'MS' | 'USD' | 'TOKENS' | 'ROUNDS'

/** Where a threshold comes from: a person fixed it, the agent's own runs, or nothing is known yet. */
export type ThresholdSource = 'FIXED_FOR_AGENT' | 'FIXED_FOR_PROJECT' | 'ADAPTIVE' | 'DEFAULT'

export interface Threshold {
  value: number
  source: ThresholdSource
  /** earlier runs of the agent that are known, at most 200 */
  runs: number
  /** how the value came about, to follow a number: "3 times the median of its last 200 runs" */
  because: string
}

export interface Thresholds {
  latencyMs: Threshold
  costUsd: Threshold
  tokens: Threshold
  loopRounds: Threshold
  /** rounds that changed nothing */
  equalRounds: Threshold
}

/** A closed session as the rules see it. Times are epoch milliseconds. */
export interface RunSession {
  id: string
  projectId: number
  platform: Platform
  agent: string | null
  status: Status
  /** the status word that platform B sent */
  reportedStatus: string | null
  mode: string | null
  errorMessage: string | null
  startedAt: number | null
  firstSeenAt: number
  durationMs: number | null
  llmCalls: number
  unpricedCalls: number
  tokensEstimated: boolean
  /** null where no token count is known */
  tokens: number | null
  costUsd: number | null
  /** codes of what is not known about the run */
  coverage: string[]
}

export interface RunEvent {
  key: string
  type: EventType
  kind: NodeKind | null
  name: string | null
  model: string | null
  runIndex: number | null
  parentKey: string | null
  status: string | null
  error: EventError | null
  durationMs: number | null
  occurredAt: number | null
  /** Platform B: what led to this step, the type of its node, and how its items were paired with those before. */
  nodeType: string | null
  source: { node: string; run: number }[]
  firstItem: number | null
  isNextBatch: boolean
  wasResumed: boolean
  itemCount: number | null
  /** stand for the texts: equal ones have equal digests; null where the text is not known */
  inputDigest: string | null
  outputDigest: string | null
}

/** What the rules are given. Events are in timeline order. */
export interface Run {
  session: RunSession
  events: RunEvent[]
  thresholds: Thresholds
}

/** Something a rule found. */
export interface Found {
  category: FailureCategory
  severity: Severity
  cause: Cause | null
  /** the node or tool it is about */
  subject: string | null
  /** what happened, for people */
  sentence: string
  /** what to do about it */
  advice: string
  /** what tells failures of different kinds apart within a category */
  fingerprint: string
  /** the error as it came */
  errorText: string | null
  measured: number | null
  threshold: Threshold | null
  unit: MeasureUnit | null
  /** keys of events */
  evidence: string[]
}

/** What a rule says of a run: what it found, or in a sentence why it found nothing. */
export interface Verdict {
  found: Found[]
  sentence: string
  measured: number | null
  threshold: Threshold | null
  unit: MeasureUnit | null
}

export interface Rule {
  category: FailureCategory
  platform: Platform
  /** one sentence for people who read the list of rules */
  looksFor: string
  /** why it can say nothing about this run, as a sentence; null where it can */
  cannotTell(run: Run): string | null
  find(run: Run): Verdict
}
