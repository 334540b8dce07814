// Findings about answers: those of models that were cut off, and those of tools that nothing made use of. Pure.
import { countOf, tokensText } from '../failures/words.ts'
import {
  nameOf,
  push,
  READ_TEXTS,
  sumOfAll,
  UNKNOWN_SAVING,
  type Analysed,
  type AnalysedEvent,
  type Finding,
} from './finding.ts'
import { isUnclosedJson } from './unclosed-json.ts'

/** What OpenAI, Anthropic, Gemini, Cohere and the tools that wrap them say where the limit of tokens ended an answer. */
const STOPPED_AT_LIMIT = /^(length|max_?tokens|max_output_tokens|model_length|model_context_window_exceeded)$/i

/** Answers that end before they are whole. */
export function findCutOffOutputs({ events }: Analysed): Finding[] {
  const cut = new Map<string, AnalysedEvent[]>()
  for (const event of events) {
    if (event.type === 'LLM_CALL' && !event.hasError && whyCutOff(event) !== null) push(cut, nameOf(event), event)
  }
  return [...cut].map(([name, calls]) => ({
    kind: 'CUT_OFF_OUTPUT',
    subject: name,
    sentence: `${calls.length === 1 ? 'The answer' : countOf(calls.length, 'answer')} of "${name}" ${calls.length === 1 ? 'was' : 'were'} cut off: ${whyCutOff(calls[0]!)}.`,
    advice: 'Raise the maximum of tokens of this model step, or ask for a shorter answer.',
    saving: UNKNOWN_SAVING,
    evidence: calls.map(({ key }) => key),
  }))
}

/** Said of one answer or of the first of several. */
function whyCutOff(event: AnalysedEvent): string | null {
  const { maxTokens, completionTokens, output, outputLength } = event
  const finishReason = event.finishReason?.trim() || null
  if (finishReason !== null && STOPPED_AT_LIMIT.test(finishReason))
    return `the model stopped at its limit of tokens ("${finishReason}")`
  // A provider that says why it stopped is believed.
  if (finishReason !== null) return null
  if (maxTokens !== null && maxTokens > 0 && completionTokens === maxTokens)
    return `the model wrote exactly the ${tokensText(maxTokens)} that it was allowed`
  if (output !== null && output.length === outputLength && isUnclosedJson(output)) return 'the JSON is not closed'
  return null
}

/** What is called to do something need not be read: only tools that are asked for something. */
const ASKS =
  /(^|[^a-z])(search|get|find|look ?up|fetch|read|list|query|retriev\w*|select|knowledge|wikipedia|docs?|weather|rag)([^a-z]|$)/i
const DOES =
  /(^|[^a-z])(mark|set|send|add|append|create|update|upsert|insert|delete|remove|write|save|store|put|post|publish|book|move|reply|notify|subscribe|unsubscribe|upload|sync)([^a-z]|$)/i
const MIN_ANSWER = 40
const PIECES = 6
/** Fewer words may well be said in others. */
const MIN_WORDS = 6
/** Each is looked for in all texts around it. */
const MAX_ANSWERS = 10

/** Tools and retrievals that were asked for something of which nothing afterwards shows anything. */
export function findUnusedToolAnswers({ session, events }: Analysed): Finding[] {
  // What goes on may still use it, and what stands behind the texts that were read too.
  if (session.status === 'RUNNING' || events.length > READ_TEXTS) return []
  const unused = new Map<string, AnalysedEvent[]>()
  const words = new Map<string, Set<string>>()
  let looked = 0
  for (const [place, event] of events.entries()) {
    if (looked === MAX_ANSWERS) break
    if (!isAsked(event) || event.hasError || event.output === null || event.outputLength !== event.output.length)
      continue
    if (event.output.length < MIN_ANSWER) continue
    const around = events.filter((other, at) => other !== event && (at > place || isOpen(other, event)))
    if (!canTell(around)) continue
    looked += 1
    const pieces = piecesOf(event.output, event.input ?? '')
    // The same tool may well say the same again.
    const outputOf = (other: AnalysedEvent) => (other.name === event.name ? null : other.output)
    if (around.some((other) => pieces.some((piece) => has(other.input, piece) || has(outputOf(other), piece)))) continue
    const asked = wordsOf(event.input ?? '')
    const own = [...wordsOf(event.output)].filter((word) => !asked.has(word))
    if (own.length < MIN_WORDS) continue
    const isUsed = around.some((other) => {
      const texts = [other.input, outputOf(other)]
      return texts.some((text) => {
        if (text === null) return false
        const said = words.get(text) ?? wordsOf(text)
        words.set(text, said)
        return own.some((word) => said.has(word))
      })
    })
    if (!isUsed) push(unused, nameOf(event), event)
  }
  return [...unused].map(([name, calls]) => {
    const all = events.filter((event) => event.type === calls[0]!.type && nameOf(event) === name).length
    const isOne = calls.length === 1
    const called = all === 1 ? `"${name}" was called` : `${calls.length} of ${countOf(all, 'call')} of "${name}"`
    return {
      kind: 'UNUSED_TOOL_ANSWER',
      subject: name,
      sentence:
        all === 1
          ? `${called}, and no later step shows anything of its answer.`
          : `No later step shows anything of what ${called} brought.`,
      advice: isOne
        ? 'Leave the call out, or say in the instruction what its answer is for.'
        : 'Leave the calls out, or say in the instruction what their answers are for.',
      saving: { usd: null, tokens: null, ms: sumOfAll(calls.map(({ durationMs }) => durationMs)) },
      evidence: calls.map(({ key }) => key),
    }
  })
}

function isAsked({ type, name }: AnalysedEvent): boolean {
  if (type !== 'TOOL_CALL' || name === null) return type === 'RETRIEVAL'
  const words = name.replace(/[_.-]/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2')
  return ASKS.test(words) && !DOES.test(words)
}

/** Began before it and ended after it, as an agent that called it, or holds it. */
const isOpen = (other: AnalysedEvent, event: AnalysedEvent) =>
  other.key === event.parentKey ||
  (other.type !== 'TOOL_CALL' &&
    other.occurredAt !== null &&
    other.durationMs !== null &&
    event.occurredAt !== null &&
    other.occurredAt + other.durationMs > event.occurredAt)

/** A model answered, and all that could show the tool's answer was read whole. */
function canTell(around: AnalysedEvent[]): boolean {
  let hasAnswer = false
  for (const { type, hasError, input, inputLength, output, outputLength } of around) {
    if (type === 'LLM_CALL' && !hasError) {
      if (input === null) return false
      hasAnswer ||= output !== null && output.trim() !== ''
    }
    if (input !== null && input.length !== inputLength) return false
    if (output !== null && output.length !== outputLength) return false
  }
  return hasAnswer
}

/** Words that stand for the answer: the longest, with numbers first, that were not in the question. */
function piecesOf(output: string, input: string): string[] {
  const words = new Set(output.slice(0, 2_000).match(/[\p{L}\p{N}]{4,40}/gu) ?? [])
  return [...words]
    .filter((word) => !input.includes(word))
    .sort((a, b) => Number(/\d/.test(b)) - Number(/\d/.test(a)) || b.length - a.length)
    .slice(0, PIECES)
}

const has = (text: string | null, piece: string) => text !== null && text.includes(piece)

/**
 * What a text says, however it is inflected: how its words begin, its numbers, and pairs of letters where words are short
 * or not set apart.
 */
function wordsOf(text: string): Set<string> {
  const plain = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/\b\d{1,3}(?:[,' \u00a0\u202f]\d{3})+(?!\d)/g, (number) => `${number} ${number.replace(/\D/g, '')}`)
    .normalize('NFKC')
    .toLowerCase()
  const words = new Set<string>()
  for (const [word] of plain.matchAll(
    /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+|\p{Nd}{2,}|\p{L}{2,}/gu,
  )) {
    if (/^\p{Nd}/u.test(word)) words.add(word)
    else if (/^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word)) {
      if (word.length >= 5) words.add(word.slice(0, 5))
    } else {
      const letters = [...word]
      for (let i = 1; i < letters.length; i++) words.add(letters[i - 1]! + letters[i]!)
    }
  }
  return words
}
