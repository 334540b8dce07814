// The model of alerts: rules, channels, what is told, and the words for them. Pure.
import type { Cause, FailureCategory, Severity } from '../failures/failure.ts'
import type { Platform } from '../sessions/session.ts'

/** FAILURE: a run carries one; NEW_PATTERN: one was never seen before, or not since it was resolved. */
export const RULE_KINDS = ['FAILURE', 'NEW_PATTERN', 'FAILURE_RATE'] as const
export type RuleKind = (typeof RULE_KINDS)[number]

export type ChannelKind = 'WEBHOOK' | 'SLACK' | 'EMAIL'

export type DeliveryState = 'QUEUED' | 'SENT' | 'FAILED' | 'SUPPRESSED'

/** Why nobody was told of an alert, or not through a channel. */
export type SuppressedBy = 'PATTERN_MUTED' | 'AGENT_MUTED' | 'COOLDOWN' | 'CHANNEL_OFF' | 'RULE_OFF' | 'FAILURE_GONE'

/** What of runs a rule is about; empty lists and null mean any. */
export interface RuleConditions {
  kind: RuleKind
  minSeverity: Severity
  categories: FailureCategory[]
  agents: string[]
  platform: Platform | null
  /** FAILURE: of one pattern people are told at most once in this time; 0 is each run */
  cooldownMinutes: number
  /** FAILURE_RATE: failed runs as a share of an agent's, above 0 to 1 */
  failureShare: number | null
  /** FAILURE_RATE: of fewer runs nothing is said */
  minRuns: number | null
  windowMinutes: number | null
}

/** What is told, the same to every receiver. Times are ISO 8601. */
export interface AlertMessage {
  kind: RuleKind | 'TEST'
  alertId: string
  at: string
  project: string
  rule: string
  agent: string | null
  platform: Platform | null
  severity: Severity | null
  category: FailureCategory | null
  cause: Cause | null
  /** the node, tool or model */
  subject: string | null
  /** what, in a line */
  title: string
  sentence: string
  advice: string | null
  /** at most two lines */
  evidence: string[]
  /** since when it is so, and how that is meant: "first seen" */
  since: { at: string; what: string }
  /** the run; with where the platform shows it, and when it was over, or something last came of it */
  session: { id: string; externalId: string; externalUrl: string | null; at: string } | null
  /** failures that the run carries beside this one */
  otherFailures: number
  /** how often the same failure was seen in the last 7 days; null where it is not one failure */
  seenInLast7Days: number | null
  /** FAILURE_RATE: what was counted */
  rate: { runs: number; failed: number; minutes: number } | null
  /** the page to look at */
  url: string
}

/** A delivery that may be due at a channel. */
export interface NewDelivery {
  id: string
  projectId: number
  channelId: string
}

/** Which delivery changed, and whose it is: `project/id`. */
export type DeliveryNotice = `${number}/${string}`
export const noticeOf = ({ projectId, id }: { projectId: number; id: string }): DeliveryNotice => `${projectId}/${id}`

export const CATEGORY_WORDS: Record<FailureCategory, string> = {
  TOOL_FAILURE: 'tool failure',
  MODEL_FAILURE: 'model failure',
  RETRIEVAL_FAILURE: 'retrieval failure',
  RUN_FAILURE: 'failed run',
  INFINITE_LOOP: 'endless loop',
  LATENCY_SPIKE: 'slow run',
  COST_ANOMALY: 'costly run',
}

export const nameOfAgent = (agent: string | null) => agent ?? 'A run without a name'

/** As people read it in a mail or a chat, wherever they are: 2026-11-20 10:00:03 UTC. */
export const utc = (at: string) => at.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
