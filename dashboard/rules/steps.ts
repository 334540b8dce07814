// Owns the steps of a timeline: events in order with children under the event they ran inside, numbered from 1.
import type { EventRow } from '../queries-session.ts'

export interface Step {
  event: EventRow
  number: number
  depth: number
  name: string
  startMs: number
  durationMs: number | null
  failed: boolean
}

const typeWords: Record<EventRow['type'], string> = {
  LLM_CALL: 'Model call',
  TOOL_CALL: 'Tool call',
  RETRIEVAL: 'Retrieval',
  SPAN: 'Span',
  SESSION_END: 'Session end',
}
export const typeWord = (type: EventRow['type']) => typeWords[type]

/** The token that paints a step of this type. */
const typeColours: Record<EventRow['type'], string> = {
  LLM_CALL: '--llm',
  TOOL_CALL: '--tool',
  RETRIEVAL: '--retrieval',
  SPAN: '--span',
  SESSION_END: '--ink',
}
export const typeColour = (type: EventRow['type']) => typeColours[type]

const kindWords: Record<string, string> = {
  LLM: 'Model',
  TOOL: 'Tool',
  CODE: 'Code',
  HTTP_REQUEST: 'HTTP request',
  AGENT: 'Agent',
  TRIGGER: 'Trigger',
  OTHER: 'Node',
}
export const kindWord = (kind: string) => kindWords[kind] ?? kind

/** A parent that is missing, or a ring of parents, leaves the event flat: nothing may get lost. */
export function stepsOf(events: readonly EventRow[]): Step[] {
  const ids = new Set(events.map((event) => event.id))
  const children = new Map<string, EventRow[]>()
  const roots: EventRow[] = []
  for (const event of events) {
    if (event.parentId && event.parentId !== event.id && ids.has(event.parentId)) {
      const siblings = children.get(event.parentId)
      if (siblings) siblings.push(event)
      else children.set(event.parentId, [event])
    } else roots.push(event)
  }
  const repeated = repeatedNames(events)
  const steps: Step[] = []
  const placed = new Set<string>()
  const place = (event: EventRow, depth: number) => {
    if (placed.has(event.id)) return
    placed.add(event.id)
    steps.push(stepOf(event, steps.length + 1, depth, repeated))
    for (const child of children.get(event.id) ?? []) place(child, Math.min(depth + 1, 8))
  }
  for (const root of roots) place(root, 0)
  if (steps.length < events.length) for (const event of events) place(event, 0)
  return steps
}

function stepOf(event: EventRow, number: number, depth: number, repeated: ReadonlySet<string>): Step {
  const base = event.name ?? event.model ?? typeWord(event.type)
  return {
    event,
    number,
    depth,
    name: event.runIndex !== null && repeated.has(base) ? `${base} (${event.runIndex + 1})` : base,
    // A skewed time of its own counts as its receipt, as it does for the order.
    startMs: Date.parse((event.skewed ? null : event.occurredAt) ?? event.receivedAt),
    durationMs: event.durationMs,
    failed: event.error !== null,
  }
}

function repeatedNames(events: readonly EventRow[]): Set<string> {
  const repeated = new Set<string>()
  for (const event of events)
    if ((event.runIndex ?? 0) > 0) repeated.add(event.name ?? event.model ?? typeWord(event.type))
  return repeated
}
