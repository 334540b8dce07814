// Platform B: a model call's prompt, answer, model and tokens, from wherever a node leaves them. Never one call twice.
import { cleanText } from './clean-text.ts'
import { isObject, nonBlank } from './platform-b-errors.ts'
import { itemsOf, type Item } from './platform-b-payload.ts'

type Fields = Record<string, unknown>

export interface ModelCall {
  model: string | null
  prompt: string | null
  completion: string | null
  promptTokens: number | null
  completionTokens: number | null
  estimated: boolean
  finishReason: string | null
}

/**
 * @param connection the ai_* connection of a sub-node's run; null for a vendor node ("message a model")
 * @param source the run before: usage that was only passed on is not counted again
 */
export function readModelCall(
  task: Fields,
  connection: string | null,
  items: Item[],
  source: Fields | null,
): ModelCall {
  return connection !== null ? readSubNode(task, items) : readVendorNode(task, items, source)
}

function readSubNode(task: Fields, items: Item[]): ModelCall {
  const json = items.map((item) => item.json).filter(isObject)
  const inputs = itemsOf(task.inputOverride)
    .map((item) => item.json)
    .filter(isObject)
  // A failed call has its input where its output should be.
  const asked = [...inputs, ...json].find((one) => Array.isArray(one.messages) || isObject(one.options))
  const options = isObject(asked?.options) ? asked.options : {}
  const generations = json.flatMap((one) => (isObject(one.response) ? flatGenerations(one.response.generations) : []))
  const usages = json.map((one) => ({ usage: usageOf(one.tokenUsage), estimate: usageOf(one.tokenUsageEstimate) }))
  const estimated = usages.some(({ usage, estimate }) => !usage && isKnownEstimate(estimate))
  const counted = usages.map(({ usage, estimate }) => usage ?? (isKnownEstimate(estimate) ? estimate : null))
  return {
    model: nonBlank(options.model) ?? nonBlank(options.modelName) ?? nonBlank(options.model_name),
    prompt: messagesText(asked?.messages),
    completion: generations.length > 0 ? cleanText(generations.map((one) => one.text).join('\n')) : null,
    promptTokens: sumOf(counted.map((usage) => usage?.prompt)),
    completionTokens: sumOf(counted.map((usage) => usage?.completion)),
    estimated,
    finishReason: generations.findLast((one) => one.finishReason)?.finishReason ?? null,
  }
}

function readVendorNode(task: Fields, items: Item[], source: Fields | null): ModelCall {
  const own = source ? items.filter((item) => !isPassedOn(item, source)) : items
  const json = own.map((item) => item.json).filter(isObject)
  const metadata = isObject(task.metadata) ? usageOf(task.metadata.tokenUsage) : null
  const counted = metadata ? [metadata] : json.map((one) => usageOf(one.usage))
  const texts = json.map(answerText).filter((text) => text !== null)
  return {
    model: json.map((one) => nonBlank(one.model)).find((model) => model !== null) ?? null,
    prompt: null,
    completion: texts.length > 0 ? cleanText(texts.join('\n')) : null,
    promptTokens: sumOf(counted.map((usage) => usage?.prompt)),
    completionTokens: sumOf(counted.map((usage) => usage?.completion)),
    estimated: false,
    finishReason:
      json.map((one) => nonBlank(one.finish_reason) ?? nonBlank(one.stop_reason)).find((reason) => reason) ?? null,
  }
}

/** Written out once for each run, however many others name it as their source. */
const givenBy = new WeakMap<Fields, Set<string>>()
function isPassedOn(item: Item, source: Fields): boolean {
  // Only what looks like a model's answer can be counted twice.
  if (!isObject(item.json) || !('usage' in item.json)) return false
  let given = givenBy.get(source)
  if (!given) {
    given = new Set(itemsOf(source.data).map((one) => JSON.stringify(one.json)))
    givenBy.set(source, given)
  }
  return given.has(JSON.stringify(item.json))
}

interface Usage {
  prompt: number | null
  completion: number | null
}

/** Every spelling of two counts that was seen: model sub-nodes, node metadata, both vendor interfaces. */
function usageOf(value: unknown): Usage | null {
  if (!isObject(value)) return null
  const count = (...names: string[]) => {
    for (const name of names) {
      const tokens = value[name]
      if (Number.isSafeInteger(tokens) && (tokens as number) >= 0) return tokens as number
    }
    return null
  }
  const prompt = count('promptTokens', 'inputTokens', 'prompt_tokens', 'input_tokens')
  const completion = count('completionTokens', 'outputTokens', 'completion_tokens', 'output_tokens')
  return prompt === null && completion === null ? null : { prompt, completion }
}

/** Providers that cannot estimate report zeros: that is unknown, not nothing. */
const isKnownEstimate = (usage: Usage | null) =>
  usage !== null && ((usage.prompt ?? 0) > 0 || (usage.completion ?? 0) > 0)

function sumOf(values: (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value !== null && value !== undefined)
  const sum = known.reduce((total, value) => total + value, 0)
  // No run has that many tokens: such counts are not known.
  return known.length === 0 || sum > Number.MAX_SAFE_INTEGER ? null : sum
}

function flatGenerations(value: unknown): { text: string; finishReason: string | null }[] {
  if (!Array.isArray(value)) return []
  return value
    .flat()
    .filter(isObject)
    .map((one) => ({
      text: typeof one.text === 'string' ? one.text : '',
      finishReason: isObject(one.generationInfo) ? nonBlank(one.generationInfo.finish_reason) : null,
    }))
}

function messagesText(messages: unknown): string | null {
  if (!Array.isArray(messages)) return null
  return cleanText(messages.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n\n'))
}

/** The answer's text in the simplified and raw forms of the vendor nodes. */
function answerText(json: Fields): string | null {
  const message = isObject(json.message) ? json.message : null
  const choice = Array.isArray(json.choices) && isObject(json.choices[0]) ? json.choices[0] : null
  const output = Array.isArray(json.output) ? json.output.filter(isObject).map((one) => one.content) : []
  const candidates = [
    message?.content,
    isObject(choice?.message) ? choice.message.content : null,
    ...output,
    json.content,
    json.text,
  ]
  for (const candidate of candidates) {
    if (typeof candidate === 'string') return candidate
    if (!Array.isArray(candidate)) continue
    const texts = candidate
      .filter(isObject)
      .map((part) => part.text)
      .filter((text) => typeof text === 'string')
    if (texts.length > 0) return texts.join('\n')
  }
  return null
}
