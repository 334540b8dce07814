// What repeats within a run of platform B: rounds of nodes, and an agent's turns with the same tool. Pure.
import type { RunEvent } from './failure.ts'
import { findRounds, isEqualStep, type Loop } from './rounds.ts'

/** The rule and what later runs are compared with ask for the same. */
const known = new WeakMap<RunEvent[], Loop[]>()

/** All loops of a run, the most rounds first. Events are given in timeline order. */
export function findLoops(events: RunEvent[]): Loop[] {
  let loops = known.get(events)
  if (!loops) {
    loops = searchLoops(events)
    known.set(events, loops)
  }
  return loops
}

function searchLoops(events: RunEvent[]): Loop[] {
  const main: RunEvent[] = []
  const inside = new Map<string, RunEvent[]>()
  for (const event of events) {
    if (event.parentKey === null) main.push(event)
    else {
      const siblings = inside.get(event.parentKey)
      if (siblings) siblings.push(event)
      else inside.set(event.parentKey, [event])
    }
  }
  const loops = findRounds(main)
  if (inside.size > 0) {
    const itemsOf = itemsGiven(main)
    for (const [parentKey, steps] of inside) {
      const loop = findTurns(steps, itemsOf(parentKey))
      if (loop) loops.push(loop)
    }
  }
  return loops.sort((a, b) => b.rounds - a.rounds)
}

/** How many items an agent was given; null where neither what led to it nor its own output tells. */
function itemsGiven(main: RunEvent[]): (agentKey: string) => number | null {
  const byKey = new Map(main.map((event) => [event.key, event]))
  const byRun = new Map(main.map((event) => [`${event.runIndex}:${event.name}`, event]))
  return (agentKey) => {
    const agent = byKey.get(agentKey)
    const [source] = agent?.source ?? []
    const led = source && byRun.get(`${source.run}:${source.node}`)
    return led?.itemCount ?? agent?.itemCount ?? null
  }
}

/** beside the one that is counted */
const MAX_NAMED = 7

interface Use {
  uses: RunEvent[]
  turns: number
  lastTurn: number
  equal: number
  mostEqual: number
}

/**
 * An agent asks its model, uses the tools that it names, and asks again: a round is a turn of the model in which the same
 * tool is used. What a model says by itself, as in a chain over the parts of a text, is no loop.
 */
function findTurns(steps: RunEvent[], items: number | null): Loop | null {
  const hasModel = steps.some(({ type }) => type === 'LLM_CALL')
  const tools = new Map<string, Use>()
  let turn = 0
  for (const step of steps) {
    if (step.type === 'LLM_CALL' || !hasModel) turn += 1
    if (step.type !== 'TOOL_CALL') continue
    const name = step.name ?? ''
    const use = tools.get(name) ?? { uses: [], turns: 0, lastTurn: -1, equal: 1, mostEqual: 1 }
    tools.set(name, use)
    // Several questions of one turn are asked side by side.
    if (use.lastTurn !== turn) {
      const last = use.uses.at(-1)
      use.equal = last && isEqualStep(step, last) ? use.equal + 1 : 1
      use.mostEqual = Math.max(use.mostEqual, use.equal)
      use.turns += 1
      use.lastTurn = turn
      use.uses.push(step)
    }
  }
  // The one that is nearest to its limit: four times as many rounds are right where something changes.
  const weight = ({ turns, mostEqual }: Use) => Math.max(turns, 4 * mostEqual)
  const [first] = [...tools].filter(([, { turns }]) => turns > 1).sort(([, a], [, b]) => weight(b) - weight(a))
  if (!first) return null
  const [name, { uses, turns, mostEqual }] = first
  const others = [...tools].flatMap(([other, use]) => (other !== name && use.turns * 2 >= turns ? other : []))
  return {
    nodes: [name, ...others.slice(0, MAX_NAMED)],
    rounds: turns,
    equalRounds: mostEqual > 1 ? mostEqual : 0,
    isCertain: items !== null && hasModel,
    isPaced: false,
    items: Math.max(1, items ?? 1),
    evidence: uses.map(({ key }) => key),
  }
}
