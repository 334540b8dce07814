// Findings that a run tells by itself: prompts and tools called again, context that grows, models without a price. Pure.
import { countOf, seconds, tokensText } from '../failures/words.ts'
import {
  nameOf,
  push,
  stepOf,
  sumOfAll,
  tokensOf,
  UNKNOWN_SAVING,
  type Analysed,
  type AnalysedEvent,
  type Finding,
} from './finding.ts'

/** Shorter prompts may be equal by chance: "yes", an id. */
const MIN_PROMPT = 20

/** The same prompt answered again in one run. What was tried again after an error is another finding. */
export function findRepeatedPrompts({ events }: Analysed): Finding[] {
  const first = new Map<string, AnalysedEvent>()
  const again = new Map<string, AnalysedEvent[]>()
  for (const event of events) {
    if (event.type !== 'LLM_CALL' || event.hasError || event.inputDigest === null) continue
    if ((event.inputLength ?? 0) < MIN_PROMPT) continue
    const prompt = promptOf(event)
    if (!first.has(prompt)) first.set(prompt, event)
    else push(again, nameOf(event), event)
  }
  return [...again].map(([name, repeats]) => ({
    kind: 'REPEATED_PROMPT',
    subject: name,
    sentence: `A prompt of "${name}" that had been answered in this run was sent ${timesMore(repeats.length)}.`,
    advice:
      'Keep the first answer and use it again: move the call before the loop, or let it run once for all items (n8n: Execute Once).',
    saving: priceOfAll(repeats),
    evidence: withFirst(repeats, first),
  }))
}

/** Where the input is only the last message, the tokens tell that the conversation before it was another. */
const promptOf = ({ model, inputDigest, promptTokens }: AnalysedEvent) =>
  `${promptTokens ?? ''} ${inputDigest} ${model ?? ''}`

function withFirst(repeats: AnalysedEvent[], first: Map<string, AnalysedEvent>): string[] {
  const keys = repeats.flatMap((event) => [first.get(promptOf(event))!.key, event.key])
  return [...new Set(keys)]
}

const timesMore = (count: number) => (count === 1 ? 'once more' : `${count.toLocaleString('en-US')} times more`)

/** All of them together; a sum of which a part is not known is not known. */
const priceOfAll = (events: AnalysedEvent[]) => ({
  usd: sumOfAll(events.map(({ costUsd }) => costUsd)),
  tokens: sumOfAll(events.map(tokensOf)),
  ms: sumOfAll(events.map(({ durationMs }) => durationMs)),
})

/** The calls of one step with one input. */
interface Tries {
  /** failed, and another try came after it */
  again: AnalysedEvent[]
  /** the last, if it failed */
  failed: AnalysedEvent[]
  hasWorked: boolean
}

/** Steps that failed and were tried again, and runs that retry another. */
export function findRetries({ session, events, surroundings: { retried } }: Analysed): Finding[] {
  const steps = new Map<string, Tries>()
  for (const event of events) {
    // A loop calls the same step with something else: that is no retry. Where the input is not known it cannot be told.
    if (event.type === 'SPAN' || event.type === 'SESSION_END' || event.inputDigest === null) continue
    const step = `${event.inputDigest} ${stepOf(event)}`
    let tries = steps.get(step)
    if (tries && tries.failed.length > 0) {
      tries.again.push(...tries.failed.splice(0))
      if (!event.hasError) tries.hasWorked = true
    }
    if (!event.hasError) continue
    if (!tries) steps.set(step, (tries = { again: [], failed: [], hasWorked: false }))
    tries.failed.push(event)
  }
  const found: Finding[] = []
  for (const { again, failed, hasWorked } of steps.values()) {
    if (again.length === 0) continue
    const all = hasWorked ? again : [...again, ...failed]
    const name = nameOf(again[0]!)
    const price = priceOfAll(again)
    const took = sumOfAll(all.map(({ durationMs }) => durationMs))
    found.push({
      kind: 'RETRIES',
      subject: name,
      sentence: `"${name}" failed ${countOf(all.length, 'time')} and was tried again${hasWorked ? ' until it worked' : ' without success'}${took ? `; the tries that failed took ${seconds(took)}` : ''}.`,
      advice:
        'Find out why the first try fails: see the failure of this step. Until then set a pause between tries and a small limit (n8n: Retry On Fail, in the settings of the node).',
      // A tool costs no tokens.
      saving: again[0]!.type === 'LLM_CALL' ? price : { usd: null, tokens: null, ms: price.ms },
      evidence: all.map(({ key }) => key),
    })
  }
  if (session.retryOf !== null) found.push(retriedRun(session, events, retried))
  return found
}

/** What the other run spent is lost but for the steps that the platform took over from it. */
function retriedRun(
  { retryOf, startedAt }: Analysed['session'],
  events: AnalysedEvent[],
  retried: Analysed['surroundings']['retried'],
): Finding {
  const kept = events.filter(({ occurredAt }) => occurredAt !== null && startedAt !== null && occurredAt < startedAt)
  const lost = (spent: number | null | undefined, keptOf: (event: AnalysedEvent) => number | null) =>
    spent == null ? null : Math.max(0, spent - kept.reduce((sum, event) => sum + (keptOf(event) ?? 0), 0))
  const saving = {
    usd: lost(retried?.costUsd, ({ costUsd }) => costUsd),
    tokens: lost(retried?.tokens, tokensOf),
    ms: lost(retried?.durationMs, ({ durationMs }) => durationMs),
  }
  const steps = kept.length === 0 ? '' : ` and takes over ${countOf(kept.length, 'step')} of it`
  return {
    kind: 'RETRIES',
    subject: null,
    sentence: `The run repeats run ${retryOf}${steps}${saving.ms === null ? '' : `; ${seconds(saving.ms)} of that one were spent for nothing`}.`,
    advice: 'See the failure of the run that is repeated: what made it fail is paid twice each time.',
    saving,
    evidence: [],
  }
}

const MIN_GROWING_CALLS = 4
/** Of inputs that were not read: four items of a loop may well stand in order of size. */
const MIN_UNREAD_CALLS = 6
const MIN_GROWTH_TOKENS = 1_000
/** What of a prompt the next one must hold, to be the same with more behind it. */
const HELD = 0.9

/** Each call of one step carries what the one before it carried, and more. */
export function findGrowingContext({ events, priceOf }: Analysed): Finding[] {
  const calls = new Map<string, AnalysedEvent[]>()
  for (const event of events) {
    if (event.type !== 'LLM_CALL' || event.hasError || event.promptTokens === null) continue
    push(calls, `${stepOf(event)} ${event.parentKey ?? ''}`, event)
  }
  const found: Finding[] = []
  for (const steps of calls.values()) {
    const grown = longestGrowth(steps)
    const [first, last] = [grown[0], grown.at(-1)]
    if (!first || !last || grown.length < MIN_GROWING_CALLS) continue
    if (grown.some(({ input }) => input === null) && grown.length < MIN_UNREAD_CALLS) continue
    const [from, to] = [first.promptTokens!, last.promptTokens!]
    if (to < 2 * from || to - from < MIN_GROWTH_TOKENS) continue
    const name = nameOf(first)
    found.push({
      kind: 'GROWING_CONTEXT',
      subject: name,
      sentence: `The prompt of "${name}" grew with each of ${countOf(grown.length, 'call')}, from ${from.toLocaleString('en-US')} to ${tokensText(to)}.`,
      advice:
        'Send less of what was said before: keep the last few messages (a smaller window in the memory step), sum up older ones, and let tools return only what is needed.',
      saving: {
        usd: costOfGrowth(grown, priceOf),
        tokens: grown.reduce((sum, { promptTokens }) => sum + promptTokens! - from, 0),
        ms: null,
      },
      evidence: grown.map(({ key }) => key),
    })
  }
  return found
}

/** Of each call never more than it cost, which may have been less than its price. */
function costOfGrowth(grown: AnalysedEvent[], priceOf: Analysed['priceOf']): number | null {
  const { model, promptTokens: from } = grown[0]!
  const to = grown.at(-1)!.promptTokens!
  if (model === null) return null
  const [least, most] = [priceOf(model, from!, 0), priceOf(model, to, 0)]
  if (least === null || most === null) return null
  // To ask for each price takes longer than all else; a token costs the same but where a model has tiers.
  const rate = most / to
  const isPlain = Math.abs(rate * from! - least) <= 1e-9 * most
  return sumOfAll(
    grown.map(({ promptTokens, costUsd }) => {
      const whole = isPlain ? rate * promptTokens! : priceOf(model, promptTokens!, 0)
      return costUsd === null || whole === null ? null : Math.min(costUsd, Math.max(0, whole - least))
    }),
  )
}

/** The longest row of calls of which each sends more than the one before. */
function longestGrowth(calls: AnalysedEvent[]): AnalysedEvent[] {
  let best = [0, 0]
  let start = 0
  for (const [place, call] of calls.entries()) {
    const before = calls[place - 1]
    if (!before || call.promptTokens! <= before.promptTokens! || !holds(call, before)) start = place
    if (place + 1 - start > best[1]! - best[0]!) best = [start, place + 1]
  }
  return calls.slice(best[0], best[1])
}

/** As far as both were read. The question may stand behind what grows. */
function holds({ input, inputLength }: AnalysedEvent, before: AnalysedEvent): boolean {
  const old = before.input
  // Some ten times as fast as startsWith.
  if (input === null || old === null || input.slice(0, old.length) === old) return true
  const most = Math.min(input.length, old.length)
  let head = 0
  while (head < most && input[head] === old[head]) head++
  let tail = 0
  const isWhole = input.length === inputLength && old.length === before.inputLength
  while (isWhole && tail < most - head && input.at(-1 - tail) === old.at(-1 - tail)) tail++
  return head + tail >= HELD * old.length
}

/** Models whose calls have tokens but no price. */
export function findUnpricedModels({ events, priceOf }: Analysed): Finding[] {
  const unpriced = new Map<string, AnalysedEvent[]>()
  for (const event of events) {
    if (event.type !== 'LLM_CALL' || event.costUsd !== null || event.model === null) continue
    if (!tokensOf(event)) continue
    // With one of the two counts missing there is no cost either, however well the model is priced.
    const isCounted = event.promptTokens !== null && event.completionTokens !== null
    if (isCounted || priceOf(event.model, 1, 1) === null) push(unpriced, event.model, event)
  }
  return [...unpriced].map(([model, calls]) => ({
    kind: 'UNPRICED_MODEL',
    subject: model,
    sentence: `${countOf(calls.length, 'call')} of "${model}" ${calls.length === 1 ? 'has' : 'have'} tokens but no known price, so the cost of this run leaves ${calls.length === 1 ? 'it' : 'them'} out.`,
    advice: 'Set the price of this model under Settings > Model prices, and apply it to what is stored.',
    saving: UNKNOWN_SAVING,
    evidence: calls.map(({ key }) => key),
  }))
}
