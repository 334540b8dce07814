// The rules: one row for each kind of failure on each platform, with what it looks for. Pure.
import type { Rule, Run } from './failure.ts'
import { eventErrors, findNodeErrors, findRunError } from './rules-of-errors.ts'
import { findCost, findLatency, findLoop } from './rules-of-measures.ts'

export const RULES: Rule[] = [
  {
    category: 'TOOL_FAILURE',
    platform: 'PLATFORM_B',
    looksFor:
      'any node that throws, also where the run went on: node errors, items that carry an error, tools of agents',
    cannotTell: withoutNodes,
    find: findNodeErrors,
  },
  eventErrors('TOOL_FAILURE', 'tool.call', (type) => type === 'TOOL_CALL'),
  eventErrors('MODEL_FAILURE', 'llm.call', (type) => type === 'LLM_CALL'),
  eventErrors('RETRIEVAL_FAILURE', 'retrieval', (type) => type === 'RETRIEVAL'),
  eventErrors('RUN_FAILURE', 'span or session.end', (type) => type === 'SPAN' || type === 'SESSION_END'),
  {
    category: 'RUN_FAILURE',
    platform: 'PLATFORM_B',
    looksFor: 'a run reported as failed in which no node is to blame',
    cannotTell: () => null,
    find: findRunError,
  },
  {
    category: 'INFINITE_LOOP',
    platform: 'PLATFORM_B',
    looksFor: 'nodes that repeat in the same pattern more often than is usual, batches left out',
    cannotTell: withoutNodes,
    find: findLoop,
  },
  {
    category: 'LATENCY_SPIKE',
    platform: 'PLATFORM_B',
    looksFor: 'a total duration, without the time in wait nodes, over what is usual for the agent',
    cannotTell: ({ session }) =>
      session.durationMs === null ? 'It is not known how long the run took: start or end did not come.' : null,
    find: findLatency,
  },
  {
    category: 'COST_ANOMALY',
    platform: 'PLATFORM_B',
    looksFor: 'model calls that cost more than is usual for the agent; tokens are compared where a call has no price',
    cannotTell: ({ session }) =>
      session.llmCalls === 0
        ? 'No data of a model call came with this run.'
        : session.tokens === null
          ? 'The model calls of this run came without token counts.'
          : null,
    find: findCost,
  },
]

function withoutNodes({ events }: Run): string | null {
  return events.length === 0
    ? 'No node data came with this run: send the whole execution to have its steps checked.'
    : null
}
