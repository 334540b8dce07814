// What platform A's fields take, change with a warning, and refuse.
import { describe, expect, test } from 'vitest'
import type { Problem } from '../../server/errors.ts'
import { parsePlatformA } from '../../server/ingest/platform-a.ts'
import { parseContext } from '../support/parse-context.ts'

const RECEIVED = Date.parse('2026-11-21T12:00:00Z')
const context = parseContext({ receivedAt: RECEIVED, arrivalUs: RECEIVED * 1000 })

const parse = (fields: object) => parsePlatformA({ session_id: 's', type: 'span', ...fields }, context)
const eventOf = (fields: object) => parse(fields).sessions[0]!.events[0]!
const warningsOf = (fields: object) => parse(fields).warnings.map((warning) => `${warning.field} ${warning.code}`)
function problemsOf(body: unknown): Problem {
  try {
    parsePlatformA(body, context)
  } catch (problem) {
    return problem as Problem
  }
  throw new Error('nothing was refused')
}

describe('numbers', () => {
  test.each([
    ['120', 120],
    [' 12 ', 12],
    ['1e3', 1000],
    [120, 120],
    ['', null],
    ['  ', null],
    [null, null],
    [9007199254740991, 9007199254740991],
  ])('prompt_tokens %j is read as %j', (sent, read) => {
    expect(eventOf({ prompt_tokens: sent }).promptTokens).toBe(read)
  })

  test.each([
    ['abc'],
    ['NaN'],
    ['1,200'],
    ['0x10'],
    [true],
    [[1]],
    [{}],
    ['1e400'],
    [1.5],
    [-1],
    [9007199254740992],
    ['Infinity'],
  ])('prompt_tokens %j is refused and never read as 0', (sent) => {
    const problem = problemsOf({ session_id: 's', type: 'span', prompt_tokens: sent })
    expect(problem.status).toBe(422)
    expect(problem.detail).toMatch(/^prompt_tokens must be/)
    expect(problem.fields[0]).toMatchObject({ pointer: '/prompt_tokens', field: 'prompt_tokens' })
  })

  test.each([
    ['0.000132', '0.000132'],
    ['0.10', '0.10'],
    [0.0024, '0.0024'],
    [1e-7, '1e-7'],
    ['0.1000', '0.1000'],
    [' 3 ', '3'],
    ['-0.00', '0.00'],
    ['-1e-400', '1e-400'],
  ])('cost %j keeps its digits as %j', (sent, kept) => {
    expect(eventOf({ cost: sent })).toMatchObject({ costUsd: kept, costSource: 'REPORTED' })
  })

  test.each([[-0.01], [1e9 + 1], ['$5'], [`0.${'1'.repeat(400)}`]])('cost %j is refused', (sent) => {
    expect(problemsOf({ session_id: 's', cost: sent }).fields[0]!.field).toBe('cost')
  })

  test('a negative duration is unknown, with a warning', () => {
    expect(eventOf({ duration_ms: -5 }).durationMs).toBeNull()
    expect(warningsOf({ duration_ms: -5 })).toEqual(['duration_ms negative'])
  })
})

describe('session_id', () => {
  test.each([['run-1'], ['__proto__'], ['constructor'], ['A_b-9'], ['x'.repeat(128)]])('%j is taken as it is', (id) => {
    expect(parsePlatformA({ session_id: id, type: 'span' }, context).sessions[0]!.identity.externalId).toBe(id)
  })

  test.each([
    ['run 1', 'session_id "run 1" contains a space; use only letters, digits, - and _.'],
    ['run.12', 'session_id "run.12" contains "."; use only letters, digits, - and _.'],
    [' run', 'session_id " run" contains a space; use only letters, digits, - and _.'],
    ['é', 'session_id "é" contains "é"; use only letters, digits, - and _.'],
    ['x'.repeat(129), 'session_id has 129 characters; at most 128 are allowed.'],
    [2 ** 53, 'session_id is the number 9007199254740992, which lost digits on its way; send it as text.'],
    [1.5, 'session_id is the number 1.5, which lost digits on its way; send it as text.'],
    ['', 'session_id is missing; send the id of the run, the same for all its events.'],
    [null, 'session_id is missing; send the id of the run, the same for all its events.'],
    [true, 'session_id must be text, not true.'],
  ])('%j is refused with the fix', (id, sentence) => {
    expect(problemsOf({ session_id: id, type: 'span' }).detail).toBe(`${sentence} No event was recorded.`)
  })

  test('a whole number is taken as its digits with a warning', () => {
    const { sessions, warnings } = parsePlatformA({ session_id: 42, type: 'span' }, context)
    expect(sessions[0]!.identity.externalId).toBe('42')
    expect(warnings).toMatchObject([{ field: 'session_id', code: 'number_to_text' }])
  })
})

describe('type', () => {
  test.each([
    [{ type: ' LLM.Call ' }, 'LLM_CALL'],
    [{ type: '', tool_name: 'x', model: 'y' }, 'TOOL_CALL'],
    [{ type: undefined, model: 'gpt' }, 'LLM_CALL'],
    [{ type: undefined, prompt: 'hi' }, 'LLM_CALL'],
    [{ type: null, completion_tokens: 3 }, 'LLM_CALL'],
    [{ type: undefined, status: 'success' }, 'SESSION_END'],
    [{ type: undefined, status: 'error', error: 'x' }, 'SPAN'],
    [{ type: undefined, output: 'x' }, 'SPAN'],
    [{ type: undefined }, 'SPAN'],
  ])('%j is a %s', (fields, type) => {
    expect(eventOf(fields).type).toBe(type)
  })

  test('an unknown type is refused with the list', () => {
    expect(problemsOf({ session_id: 's', type: 'llm' }).detail).toBe(
      'type "llm" is not known; use one of llm.call, tool.call, retrieval, span, session.end. No event was recorded.',
    )
  })
})

describe('texts', () => {
  test('input and output keep every character but those that are none', () => {
    const text = '  <b>ü\r\n\t\u202e😀'
    expect(eventOf({ input: text, output: '' })).toMatchObject({ input: text, output: '' })
    expect(eventOf({ input: 'a\0b\ud800c' }).input).toBe('a\ufffdb\ufffdc')
  })

  test('the main name goes before its alias, which is then kept as an unknown field', () => {
    expect(eventOf({ prompt: 'p', completion: 'c' })).toMatchObject({ input: 'p', output: 'c', attributes: null })
    expect(eventOf({ input: 'i', prompt: 'p' })).toMatchObject({ input: 'i', attributes: { prompt: 'p' } })
  })

  test.each([
    ['Timeout', 'Timeout'],
    ['', null],
    ['  ', null],
    [null, null],
    [false, null],
    [{ message: 'Bad gateway' }, 'Bad gateway'],
    [{ code: 1 }, '{"code":1}'],
    [500, '500'],
  ])('error %j is read as %j', (sent, read) => {
    expect(eventOf({ error: sent }).error?.message ?? null).toBe(read)
  })

  test('an object or list in a name is refused, a long name is cut', () => {
    expect(problemsOf({ session_id: 's', agent_name: { a: 1 } }).detail).toBe(
      'agent_name must be text, not {"a":1}. No event was recorded.',
    )
    expect(eventOf({ tool_name: 'x'.repeat(600) }).name).toHaveLength(500)
    expect(warningsOf({ tool_name: 'x'.repeat(600) })).toEqual(['tool_name cut'])
    expect(eventOf({ tool_name: `${'x'.repeat(499)}😀` }).name).toBe('x'.repeat(499))
  })
})

describe('timestamp', () => {
  test.each([
    ['2026-11-20T10:15:30+01:00', '2026-11-20T09:15:30.000Z', []],
    ['2026-11-20T10:15:30.123456Z', '2026-11-20T10:15:30.123Z', []],
    ['2026-11-20 10:15:30Z', '2026-11-20T10:15:30.000Z', []],
    ['2026-11-20T10:15:30', '2026-11-20T10:15:30.000Z', ['timestamp no_timezone']],
    ['2026-11-20', '2026-11-20T00:00:00.000Z', ['timestamp no_timezone']],
    ['2026-11-19T24:00:00Z', '2026-11-20T00:00:00.000Z', []],
    ['20261120T101530Z', '2026-11-20T10:15:30.000Z', []],
    [1795219257, '2026-11-21T00:00:57.000Z', ['timestamp epoch_time']],
    ['1795219257525', '2026-11-21T00:00:57.525Z', ['timestamp epoch_time']],
  ])('%j is %s', (sent, time, warnings) => {
    expect(new Date(eventOf({ timestamp: sent }).occurredAt!).toISOString()).toBe(time)
    expect(warningsOf({ timestamp: sent })).toEqual(warnings)
  })

  test.each([
    ['', 'empty_time'],
    ['0001-01-01T00:00:00Z', 'year_0001'],
  ])('%j means the time of receipt', (sent, code) => {
    expect(eventOf({ timestamp: sent })).toMatchObject({ occurredAt: null, orderUs: RECEIVED * 1000 })
    expect(warningsOf({ timestamp: sent })).toEqual([`timestamp ${code}`])
  })

  test.each([
    ['yesterday'],
    ['11/20/26 10:15AM'],
    ['2026-02-30T00:00:00Z'],
    ['2026-11-20T25:00:00Z'],
    ['2026-11-20T24:00:01Z'],
    ['2026-11-20T10:00:00+99:00'],
    ['1969-12-31T23:59:59Z'],
    ['2201-01-01T00:00:00Z'],
    ['0099-01-01'],
    [1e300],
    [true],
    [{}],
  ])('%j is refused', (sent) => {
    expect(problemsOf({ session_id: 's', timestamp: sent }).fields[0]!.field).toBe('timestamp')
  })

  test.each([['2026-11-21T12:05:01Z'], ['2026-10-22T11:59:59Z']])(
    '%s is too far off: kept, flagged, not used for order',
    (sent) => {
      expect(eventOf({ timestamp: sent })).toMatchObject({
        skewed: true,
        orderUs: RECEIVED * 1000,
        occurredAt: Date.parse(sent),
      })
    },
  )
})

describe('a request as a whole', () => {
  test('all that is wrong is listed, and nothing of the request is kept', () => {
    const problem = problemsOf([{ session_id: 'ok' }, { session_id: 'no good', cost: 'x' }, 7])
    expect(problem.fields.map((field) => field.pointer)).toEqual(['/1/session_id', '/1/cost', '/2'])
    expect(problem.detail).toMatch(/^Event 2 of 3: session_id "no good" contains a space/)
  })

  test('a long value is cut in the sentence', () => {
    expect(problemsOf({ session_id: `bad ${'x'.repeat(500)}` }).detail.length).toBeLessThan(250)
  })

  test('unknown fields are kept up to 16 KB, also those named like parts of every object', () => {
    const body = JSON.parse('{"session_id":"s","type":"span","__proto__":{"a":1},"constructor":"c","zap":{"b":[1]}}')
    const { attributes } = parsePlatformA(body, context).sessions[0]!.events[0]!
    expect(JSON.parse(JSON.stringify(attributes))).toEqual(
      JSON.parse('{"__proto__":{"a":1},"constructor":"c","zap":{"b":[1]}}'),
    )
    expect(warningsOf({ big: 'x'.repeat(17_000) })).toEqual(['big attributes_cut'])
    expect(warningsOf({ ['x'.repeat(17_000)]: 1 })).toEqual([`${'x'.repeat(79)}… attributes_cut`])
  })

  test('the same event_id gives the same key, no event_id gives another each time', () => {
    const keys = [{ event_id: 'e1' }, { event_id: 'e1' }, {}, {}].map((fields) => eventOf(fields).key)
    expect(new Set(keys).size).toBe(3)
  })
})
