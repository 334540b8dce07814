// The small rules of the dashboard, each as a table.
import { readFileSync } from 'node:fs'
import { buildSchema, parse, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import { documentText } from '../../dashboard/graphql.ts'
import * as agentPageQueries from '../../dashboard/queries-agent.ts'
import * as agentQueries from '../../dashboard/queries-agents.ts'
import * as alertQueries from '../../dashboard/queries-alerts.ts'
import * as candidateRuleQueries from '../../dashboard/queries-candidate-rules.ts'
import * as deliveryQueries from '../../dashboard/queries-deliveries.ts'
import * as failureQueries from '../../dashboard/queries-failures.ts'
import * as ingestQueries from '../../dashboard/queries-ingest.ts'
import * as priceQueries from '../../dashboard/queries-prices.ts'
import * as promptQueries from '../../dashboard/queries-prompts.ts'
import * as connectQueries from '../../dashboard/queries-connect.ts'
import * as sessionQueries from '../../dashboard/queries-session.ts'
import * as settingsQueries from '../../dashboard/queries-settings.ts'
import * as thresholdQueries from '../../dashboard/queries-thresholds.ts'
import * as queries from '../../dashboard/queries.ts'
import { retryDelayMs } from '../../dashboard/rules/backoff.ts'
import { chatOf } from '../../dashboard/rules/chat.ts'
import { firstEventCommand } from '../../dashboard/rules/first-events.ts'
import { jsonRows } from '../../dashboard/rules/json-rows.ts'
import { durationSoFarMs, isQuiet } from '../../dashboard/rules/quiet.ts'
import { arrivalRate, mayRevealAtOnce } from '../../dashboard/rules/reveal.ts'
import { rowWindow, scrollToShow } from '../../dashboard/rules/window.ts'
import { second, sessionRow } from './row.ts'

describe('the documents', () => {
  const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))
  const operations = [
    queries,
    agentQueries,
    agentPageQueries,
    alertQueries,
    candidateRuleQueries,
    connectQueries,
    sessionQueries,
    ingestQueries,
    priceQueries,
    promptQueries,
    settingsQueries,
    failureQueries,
    deliveryQueries,
    thresholdQueries,
  ]
    .flatMap((documents) => Object.entries(documents))
    .filter(([name]) => !name.endsWith('Fragment'))
  it.each(operations)('%s is valid in the schema', (_name, document) => {
    expect(validate(schema, parse(documentText(document as never)))).toEqual([])
  })
})

describe('a try to connect', () => {
  it('waits longer each time and never more than 39 s', () => {
    expect([0, 1, 3, 6, 50].map((attempts) => retryDelayMs(attempts, 0.5))).toEqual([500, 1000, 4000, 30_000, 30_000])
    expect(retryDelayMs(50, 1)).toBeCloseTo(39_000)
  })
})

describe('a prompt', () => {
  it.each([
    ['[{"role":"user","content":"Hi"}]', [{ role: 'user', text: 'Hi' }]],
    ['{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}', [{ role: 'user', text: 'Hi' }]],
    [
      '{"messages":["System: Be kind.\\nHuman: Hi"]}',
      [
        { role: 'system', text: 'Be kind.' },
        { role: 'user', text: 'Hi' },
      ],
    ],
    [
      'Human: Hi\nAI: Hello',
      [
        { role: 'user', text: 'Hi' },
        { role: 'assistant', text: 'Hello' },
      ],
    ],
    ['System: is down', null],
    ['[]', null],
    ['[1,2]', null],
    ['plain words', null],
    ['{"messages":', null],
  ])('%s is read as a chat or left as text', (text, expected) => {
    expect(chatOf(text)).toEqual(expected)
  })
})

describe('a running session', () => {
  const running = sessionRow('1', { firstSeenAt: second(0), quietAt: second(60) })
  it('is quiet from its time on', () => {
    expect([isQuiet(running, Date.parse(second(59))), isQuiet(running, Date.parse(second(60)))]).toEqual([false, true])
  })
  it('has taken the time since its start', () => {
    expect(durationSoFarMs(running, Date.parse(second(7)))).toBe(7000)
  })
  it('that closed without a known duration has none', () => {
    expect(durationSoFarMs({ ...running, status: 'COMPLETED' }, Date.parse(second(7)))).toBeNull()
  })
})

describe('new rows', () => {
  const idle = {
    isAtTop: true,
    hasActiveRow: false,
    hasFocus: false,
    hasPointer: false,
    isTabVisible: true,
    newPerSecond: 0,
  }
  it('are shown at once to a reader at the top who does nothing', () => {
    expect(mayRevealAtOnce(idle)).toBe(true)
  })
  it.each([
    { isAtTop: false },
    { hasActiveRow: true },
    { hasFocus: true },
    { hasPointer: true },
    { isTabVisible: false },
    { newPerSecond: 3 },
  ])('wait with %o', (over) => {
    expect(mayRevealAtOnce({ ...idle, ...over })).toBe(false)
  })
  it('are counted over three seconds', () => {
    expect(arrivalRate([1000, 5000, 6000, 6500], 7000)).toBe(1)
  })
})

describe('a window of rows', () => {
  it('draws what is in sight and some spare rows', () => {
    expect(rowWindow(3400, 340, 34, 1000, 5)).toEqual({ first: 95, end: 115 })
  })
  it('never goes beyond the list', () => {
    expect(rowWindow(0, 340, 34, 3, 5)).toEqual({ first: 0, end: 3 })
  })
  it('scrolls only if the row is out of sight', () => {
    expect([scrollToShow(5, 0, 340, 34), scrollToShow(20, 0, 340, 34)]).toEqual([null, 374])
  })
})

describe('a JSON value', () => {
  it('is rows, with what is folded left out', () => {
    const rows = jsonRows({ a: { b: [1] }, c: null }, () => false, 10)
    expect(rows.map((row) => `${row.depth} ${row.key} ${row.text}`)).toEqual(['0 a {1}', '0 c null'])
  })
})

describe('the first curl line', () => {
  it('carries an event that is JSON', () => {
    const body = /-d '(.*)'$/.exec(firstEventCommand('platform-a', 'https://x', 'rw_1'))![1]!
    expect(JSON.parse(body)).toMatchObject({ session_id: 'run-1', type: 'llm.call' })
  })
})
