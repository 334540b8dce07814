// Node patterns that repeat within a run of platform B: which nodes, how many rounds, and whether it may be a batch. Pure.
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

const MAX_PERIOD = 8
const DEFAULT_BATCH_NAME = /^(Loop Over Items|Split In Batches)\d*$/
const DEFAULT_WAIT_NAME = /^Wait\d*$/

const shortType = ({ nodeType }: RunEvent) => nodeType && nodeType.slice(nodeType.lastIndexOf('.') + 1)
export function isWait(event: RunEvent): boolean {
  if (event.nodeType !== null) return shortType(event) === 'wait'
  // Agents are paused and resumed around their tools, which is no waiting.
  return DEFAULT_WAIT_NAME.test(event.name ?? '') || (event.wasResumed && event.kind !== 'AGENT')
}
const isBatchNode = (event: RunEvent) =>
  event.nodeType === null
    ? event.isNextBatch || DEFAULT_BATCH_NAME.test(event.name ?? '')
    : shortType(event) === 'splitInBatches'

/**
 * All loops of a run that no batch explains, the most rounds first. A round is known by its source: from each step back
 * along what led to it to the same node, at most 8 steps; where no step names its source, by their order. The steps
 * inside an agent are looked at for each of its runs. Events are given in timeline order.
 */
export function findLoops(events: RunEvent[]): Loop[] {
  const known = found.get(events)
  if (known) return known
  const loops = searchLoops(events)
  found.set(events, loops)
  return loops
}

/** The rule and what later runs are compared with ask for the same. */
const found = new WeakMap<RunEvent[], Loop[]>()

function searchLoops(events: RunEvent[]): Loop[] {
  const main: RunEvent[] = []
  const inside = new Map<string, RunEvent[]>()
  const byKey = new Map<string, RunEvent>()
  for (const event of events) {
    byKey.set(event.key, event)
    if (event.parentKey === null) main.push(event)
    else if (event.kind === 'TOOL' || event.kind === 'LLM') {
      const siblings = inside.get(event.parentKey)
      if (siblings) siblings.push(event)
      else inside.set(event.parentKey, [event])
    }
  }
  const loops = loopsOf(main, sourcesIn(main), null)
  for (const [parentKey, steps] of inside) {
    loops.push(...loopsOf(steps, inOrder, { items: byKey.get(parentKey)?.itemCount ?? null }))
  }
  return loops.sort((a, b) => b.rounds - a.rounds)
}

type Predecessor = (place: number) => number

const inOrder: Predecessor = (place) => place - 1

function sourcesIn(steps: RunEvent[]): Predecessor {
  if (!steps.some(({ source }) => source.length > 0)) return inOrder
  const placesOf = new Map<string | null, Map<number, number>>()
  steps.forEach(({ name, runIndex }, place) => {
    const places = placesOf.get(name) ?? new Map<number, number>()
    placesOf.set(name, places.set(runIndex ?? 0, place))
  })
  const before = steps.map(({ source }, place) => {
    let last = -1
    for (const { node, run } of source) {
      const at = placesOf.get(node)?.get(run)
      // A step cannot have been led to by a later one, whatever the data says.
      if (at !== undefined && at < place && at > last) last = at
    }
    return last
  })
  return (place) => before[place]!
}

/** @param agent what the steps ran inside; its items are null where it is not known how many it worked off */
function loopsOf(steps: RunEvent[], before: Predecessor, agent: { items: number | null } | null): Loop[] {
  const { previous, period } = linkRounds(steps, before, agent !== null)
  const count = new Int32Array(steps.length).fill(1)
  const equalSteps = new Int32Array(steps.length)
  // What a model says again differs with its history: inside an agent its tools tell whether anything changed.
  const tells = (step: RunEvent) => agent === null || step.kind === 'TOOL'
  for (let place = 0; place < steps.length; place++) {
    const at = previous[place]!
    if (at < 0) continue
    count[place] = count[at]! + 1
    const soFar = equalSteps[before(place)] ?? 0
    if (!tells(steps[place]!)) equalSteps[place] = soFar
    else if (isEqual(steps[place]!, steps[at]!)) equalSteps[place] = soFar + 1
  }

  // Of the chains that end in one node the longest: there may be as many chains as steps.
  const longest = new Map<string, { end: number; mostEqual: number }>()
  for (let end = 0; end < steps.length; end++) {
    if (count[end]! < 2) continue
    const name = steps[end]!.name ?? ''
    const known = longest.get(name)
    if (!known) longest.set(name, { end, mostEqual: equalSteps[end]! })
    else {
      known.mostEqual = Math.max(known.mostEqual, equalSteps[end]!)
      if (count[end]! > count[known.end]!) known.end = end
    }
  }
  // Each node of a loop sees it from its own place: it is one loop, told from the node that came first.
  const ends = [...longest.values()].sort(
    (a, b) => count[b.end]! - count[a.end]! || b.mostEqual - a.mostEqual || a.end - b.end,
  )
  const seen = new Set<string>()
  const loops: Loop[] = []
  for (const { end, mostEqual } of ends) {
    const chain: number[] = []
    for (let at = end; at >= 0; at = previous[at]!) chain.push(at)
    // An interrupted round is longer than the others: the shortest is the pattern.
    const shortest = chain.reduce((best, at) => (period[at]! > 0 && period[at]! < period[best]! ? at : best), end)
    const round: RunEvent[] = []
    for (let at = before(shortest); round.length < period[shortest]!; at = before(at)) round.unshift(steps[at]!)
    const isKnown = round.some(({ name }) => seen.has(name ?? ''))
    for (const { name } of round) seen.add(name ?? '')
    if (isKnown) continue
    const telling = Math.max(1, round.filter(tells).length)
    loops.push({
      nodes: round.map(({ name }) => name ?? ''),
      rounds: count[end]!,
      equalRounds: mostEqual >= telling ? Math.floor(mostEqual / telling) + 1 : 0,
      isCertain: agent ? agent.items !== null : isNoBatch(round, before !== inOrder),
      isPaced: round.some(isWait),
      items: Math.max(1, agent?.items ?? 1),
      evidence: chain.reverse().map((at) => steps[at]!.key),
    })
  }
  return loops
}

/** For each step the same node one round before, and how many steps the round has; -1 where there is none. */
function linkRounds(steps: RunEvent[], before: Predecessor, isInside: boolean) {
  const previous = new Int32Array(steps.length).fill(-1)
  const period = new Int32Array(steps.length)
  const isBatch = steps.map((step) => !isInside && isBatchNode(step))
  // Numbers are compared faster than names, and this is done many times for each step.
  const numbers = new Map<string | null, number>()
  const nodes = Int32Array.from(steps, ({ name }) => {
    const number = numbers.get(name) ?? numbers.size
    numbers.set(name, number)
    return number
  })
  for (let place = 0; place < steps.length; place++) {
    const step = steps[place]!
    let passesBatch = isBatch[place]!
    let length = 1
    let at = before(place)
    while (at >= 0 && length < MAX_PERIOD && nodes[at] !== nodes[place]) {
      passesBatch ||= isBatch[at]!
      at = before(at)
      length += 1
    }
    if (at < 0 || nodes[at] !== nodes[place]) continue
    // Each round begins further along the items of the same input: a batch, whatever the node is called.
    const advances = step.firstItem !== null && steps[at]!.firstItem !== null && step.firstItem > steps[at]!.firstItem!
    if (!isInside && step.nodeType === null && advances) isBatch[place] = passesBatch = true
    if (passesBatch) continue
    previous[place] = at
    period[place] = length
  }
  return { previous, period }
}

const isEqual = (a: RunEvent, b: RunEvent) =>
  a.outputDigest !== null && a.outputDigest === b.outputDigest && a.inputDigest === b.inputDigest

/** Known by the types of all its nodes, or by items that are paired with the same one again and again. */
function isNoBatch(round: RunEvent[], hasSources: boolean): boolean {
  const areTyped = round.every(({ nodeType }) => nodeType !== null)
  return (areTyped && (hasSources || round.length > 1)) || round.some(({ firstItem }) => firstItem !== null)
}
