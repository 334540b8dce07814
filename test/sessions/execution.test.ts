// What becomes of an execution that is posted again: the table of ranks.
import { expect, test } from 'vitest'
import { parsePlatformB } from '../../server/ingest/platform-b.ts'
import { mergeExecution } from '../../server/sessions/execution.ts'
import { parseContext } from '../support/parse-context.ts'

const context = parseContext({ receivedAt: Date.parse('2026-11-21T12:00:00Z'), arrivalUs: 0 })
function executionOf(fields: object) {
  const { sessions } = parsePlatformB({ execution: { id: '1', workflowId: 'w', ...fields } }, context)
  return { session: sessions[0]!.execution!, events: sessions[0]!.events }
}
const runData = (...names: string[]) => ({
  data: {
    resultData: {
      runData: Object.fromEntries(
        names.map((name, i) => [
          name,
          [{ startTime: 1795219257000 + i, executionTime: 1, executionStatus: 'success', executionIndex: i }],
        ]),
      ),
    },
  },
})
const at = (second: number) => ({ stoppedAt: `2026-11-21T11:00:0${second}.000Z` })

test.each([
  ['nothing, then running', {}, { status: 'running' }, 'running'],
  ['running, then success', { status: 'running' }, { status: 'success' }, 'success'],
  ['success, then running', { status: 'success' }, { status: 'running' }, 'success'],
  ['success, then nothing', { status: 'success' }, {}, 'success'],
  ['waiting, then error', { status: 'waiting' }, { status: 'error' }, 'error'],
  ['canceled, then unknown', { status: 'canceled' }, { status: 'unknown' }, 'canceled'],
  [
    'two finals: the later stoppedAt, coming last',
    { status: 'success', ...at(1) },
    { status: 'error', ...at(2) },
    'error',
  ],
  [
    'two finals: the later stoppedAt, coming first',
    { status: 'error', ...at(2) },
    { status: 'success', ...at(1) },
    'error',
  ],
  ['two finals without times: the later receipt', { status: 'success' }, { status: 'error' }, 'error'],
  ['success, then the body of an error workflow', { status: 'success' }, { error: { message: 'x' } }, 'error'],
])('%s', (_what, first, second, word) => {
  const { session } = mergeExecution(executionOf(first), executionOf(second))
  expect(session.status).toBe(word === 'error' ? 'FAILED' : 'COMPLETED')
  expect(session.rank).toBe(['success', 'error', 'canceled'].includes(word) ? 2 : 1)
})

test('the steps of a full post stay when a bare one follows, and the other way round', () => {
  const full = executionOf({ status: 'success', ...runData('A', 'B') })
  const bare = executionOf({ status: 'success' })
  for (const [first, second] of [
    [full, bare],
    [bare, full],
  ] as const) {
    const merged = mergeExecution(first, second)
    expect(merged.session.eventCount).toBe(2)
    expect(merged.session.coverage.map((note) => note.code)).not.toContain('no_run_data')
  }
})

test('a running snapshot adds no step and changes none of a final post', () => {
  const full = executionOf({ status: 'success', ...runData('A', 'B') })
  const snapshot = executionOf({ status: 'running', ...runData('A') })
  expect(mergeExecution(full, snapshot).changed).toEqual([])
})

test('what is not known yet is filled in, what is known stays', () => {
  const merged = mergeExecution(
    executionOf({ status: 'error', error: { message: 'first' }, lastNodeExecuted: 'N' }),
    executionOf({ status: 'error', workflowName: 'Invoices', startedAt: '2026-11-21T11:00:00Z', ...at(2) }),
  )
  expect(merged.session).toMatchObject({
    agent: 'Invoices',
    errorMessage: 'first',
    lastNode: 'N',
    durationMs: 2000,
    durationSource: 'REPORTED',
  })
})

test('many posts at once become the same as one after the other', () => {
  const posts = [
    executionOf({ status: 'running', workflowName: 'Invoices', ...runData('A') }),
    executionOf({ status: 'error', error: { message: 'x' }, ...at(2), ...runData('A', 'B') }),
    executionOf({ status: 'success', ...at(1), ...runData('C', 'A', 'D') }),
    executionOf({}),
    executionOf({ status: 'error', ...at(3), ...runData('D') }),
  ]
  const [first, ...later] = posts
  const atOnce = mergeExecution(first!, ...later)
  const inTurn = later.reduce<ReturnType<typeof executionOf>>((merged, post) => mergeExecution(merged, post), first!)
  expect({ session: atOnce.session, events: atOnce.events }).toEqual({ session: inTurn.session, events: inTurn.events })
  expect(atOnce.session).toMatchObject({ status: 'FAILED', eventCount: 4, errorMessage: 'x' })
  expect(atOnce.changed.map((event) => event.name).sort()).toEqual(['A', 'B', 'C', 'D'])
})

test('a list of 10,000 posts of one execution is read in a moment', { timeout: 10_000 }, () => {
  const list = Array.from({ length: 10_000 }, (_, i) => ({
    execution: { id: '1', workflowId: 'w', ...runData(`A${i}`) },
  }))
  const { sessions, accepted } = parsePlatformB(list, context)
  expect([sessions.length, accepted, sessions[0]!.execution!.eventCount]).toEqual([1, 10_000, 10_000])
})
