// Owns the filter of the delivery log: URL to filter, filter to the schema's input, and what still matches.
import type { DeliveryFilterInput, DeliveryRow } from '../queries-deliveries.ts'

export const deliveryStates = [
  { word: 'waiting', label: 'Waiting', state: 'QUEUED' },
  { word: 'sent', label: 'Sent', state: 'SENT' },
  { word: 'given-up', label: 'Given up', state: 'FAILED' },
  { word: 'not-sent', label: 'Not sent', state: 'SUPPRESSED' },
] as const satisfies readonly { word: string; label: string; state: DeliveryRow['state'] }[]
export type DeliveryStateWord = (typeof deliveryStates)[number]['word']

/** What is left out is left open. As it is here, it stands in the URL. */
export interface DeliveryFilter {
  state?: DeliveryStateWord
  /** Id of a rule. */
  rule?: string
  /** Id of a channel. */
  channel?: string
  /** Null stands for sessions without a name. */
  agent?: string | null
}

const stateOf = ({ state }: DeliveryFilter) => deliveryStates.find(({ word }) => word === state)?.state

export function deliveryFilterFromQuery(query: URLSearchParams): DeliveryFilter {
  const state = deliveryStates.find(({ word }) => word === query.get('state'))?.word
  const rule = query.get('rule')
  const channel = query.get('channel')
  return {
    ...(state && { state }),
    ...(rule && { rule }),
    ...(channel && { channel }),
    ...(query.has('agent') && { agent: query.get('agent') || null }),
  }
}

export function deliveryFilterToInput(filter: DeliveryFilter): DeliveryFilterInput {
  const { rule, channel, agent } = filter
  const state = stateOf(filter)
  return {
    ...(state && { states: [state] }),
    ...(rule && { rule }),
    ...(channel && { channel }),
    ...(agent !== undefined && { agents: [agent] }),
  }
}

/** Nothing is narrowed. */
export const isEmptyDeliveryFilter = (filter: DeliveryFilter) => Object.keys(deliveryFilterToInput(filter)).length === 0

/** By its state: rule, channel and agent of a delivery never change. */
export const deliveryMatches = (delivery: Pick<DeliveryRow, 'state'>, filter: DeliveryFilter) =>
  [undefined, delivery.state].includes(stateOf(filter))
