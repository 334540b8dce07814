// Findings that other runs tell: what cost or took far more than usual, beginnings sent again and again, dearer models. Pure.
import { countOf, seconds, tokensText, usd } from '../failures/words.ts'
import {
  nameOf,
  push,
  stepOf,
  sumOfAll,
  type Analysed,
  type AnalysedEvent,
  type Finding,
  type ModelUse,
  type UsualValue,
} from './finding.ts'

const MIN_RUNS = 20
const FAR = 3
const MIN_EXCESS_MS = 1_000
const MIN_EXCESS_USD = 0.001

/** @param values of earlier runs, in any order */
export function usualOf(values: number[]): UsualValue | null {
  if (values.length < MIN_RUNS) return null
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return { median: at(0.5), p95: at(0.95), runs: sorted.length }
}

/** Three times the median, and beyond what one run in twenty reaches anyway. */
const isFar = (value: number, usual: UsualValue, least: number) =>
  value >= FAR * usual.median && value >= 1.5 * usual.p95 && value - usual.median >= least

export function findUnusualDuration({ session, events, surroundings: { durationMs: usual } }: Analysed): Finding[] {
  const { status } = session
  // Who waited for a person or for a time was not slow.
  const durationMs = session.activeMs ?? session.durationMs
  if (durationMs === null || usual === null || status === 'RUNNING' || !isFar(durationMs, usual, MIN_EXCESS_MS))
    return []
  // A step that holds others lasts as long as they do.
  const parents = new Set(events.map(({ parentKey }) => parentKey))
  const longest = most(
    events.filter(({ key }) => !parents.has(key)),
    ({ durationMs: ms }) => ms,
  )
  const share =
    longest && longest.durationMs! >= durationMs / 3
      ? ` ${seconds(longest.durationMs!)} of it went into "${nameOf(longest)}".`
      : ''
  return [
    {
      kind: 'UNUSUAL_DURATION',
      subject: null,
      sentence: `The run took ${seconds(durationMs)}${session.durationMs !== null && session.durationMs - durationMs >= 1_000 ? ' without the time it waited' : ''}; half of the agent's last ${countOf(usual.runs, 'run')} took at most ${seconds(usual.median)}.${share}`,
      advice: share
        ? `Open "${nameOf(longest!)}" and compare what it was given with another run.`
        : 'Compare this run with another: more steps, more items, or waiting in between.',
      saving: { usd: null, tokens: null, ms: durationMs - usual.median },
      evidence: share ? [longest!.key] : [],
    },
  ]
}

export function findUnusualCost({ session, events, surroundings: { costUsd: usual } }: Analysed): Finding[] {
  const { costUsd, unpricedCalls, status } = session
  // Compared are runs of which all is priced; one that is not cost at least this much.
  if (costUsd === null || usual === null || status === 'RUNNING' || !isFar(costUsd, usual, MIN_EXCESS_USD)) return []
  const dearest = most(events, ({ costUsd: cost }) => cost)
  const share =
    dearest && dearest.costUsd! >= costUsd / 3 ? ` ${usd(dearest.costUsd!)} of it went into "${nameOf(dearest)}".` : ''
  return [
    {
      kind: 'UNUSUAL_COST',
      subject: null,
      sentence: `The run cost ${unpricedCalls > 0 ? 'at least ' : ''}${usd(costUsd)}; half of the agent's last ${countOf(usual.runs, 'run')} cost at most ${usd(usual.median)}.${share}`,
      advice: 'Look at the calls with the most tokens: a longer input, more rounds than usual, or another model.',
      saving: { usd: costUsd - usual.median, tokens: null, ms: null },
      evidence: share ? [dearest!.key] : [],
    },
  ]
}

function most(events: AnalysedEvent[], value: (event: AnalysedEvent) => number | null): AnalysedEvent | null {
  let best: AnalysedEvent | null = null
  for (const event of events) {
    const own = value(event)
    if (own !== null && own > (best === null ? 0 : value(best)!)) best = event
  }
  return best
}

const BLOCK = 256
const MAX_BLOCKS = 64
/** Below it no provider caches: 1,024 tokens at OpenAI, Google and Anthropic (some models of theirs ask for more). */
const MIN_CACHED_TOKENS = 1_024
/** Some four characters of English make a token; where counts are not known nothing shorter is looked at. */
const MIN_CHARACTERS = 4 * MIN_CACHED_TOKENS
const MIN_EARLIER = 3
/** Providers keep a beginning for minutes, at most an hour: one that ran longer ago saves nothing. */
const KEPT_MS = 3_600_000

/** A hash for each whole block of a prompt's beginning, each over all that is before it (FNV-1a). */
export function chainOf(prompt: string): Int32Array {
  const blocks = Math.min(MAX_BLOCKS, Math.floor(prompt.length / BLOCK))
  const chain = new Int32Array(blocks)
  let hash = 0x811c9dc5
  for (let block = 0; block < blocks; block++) {
    for (let i = block * BLOCK; i < (block + 1) * BLOCK; i++) hash = Math.imul(hash ^ prompt.charCodeAt(i), 0x01000193)
    chain[block] = hash
  }
  return chain
}

/** The first call of each step: later ones of the run begin like it or are another finding. */
export function firstCalls(events: AnalysedEvent[]): Map<string, AnalysedEvent> {
  const first = new Map<string, AnalysedEvent>()
  for (const event of events) {
    if (event.type !== 'LLM_CALL' || event.input === null || (event.inputLength ?? 0) < MIN_CHARACTERS) continue
    const step = stepOf(event)
    if (!first.has(step)) first.set(step, event)
  }
  return first
}

export function findFixedBeginnings({ session, events, surroundings, cacheSavingOf }: Analysed): Finding[] {
  const found: Finding[] = []
  for (const [step, call] of firstCalls(events)) {
    const earlier = (surroundings.beginnings.get(step) ?? []).slice(0, MIN_EARLIER)
    if (earlier.length < MIN_EARLIER || (call.occurredAt ?? session.firstSeenAt) - earlier[0]!.at > KEPT_MS) continue
    const chain = chainOf(call.input!)
    const blocks = Math.min(...earlier.map((one) => common(chain, one.chain)))
    const characters = blocks * BLOCK
    if (characters < MIN_CHARACTERS / 2) continue
    const tokens = call.promptTokens === null ? null : Math.round((call.promptTokens * characters) / call.inputLength!)
    if (tokens === null ? characters < MIN_CHARACTERS : tokens < MIN_CACHED_TOKENS) continue
    const name = nameOf(call)
    const size = tokens === null ? `${characters.toLocaleString('en-US')} characters` : tokensText(tokens)
    found.push({
      kind: 'FIXED_BEGINNING',
      subject: name,
      sentence: `The prompt of "${name}" begins with the same ${size}${blocks === MAX_BLOCKS ? ' or more' : ''} run after run.`,
      advice:
        'Let the provider cache it: keep what never changes at the beginning and what changes behind it. OpenAI and Google then cache by themselves; Anthropic has to be told (cache_control), where the model step can send that.',
      saving: {
        usd: savedByCache(call, tokens, cacheSavingOf),
        tokens: null,
        ms: null,
      },
      evidence: [call.key],
    })
  }
  return found
}

/** Never more than the call cost, which may have been less than its price. */
function savedByCache({ model, costUsd }: AnalysedEvent, tokens: number | null, of: Analysed['cacheSavingOf']) {
  if (model === null || costUsd === null || tokens === null) return null
  const saved = of(model, tokens)
  return saved === null ? null : Math.min(saved, costUsd)
}

function common(a: Int32Array, b: Int32Array): number {
  let count = 0
  while (count < a.length && a[count] === b[count]) count++
  return count
}

/**
 * What kind of work a call does, as far as its size and shape tell: what it answers, and how much it is given. Null where
 * nothing is known of its answer.
 */
export function workOf(call: Pick<AnalysedEvent, 'output' | 'outputLength' | 'promptTokens'>): string | null {
  const { output, outputLength, promptTokens } = call
  if (promptTokens === null || output === null || !outputLength) return null
  const size = SIZES.find(([most]) => promptTokens < most)![1]
  const isJson = /^\s*(```json|[{[])/.test(output)
  const answer = isJson
    ? 'JSON'
    : outputLength <= 60
      ? 'short labels'
      : outputLength <= 1_000
        ? 'short texts'
        : 'long texts'
  return `${answer} from prompts ${size}`
}

const SIZES: [most: number, words: string][] = [
  [500, 'under 500 tokens'],
  [2_000, 'of 500 to 2,000 tokens'],
  [8_000, 'of 2,000 to 8,000 tokens'],
  [Infinity, 'over 8,000 tokens'],
]

/** Calls that must be known of each model before the two are compared. */
const MIN_CALLS = 30
/** Of runs that went well: as good as the other, within what so few calls can tell. */
const SAME_SUCCESS = 0.02
const MIN_CHEAPER = 0.3

export function findDearerModels({ events, surroundings: { own, others }, priceOf }: Analysed): Finding[] {
  const groups = new Map<string, AnalysedEvent[]>()
  for (const event of events) {
    const work = event.hasError || event.model === null || event.costUsd === null ? null : workOf(event)
    if (work === null || event.completionTokens === null) continue
    const key = useKey(work, event.model!)
    push(groups, key, event)
  }
  const found: Finding[] = []
  for (const [key, calls] of groups) {
    const work = workOf(calls[0]!)!
    const model = calls[0]!.model!
    const fares = own.get(key)
    if (!fares || fares.calls < MIN_CALLS) continue
    const cost = sumOfAll(calls.map(({ costUsd }) => costUsd))!
    let best: { use: ModelUse; cost: number } | null = null
    for (const use of others.get(work) ?? []) {
      if (use.model === model || use.calls < MIN_CALLS || use.success < fares.success - SAME_SUCCESS) continue
      const other = sumOfAll(calls.map((call) => priceOf(use.model, call.promptTokens!, call.completionTokens!)))
      if (other !== null && other <= cost * (1 - MIN_CHEAPER) && other < (best?.cost ?? Infinity))
        best = { use, cost: other }
    }
    if (best === null) continue
    const { use } = best
    found.push({
      kind: 'DEARER_MODEL',
      subject: model,
      sentence: `"${model}" wrote ${work} for ${cost < 0.0001 ? 'less than 0.0001 USD' : usd(cost)}; ${use.agents === 1 ? 'another agent uses' : `${use.agents} other agents use`} "${use.model}" for such work with the same success (${percent(use.success)} of ${countOf(use.calls, 'call')}, here ${percent(fares.success)} of ${fares.calls.toLocaleString('en-US')}).`,
      advice: `Try "${use.model}" in a copy of this step and compare the answers before you switch.`,
      saving: { usd: cost - best.cost, tokens: null, ms: null },
      evidence: calls.map(({ key: eventKey }) => eventKey),
    })
  }
  return found
}

export const useKey = (work: string, model: string) => `${work} ${model}`

const percent = (share: number) => `${(100 * share).toFixed(share > 0.99 && share < 1 ? 1 : 0)} %`
