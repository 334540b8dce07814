// The columns of sessions and events as tables: how each is written, and how a session's are merged when events of
// platform A come to one that exists.
import { nestedArray, timestampText, type Column } from '../database/columns.ts'
import { cleanJson } from '../ingest/clean-text.ts'
import type { EventDraft, SessionWrite } from './session.ts'

/** In `merge`, `s` is the stored row and `excluded` what is to be added. Without it the stored value stays. */
export interface SessionColumn extends Column<SessionWrite> {
  merge?: string
}

const sum = (name: string) => `s.${name} + excluded.${name}`
const sumOfKnown = (name: string) =>
  `case when excluded.${name} is null then s.${name} else coalesce(s.${name}, 0) + excluded.${name} end`
const least = (name: string) => `least(s.${name}, excluded.${name})`
const greatest = (name: string) => `greatest(s.${name}, excluded.${name})`

const REPORTED = greatest('reported')
const ENDED = least('ended')
/** Whether a merge leaves the session closed. */
export const IS_CLOSED = `coalesce(${REPORTED}, ${ENDED}) is not null`
const SPAN = `nullif(extract(epoch from ${greatest('span_end')} - ${least('span_start')}) * 1000, 0)`
const LATER_ERROR = `excluded.error_position is not null and (s.error_position is null or excluded.error_position >= s.error_position)`

// prettier-ignore
export const SESSION_COLUMNS: SessionColumn[] = [
  { name: 'id', type: 'uuid', value: (s) => s.id },
  { name: 'project_id', type: 'int2', value: (s) => s.projectId },
  { name: 'platform', type: 'text', value: (s) => s.platform },
  { name: 'external_id', type: 'text', value: (s) => s.externalId },
  { name: 'workflow_id', type: 'text', value: (s) => s.workflowId },
  { name: 'agent', type: 'text', value: (s) => s.agent, merge: 'coalesce(s.agent, excluded.agent)' },
  { name: 'mode', type: 'text', value: (s) => s.mode },
  {
    name: 'status', type: 'text', value: (s) => s.status,
    merge: `case coalesce((${REPORTED})[4], (${ENDED})[4]) when 1 then 'COMPLETED' when 2 then 'FAILED' else 'RUNNING' end`,
  },
  { name: 'reported_status', type: 'text', value: (s) => s.reportedStatus },
  {
    name: 'error_message', type: 'text', value: (s) => s.errorMessage,
    merge: `case when ${LATER_ERROR} then excluded.error_message else s.error_message end`,
  },
  { name: 'last_node', type: 'text', value: (s) => s.lastNode },
  { name: 'external_url', type: 'text', value: (s) => s.externalUrl },
  { name: 'retry_of', type: 'text', value: (s) => s.retryOf },
  { name: 'first_seen_at', type: 'timestamptz', value: (s) => timestampText(s.firstSeenAt) },
  { name: 'started_at', type: 'timestamptz', value: (s) => timestampText(s.startedAt), merge: least('started_at') },
  { name: 'last_event_at', type: 'timestamptz', value: (s) => timestampText(s.lastEventAt), merge: greatest('last_event_at') },
  {
    name: 'closed_at', type: 'timestamptz', value: (s) => timestampText(s.closedAt),
    merge: `to_timestamp(coalesce((${REPORTED})[1], (${ENDED})[3]) / 1000000.0)`,
  },
  { name: 'duration_ms', type: 'float8', value: (s) => s.durationMs, merge: `coalesce(${SPAN}, ${sumOfKnown('steps_ms')})` },
  {
    name: 'duration_source', type: 'text', value: (s) => s.durationSource,
    merge: `case when ${SPAN} is not null then 'SPAN' when coalesce(s.steps_ms, excluded.steps_ms) is not null then 'STEPS' end`,
  },
  { name: 'event_count', type: 'int4', value: (s) => s.eventCount, merge: sum('event_count') },
  { name: 'error_count', type: 'int4', value: (s) => s.errorCount, merge: sum('error_count') },
  { name: 'llm_calls', type: 'int4', value: (s) => s.llmCalls, merge: sum('llm_calls') },
  { name: 'tool_calls', type: 'int4', value: (s) => s.toolCalls, merge: sum('tool_calls') },
  { name: 'unpriced_calls', type: 'int4', value: (s) => s.unpricedCalls, merge: sum('unpriced_calls') },
  { name: 'tokens_estimated', type: 'bool', value: (s) => s.tokensEstimated, merge: 's.tokens_estimated or excluded.tokens_estimated' },
  {
    name: 'models', type: 'text[]', value: (s) => nestedArray(s.models),
    merge: `case when excluded.models <@ s.models or cardinality(s.models) >= 50 then s.models
      else (select array_agg(distinct m) from unnest(s.models || excluded.models) m) end`,
  },
  { name: 'prompt_tokens', type: 'numeric', value: (s) => s.promptTokens, merge: sumOfKnown('prompt_tokens') },
  { name: 'completion_tokens', type: 'numeric', value: (s) => s.completionTokens, merge: sumOfKnown('completion_tokens') },
  { name: 'cost_usd', type: 'numeric', value: (s) => s.costUsd, merge: sumOfKnown('cost_usd') },
  { name: 'coverage', type: 'jsonb', value: (s) => JSON.stringify(s.coverage) },
  { name: 'reported', type: 'int8[]', value: (s) => nestedArray(s.reported), merge: greatest('reported') },
  { name: 'ended', type: 'int8[]', value: (s) => nestedArray(s.ended), merge: ENDED },
  { name: 'error_position', type: 'int8[]', value: (s) => nestedArray(s.errorPosition), merge: greatest('error_position') },
  { name: 'closed_sequence', type: 'int8', value: (s) => s.closedSequence, merge: least('closed_sequence') },
  { name: 'span_start', type: 'timestamptz', value: (s) => timestampText(s.spanStart), merge: least('span_start') },
  { name: 'span_end', type: 'timestamptz', value: (s) => timestampText(s.spanEnd), merge: greatest('span_end') },
  { name: 'steps_ms', type: 'float8', value: (s) => s.stepsMs, merge: sumOfKnown('steps_ms') },
  { name: 'rank', type: 'int2', value: (s) => s.rank },
  { name: 'stopped_at', type: 'timestamptz', value: (s) => timestampText(s.stoppedAt) },
  { name: 'active_ms', type: 'float8', value: (s) => s.measures && s.measures.activeMs },
  { name: 'loop_rounds', type: 'int4', value: (s) => s.measures && s.measures.loopRounds },
  { name: 'equal_rounds', type: 'int4', value: (s) => s.measures && s.measures.equalRounds },
]

/** An event beside the session it belongs to. */
export interface EventWrite {
  sessionId: string
  event: EventDraft
}

// prettier-ignore
export const EVENT_COLUMNS: Column<EventWrite>[] = [
  { name: 'session_id', type: 'uuid', value: (w) => w.sessionId },
  { name: 'event_key', type: 'uuid', value: (w) => w.event.key },
  { name: 'order_us', type: 'int8', value: (w) => w.event.orderUs },
  { name: 'sequence', type: 'int8', value: (w) => w.event.sequence },
  { name: 'place', type: 'int4', value: (w) => w.event.place },
  { name: 'type', type: 'text', value: (w) => w.event.type },
  { name: 'kind', type: 'text', value: (w) => w.event.kind },
  { name: 'kind_source', type: 'text', value: (w) => w.event.kindSource },
  { name: 'name', type: 'text', value: (w) => w.event.name },
  { name: 'run_index', type: 'int4', value: (w) => w.event.runIndex },
  { name: 'parent_key', type: 'uuid', value: (w) => w.event.parentKey },
  { name: 'parent_name', type: 'text', value: (w) => w.event.parentName },
  { name: 'model', type: 'text', value: (w) => w.event.model },
  { name: 'input', type: 'text', value: (w) => w.event.input },
  { name: 'output', type: 'text', value: (w) => w.event.output },
  { name: 'prompt_tokens', type: 'int8', value: (w) => w.event.promptTokens },
  { name: 'completion_tokens', type: 'int8', value: (w) => w.event.completionTokens },
  { name: 'tokens_estimated', type: 'bool', value: (w) => w.event.tokensEstimated },
  { name: 'cost_usd', type: 'numeric', value: (w) => w.event.costUsd },
  { name: 'cost_source', type: 'text', value: (w) => w.event.costSource },
  { name: 'duration_ms', type: 'float8', value: (w) => w.event.durationMs },
  { name: 'status', type: 'text', value: (w) => w.event.status },
  { name: 'error', type: 'jsonb', value: (w) => w.event.error && JSON.stringify(w.event.error) },
  { name: 'occurred_at', type: 'timestamptz', value: (w) => timestampText(w.event.occurredAt) },
  { name: 'received_at', type: 'timestamptz', value: (w) => timestampText(w.event.receivedAt) },
  { name: 'skewed', type: 'bool', value: (w) => w.event.skewed },
  { name: 'masked', type: 'bool', value: (w) => w.event.masked },
  { name: 'attributes', type: 'jsonb', value: (w) => w.event.attributes && JSON.stringify(cleanJson(w.event.attributes)) },
]
