// Batches, agents and chains of generated executions, which repeat by nature: what is a loop in them and what is none.
import { describe, expect, test } from 'vitest'
import { findLoop } from '../../server/failures/rules-of-measures.ts'
import { runOf } from '../support/run-of.ts'
import {
  agent,
  AS_RECORDED,
  BARE,
  batch,
  GeneratedExecution,
  rounds,
  UNTYPED,
  type Ref,
  type Shape,
} from './generated-executions.ts'

/** Each loop that is found as [severity, rounds or equal rounds], and whether its sentence says that it is in doubt. */
function loopsOf(shape: Shape, steps: (run: GeneratedExecution) => void) {
  const run = new GeneratedExecution(shape)
  steps(run)
  return findLoop(runOf(run.execution())).found.map(({ severity, measured, sentence }) => {
    const isInDoubt = sentence.includes('Whether the nodes work off a batch cannot be told')
    return [severity, measured, ...(isInDoubt ? ['in doubt'] : [])]
  })
}
const NONE: unknown[] = []
const both = [
  ['with its workflow', AS_RECORDED],
  ['without its workflow', UNTYPED],
] as const

describe('a batch', () => {
  const leads =
    (count: number, name: string, size = 1) =>
    (run: GeneratedExecution) => {
      batch(
        run,
        count,
        (item) => {
          run.step('Score Lead', { json: [{ score: item % 10 }] })
          run.step('Save Score', { type: 'httpRequest' })
        },
        { name, size },
      )
      run.step('Summary')
    }
  const sizes = both.flatMap(([came, shape]) => [12, 60, 500].map((count) => [count, came, shape] as const))

  test.each(sizes)('over %d items is no loop, whatever its node is called: sent %s', (count, _came, shape) => {
    expect(loopsOf(shape, leads(count, 'Loop Over Items'))).toEqual(NONE)
    expect(loopsOf(shape, leads(count, 'For each lead'))).toEqual(NONE)
    expect(loopsOf(shape, leads(count, 'For each lead', 10))).toEqual(NONE)
    expect(loopsOf({ ...shape, sources: false }, leads(count, 'For each lead'))).toEqual(NONE)
  })
  test.each(both)('is no loop though all its rounds say the same: sent %s', (_came, shape) => {
    const steps = (run: GeneratedExecution) => batch(run, 60, () => void run.step('Save'), { name: 'For each lead' })
    expect(loopsOf(shape, steps)).toEqual(NONE)
  })
  test('of which neither types nor pairs came is known by its default name', () => {
    for (const name of ['Loop Over Items', 'Loop Over Items3', 'Split In Batches'])
      for (const count of [12, 60, 500]) expect(loopsOf(BARE, leads(count, name))).toEqual(NONE)
  })
  test('that cannot be told from a loop is MEDIUM where it is long, and says so', () => {
    expect(loopsOf(BARE, leads(12, 'For each lead'))).toEqual(NONE)
    expect(loopsOf(BARE, leads(60, 'For each lead'))).toEqual([['MEDIUM', 61, 'in doubt']])
    expect(loopsOf(BARE, leads(500, 'For each lead'))).toEqual([['MEDIUM', 501, 'in doubt']])
  })
  test.each(both)('within a batch is no loop: sent %s', (_came, shape) => {
    const steps = (run: GeneratedExecution) =>
      batch(run, 30, () => batch(run, 25, () => void run.step('Save'), { name: 'Inner' }), { name: 'Outer' })
    expect(loopsOf(shape, steps)).toEqual(NONE)
  })

  const polling = (worst: number) => (run: GeneratedExecution) =>
    batch(
      run,
      30,
      (item) => {
        const output = (round: number) => [item, round]
        rounds(run, ['Poll', 'Ready?'], item === 7 ? worst : 3, output)
      },
      { name: 'For each job' },
    )
  test.each(both)('in which each item is polled three times is no loop: sent %s', (_came, shape) => {
    expect(loopsOf(shape, polling(3))).toEqual(NONE)
  })
  test.each(both)('in which one item is polled without end is a loop: sent %s', (_came, shape) => {
    expect(loopsOf(shape, polling(40))).toEqual([['HIGH', 40]])
  })

  // "Reset" set to an expression that is always true: the first item is handed out for ever.
  test('that hands out its first item again and again is an endless loop', () => {
    const steps = (run: GeneratedExecution) => {
      for (let i = 0; i < 200; i++) {
        run.step('Loop Over Items', { type: 'splitInBatches', json: [{ lead: 1 }], overwrites: i > 0 })
        run.step('Save')
      }
    }
    expect(loopsOf(AS_RECORDED, steps)).toHaveLength(1)
  })
  // After a crash all steps of a second stand in the order of their names and their outputs are lost, which is not equal.
  test('in a run that was recovered after a crash is no loop', () => {
    const run = new GeneratedExecution()
    batch(run, 12, () => void run.step('Save'))
    for (const one of Object.values(run.runData).flat()) {
      Object.assign(one, { startTime: Math.floor(one.startTime / 1000), executionIndex: 0, source: [null] })
      one.data = { main: [[{ json: { isArtificialRecoveredEventItem: true } }]] }
    }
    expect(findLoop(runOf(run.execution({ status: 'crashed' }))).found).toEqual([])
  })
  // The first item that a filter lets through is not the next of a batch.
  test('is not seen in a runaway whose filter lets through another item each time', () => {
    const steps = (run: GeneratedExecution) => {
      for (let i = 0; i < 61; i++) {
        run.step('Poll', { json: [{ i }] })
        run.step('Open ones', { type: 'filter', json: [{ i }], paired: i % 2 ? 3 : 0 })
      }
    }
    expect(loopsOf(UNTYPED, steps)).toHaveLength(1)
  })
})

describe('an agent', () => {
  test.each(both)('that asks its tool 8 questions is in no loop: sent %s', (_came, shape) => {
    const steps = (run: GeneratedExecution) =>
      agent(run, (parent) => {
        for (let i = 0; i < 8; i++) {
          run.model(parent, i)
          run.tool(parent, { city: i }, { sky: 'grey' })
        }
        run.model(parent, 'the end')
      })
    expect(loopsOf(shape, steps)).toEqual(NONE)
  })

  const asking =
    (times: number, tool = 'toolHttpRequest', own: object = {}) =>
    (run: GeneratedExecution) =>
      agent(
        run,
        (parent) => {
          for (let i = 0; i < times; i++) {
            run.model(parent, i)
            run.tool(parent, { city: 'Oslo' }, { error: 'try again' }, 'get_weather', tool)
          }
          run.model(parent, 'the end')
        },
        own,
      )
  test.each(both)('that asks the same and hears the same 6 times is in a loop: sent %s', (_came, shape) => {
    expect(loopsOf(shape, asking(6))).toEqual([['HIGH', 6]])
    expect(loopsOf(shape, asking(5))).toEqual([['HIGH', 5]])
    expect(loopsOf(shape, asking(4))).toEqual(NONE)
  })
  test('that asks the same and hears something else each time is in no loop', () => {
    const steps = (run: GeneratedExecution) =>
      agent(run, (parent) => {
        for (let i = 0; i < 9; i++) {
          run.model(parent, i)
          run.tool(parent, { job: 7 }, { percent: 10 * i })
        }
      })
    expect(loopsOf(AS_RECORDED, steps)).toEqual(NONE)
  })
  test.each(both)('that takes 25 turns for one item is in a loop: sent %s', (_came, shape) => {
    const steps = (run: GeneratedExecution) =>
      agent(run, (parent) => {
        for (let i = 0; i < 25; i++) {
          run.model(parent, i)
          run.tool(parent, { i }, { i })
        }
      })
    expect(loopsOf(shape, steps)).toEqual([['HIGH', 25]])
  })
  test.each(both)('that works off 40 items with a turn or two for each is in no loop: sent %s', (_came, shape) => {
    const steps = (turns: number) => (run: GeneratedExecution) => {
      run.step('Make Items', { json: Array(40).fill({ a: 1 }) })
      const inside = (parent: Ref) => {
        for (let item = 0; item < 40; item++) {
          run.model(parent, item)
          if (turns === 1) continue
          run.tool(parent, { item }, { item })
          run.model(parent, `${item} again`)
        }
      }
      agent(run, inside, { items: 40 })
    }
    expect(loopsOf(shape, steps(1))).toEqual(NONE)
    expect(loopsOf(shape, steps(2))).toEqual(NONE)
  })
  test('that is called for each of 30 batches is in no loop, nor is what runs inside it', () => {
    const steps = (run: GeneratedExecution) => batch(run, 30, () => asking(4)(run))
    expect(loopsOf(AS_RECORDED, steps)).toEqual(NONE)
  })
  test('that sits in a runaway on the main line is part of that loop', () => {
    const steps = (run: GeneratedExecution) => {
      for (let i = 0; i < 40; i++) {
        asking(2)(run)
        run.step('Good enough?', { type: 'if', json: [{ i }] })
      }
    }
    expect(loopsOf(UNTYPED, steps)).toEqual([['HIGH', 40]])
  })

  test('that looks up the same for each of 8 items is in no loop', () => {
    const steps = (run: GeneratedExecution) => {
      run.step('Make Items', { json: Array(8).fill({ a: 1 }) })
      asking(8, 'toolHttpRequest', { items: 8 })(run)
    }
    expect(loopsOf(AS_RECORDED, steps)).toEqual(NONE)
  })
  test('that asks 25 things at once, in one turn of its model, is in no loop', () => {
    const steps = (run: GeneratedExecution) =>
      agent(run, (parent) => {
        run.model(parent, 'which')
        for (let i = 0; i < 25; i++) run.tool(parent, { url: i }, { status: i })
        run.model(parent, 'the end')
      })
    expect(loopsOf(AS_RECORDED, steps)).toEqual(NONE)
  })
  test('that failed at its greatest number of turns is surely in a loop: it was given one item', () => {
    const steps = asking(10, 'toolHttpRequest', { error: 'Max iterations (10) reached.' })
    expect(loopsOf(AS_RECORDED, steps)).toEqual([['HIGH', 10]])
  })
  test('whose tool is a vector store, or another agent, is watched like one with any other tool', () => {
    expect(loopsOf(AS_RECORDED, asking(6, 'vectorStoreInMemory'))).toEqual([['HIGH', 6]])
    expect(loopsOf(AS_RECORDED, asking(6, 'agentTool'))).toEqual([['HIGH', 6]])
  })
})

describe('a chain', () => {
  const chain = (type: string, given: number, calls: number, items: number) => (run: GeneratedExecution) => {
    run.step('Get Texts', { json: Array.from({ length: given }, (_, text) => ({ text })) })
    const inside = (parent: Ref) => {
      for (let i = 0; i < calls; i++) run.model(parent, i)
    }
    agent(run, inside, { type, items })
  }
  test('that calls its model once for each of 60 items is no loop', () => {
    expect(loopsOf(AS_RECORDED, chain('chainLlm', 60, 60, 60))).toEqual(NONE)
  })
  // One call for each part of 1,000 characters, and one for all.
  test('that sums up a document in 40 parts is no loop', () => {
    expect(loopsOf(AS_RECORDED, chain('chainSummarization', 1, 41, 1))).toEqual(NONE)
  })
  // What matches no class is discarded.
  test('that sorts 100 items and lets 4 through is no loop', () => {
    expect(loopsOf(AS_RECORDED, chain('textClassifier', 100, 100, 4))).toEqual(NONE)
  })
})
