// Closed runs that sent a prompt twice: each has one finding.

const PROMPT = 'Classify this mail: my invoice is wrong and nobody answers'

/** A closed run with one finding. */
export const repeatedRun = (session_id: string) => [
  ...[1, 2].map(() => ({
    session_id,
    agent_name: `Agent ${session_id.at(-1)}`,
    type: 'llm.call',
    model: 'gpt-4o',
    input: PROMPT,
    output: 'billing',
    prompt_tokens: 90,
    completion_tokens: 5,
  })),
  { session_id, type: 'session.end', status: 'success' },
]

export const repeatedRuns = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => repeatedRun(`${prefix}-${i}`)).flat()
