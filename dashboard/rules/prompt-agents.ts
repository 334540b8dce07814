// Owns how agents with prompts enter their list: rows are replaced where they stand, new ones wait, new candidates are counted.
import type { PromptAgentRow } from '../queries-prompts.ts'

export interface PromptAgentEntry {
  agent: PromptAgentRow
  /** Candidates that came since the page was opened. */
  added: number
}

export interface PromptAgentsState {
  rows: PromptAgentEntry[]
  /** In the order of the server. */
  fresh: PromptAgentEntry[]
}

/** The first reading: nothing in it is new. */
export const firstAgents = (read: readonly PromptAgentRow[]): PromptAgentsState => ({
  rows: read.map((agent) => ({ agent, added: 0 })),
  fresh: [],
})

/** A candidate that was decided about makes room for a new one: only what is more than before is added. */
function mergeEntry(before: PromptAgentEntry | undefined, agent: PromptAgentRow): PromptAgentEntry {
  if (!before) return { agent, added: agent.candidates }
  const seen = Math.min(before.agent.candidates - before.added, agent.candidates)
  return { agent, added: agent.candidates - seen }
}

/** One that is not there any more keeps its row without versions. */
export function mergeAgents(state: PromptAgentsState, read: readonly PromptAgentRow[]): PromptAgentsState {
  const byId = new Map(read.map((agent) => [agent.id, agent]))
  const known = new Map([...state.rows, ...state.fresh].map((entry) => [entry.agent.id, entry]))
  const shown = new Set(state.rows.map(({ agent }) => agent.id))
  return {
    rows: state.rows.map((entry) =>
      mergeEntry(entry, byId.get(entry.agent.id) ?? { ...entry.agent, active: null, candidates: 0, versions: 0 }),
    ),
    fresh: read.filter(({ id }) => !shown.has(id)).map((agent) => mergeEntry(known.get(agent.id), agent)),
  }
}

/** The new ones above; what is on screen keeps its order. */
export const revealAgents = ({ rows, fresh }: PromptAgentsState): PromptAgentsState => ({
  rows: [...fresh, ...rows],
  fresh: [],
})

export const countAdded = ({ rows, fresh }: PromptAgentsState) =>
  [...rows, ...fresh].reduce((sum, { added }) => sum + added, 0)
