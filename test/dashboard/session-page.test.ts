// What the page of a session works out: idle times, trees of JSON, errors with a stack, sizes, late events, prices.
import { describe, expect, it } from 'vitest'
import type { EventWhole } from '../../dashboard/queries-session.ts'
import { partedError } from '../../dashboard/rules/error-stack.ts'
import { outOfOrder } from '../../dashboard/rules/event-merge.ts'
import { cutLabels, cutsOn, idleGapsOf, idleShare, placedSteps, shortened } from '../../dashboard/rules/idle-gaps.ts'
import { copiedValue, findInJson, jsonRows, parseJson, pathsAbove } from '../../dashboard/rules/json-rows.ts'
import { costWords, providerOf, speedWords, tokensPerSecond } from '../../dashboard/rules/model-call.ts'
import { firstAsked, isTooLarge } from '../../dashboard/rules/payload-size.ts'
import { stepsOf } from '../../dashboard/rules/steps.ts'
import { axisOf, concurrency, usualLane } from '../../dashboard/rules/waterfall.ts'
import { movedBy } from '../../dashboard/rules/window.ts'
import { eventRow, second } from './row.ts'

const timed = (id: string, at: number, durationMs: number | null) =>
  eventRow(id, { occurredAt: second(at), durationMs, orderKey: id })

describe('idle times', () => {
  const steps = stepsOf([timed('a', 0, 2_000), timed('b', 1, 3_000), timed('c', 100, 1_000), timed('d', 200, null)])
  const gaps = idleGapsOf(steps)!
  const axis = axisOf(steps)
  const startMs = Date.parse(second(0))

  it('are the long ones in which no step is known to run', () => {
    expect(gaps.map((gap) => [gap.startMs - startMs, gap.endMs - startMs])).toEqual([
      [4_000, 100_000],
      [101_000, 200_000],
    ])
    expect(idleShare(gaps, axis)).toBeCloseTo(0.975)
  })
  it('are offered to be cut only where they are most of the session', () => {
    expect(idleGapsOf(stepsOf([timed('a', 0, 5_000), timed('b', 10, 5_000)]))).toBeNull()
    expect(idleGapsOf([])).toBeNull()
  })
  it('cut short keep the order, and the length of what ran', () => {
    const place = shortened(gaps, axis)
    const placed = placedSteps(steps, place)
    expect(placed.map((step) => step.durationMs)).toEqual([2_000, 3_000, 1_000, null])
    const starts = placed.map((step) => step.startMs)
    expect([...starts].sort((one, other) => one - other)).toEqual(starts)
    const whole = axisOf(placed)
    expect(whole.endMs - whole.startMs).toBeCloseTo(5_000 * 1.25, 3)
    expect(placed[2]!.startMs - startMs).toBeCloseTo(4_000 + 625, 3)
  })
  it('are marked with how long they were, away from the steps beside them', () => {
    const place = shortened(gaps, axis)
    const whole = axisOf(placedSteps(steps, place))
    const cuts = cutsOn(whole, gaps, place)
    expect(cuts.map((cut) => cut.durationMs)).toEqual([96_000, 99_000])
    expect(cuts[0]!.leftPercent).toBeGreaterThan(64)
    expect(cuts[1]!.leftPercent + cuts[1]!.widthPercent).toBeLessThan(100)
    expect(cutLabels(cuts, 5).map((label) => label.durationMs)).toEqual([96_000])
    expect(cutsOn({ startMs: whole.startMs, endMs: whole.startMs + 1_000 }, gaps, place)).toEqual([])
  })
})

describe('the lane', () => {
  it('without durations shows the first amount that is known of any step', () => {
    const steps = (over: object) => stepsOf([eventRow('a'), eventRow('b', over)])
    expect(usualLane(steps({ promptTokens: 5 }), false)).toBe('tokens')
    expect(usualLane(steps({ costUsd: '0.1' }), false)).toBe('cost')
    expect(usualLane(steps({ durationMs: 5 }), false)).toBe('time')
    expect(usualLane(steps({}), true)).toBe('time')
  })
  it('counts steps that touch within a column once', () => {
    const steps = stepsOf([timed('a', 0, 1000), timed('b', 1, 1000), timed('c', 2, 1000)])
    expect([...concurrency(steps, axisOf(steps), 4).get('TOOL_CALL')!]).toEqual([1, 1, 1, 1])
  })
})

describe('a tree of JSON', () => {
  const value = { 'a/b': [{ name: 'Ann' }, { name: 'Bob' }], list: [], 'two words': 'x', empty: null }

  it('knows each value by a path of its own, and as it is written in expressions', () => {
    const rows = jsonRows(value, () => true)
    expect(rows.map((row) => [row.path, row.expression, row.open])).toEqual([
      ['/a~1b', '["a/b"]', true],
      ['/a~1b/0', '["a/b"][0]', true],
      ['/a~1b/0/name', '["a/b"][0].name', null],
      ['/a~1b/1', '["a/b"][1]', true],
      ['/a~1b/1/name', '["a/b"][1].name', null],
      ['/list', 'list', null],
      ['/two words', '["two words"]', null],
      ['/empty', 'empty', null],
    ])
  })
  it('is found in by key and by text, in the order of its rows', () => {
    expect(findInJson(value, 'NAME')).toEqual(['/a~1b/0/name', '/a~1b/1/name'])
    expect(findInJson(value, 'bob')).toEqual(['/a~1b/1/name'])
    expect(findInJson(value, '')).toEqual([])
    // The place of an item in its list is nothing that came.
    expect(findInJson(['x'], '0')).toEqual([])
    expect(pathsAbove('/a~1b/1/name')).toEqual(['/a~1b/1', '/a~1b'])
  })
  it('is copied as text without quotes, else as JSON', () => {
    expect(copiedValue('two\nlines')).toBe('two\nlines')
    expect(copiedValue({ a: 1 })).toBe('{\n  "a": 1\n}')
    expect(copiedValue(null)).toBe('null')
  })
  it('is none where the text is no JSON', () => {
    expect(parseJson('{a}')).toBeUndefined()
    expect(parseJson('{"__proto__": 1, "b": [2.5]}')).toEqual(JSON.parse('{"__proto__": 1, "b": [2.5]}'))
  })
})

describe('the text of an error', () => {
  it('is parted from the frames of JavaScript below it', () => {
    expect(partedError('Error: no\nreally\n    at a (x.js:1:1)\n    at b (y.js:2:2)')).toEqual({
      says: 'Error: no\nreally',
      stack: '    at a (x.js:1:1)\n    at b (y.js:2:2)',
    })
  })
  it('is parted from the frames of Python above it', () => {
    const stack = 'Traceback (most recent call last):\n  File "a.py", line 1, in run\n    go()'
    expect(partedError(`${stack}\nValueError: no`)).toEqual({ says: 'ValueError: no', stack })
  })
  it('stays whole where it has no frames, or nothing but frames', () => {
    for (const message of ['look at this', '    at a (x.js:1:1)', '', 'Traceback (most recent call last):'])
      expect(partedError(message)).toEqual({ says: message, stack: null })
  })
})

it('a payload is read whole, on request or as its beginning, by its size', () => {
  expect(firstAsked(null)).toEqual({ isAsked: true, first: null })
  expect(firstAsked(256 * 1024)).toEqual({ isAsked: true, first: null })
  expect(firstAsked(256 * 1024 + 1)).toEqual({ isAsked: false, first: null })
  expect(firstAsked(2 * 1024 * 1024 + 1)).toEqual({ isAsked: true, first: 64 * 1024 })
  expect([isTooLarge(2 * 1024 * 1024), isTooLarge(2 * 1024 * 1024 + 1), isTooLarge(null)]).toEqual([false, true, false])
})

describe('events that come between others', () => {
  it('are told from those that come at the end and those that only changed', () => {
    const held = [eventRow('a'), eventRow('c'), eventRow('e')]
    expect(outOfOrder(held, [eventRow('b'), eventRow('c', { revision: 2 }), eventRow('f')])).toEqual(['b'])
    expect(outOfOrder([], [eventRow('b')])).toEqual([])
  })
  it('push rows by as many as came before them', () => {
    expect(movedBy(['a', 'c'], ['a', 'b', 'c'], 1)).toBe(1)
    expect(movedBy(['a', 'c'], ['a', 'c', 'd'], 1)).toBe(0)
    expect(movedBy(['a', 'c'], ['a'], 1)).toBe(0)
    expect(movedBy([], ['a'], 0)).toBe(0)
  })
})

describe('a model call', () => {
  const price = {
    inputUsdPerMillion: '2.5',
    outputUsdPerMillion: '10',
    isOwn: false,
    provider: 'OpenAI',
    at: second(0),
  }
  const call = (over: Partial<EventWhole>) =>
    ({
      costSource: 'PRICED',
      price: null,
      completionTokens: 50,
      durationMs: 2_000,
      attributes: null,
      ...over,
    }) as EventWhole

  it('says which price its cost comes from, as far as that is known', () => {
    expect(costWords(call({ price }))).toMatch(
      /^\$2\.50 input, \$10\.00 output per million tokens \(price table, OpenAI, as of /,
    )
    expect(costWords(call({ price: { ...price, isOwn: true, provider: null } }))).toMatch(/\(your own price, set /)
    expect(costWords(call({}))).toContain('has changed since')
    expect(costWords(call({ costSource: 'REPORTED' }))).toBe('reported by the platform')
    expect(costWords(call({ costSource: null }))).toBeNull()
  })
  it('has a speed only where both parts of it are known', () => {
    expect(tokensPerSecond(call({}))).toBe(25)
    for (const over of [{ durationMs: null }, { durationMs: 0 }, { completionTokens: null }])
      expect(tokensPerSecond(call(over))).toBeNull()
    expect([speedWords(1.25), speedWords(1234.4)]).toEqual(['1.3 tokens per second', '1,234 tokens per second'])
  })
  it('has the provider that was sent, else the one of the price table', () => {
    expect(providerOf(call({ price, attributes: { provider: 'azure' } }))).toBe('azure')
    expect(providerOf(call({ price, attributes: { provider: 7 } }))).toBe('OpenAI')
    expect(providerOf(call({}))).toBeNull()
  })
})
