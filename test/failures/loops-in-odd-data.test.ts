// Loops in executions that are recorded in an odd way, are large, or that no platform would send.
import { describe, expect, test } from 'vitest'
import { classify } from '../../server/failures/classify.ts'
import { findLoops } from '../../server/failures/loops.ts'
import { findLoop } from '../../server/failures/rules-of-measures.ts'
import { runOf } from '../support/run-of.ts'
import { AS_RECORDED, batch, changing, GeneratedExecution, rounds } from './generated-executions.ts'

const counted = (execution: object) =>
  findLoop(runOf(execution)).found.map(({ severity, subject, measured }) => [severity, subject, measured])

describe('runs that are recorded in an odd way', () => {
  test('a retry copies steps with their old times: they are no rounds, and a runaway after them is found', () => {
    const retried = (times: number) => {
      const run = new GeneratedExecution()
      run.step('Init')
      run.pass(60_000)
      run.restartIndex()
      rounds(run, ['Check', 'Ready?'], times, changing)
      const startedAt = new Date(Date.UTC(2026, 10, 21) + 30_000).toISOString()
      return counted(run.execution({ mode: 'retry', retryOf: '7', startedAt }))
    }
    expect(retried(3)).toEqual([])
    expect(retried(61)).toEqual([['HIGH', 'Check', 61]])
  })

  const atOnce = (isIndexed: boolean) => {
    const run = new GeneratedExecution(AS_RECORDED, 0)
    rounds(run, ['Check', 'Ready?'], 61, changing)
    if (!isIndexed) for (const one of Object.values(run.runData).flat()) delete one.executionIndex
    return counted(run.execution())
  }
  test('steps of the same millisecond are told apart by their index', () => {
    expect(atOnce(true)).toEqual([['HIGH', 'Check', 61]])
  })
  // Old versions write no index; what led to a step is known all the same.
  test('steps of the same millisecond without an index are told apart by their sources', () => {
    expect(atOnce(false)).toEqual([['HIGH', 'Check', 61]])
  })

  test('nodes named like what every object has, and names with spaces and signs, loop like others', () => {
    const run = new GeneratedExecution()
    rounds(run, ['constructor', ' spaced "name" ', '✅ 失敗'], 30, changing)
    expect(counted(run.execution())).toEqual([['HIGH', 'constructor', 30]])
  })

  test('equal outputs that the platform redacted are not taken for equal', () => {
    const run = new GeneratedExecution()
    rounds(run, ['Check', 'Ready?'], 12, changing)
    for (const { data } of Object.values(run.runData).flat())
      for (const item of data.main[0]) Object.assign(item, { json: {}, redaction: { redacted: true } })
    expect(counted(run.execution())).toEqual([])
  })
})

describe('large runs', () => {
  test('a loop of 10,000 steps is found whole', () => {
    const run = new GeneratedExecution()
    rounds(run, ['Check', 'Ready?'], 5_000, changing)
    expect(counted(run.execution())).toContainEqual(['HIGH', 'Check', 5_000])
  })
  test('a batch of 10,000 steps is none', () => {
    const run = new GeneratedExecution()
    batch(run, 3_300, () => rounds(run, ['Score', 'Save'], 1, changing), { name: 'For each lead' })
    expect(counted(run.execution())).toEqual([])
  })
  test('10,000 steps in one line, each another node, are none', () => {
    const run = new GeneratedExecution()
    for (let i = 0; i < 10_000; i++) run.step(`Node ${i}`)
    expect(counted(run.execution())).toEqual([])
  })
  test('a long chain of which 1,000 steps name the same source is found once', () => {
    const run = new GeneratedExecution()
    for (let i = 0; i < 1_000; i++) run.step('A', { json: [{ i }] })
    const from = run.last
    for (let i = 0; i < 1_000; i++) run.step('A', { from, json: [{ i }] })
    expect(counted(run.execution())).toEqual([['HIGH', 'A', 1_001]])
  })
})

describe('executions that no platform would send', () => {
  function random(seed: number): (below: number) => number {
    let state = seed * 7919
    return (below) => {
      state = (state * 1664525 + 1013904223) % 2 ** 32
      return Math.floor((state / 2 ** 32) * below)
    }
  }

  /** Steps of few names whose sources are earlier, later, themselves, nowhere, or nothing that could be one. */
  function oddExecution(seed: number): any {
    const below = random(seed)
    const names = ['A', 'B', 'C', 'Loop Over Items', 'constructor', '__proto__'].slice(0, 1 + below(6))
    const runData: Record<string, any[]> = Object.create(null)
    const source = (name: string, index: number) =>
      [
        [],
        null,
        [null],
        'A',
        [{ previousNode: name, previousNodeRun: index }],
        [{ previousNode: name, previousNodeRun: index - 1 }],
        [{ previousNode: names[below(names.length)], previousNodeRun: below(12) }],
        [{ previousNode: names[below(names.length)], previousNodeRun: below(12) }, { previousNode: 'B' }],
        [{ previousNode: 'nowhere' }],
        [{ previousNode: 7, previousNodeRun: 'x' }],
        [{ previousNode: 'A', previousNodeRun: 1e300 }, { previousNodeRun: -1 }],
      ][below(11)]
    const pairs = [undefined, null, 0, below(9), { item: below(9) }, [{ item: below(9) }], { item: -1 }, 'x']
    const connections = ['main', 'main', 'main', 'ai_tool', 'ai_languageModel']
    for (let i = 0, count = 20 + below(100); i < count; i++) {
      const name = names[below(names.length)]!
      const runs = (runData[name] ??= [])
      const item = { json: { n: below(3) }, pairedItem: pairs[below(pairs.length)] }
      runs.push({
        startTime: [1795219252376 + below(50), 1795219252, 0, null, 'soon', 1795219252376 + i][below(6)],
        executionIndex: [i, 0, below(50), undefined, -1][below(5)],
        executionStatus: ['success', 'error', 'waiting', undefined][below(4)],
        source: source(name, runs.length),
        data: [{ [connections[below(5)]!]: [[item]] }, undefined, { main: [null, [item]] }][below(3)],
        metadata: [undefined, { nodeWasResumed: true }][below(2)],
      })
    }
    const nodes = below(2) ? names.map((name) => ({ name, type: `n8n-nodes-base.${below(2) ? 'code' : 'agent'}` })) : []
    return { id: '1', status: 'success', data: { resultData: { runData } }, workflowData: { nodes } }
  }

  test('are worked off like others: every rule runs, and a loop never has more rounds than its nodes ran', () => {
    let loops = 0
    for (let seed = 1; seed <= 500; seed++) {
      const run = runOf(oddExecution(seed))
      expect(classify(run).notRun, `seed ${seed}`).toEqual([])
      const nameOf = new Map(run.events.map(({ key, name }) => [key, name]))
      for (const { nodes, rounds, evidence } of findLoops(run.events)) {
        loops += 1
        expect(nodes.length, `seed ${seed}`).toBeGreaterThanOrEqual(1)
        expect(nodes.length, `seed ${seed}`).toBeLessThanOrEqual(16)
        expect(rounds, `seed ${seed}`).toBeGreaterThanOrEqual(2)
        // The first node of each round, no step twice.
        expect(new Set(evidence).size, `seed ${seed}`).toBe(rounds)
        expect(new Set(evidence.map((key) => nameOf.get(key))), `seed ${seed}`).toEqual(new Set([nodes[0]]))
      }
    }
    expect(loops).toBeGreaterThan(500)
  })
})
