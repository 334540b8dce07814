// Runs as the analysis sees them, without a database: what a test does not name is not known.
import { createHash } from 'node:crypto'
import { analyse } from '../../server/findings/analyse.ts'
import type { Analysed, AnalysedEvent, AnalysedSession, Finding, FindingKind } from '../../server/findings/finding.ts'
import { usualOf } from '../../server/findings/rules-of-usual.ts'

/** USD per million tokens sent and received. */
const PRICES: Record<string, [number, number]> = { dear: [10, 40], cheap: [1, 4], 'as-dear': [9, 36] }
export const priceOf: Analysed['priceOf'] = (model, promptTokens, completionTokens) => {
  const price = PRICES[model]
  return price ? (promptTokens * price[0] + completionTokens * price[1]) / 1e6 : null
}

export type Step = Partial<AnalysedEvent>
let keys = 0

/** Digest and lengths are those of its texts, and its cost that of its tokens, unless they are named. */
export function step(own: Step): AnalysedEvent {
  const { input = null, output = null, model = null, promptTokens = null, completionTokens = null } = own
  const costUsd =
    model === null || promptTokens === null || completionTokens === null
      ? null
      : priceOf(model, promptTokens, completionTokens)
  return {
    key: `event-${++keys}`,
    type: 'LLM_CALL',
    name: null,
    parentKey: null,
    hasError: false,
    durationMs: null,
    occurredAt: null,
    inputLength: input?.length ?? null,
    inputDigest: input === null ? null : createHash('md5').update(input).digest('hex'),
    outputLength: output?.length ?? null,
    finishReason: null,
    maxTokens: null,
    ...{ input, output, model, promptTokens, completionTokens, costUsd },
    ...own,
  }
}

export const tool = (name: string, own: Step = {}) => step({ type: 'TOOL_CALL', name, ...own })

export interface Around {
  session?: Partial<AnalysedSession>
  surroundings?: Partial<Analysed['surroundings']>
}

export function runWith(events: AnalysedEvent[], { session, surroundings }: Around = {}): Analysed {
  const costs = events.flatMap(({ costUsd }) => costUsd ?? [])
  return {
    session: {
      id: 'run',
      projectId: 1,
      platform: 'PLATFORM_A',
      agent: 'Agent',
      status: 'COMPLETED',
      firstSeenAt: 1_000_000,
      startedAt: null,
      durationMs: null,
      activeMs: null,
      costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
      unpricedCalls: 0,
      retryOf: null,
      ...session,
    },
    events,
    surroundings: {
      durationMs: null,
      costUsd: null,
      beginnings: new Map(),
      own: new Map(),
      others: new Map(),
      retried: null,
      ...surroundings,
    },
    priceOf,
    cacheSavingOf: (model, promptTokens) => {
      const whole = priceOf(model, promptTokens, 0)
      return whole === null ? null : whole / 2
    },
  }
}

/** What is found of one kind, as people read it: sentences, and the savings that are known. */
export function found(kind: FindingKind, events: AnalysedEvent[], around?: Around): Finding[] {
  const { findings, notRun } = analyse(runWith(events, around))
  if (notRun.length > 0) throw notRun[0]!.error
  return findings.filter((finding) => finding.kind === kind)
}

export const sentences = (...asked: Parameters<typeof found>) => found(...asked).map(({ sentence }) => sentence)

export const usual = (count: number, value: (i: number) => number) =>
  usualOf(Array.from({ length: count }, (_, i) => value(i)))

/** What no sentence for people may hold. */
export const UNFIT =
  /undefined|null|NaN|Infinity|\[object| {2}|\b1 (calls|times|tokens|answers|runs|steps)\b|\b(?:[02-9]|\d{2,}) (?:call|time|token|answer|run|step)\b|[^.]$/
