// Owns which steps of a timeline show a failure: finding them, going from one to the next, and the pattern of a loop.
import type { SessionFailure } from '../queries-session.ts'
import type { Step } from './steps.ts'

const mostNodesOfRound = 8

/** Places of the steps that show a failure (or a finding) without being errors themselves, ascending. */
export function evidencePlaces(steps: readonly Step[], found: readonly { evidence: string[] }[]): number[] {
  const ids = new Set(found.flatMap(({ evidence }) => evidence))
  return ids.size === 0 ? [] : placesOf(steps, (step) => !step.failed && ids.has(step.event.id))
}

export const failedPlaces = (steps: readonly Step[]) => placesOf(steps, (step) => step.failed)

const placesOf = (steps: readonly Step[], isWanted: (step: Step) => boolean) =>
  steps.flatMap((step, place) => (isWanted(step) ? [place] : []))

/** The next of these places after (or before) one, around the end. */
export function nextPlace(places: readonly number[], from: number | null, direction: 1 | -1): number | null {
  const ahead = (place: number) => (direction === 1 ? place > from! : place < from!)
  const inOrder = [...places].sort((one, other) => (one - other) * direction)
  return (from === null ? undefined : inOrder.find(ahead)) ?? inOrder[0] ?? null
}

/** The nodes of one round: what ran from one piece of evidence of a loop to the next. Null where that is not known. */
export function loopNodes(
  { category, evidence }: SessionFailure,
  steps: readonly Step[],
  placeOf: ReadonlyMap<string, number>,
): string[] | null {
  if (category !== 'INFINITE_LOOP') return null
  let shortest: string[] | null = null
  for (let round = 1; round < evidence.length; round += 1) {
    const [from, to] = [placeOf.get(evidence[round - 1]!), placeOf.get(evidence[round]!)]
    if (from === undefined || to === undefined || to <= from) continue
    const { parentId } = steps[from]!.event
    const nodes = steps.slice(from, to).filter((step) => step.event.parentId === parentId)
    // An interrupted round is longer than the others: the shortest is the pattern.
    if (shortest === null || nodes.length < shortest.length) shortest = nodes.map(nameOf)
  }
  return shortest !== null && shortest.length <= mostNodesOfRound ? shortest : null
}

const nameOf = ({ event, name }: Step) => event.name ?? event.model ?? name
