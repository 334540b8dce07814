// Rounds of nodes in the main line of a run: from each step back along what led to it to the same node. Pure.
import type { RunEvent } from './failure.ts'

export interface Loop {
  /** names of the nodes of one round */
  nodes: string[]
  rounds: number
  /** the most rounds in a row that changed nothing; 0 where every round changed something or it is not known */
  equalRounds: number
  /** false where it cannot be told whether the nodes work off a batch */
  isCertain: boolean
  /** a node of it waits: it polls at a pace that somebody chose */
  isPaced: boolean
  /** items that the steps work off one by one: so many times as many rounds are right */
  items: number
  /** the first node of each round */
  evidence: string[]
}

const DEFAULT_WAIT_NAME = /^Wait\d*$/

export function isWait(event: RunEvent): boolean {
  if (event.nodeType !== null) return event.nodeType.endsWith('.wait')
  // Agents are paused and resumed around their tools, which is no waiting.
  return DEFAULT_WAIT_NAME.test(event.name ?? '') || (event.wasResumed && event.kind !== 'AGENT')
}

export const isEqualStep = (a: RunEvent, b: RunEvent) =>
  a.outputDigest !== null && a.outputDigest === b.outputDigest && a.inputDigest === b.inputDigest

/** Nodes of one round at most, those included that run in between now and then. */
const MAX_ROUND = 16
const DEFAULT_BATCH_NAME = /^(Loop Over Items|Split In Batches)\d*$/

const MAX_LOOKED_AT = 200

/** All loops that no batch explains. Steps are given in timeline order. */
export function findRounds(steps: RunEvent[]): Loop[] {
  const line = lineOf(steps)
  const { previous, period } = linkRounds(steps, line)
  const count = new Int32Array(steps.length).fill(1)
  const start = Int32Array.from(steps, (_step, place) => place)
  const equalSteps = new Int32Array(steps.length)
  for (const place of line.order) {
    const at = previous[place]!
    if (at < 0) continue
    count[place] = count[at]! + 1
    start[place] = start[at]!
    if (isEqualStep(steps[place]!, steps[at]!)) equalSteps[place] = (equalSteps[line.before[place]!] ?? 0) + 1
  }

  // Of the chains that end in one node the longest: there may be as many chains as steps.
  const ends = new Map<string, { end: number; mostEqual: number }>()
  for (let end = 0; end < steps.length; end++) {
    if (count[end]! < 2) continue
    const name = steps[end]!.name ?? ''
    const known = ends.get(name)
    if (!known) ends.set(name, { end, mostEqual: equalSteps[end]! })
    else {
      known.mostEqual = Math.max(known.mostEqual, equalSteps[end]!)
      if (count[end]! > count[known.end]!) known.end = end
    }
  }
  // Each node of a loop sees it from its own place: it is one loop, told from the node that came first.
  const sorted = [...ends.values()].sort((a, b) => count[b.end]! - count[a.end]! || start[a.end]! - start[b.end]!)
  const loopOf = new Map<string, Loop>()
  const loops: Loop[] = []
  for (const { end, mostEqual } of sorted) {
    let loop = loopOf.get(steps[end]!.name ?? '')
    if (!loop) {
      const rounds: number[] = []
      for (let at = end; at >= 0; at = previous[at]!) rounds.push(at)
      const round = usualRound(steps, line, rounds, period)
      const nodes = round.map(({ name }) => name ?? '')
      loop = nodes.map((name) => loopOf.get(name)).find((one) => one) ?? {
        nodes,
        rounds: count[end]!,
        equalRounds: 0,
        isCertain: isNoBatch(round, line.hasSources),
        isPaced: round.some(isWait),
        items: 1,
        evidence: rounds.toReversed().map((at) => steps[at]!.key),
      }
      if (!loops.includes(loop)) loops.push(loop)
      for (const name of nodes) loopOf.set(name, loop)
    }
    const size = loop.nodes.length
    const equalRounds = mostEqual >= size ? Math.floor(mostEqual / size) + 1 : 0
    loop.equalRounds = Math.max(loop.equalRounds, Math.min(equalRounds, loop.rounds))
  }
  return loops
}

/** What led to each step, -1 where nothing did, and the steps in an order in which that comes first. */
interface Line {
  before: Int32Array
  order: number[]
  hasSources: boolean
  placesOf: Map<string | null, Map<number, number>>
}

function lineOf(steps: RunEvent[]): Line {
  const placesOf = new Map<string | null, Map<number, number>>()
  steps.forEach(({ name, runIndex }, place) => {
    const places = placesOf.get(name) ?? new Map<number, number>()
    placesOf.set(name, places.set(runIndex ?? 0, place))
  })
  const hasSources = steps.some(({ source }) => source.length > 0)
  const before = Int32Array.from(steps, ({ source }, place) => {
    if (!hasSources) return place - 1
    // Of several the last: the others were waited for.
    let last = -1
    for (const { node, run } of source) {
      const at = placesOf.get(node)?.get(run)
      if (at !== undefined && at !== place && at > last) last = at
    }
    return last
  })
  return { before, order: causalOrder(before), hasSources, placesOf }
}

/**
 * Steps of the same millisecond may stand in any order, so what led to a step may stand behind it. Data in which a step
 * leads to itself is cut open.
 */
function causalOrder(before: Int32Array): number[] {
  const state = new Uint8Array(before.length)
  const order: number[] = []
  for (let place = 0; place < before.length; place++) {
    const path: number[] = []
    for (let at = place; at >= 0 && state[at] === 0; at = before[at]!) {
      state[at] = 1
      path.push(at)
    }
    const last = path.at(-1)
    if (last !== undefined && before[last]! >= 0 && state[before[last]!] === 1) before[last] = -1
    for (const at of path.reverse()) {
      state[at] = 2
      order.push(at)
    }
  }
  return order
}

/** For each step the same node one round before, and how many steps the round has; -1 where there is none. */
function linkRounds(steps: RunEvent[], { before, order, placesOf }: Line) {
  const previous = new Int32Array(steps.length).fill(-1)
  const period = new Int32Array(steps.length)
  const batches = new Set([...placesOf].flatMap(([name, runs]) => (isBatch(steps, [...runs.values()]) ? [name] : [])))
  const isBarrier = Uint8Array.from(steps, (step) =>
    Number(
      batches.has(step.name) && !isSameBatch(step, steps[placesOf.get(step.name)!.get((step.runIndex ?? 0) - 1)!]),
    ),
  )
  // Numbers are compared faster than names, and this is done many times for each step.
  const numbers = new Map([...placesOf.keys()].map((name, number) => [name, number]))
  const nodes = Int32Array.from(steps, ({ name }) => numbers.get(name)!)
  for (const place of order) {
    if (isBarrier[place]) continue
    let length = 1
    let at = before[place]!
    while (at >= 0 && length < MAX_ROUND && nodes[at] !== nodes[place] && !isBarrier[at]) {
      at = before[at]!
      length += 1
    }
    if (at < 0 || nodes[at] !== nodes[place]) continue
    previous[place] = at
    period[place] = length
  }
  return { previous, period }
}

/** Known by the type of the node, else by items that go along those of one input, else by the name it is given first. */
function isBatch(steps: RunEvent[], places: number[]): boolean {
  const [first] = places
  const { nodeType, name } = steps[first!]!
  if (nodeType !== null) return nodeType.endsWith('.splitInBatches')
  if (DEFAULT_BATCH_NAME.test(name ?? '')) return true
  let advances = 0
  for (let i = 0; i < places.length; i++) {
    const step = steps[places[i]!]!
    if (step.isNextBatch) return true
    const item = step.firstItem
    const last = i > 0 ? steps[places[i - 1]!]!.firstItem : null
    if (item !== null && last !== null) advances += Math.sign(item - last)
  }
  // What lets through another item each time goes back as often as it goes on.
  return advances > 0
}

/** A batch that hands out what it handed out before is stuck. */
const isSameBatch = (step: RunEvent, last: RunEvent | undefined) =>
  last !== undefined &&
  step.firstItem !== null &&
  last.firstItem !== null &&
  step.firstItem <= last.firstItem &&
  isEqualStep(step, last)

/** The nodes of most rounds, beginning with the node that is counted; now and then another may run in between. */
function usualRound(steps: RunEvent[], { before }: Line, rounds: number[], period: Int32Array): RunEvent[] {
  const patterns = new Map<string, { times: number; round: RunEvent[] }>()
  // Of very many a part tells as well.
  const step = Math.ceil(rounds.length / MAX_LOOKED_AT)
  for (let i = 0; i < rounds.length; i += step) {
    const end = rounds[i]!
    if (period[end] === 0) continue
    const round: RunEvent[] = []
    for (let at = before[end]!; round.length < period[end]!; at = before[at]!) round.push(steps[at]!)
    const key = round.map(({ name }) => name).join('\n')
    const known = patterns.get(key)
    if (known) known.times += 1
    else patterns.set(key, { times: 1, round: round.reverse() })
  }
  return [...patterns.values()].sort((a, b) => b.times - a.times || a.round.length - b.round.length)[0]!.round
}

/** Known by the types of all its nodes, or by items that are paired with the same one again and again. */
function isNoBatch(round: RunEvent[], hasSources: boolean): boolean {
  const areTyped = round.every(({ nodeType }) => nodeType !== null)
  return (areTyped && (hasSources || round.length > 1)) || round.some(({ firstItem }) => firstItem !== null)
}
