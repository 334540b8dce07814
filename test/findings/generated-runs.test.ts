// Runs made by chance: whatever they hold, findings are the same each time, fit for people, and promise no more than was spent.
import { expect, test } from 'vitest'
import { analyse } from '../../server/findings/analyse.ts'
import { FINDING_KINDS, type Analysed, type AnalysedEvent, type Finding } from '../../server/findings/finding.ts'
import { chainOf, useKey, usualOf, workOf } from '../../server/findings/rules-of-usual.ts'
import { priceOf, runWith, step, UNFIT } from '../support/analysed-run.ts'

/** mulberry32: the same numbers for the same seed. */
function chance(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)]!
  return {
    next,
    pick,
    upTo: (most: number) => Math.floor(next() * (most + 1)),
    often: (share: number) => next() < share,
  }
}

const TEXTS = [
  null,
  '',
  'yes',
  'Classify this mail: my invoice is wrong and nobody answers',
  'You answer for a dentist in Basel, in the language of the caller. '.repeat(150),
  JSON.stringify([{ id: 91342, customer: 'Weber', item: 'Garden chair', colour: 'green', street: 'Marktgasse' }]),
  '{"name": "Bo',
  '```json\n{"a": [1',
  '[1] a footnote',
  '東京は明日雨が降ります。気温は二十度です。'.repeat(20),
  '😀'.repeat(3_000),
  '\ufffd\n\t"quotes" and \\u0041',
]
const MODELS = [null, 'dear', 'cheap', 'as-dear', 'llama']
const NAMES = [null, 'Mail', 'search_docs', 'get weather', 'mark_as_read', 'suche', 'a "quoted"\nname']

function generated(seed: number): Analysed {
  const { next, pick, upTo, often } = chance(seed)
  const events: AnalysedEvent[] = []
  const size = often(0.05) ? 400 : 1 + upTo(25)
  let grown = pick([100, 400, 2_000])
  let said: string = pick(TEXTS) ?? ''
  for (let i = 0; i < size; i++) {
    const input = often(0.3) ? (said += ` and more ${i}`) : pick(TEXTS)
    const promptTokens = often(0.2) ? null : (grown += often(0.8) ? upTo(700) : -upTo(grown - 50))
    const completionTokens = often(0.2) ? null : pick([0, 1, 10, 500])
    const model = pick(MODELS)
    const known = model === null || promptTokens === null || completionTokens === null
    const price = known ? null : priceOf(model, promptTokens, completionTokens)
    const type = pick(['LLM_CALL', 'LLM_CALL', 'LLM_CALL', 'TOOL_CALL', 'RETRIEVAL', 'SPAN', 'SESSION_END'] as const)
    events.push(
      step({
        key: `event-${i}`,
        ...{ type, model, input, promptTokens, completionTokens },
        name: pick(NAMES),
        output: pick(TEXTS),
        hasError: often(0.15),
        // What was sent may be far from the price.
        costUsd: type === 'SPAN' ? null : pick([price, price, price, 0, 0.000001, null]),
        durationMs: pick([null, 0, 3, 4_000]),
        occurredAt: often(0.3) ? null : 1_000_000 + i * 100,
        parentKey: i > 0 && often(0.2) ? `event-${upTo(i - 1)}` : null,
        finishReason: pick([null, null, null, 'stop', 'length', '']),
        maxTokens: pick([null, null, 10, 0]),
        ...(often(0.1) && { inputLength: 100_000, outputLength: 100_000 }),
      }),
    )
  }
  const run = runWith(events)
  const uses = [...MODELS, 'cheap', 'cheap'].flatMap((model) =>
    model === null ? [] : { model, agents: 1 + upTo(2), calls: pick([10, 31, 4_000]), success: pick([0.5, 0.99, 1]) },
  )
  const works = [...new Set(events.map(workOf))].filter((work) => work !== null)
  const usual = (most: number) => (often(0.3) ? null : usualOf(Array.from({ length: 40 }, () => next() * most)))
  const calls = events.filter(({ type, input }) => type === 'LLM_CALL' && input !== null)
  const spent = { durationMs: pick([null, 9_000]), costUsd: pick([null, 0.5]), tokens: pick([null, 700]) }
  Object.assign(run.session, {
    status: pick(['RUNNING', 'COMPLETED', 'FAILED']),
    durationMs: pick([null, 0, 50, 700_000]),
    activeMs: pick([null, null, 40_000]),
    startedAt: pick([null, 1_000_500]),
    retryOf: pick([null, null, '45']),
  })
  Object.assign(run.surroundings, {
    durationMs: usual(5_000),
    costUsd: usual(0.01),
    beginnings: new Map(
      calls.map(({ type, name, model, input }) => [
        `${type} ${name ?? ''} ${model ?? ''}`,
        Array.from({ length: upTo(4) }, () => ({ at: 1_000_000, chain: chainOf(input!) })),
      ]),
    ),
    own: new Map(works.flatMap((work) => uses.map((use) => [useKey(work, use.model), use] as const))),
    others: new Map(works.map((work) => [work, uses])),
    retried: pick([null, spent]),
  })
  return run
}

const sum = (values: (number | null)[]) => values.reduce<number>((all, value) => all + (value ?? 0), 0)

function faultOf(run: Analysed, { kind, subject, sentence, advice, saving, evidence }: Finding): string | null {
  const { session, events, surroundings } = run
  const keys = new Set(events.map(({ key }) => key))
  if (UNFIT.test(sentence.replace('\n', ' ')) || UNFIT.test(advice)) return `words: ${sentence} ${advice}`
  if (evidence.some((key) => !keys.has(key)) || new Set(evidence).size < evidence.length) return 'evidence'
  const isOfOther = kind === 'RETRIES' && subject === null
  const { retried } = surroundings
  const most = {
    usd: isOfOther ? retried?.costUsd : session.costUsd,
    tokens: isOfOther
      ? retried?.tokens
      : sum(events.map(({ promptTokens, completionTokens }) => (promptTokens ?? 0) + (completionTokens ?? 0))),
    ms: isOfOther
      ? retried?.durationMs
      : kind === 'UNUSUAL_DURATION'
        ? (session.activeMs ?? session.durationMs)
        : sum(events.map(({ durationMs }) => durationMs)),
  }
  for (const unit of ['usd', 'tokens', 'ms'] as const) {
    const value = saving[unit]
    if (value === null) continue
    if (!Number.isFinite(value) || value < 0) return `${unit} ${value}`
    if (most[unit] == null || value > most[unit] * (1 + 1e-9)) return `${unit} ${value} of ${most[unit]}`
  }
  return null
}

test('two hundred and fifty of them', () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 250; seed++) {
    const run = generated(seed)
    const { findings, notRun } = analyse(run)
    expect(notRun, `seed ${seed}`).toEqual([])
    expect(JSON.stringify(analyse(generated(seed)).findings), `seed ${seed}`).toBe(JSON.stringify(findings))
    const subjects = findings.map(({ kind, subject }) => JSON.stringify([kind, subject]))
    expect(new Set(subjects).size, `seed ${seed}`).toBe(subjects.length)
    expect(findings.length).toBeLessThanOrEqual(50)
    for (const finding of findings) {
      seen.add(finding.kind)
      expect(faultOf(run, finding), `seed ${seed}: ${finding.kind}`).toBeNull()
    }
  }
  expect([...seen].sort()).toEqual([...FINDING_KINDS].sort())
})

test('one of 2,000 steps, each of which grows, fails or repeats', () => {
  const events = Array.from({ length: 2_000 }, (_, i) =>
    step({
      type: i % 3 === 2 ? 'TOOL_CALL' : 'LLM_CALL',
      name: i % 3 === 2 ? 'search' : 'Agent',
      model: 'dear',
      input: i < 200 ? 'x'.repeat(16_000) : null,
      inputLength: i < 200 ? 400_000 : null,
      inputDigest: i < 200 ? `digest ${i % 7}` : null,
      output: i < 200 ? `{"a": "${i}"` : null,
      hasError: i % 11 === 0,
      promptTokens: 1_000 + i,
      completionTokens: 1,
    }),
  )
  const run = runWith(events)
  const { findings, notRun } = analyse(run)
  expect(notRun).toEqual([])
  expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['RETRIES', 'GROWING_CONTEXT', 'CUT_OFF_OUTPUT']))
  for (const finding of findings) expect(faultOf(run, finding)).toBeNull()
})
