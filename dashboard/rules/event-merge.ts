// Owns how events enter a timeline: each once, its newest revision, in timeline order.
import { isNewer } from './revision.ts'
import type { EventRow } from '../queries-session.ts'

const inOrder = (one: EventRow, other: EventRow) =>
  one.orderKey < other.orderKey ? -1 : one.orderKey > other.orderKey ? 1 : 0

export function mergeEvents(events: readonly EventRow[], changed: readonly EventRow[]): EventRow[] {
  const merged = new Map(events.map((event) => [event.id, event]))
  let isSorted = true
  let lastKey = events.at(-1)?.orderKey ?? ''
  for (const event of changed) {
    const held = merged.get(event.id)
    if (held && !isNewer(event.revision, held.revision)) continue
    if (held) isSorted &&= held.orderKey === event.orderKey
    else {
      isSorted &&= event.orderKey >= lastKey
      lastKey = event.orderKey > lastKey ? event.orderKey : lastKey
    }
    merged.set(event.id, event)
  }
  const result = [...merged.values()]
  return isSorted ? result : result.sort(inOrder)
}

/** Ids of new events that belong before one that is held: they came late. */
export function outOfOrder(events: readonly EventRow[], changed: readonly EventRow[]): string[] {
  const lastKey = events.at(-1)?.orderKey
  if (lastKey === undefined) return []
  const late = changed.filter((event) => event.orderKey < lastKey)
  if (late.length === 0) return []
  const held = new Set(events.map((event) => event.id))
  return late.flatMap(({ id }) => (held.has(id) ? [] : [id]))
}
