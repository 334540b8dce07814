// How events of platform A move their session: the table of transitions, whatever order they come in.
import { expect, test } from 'vitest'
import { parsePlatformA } from '../../server/ingest/platform-a.ts'
import { foldEvents, totalsOf, type EventDraft, type SessionIdentity } from '../../server/sessions/session.ts'
import { parseContext } from '../support/parse-context.ts'

const START = Date.parse('2026-11-21T12:00:00Z')

/** Each event comes in a request of its own, one second after the other. */
function eventsOf(bodies: object[]): { identity: SessionIdentity; events: EventDraft[] } {
  const parsed = bodies.map((body, i) =>
    parsePlatformA(
      { session_id: 's', type: 'span', ...body },
      parseContext({ receivedAt: START + i * 1000, arrivalUs: (START + i * 1000) * 1000 }),
    ),
  )
  return { identity: parsed[0]!.sessions[0]!.identity, events: parsed.flatMap((one) => one.sessions[0]!.events) }
}

function permutations<T>(list: T[]): T[][] {
  if (list.length < 2) return [list]
  return list.flatMap((item, i) =>
    permutations([...list.slice(0, i), ...list.slice(i + 1)]).map((rest) => [item, ...rest]),
  )
}

const END = { type: 'session.end' }
const TRANSITIONS: [what: string, events: object[], status: string][] = [
  ['an event without a status', [{}], 'RUNNING'],
  ['an error without a status', [{ error: 'x' }], 'RUNNING'],
  ['status success', [{}, { status: 'success' }], 'COMPLETED'],
  ['status error', [{}, { status: 'ERROR' }], 'FAILED'],
  ['a bare end', [{}, END], 'COMPLETED'],
  ['a bare end after a failed tool', [{ type: 'tool.call', error: 'x' }, END], 'COMPLETED'],
  ['an end that carries an error', [{}, { ...END, error: 'x' }], 'FAILED'],
  ['a bare end, and then an end with an error: the session was closed', [{}, END, { ...END, error: 'x' }], 'COMPLETED'],
  ['an end with an error, and then a bare end', [{ ...END, error: 'x' }, END], 'FAILED'],
  ['a reported outcome and then a bare end', [{ status: 'error' }, END], 'FAILED'],
  ['a reported success and then an end with an error', [{ status: 'success' }, { ...END, error: 'x' }], 'COMPLETED'],
  ['two reported outcomes: the later one', [{ status: 'error' }, { status: 'success' }], 'COMPLETED'],
  [
    'two reported outcomes with times of their own: the later time',
    [
      { status: 'error', timestamp: '2026-11-21T11:59:59Z' },
      { status: 'success', timestamp: '2026-11-21T11:59:58Z' },
    ],
    'FAILED',
  ],
  ['an event after the close', [{ status: 'success' }, { error: 'x' }], 'COMPLETED'],
]

test.each(TRANSITIONS)('%s', (_what, bodies, status) => {
  const { identity, events } = eventsOf(bodies)
  for (const order of permutations(events)) expect(foldEvents(identity, order).status).toBe(status)
})

test('totals are exact sums, and a sum of nothing known is null', () => {
  const { events } = eventsOf([
    { type: 'llm.call', model: 'm', prompt_tokens: 10, completion_tokens: 5, cost: '0.1' },
    { type: 'llm.call', model: 'm', prompt_tokens: 9007199254740991, cost: '0.2' },
    { type: 'tool.call', tool_name: 't', error: 'x' },
  ])
  expect(totalsOf(events)).toEqual({
    eventCount: 3,
    errorCount: 1,
    llmCalls: 2,
    toolCalls: 1,
    unpricedCalls: 0,
    tokensEstimated: false,
    models: ['m'],
    promptTokens: '9007199254741001',
    completionTokens: '5',
    costUsd: '0.3',
  })
  expect(totalsOf(eventsOf([{}]).events)).toMatchObject({ promptTokens: null, completionTokens: null, costUsd: null })
})

test.each([
  [
    'times of their own',
    [{ timestamp: '2026-11-21T12:00:00Z' }, { timestamp: '2026-11-21T12:00:02Z', duration_ms: 500 }],
    2500,
    'SPAN',
  ],
  ['only durations', [{ duration_ms: 100 }, { duration_ms: 250.5 }], 350.5, 'STEPS'],
  ['neither', [{}, {}], null, null],
  ['one time and no duration', [{ timestamp: '2026-11-21T12:00:00Z' }], null, null],
  [
    'a time too far off',
    [{ timestamp: '2020-01-01T00:00:00Z' }, { timestamp: '2026-11-21T12:00:00Z', duration_ms: 5 }],
    5,
    'SPAN',
  ],
])('the duration of events with %s', (_what, bodies, durationMs, durationSource) => {
  const { identity, events } = eventsOf(bodies)
  expect(foldEvents(identity, events)).toMatchObject({ durationMs, durationSource })
})
