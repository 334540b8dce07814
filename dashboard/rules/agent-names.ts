// Owns which agents can be chosen among: each name once, in the order of the alphabet, and the chosen one in any case.
import { agentLabel } from './session-filter.ts'

/** @param chosen undefined where none is; null stands for sessions without a name */
export const agentNames = (known: readonly (string | null)[], chosen: string | null | undefined) =>
  [...new Set(chosen === undefined ? known : [chosen, ...known])].sort((one, other) =>
    agentLabel(one).localeCompare(agentLabel(other)),
  )

/** A name may be any text: its place among them stands for it. */
export const agentChoices = (names: readonly (string | null)[]) => [
  { value: '', label: 'All agents' },
  ...names.map((name, place) => ({ value: String(place), label: agentLabel(name) })),
]
