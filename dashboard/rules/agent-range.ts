// Owns the ranges of the agents page: their spelling in the URL, in the schema and on screen.
export const agentRanges = [
  { value: '24h', label: '24 h', range: 'LAST_24_HOURS' },
  { value: '7d', label: '7 d', range: 'LAST_7_DAYS' },
  { value: '30d', label: '30 d', range: 'LAST_30_DAYS' },
  { value: 'all', label: 'All', range: null },
] as const

export type AgentRange = (typeof agentRanges)[number]['value']

export const readAgentRange = (query: URLSearchParams): (typeof agentRanges)[number] =>
  agentRanges.find((each) => each.value === query.get('range')) ?? agentRanges[1]
