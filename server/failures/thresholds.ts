// What is usual for an agent, as limits: fixed where a person fixed them, else worked out from its own last runs. Pure.
import type { Threshold, Thresholds } from './failure.ts'

/** Earlier runs that are looked at, the newest of them. */
export const HISTORY = 200
const ENOUGH = 20
const PLENTY = 100

/**
 * From 20 earlier runs on the limit is 3 times their median, or a multiple of their upper end where that is more. The
 * multiples were tried on simulated histories (see test/failures/thresholds.test.ts): smaller ones raise false alarms
 * where durations have a long tail, and five times the usual top is above all of them.
 */
const MEDIANS = 3
const TOPS = { plenty: { share: 0.98, times: 2 }, enough: { share: 0.95, times: 2 } }

type Measure = keyof Thresholds

/** `least` is never gone below; `unknown` holds while fewer than 20 runs are known. */
export const LIMITS: Record<Measure, { least: number; unknown: number }> = {
  latencyMs: { least: 1_000, unknown: 60_000 },
  costUsd: { least: 0.01, unknown: 1 },
  tokens: { least: 1_000, unknown: 50_000 },
  loopRounds: { least: 20, unknown: 20 },
  equalRounds: { least: 5, unknown: 5 },
}

/** What a person fixed; null where it is left to what is usual. */
export interface FixedThresholds {
  latencyMs: number | null
  costUsd: number | null
  tokens: number | null
  loopRounds: number | null
}
export const NOTHING_FIXED: FixedThresholds = { latencyMs: null, costUsd: null, tokens: null, loopRounds: null }

/** What a project and one of its agents fixed. */
export interface Settings {
  project: FixedThresholds
  agent: FixedThresholds
}
export const NO_SETTINGS: Settings = { project: NOTHING_FIXED, agent: NOTHING_FIXED }

/** An agent's earlier runs, newest first, at most 200 each; only those of which the measure is known. */
export type PastRuns = Record<Measure, number[]>
export const NO_PAST: PastRuns = { latencyMs: [], costUsd: [], tokens: [], loopRounds: [], equalRounds: [] }

/** What of a run others are compared with; null where it is not known. */
export interface PastRun {
  id: string
  firstSeenAt: number
  latencyMs: number | null
  costUsd: number | null
  tokens: number | null
  loopRounds: number | null
  equalRounds: number | null
  /** an endless loop was found in it */
  isLoop: boolean
}

/** Of the newest 200. */
export function pastRuns(runs: Omit<PastRun, 'id' | 'firstSeenAt'>[]): PastRuns {
  const count = Math.min(runs.length, HISTORY)
  return whenAsked((measure) => valuesOf(runs, count, measure))
}

/** Each is worked out when it is first asked for: most runs are compared by one or two measures. */
function whenAsked<Value>(of: (measure: Measure) => Value): Record<Measure, Value> {
  const known: Partial<Record<Measure, Value>> = {}
  const ask = (measure: Measure) => (known[measure] ??= of(measure))
  return {
    get latencyMs() {
      return ask('latencyMs')
    },
    get costUsd() {
      return ask('costUsd')
    },
    get tokens() {
      return ask('tokens')
    },
    get loopRounds() {
      return ask('loopRounds')
    },
    get equalRounds() {
      return ask('equalRounds')
    },
  }
}

function valuesOf(runs: Omit<PastRun, 'id' | 'firstSeenAt'>[], count: number, measure: Measure): number[] {
  let loops = 0
  for (let i = 0; i < count; i++) if (runs[i]!.isLoop) loops += 1
  // A loop now and then is not what is usual, however often it ran; one in most runs is how the workflow works.
  const leavesOut = (measure === 'loopRounds' || measure === 'equalRounds') && loops * 2 <= count
  const values: number[] = []
  for (let i = 0; i < count; i++) {
    const value = runs[i]![measure]
    if (value !== null && !(leavesOut && runs[i]!.isLoop)) values.push(value)
  }
  return values
}

export const thresholdsOf = (past: PastRuns, settings: Settings): Thresholds =>
  whenAsked((measure) => thresholdOf(measure, past, settings))

export function thresholdOf(measure: Measure, past: PastRuns, { project, agent }: Settings): Threshold {
  const runs = past[measure].length
  // Whoever says how many rounds are right says it of rounds that change nothing too.
  const key = measure === 'equalRounds' ? 'loopRounds' : measure
  if (agent[key] !== null)
    return { value: agent[key], source: 'FIXED_FOR_AGENT', runs, because: 'fixed by a person for this agent' }
  if (project[key] !== null)
    return { value: project[key], source: 'FIXED_FOR_PROJECT', runs, because: 'fixed by a person for the project' }
  return adaptive(measure, past[measure])
}

function adaptive(measure: Measure, values: number[]): Threshold {
  const { least, unknown } = LIMITS[measure]
  const runs = values.length
  if (runs < ENOUGH) {
    const because = `the default while fewer than ${ENOUGH} earlier runs of this agent are known (${runs} so far)`
    return { value: unknown, source: 'DEFAULT', runs, because }
  }
  const sorted = new Float64Array(values).sort()
  const { share, times } = runs >= PLENTY ? TOPS.plenty : TOPS.enough
  const median = sorted[Math.ceil(runs * 0.5) - 1]!
  const top = sorted[Math.ceil(runs * share) - 1]!
  const value = Math.max(MEDIANS * median, times * top, least)
  const because =
    value === least
      ? `the least that is ever taken, as its last ${runs} runs mostly stayed far below`
      : value === times * top
        ? `${times} times what ${Math.round(share * 100)} % of its last ${runs} runs stayed within`
        : `${MEDIANS} times the median of its last ${runs} runs`
  return { value, source: 'ADAPTIVE', runs, because }
}
