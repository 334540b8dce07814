// Endless loops on the main line of generated executions: which patterns are found, how often they ran, and what is none.
import { describe, expect, test } from 'vitest'
import type { Found, Severity } from '../../server/failures/failure.ts'
import { findLoop } from '../../server/failures/rules-of-measures.ts'
import { NO_PAST, NO_SETTINGS, NOTHING_FIXED } from '../../server/failures/thresholds.ts'
import { runOf } from '../support/run-of.ts'
import {
  AS_RECORDED,
  BARE,
  changing,
  equal,
  GeneratedExecution,
  rounds,
  UNTYPED,
  type OutputOf,
  type Shape,
} from './generated-executions.ts'

const names = (count: number) => Array.from({ length: count }, (_, i) => `Node ${i + 1}`)
const loopsIn = (run: GeneratedExecution, own?: Parameters<typeof runOf>[1]) =>
  findLoop(runOf(run.execution(), own)).found
const loopsFrom = (shape: Shape, steps: (run: GeneratedExecution) => void) => {
  const run = new GeneratedExecution(shape)
  steps(run)
  return loopsIn(run)
}
const CANNOT_TELL = 'Whether the nodes work off a batch cannot be told from what was sent.'

/** What a person needs to see of a loop; the order of its nodes is that of the steps, wherever it is entered. */
function summary({ severity, fingerprint, sentence, evidence }: Found) {
  const said = Number(/ ran ([\d,]+) rounds/.exec(sentence)?.[1]!.replaceAll(',', ''))
  return {
    severity,
    nodes: fingerprint.split('\n').slice(1).sort(),
    rounds: said,
    evidence: new Set(evidence).size,
    isInDoubt: sentence.includes(CANNOT_TELL),
  }
}
const loop = (nodes: string[], rounds: number, severity: Severity = 'HIGH') => ({
  severity,
  nodes: nodes.toSorted(),
  rounds,
  evidence: rounds,
  isInDoubt: severity === 'MEDIUM',
})

describe('patterns of 1 to 8 nodes', () => {
  const cases = [4, 19, 20, 61].flatMap((times) => [
    [times, 'changing', times >= 20 ? 'are an endless loop' : 'are none'] as const,
    [times, 'equal', times >= 5 ? 'are an endless loop' : 'are none'] as const,
  ])
  test.each(cases)('of %d rounds with %s outputs %s', (times, outputs, verdict) => {
    const isLoop = verdict === 'are an endless loop'
    for (let period = 1; period <= 8; period++) {
      for (const [shape, severity] of [
        [AS_RECORDED, 'HIGH'],
        [UNTYPED, 'HIGH'],
        [BARE, 'MEDIUM'],
      ] as const) {
        const found = loopsFrom(shape, (run) => {
          run.step('Init')
          rounds(run, names(period), times, outputs === 'equal' ? equal : changing)
          run.step('Done')
        })
        expect(found.map(summary), `period ${period}`).toEqual(isLoop ? [loop(names(period), times, severity)] : [])
        expect(found.every(({ measured, category }) => measured === times && category === 'INFINITE_LOOP')).toBe(true)
      }
    }
  })

  test.each(['at the start', 'in the middle', 'at the end'])('are found %s of a longer run', (where) => {
    for (let period = 1; period <= 8; period++) {
      const found = loopsFrom(AS_RECORDED, (run) => {
        if (where !== 'at the start') for (let i = 0; i < 15; i++) run.step(`Before ${i}`)
        rounds(run, names(period), 40, changing)
        if (where !== 'at the end') for (let i = 0; i < 15; i++) run.step(`After ${i}`)
      })
      expect(found.map(summary)).toEqual([loop(names(period), 40)])
    }
  })

  test('are found when their nodes name no source, by their order', () => {
    const noSources = { ...AS_RECORDED, sources: false }
    for (let period = 1; period <= 8; period++) {
      const repeat = (run: GeneratedExecution) => rounds(run, names(period), 40, changing)
      expect(loopsFrom(noSources, repeat).map(summary)).toEqual([loop(names(period), 40)])
      expect(loopsFrom({ ...BARE, sources: false }, repeat).map(summary)).toEqual([loop(names(period), 40, 'MEDIUM')])
    }
  })

  test('are found with their whole length when another node ran in between once', () => {
    for (let period = 1; period <= 7; period++) {
      const found = loopsFrom(AS_RECORDED, (run) => {
        rounds(run, names(period), 30, changing)
        run.step('In between')
        rounds(run, names(period), 31, changing)
      })
      expect(found.map(summary)).toEqual([loop(names(period), 61)])
    }
  })

  const interrupted = (period: number) => (run: GeneratedExecution) => {
    for (let i = 0; i < 20; i++) {
      rounds(run, names(period), 3, (round) => 3 * i + round)
      run.step('In between', { json: [{ i }] })
    }
  }
  test('are found when another node runs in between every few rounds', () => {
    for (let period = 1; period <= 7; period++)
      expect(loopsFrom(AS_RECORDED, interrupted(period)).map(summary)).toEqual([loop(names(period), 60)])
  })
  // The interrupted round has nine steps, one more than is looked back.
  test('are found also when they have 8 nodes and another runs in between every few rounds', () => {
    expect(loopsFrom(AS_RECORDED, interrupted(8))).toHaveLength(1)
  })

  test('with the two ways of a switch in turn, or two branches that meet again, are one loop', () => {
    const switching = loopsFrom(AS_RECORDED, (run) => {
      for (let i = 0; i < 40; i++) {
        rounds(run, ['Check', 'Which?'], 1, () => i)
        run.step(i % 2 ? 'Left' : 'Right', { json: [{ i }] })
      }
    })
    expect(switching.map(({ subject, measured }) => [subject, measured])).toEqual([['Check', 40]])
    const meeting = loopsFrom(AS_RECORDED, (run) => {
      // The other input of the merge is filled once, before the loop.
      const once = run.step('Once')
      for (let i = 0; i < 40; i++) {
        const check = run.step('Check', { json: [{ i }] })
        const sides = ['Left', 'Right'].map((name) => run.step(name, { from: check, json: [{ i }] }))
        run.step('Merge', { type: 'merge', from: [once, ...sides], json: [{ i }] })
      }
    })
    expect(meeting.map(({ subject, measured }) => [subject, measured])).toEqual([['Check', 40]])
  })

  test('two loops in one run are two failures, the longer first', () => {
    const found = loopsFrom(AS_RECORDED, (run) => {
      rounds(run, ['A', 'B', 'C'], 25, changing)
      run.step('In between')
      rounds(run, ['D', 'E'], 30, changing)
    })
    expect(found.map(summary)).toEqual([loop(['D', 'E'], 30), loop(['A', 'B', 'C'], 25)])
  })
})

describe('what is said of a loop', () => {
  test('begins where the loop begins', () => {
    const [found] = loopsFrom(AS_RECORDED, (run) => rounds(run, ['Check', 'Ready?'], 30, changing))
    expect(found).toMatchObject({ subject: 'Check', unit: 'ROUNDS', measured: 30, threshold: { value: 20 } })
    expect(found!.sentence).toMatch(/^"Check" → "Ready\?" ran 30 rounds; the limit is 20, the default while /)
  })
  test('begins where the loop begins also when its rounds are equal', () => {
    const [found] = loopsFrom(AS_RECORDED, (run) => rounds(run, ['Check', 'Ready?'], 30, equal))
    expect(found!.subject).toBe('Check')
  })
  test('never has more equal rounds than rounds, whatever runs in between', () => {
    const [found] = loopsFrom(AS_RECORDED, (run) => {
      for (let i = 0; i < 12; i++) {
        rounds(run, ['A', 'B'], 2, equal)
        run.step('X')
      }
    })
    const [, all, same] = /ran (\d+) rounds, (\d+) of them/.exec(found!.sentence)!
    expect(Number(same)).toBeLessThanOrEqual(Number(all))
  })
  test('names the nodes of its usual round, not of the one that was shortest', () => {
    const [found] = loopsFrom(AS_RECORDED, (run) => {
      rounds(run, ['Check', 'Ready?', 'Fix'], 40, changing)
      rounds(run, ['Check'], 2, (round) => 40 + round)
      rounds(run, ['Ready?', 'Fix', 'Check'], 40, (round) => 42 + round)
    })
    expect(summary(found!).nodes).toEqual(['Check', 'Fix', 'Ready?'])
  })
})

describe('what is usual for the workflow', () => {
  const repeated = (times: number, outputs = changing) => {
    const run = new GeneratedExecution()
    rounds(run, ['Check', 'Ready?'], times, outputs)
    return run
  }
  const past = { ...NO_PAST, loopRounds: Array(30).fill(40), equalRounds: Array(30).fill(0) }

  test('decides: an agent that goes 40 rounds each time is not told of 61, and is of 120', () => {
    expect(loopsIn(repeated(61), { past })).toEqual([])
    expect(loopsIn(repeated(120), { past }).map(summary)).toEqual([loop(['Check', 'Ready?'], 120)])
    expect(loopsIn(repeated(6, equal), { past })).toHaveLength(1)
  })
  test('is overruled by what a person fixed, in both directions and for equal rounds too', () => {
    const fixed = (loopRounds: number) => ({
      settings: { ...NO_SETTINGS, agent: { ...NOTHING_FIXED, loopRounds } },
      past,
    })
    expect(loopsIn(repeated(12), fixed(12))).toHaveLength(1)
    expect(loopsIn(repeated(11), fixed(12))).toEqual([])
    expect(loopsIn(repeated(61, equal), fixed(100))).toEqual([])
  })
})

describe('polling and paging', () => {
  const poll = (times: number, outputs: OutputOf, pause?: (run: GeneratedExecution) => void) => {
    const run = new GeneratedExecution()
    for (let i = 0; i < times; i++) {
      run.step('Get Status', { type: 'httpRequest', json: [{ status: outputs(i) }] })
      run.step('Ready?', { type: 'if', json: [{ status: outputs(i) }] })
      pause?.(run)
    }
    return run
  }
  const wait = (run: GeneratedExecution) => void run.step('Pause a little', { type: 'wait', ms: 30_000 })

  test('a status that is asked five times and moves on is no loop; five equal answers without a pause are one', () => {
    expect(loopsIn(poll(5, changing))).toEqual([])
    expect(loopsIn(poll(5, equal)).map(summary)).toEqual([loop(['Get Status', 'Ready?'], 5)])
    expect(loopsIn(poll(4, equal))).toEqual([])
  })
  test('equal answers with a wait between them are no loop before the 20th', () => {
    expect(loopsIn(poll(5, equal, wait))).toEqual([])
    expect(loopsIn(poll(19, equal, wait))).toEqual([])
    expect(loopsIn(poll(20, equal, wait))).toHaveLength(1)
  })
  test('a wait that was resumed, its steps counted from 0 again, is a wait all the same', () => {
    const resumed = (run: GeneratedExecution) => {
      run.pass(120_000)
      run.restartIndex()
      wait(run)
    }
    expect(loopsIn(poll(6, equal, resumed))).toEqual([])
  })
  test('one retry without the wait does not make a paced poll a stuck one', () => {
    const run = new GeneratedExecution()
    for (let i = 0; i < 8; i++) {
      run.step('Get Status', { type: 'httpRequest' })
      if (i !== 4) wait(run)
    }
    expect(loopsIn(run)).toEqual([])
  })
  test('15 pages that differ are no loop', () => {
    const run = new GeneratedExecution()
    rounds(run, ['Get Page', 'Keep', 'More?'], 15, changing)
    expect(loopsIn(run)).toEqual([])
  })
})
