// What is usual for an agent: simulated histories with their false alarms and misses, and where each limit comes from.
import { afterAll, describe, expect, test } from 'vitest'
import type { Threshold } from '../../server/failures/failure.ts'
import {
  HISTORY,
  LIMITS,
  NO_PAST,
  NO_SETTINGS,
  NOTHING_FIXED,
  thresholdOf,
  thresholdsOf,
  type PastRuns,
} from '../../server/failures/thresholds.ts'

type Measure = keyof PastRuns
const MEASURES = Object.keys(LIMITS) as Measure[]
const usual = (measure: Measure, past: number[], settings = NO_SETTINGS): Threshold =>
  thresholdOf(measure, { ...NO_PAST, [measure]: past }, settings)

/** A repeatable sequence of numbers from 0 to 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed * 7919
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
type Random = () => number
const normal = (next: Random) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
const about = (middle: number, next: Random) => middle * (1 + 0.1 * normal(next))
const pareto = (alpha: number) => (next: Random) => (1 - next()) ** (-1 / alpha)
const PLANTED = { at: 60, times: 100 }

/** Runs in units of what is usual; `run` counts from 0. */
const HISTORIES: Record<string, (next: Random, run: number) => number> = {
  'stable, normal 10 %': (next) => about(1, next),
  'drifting, doubles over 200 runs': (next, run) => about(2 ** (run / 200), next),
  'bimodal, 80/20 at tenfold': (next) => about(next() < 0.8 ? 1 : 10, next),
  'log-normal, sigma 1': (next) => Math.exp(normal(next)),
  'log-normal, sigma 1.5': (next) => Math.exp(1.5 * normal(next)),
  exponential: (next) => -Math.log(1 - next()),
  'Pareto, alpha 3': pareto(3),
  'Pareto, alpha 2': pareto(2),
  'Pareto, alpha 1.5': pareto(1.5),
  'Pareto, alpha 1.2': pareto(1.2),
  'near-constant': (next) => 1 + Math.floor(next() * 3) / 1000,
  'calm but for one outlier': (next, run) => (run === PLANTED.at ? PLANTED.times : about(1, next)),
}
/** What one unit is, far enough above the least limit that the floor decides nothing. */
const UNITS: Record<Measure, number> = {
  latencyMs: 4_000,
  costUsd: 0.2,
  tokens: 8_000,
  loopRounds: 400,
  equalRounds: 50,
}

const SEEDS = 200
/** 200 with a growing history, and some with a full one. */
const RUNS = 250
const PROBE_EVERY = 10

interface Simulated {
  /** share of runs over their limit: of the 20th to 99th, the 100th to 199th, and those with a full history of 200 */
  falseAlarms: { early: number; late: number; full: number }
  /** share of probes found at five times the largest of the last 200 (planted outliers left out), and of their p95 */
  found: { ofTop: number; ofP95: number }
  plantedFound: number
}

function simulate(name: string, measure: Measure = 'latencyMs', seeds = SEEDS): Simulated {
  const tally = { early: [0, 0], late: [0, 0], full: [0, 0], ofTop: [0, 0], ofP95: [0, 0], planted: [0, 0] }
  const count = (of: keyof typeof tally, isHit: boolean) => {
    tally[of][0]! += Number(isHit)
    tally[of][1]! += 1
  }
  const isWhole = measure !== 'latencyMs' && measure !== 'costUsd'
  // Rounds are counted against their limit, the others have to exceed it.
  const isOver = (value: number, limit: number) => (measure.endsWith('Rounds') ? value >= limit : value > limit)
  for (let seed = 1; seed <= seeds; seed++) {
    const next = random(seed)
    let past: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const units = HISTORIES[name]!(next, run)
      const value = isWhole ? Math.round(units * UNITS[measure]) : units * UNITS[measure]
      if (run >= 20) {
        const limit = usual(measure, past).value
        const isHit = isOver(value, limit)
        if (units === PLANTED.times) count('planted', isHit)
        else count(run < 100 ? 'early' : run < HISTORY ? 'late' : 'full', isHit)
        if (run % PROBE_EVERY === 0) {
          const calm = Float64Array.from(past.filter((one) => one !== PLANTED.times * UNITS[measure])).sort()
          count('ofTop', isOver(5 * calm.at(-1)!, limit))
          count('ofP95', isOver(5 * calm[Math.ceil(calm.length * 0.95) - 1]!, limit))
        }
      }
      past = [value, ...past].slice(0, HISTORY)
    }
  }
  const share = (of: keyof typeof tally) => tally[of][0]! / tally[of][1]!
  return {
    falseAlarms: { early: share('early'), late: share('late'), full: share('full') },
    found: { ofTop: share('ofTop'), ofP95: share('ofP95') },
    plantedFound: share('planted'),
  }
}

describe('simulated histories, each run against the limit from the runs before it', () => {
  const results = new Map<string, Simulated>()
  const simulated = (name: string, seeds = SEEDS) => {
    if (!results.has(name)) results.set(name, simulate(name, 'latencyMs', seeds))
    return results.get(name)!
  }
  afterAll(() => {
    const percent = (share: number) => `${(share * 100).toFixed(2)} %`.padStart(14)
    const head = ['false alarms', 'found at 5x'].map((text) => text.padStart(14))
    const lines = [...results].map(([name, { falseAlarms, found }]) => {
      const shares = [falseAlarms.early, falseAlarms.late, falseAlarms.full, found.ofTop, found.ofP95]
      return name.padEnd(32) + shares.map(percent).join('')
    })
    const columns = ['run 20-99', '100-199', '200 known', 'the largest', 'p95'].map((text) => text.padStart(14))
    console.log(
      [' '.repeat(32) + head[0] + ' '.repeat(28) + head[1], ' '.repeat(32) + columns.join(''), ...lines].join('\n'),
    )
  })

  const fattest = 'Pareto, alpha 1.2'
  test.each(Object.keys(HISTORIES).filter((name) => name !== fattest))(
    '%s: under 3 % false alarms from 20 runs on, under 1 % from 100 on, and five times the top is found',
    (name) => {
      const { falseAlarms, found } = simulated(name)
      expect(falseAlarms.early).toBeLessThan(0.03)
      expect(falseAlarms.late).toBeLessThan(0.01)
      expect(found.ofTop).toBe(1)
    },
  )

  // Exactly 2 ** -1.2 of the runs beyond the 98th of 100: 1.03 % over runs 100 to 199, 1.08 % with 200 known. Twice the
  // seeds, because chance is as large as the rest.
  test(`${fattest}: under 3 % false alarms from 20 runs on, hardly over 1 % from 100 on, and five times the top is found`, () => {
    const { falseAlarms, found } = simulated(fattest, 2 * SEEDS)
    expect(falseAlarms.early).toBeLessThan(0.03)
    expect(falseAlarms.late).toBeLessThan(0.012)
    expect(found.ofTop).toBe(1)
  })
  test('one outlier in a calm history is found, and does not hide the next', () => {
    const { plantedFound, found } = simulated('calm but for one outlier')
    expect(plantedFound).toBe(1)
    expect(found.ofP95).toBe(1)
  })

  test.each(MEASURES.filter((measure) => measure !== 'latencyMs'))(
    '%s is compared in the same way: few false alarms, and five times the top is found',
    (measure) => {
      const { falseAlarms, found } = simulate('log-normal, sigma 1', measure)
      expect(falseAlarms.early).toBeLessThan(0.03)
      expect(falseAlarms.late).toBeLessThan(0.01)
      expect(found.ofTop).toBe(1)
    },
  )
})

describe('a new agent', () => {
  test.each([0, 1, 2, 19])(
    'with %d earlier runs has the default limits, and they claim to know nothing of it',
    (runs) => {
      for (const measure of MEASURES) {
        const limit = usual(measure, Array(runs).fill(UNITS[measure] / 100))
        expect(limit).toMatchObject({ source: 'DEFAULT', value: LIMITS[measure].unknown, runs })
        expect(limit.because).toBe(
          `the default while fewer than 20 earlier runs of this agent are known (${runs} so far)`,
        )
      }
    },
  )

  test('has 60 s, 1 USD, 50,000 tokens, 20 rounds, and 5 rounds that change nothing', () => {
    const limits = thresholdsOf(NO_PAST, NO_SETTINGS)
    expect(MEASURES.map((measure) => limits[measure].value)).toEqual([60_000, 1, 50_000, 20, 5])
  })

  test('is measured by its own runs from the 20th on', () => {
    for (const measure of MEASURES)
      expect(usual(measure, Array(20).fill(UNITS[measure]))).toMatchObject({
        source: 'ADAPTIVE',
        value: 3 * UNITS[measure],
        runs: 20,
      })
  })

  test('keeps the default of one measure while only another is known', () => {
    const limits = thresholdsOf({ ...NO_PAST, latencyMs: Array(50).fill(4_000) }, NO_SETTINGS)
    expect(limits.latencyMs.source).toBe('ADAPTIVE')
    expect(limits.costUsd.source).toBe('DEFAULT')
  })
})

describe('where a limit comes from', () => {
  const past: PastRuns = {
    latencyMs: Array(150).fill(4_000),
    costUsd: Array(150).fill(0.2),
    tokens: Array(150).fill(8_000),
    loopRounds: Array(150).fill(400),
    equalRounds: Array(150).fill(50),
  }
  const project = { latencyMs: 10_000, costUsd: 0.5, tokens: 20_000, loopRounds: 40 }
  const agent = { latencyMs: 7_000, costUsd: 0.3, tokens: 9_000, loopRounds: 30 }
  const keyOf = (measure: Measure) => (measure === 'equalRounds' ? 'loopRounds' : measure)

  test.each(MEASURES)('%s: fixed for the agent, else fixed for the project, else what is usual', (measure) => {
    const both = thresholdOf(measure, past, { project, agent })
    expect(both).toEqual({
      value: agent[keyOf(measure)],
      source: 'FIXED_FOR_AGENT',
      runs: 150,
      because: 'fixed by a person for this agent',
    })
    const onlyProject = thresholdOf(measure, past, { project, agent: NOTHING_FIXED })
    expect(onlyProject).toEqual({
      value: project[keyOf(measure)],
      source: 'FIXED_FOR_PROJECT',
      runs: 150,
      because: 'fixed by a person for the project',
    })
    expect(thresholdOf(measure, past, NO_SETTINGS).source).toBe('ADAPTIVE')
  })

  test('what is fixed holds for an agent without a single run too, and for that measure alone', () => {
    const limits = thresholdsOf(NO_PAST, { project: NOTHING_FIXED, agent: { ...NOTHING_FIXED, latencyMs: 5 } })
    expect(limits.latencyMs).toMatchObject({ value: 5, source: 'FIXED_FOR_AGENT', runs: 0 })
    expect(limits.tokens.source).toBe('DEFAULT')
  })

  test.each(MEASURES)('%s is never below the least limit, however little the runs took', (measure) => {
    for (const runs of [20, 100, 200]) {
      const limit = usual(measure, Array(runs).fill(LIMITS[measure].least / 100))
      expect(limit).toMatchObject({ value: LIMITS[measure].least, source: 'ADAPTIVE' })
      expect(limit.because).toBe(`the least that is ever taken, as its last ${runs} runs mostly stayed far below`)
    }
  })

  test('the least limits are 1 s, 0.01 USD, 1,000 tokens, 20 rounds and 5 that change nothing', () => {
    expect(MEASURES.map((measure) => LIMITS[measure].least)).toEqual([1_000, 0.01, 1_000, 20, 5])
  })

  // Four of its runs took half a minute.
  test('a least limit does not say that all runs stayed below it where some did not', () => {
    const { value, because } = usual('latencyMs', [...Array(4).fill(30_000), ...Array(196).fill(100)])
    expect(value).toBe(1_000)
    expect(because).not.toMatch(/its last 200 runs stayed far below/)
  })

  test('an adaptive limit can be followed from its sentence: the multiple, the share and the number of runs', () => {
    const shapes = ['stable, normal 10 %', 'bimodal, 80/20 at tenfold', 'log-normal, sigma 1.5']
    const said = new Set<string>()
    for (const [place, name] of shapes.entries()) {
      for (const runs of [20, 57, 99, 100, 150, 200]) {
        const next = random(place + runs)
        const values = Array.from({ length: runs }, (_, run) => 4_000 * HISTORIES[name]!(next, run))
        const { value, because } = usual('latencyMs', values)
        const words =
          /^(\d+) times (?:the median|what (\d+) % )(?: of|of) its last (\d+) runs(?: stayed within)?$/.exec(because)
        expect(words, because).not.toBeNull()
        const [, times, share = '50', of] = words!
        const sorted = values.toSorted((a, b) => a - b)
        expect(value).toBe(Number(times) * sorted[Math.ceil((runs * Number(share)) / 100) - 1]!)
        expect(Number(of)).toBe(runs)
        said.add(`${times} times ${share} %`)
      }
    }
    expect([...said].sort()).toEqual(['2 times 95 %', '2 times 98 %', '3 times 50 %'])
  })

  test('the order of the earlier runs does not matter, and they are left as they are', () => {
    const next = random(3)
    const values = Array.from({ length: 120 }, () => 4_000 * Math.exp(normal(next)))
    const kept = [...values]
    const limit = usual('latencyMs', values)
    expect(values).toEqual(kept)
    expect(
      usual(
        'latencyMs',
        values.toSorted((a, b) => b - a),
      ),
    ).toEqual(limit)
  })
})
