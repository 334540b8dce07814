// What the calls of a session add up to by model: kept on the session, added up for its agent.
import type { AnalysedEvent } from './finding.ts'

/** model: [calls, prompt tokens, completion tokens, cost in USD]; null where no call of it tells */
export type ModelUseSums = Record<string, [number, number | null, number | null, number | null]>

const plus = (sum: number | null, value: number | null) => (value === null ? sum : (sum ?? 0) + value)

export function sumByModel(events: AnalysedEvent[]): ModelUseSums {
  const uses = new Map<string, ModelUseSums[string]>()
  for (const { type, model, promptTokens, completionTokens, costUsd } of events) {
    if (type !== 'LLM_CALL' || model === null) continue
    const [calls, prompt, completion, cost] = uses.get(model) ?? [0, null, null, null]
    uses.set(model, [calls + 1, plus(prompt, promptTokens), plus(completion, completionTokens), plus(cost, costUsd)])
  }
  // Sums of decimals end in noise.
  const rounded = [...uses].map(([model, [calls, prompt, completion, cost]]) => [
    model,
    [calls, prompt, completion, cost && Number(cost.toFixed(12))],
  ])
  return Object.fromEntries(rounded) as ModelUseSums
}
