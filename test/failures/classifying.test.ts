// When closed sessions are classified and classified anew, and what of it can be seen: real server, real database.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  disagreements,
  execution,
  failedStep,
  failureReader,
  medianOf,
  untilAllClassified,
} from '../support/failed-runs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { AS_RECORDED, changing, GeneratedExecution, rounds } from './generated-executions.ts'

const B = 'PLATFORM_B'
let server: TestServer
let reader: ReturnType<typeof failureReader>
beforeAll(async () => {
  server = await startServer()
  reader = failureReader(server)
})
afterAll(() => server.stop())
afterEach(async () => {
  await untilAllClassified(server.database.sql)
  expect(await disagreements(server.database.sql)).toEqual([])
})

const post = async (answer: Promise<{ status: number }>) => expect((await answer).status).toBe(200)
const postA = (body: unknown) => post(server.ingestA(body))
const postB = (body: unknown) => post(server.ingestB(body))
/** category and severity, the primary one first */
const found = ({ failures }: any) => failures.map((one: any) => `${one.category} ${one.severity}`)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('a closed failed session carries its failure soon after the acknowledgement', async () => {
  const { sql } = server.database
  const ages: number[] = []
  for (let i = 0; i < 32; i++) {
    const id = `soon-${i}`
    if (i % 2) await postB(execution(id, { error: 'Bad gateway' }))
    else await postA(failedStep(id))
    const since = performance.now()
    await until(async () => {
      const [row] = await sql`select failure_count from sessions where external_id = ${id}`
      return row!.failure_count > 0
    })
    // The first two open connections and warm up.
    if (i > 1) ages.push(performance.now() - since)
  }
  const shown = [medianOf(ages), Math.max(...ages)].map((ms) => ms.toFixed(1))
  console.log(`from the acknowledgement to the failure: median ${shown[0]} ms, most ${shown[1]} ms of ${ages.length}`)
  expect(medianOf(ages)).toBeLessThan(5_000)
})

describe('platform A', () => {
  test('errors of a session that is not closed are no failures until it is', async () => {
    await postA([failedStep('open', { status: undefined }), { session_id: 'open', type: 'span' }])
    // Nothing more happens.
    await pause(600)
    expect(await reader.read('open')).toMatchObject({ status: 'RUNNING', classified: false, failureCount: 0 })
    const said = await reader.explained('open')
    expect(Object.keys(said)).toHaveLength(4)
    for (const one of Object.values(said))
      expect(one).toMatchObject({ outcome: 'CANNOT_TELL', sentence: 'The run is not closed yet.' })
    await postA({ session_id: 'open', type: 'session.end' })
    const closed = await reader.classified('open')
    expect(closed).toMatchObject({ status: 'COMPLETED', failureCount: 1, severity: 'MEDIUM' })
    expect(found(closed)).toEqual(['TOOL_FAILURE MEDIUM'])
  })

  test('session.end with the text of an error is a failure of the run', async () => {
    await postA({ session_id: 'ended', type: 'session.end', error: '504 Gateway Timeout', agent_name: 'Desk' })
    const session = await reader.classified('ended')
    expect(session).toMatchObject({ status: 'FAILED', failureCategories: ['RUN_FAILURE'], severity: 'HIGH' })
    expect(session.failures).toMatchObject([{ cause: 'TIMEOUT', isPrimary: true, evidenceCount: 1 }])
  })

  test('three posts of one session are classified as one run', async () => {
    await postA({ session_id: 'three', type: 'llm.call', model: 'gpt-4o', agent_name: 'Desk', output: 'Hello' })
    await postA(failedStep('three', { status: undefined }))
    await postA({ session_id: 'three', type: 'session.end', status: 'error' })
    const session = await reader.classified('three')
    expect(session).toMatchObject({ status: 'FAILED', failureCount: 1, hint: null })
    expect(found(session)).toEqual(['TOOL_FAILURE HIGH'])
    const [evidence] = session.failures[0].evidence
    const { event } = await server.query(`query ($id: ID!) { event(id: $id) { name } }`, { id: evidence })
    expect(event.name).toBe('crm.lookup')
  })

  test('an error that comes after the close is a failure, and a late status makes it worse', async () => {
    await postA({ session_id: 'late', type: 'span', agent_name: 'Desk', status: 'success' })
    expect(await reader.classified('late')).toMatchObject({ failureCount: 0, severity: null, primaryFailure: null })
    await postA(failedStep('late', { status: undefined }))
    const late = await until<any>(
      () => reader.read('late'),
      ({ classified, failureCount }) => classified && failureCount > 0,
    )
    expect([late.status, found(late)]).toEqual(['COMPLETED', ['TOOL_FAILURE MEDIUM']])
    await postA({ session_id: 'late', type: 'span', status: 'error' })
    const failed = await until<any>(
      () => reader.read('late'),
      ({ classified, status }) => classified && status === 'FAILED',
    )
    expect(found(failed)).toEqual(['TOOL_FAILURE HIGH'])
    expect(failed.revision).toBeGreaterThan(late.revision)
    // The same error once more is the same failure, with one more place.
    await postA(failedStep('late', { status: undefined }))
    const again = await until<any>(
      () => reader.read('late'),
      ({ failures }) => failures[0].evidenceCount === 2,
    )
    expect([again.failureCount, again.failures[0].evidence.length]).toEqual([1, 2])
  })

  test('a run reported as failed without a text gets a hint, and the text later takes it away', async () => {
    await postA({ session_id: 'mute', type: 'span', status: 'error', agent_name: 'Desk' })
    const mute = await reader.classified('mute')
    expect(mute).toMatchObject({ status: 'FAILED', failureCount: 0, failures: [] })
    expect(mute.hint).toContain('Send the field error')
    await postA({ session_id: 'mute', type: 'span', error: 'Quota exceeded for this month' })
    const told = await until<any>(
      () => reader.read('mute'),
      ({ failureCount }) => failureCount > 0,
    )
    expect([told.hint, found(told)]).toEqual([null, ['RUN_FAILURE HIGH']])
  })

  test('of failures equally bad the order of the categories decides which is the primary one', async () => {
    const fail = (type: string, own: object = {}) => ({ session_id: 'four', type, error: `${type} broke`, ...own })
    await postA([
      fail('span'),
      fail('retrieval'),
      fail('llm.call', { model: 'gpt-4o' }),
      fail('tool.call', { tool_name: 'one' }),
      fail('tool.call', { tool_name: 'two' }),
      fail('tool.call', { tool_name: 'two' }),
      { session_id: 'four', type: 'session.end', status: 'error' },
    ])
    const session = await reader.classified('four')
    expect(session.failures.map(({ category }: any) => category)).toEqual([
      'TOOL_FAILURE',
      'TOOL_FAILURE',
      'MODEL_FAILURE',
      'RETRIEVAL_FAILURE',
      'RUN_FAILURE',
    ])
    expect(session.failures.map(({ isPrimary }: any) => isPrimary)).toEqual([true, false, false, false, false])
    expect(session.failureCategories).toEqual(['TOOL_FAILURE', 'MODEL_FAILURE', 'RETRIEVAL_FAILURE', 'RUN_FAILURE'])
    // What happened in more places comes first.
    expect(session.failures.map(({ subject }: any) => subject).slice(0, 2)).toEqual(['two', 'one'])
  })
})

describe('platform B', () => {
  test('an execution that is posted again is classified anew: what is not found again is gone', async () => {
    // What an error workflow sends, then the whole execution, then how it ended in the end.
    await postB({
      execution: { id: 'again', error: { message: 'The service is overloaded' }, lastNodeExecuted: 'Push to CRM' },
      workflow: { id: 'flow', name: 'Flow' },
    })
    const first = await reader.classified('again', B)
    expect(found(first)).toEqual(['RUN_FAILURE HIGH'])
    await postB(execution('again', { error: 'The service is overloaded', durationMs: 130_000 }))
    const whole = await until<any>(
      () => reader.read('again', B),
      ({ classified, failureCount }) => classified && failureCount === 2,
    )
    expect(found(whole)).toEqual(['TOOL_FAILURE HIGH', 'LATENCY_SPIKE HIGH'])
    expect(whole.primaryFailure).toEqual({ category: 'TOOL_FAILURE', severity: 'HIGH', isPrimary: true })
    expect(whole.revision).toBeGreaterThan(first.revision)
    await postB(execution('again', { durationMs: 140_000 }))
    const slow = await until<any>(
      () => reader.read('again', B),
      ({ classified, failureCount }) => classified && failureCount === 1,
    )
    expect([slow.status, found(slow)]).toEqual(['COMPLETED', ['LATENCY_SPIKE HIGH']])
    const startedAt = Date.UTC(2026, 10, 20, 10, 2, 19)
    await postB(execution('again', { startedAt, durationMs: 2_000 }))
    const well = await until<any>(
      () => reader.read('again', B),
      ({ classified, failureCount }) => classified && failureCount === 0,
    )
    expect(well).toMatchObject({ severity: null, failureCategories: [], primaryFailure: null, failures: [] })
    expect(well.revision).toBeGreaterThan(slow.revision)
  })

  test('equal posts 20 at once leave each failure once', async () => {
    const body = execution('twenty', { error: 'Bad gateway', durationMs: 250_000 })
    const events = { 'twenty-a': { event_id: 'e-1' }, 'twenty-bare': {} }
    await Promise.all([
      ...Array.from({ length: 20 }, () => postB(body)),
      ...Object.entries(events).flatMap(([id, own]) => Array.from({ length: 20 }, () => postA(failedStep(id, own)))),
    ])
    await untilAllClassified(server.database.sql)
    expect(found(await reader.read('twenty', B))).toEqual(['LATENCY_SPIKE CRITICAL', 'TOOL_FAILURE HIGH'])
    for (const [id, evidenceCount] of [
      ['twenty-a', 1],
      ['twenty-bare', 20],
    ] as const)
      expect(await reader.read(id)).toMatchObject({ failureCount: 1, failures: [{ evidenceCount }] })
  })

  test.each([
    [60_000, []],
    [60_001, ['LATENCY_SPIKE MEDIUM']],
    [119_999, ['LATENCY_SPIKE MEDIUM']],
    [120_000, ['LATENCY_SPIKE HIGH']],
    [239_999, ['LATENCY_SPIKE HIGH']],
    [240_000, ['LATENCY_SPIKE CRITICAL']],
  ])('a first run of %d ms is judged by its ratio to a minute', async (durationMs, expected) => {
    await postB(execution(`ratio-${durationMs}`, { workflow: `Ratio ${durationMs}`, durationMs }))
    const session = await reader.classified(`ratio-${durationMs}`, B)
    expect(found(session)).toEqual(expected)
    expect(session.status).toBe('COMPLETED')
    const measures = {
      measured: durationMs,
      threshold: 60_000,
      unit: 'MS',
      thresholdSource: 'DEFAULT',
      thresholdRuns: 0,
    }
    expect(session.failures).toMatchObject(expected.map(() => measures))
  })

  test.each([
    ['tokens', 50_001, 'COST_ANOMALY MEDIUM', 50_000, 'TOKENS'],
    ['tokens', 200_000, 'COST_ANOMALY CRITICAL', 50_000, 'TOKENS'],
    ['pricedTokens', 800_000, 'COST_ANOMALY HIGH', 1, 'USD'],
  ] as const)('a first run of %s %d is a cost anomaly', async (what, spent, expected, threshold, unit) => {
    const id = `spent-${what}-${spent}`
    await postB(execution(id, { workflow: id, [what]: spent }))
    const session = await reader.classified(id, B)
    expect(found(session)).toEqual([expected])
    expect(session.failures[0]).toMatchObject({ threshold, unit, measured: unit === 'USD' ? 2 : spent })
  })

  test('the worst failure is the primary one, whatever its category', async () => {
    const run = new GeneratedExecution(AS_RECORDED)
    run.step('Enrich', { error: 'item 4 has no address' })
    rounds(run, ['Check', 'Wait for it'], 30, changing)
    const looping = run.execution({ id: 'mixed', workflowId: 'mixed', workflowName: 'Mixed' })
    await postB({ execution: looping })
    const mixed = await reader.classified('mixed', B)
    expect(found(mixed)).toEqual(['INFINITE_LOOP HIGH', 'TOOL_FAILURE MEDIUM'])
    const stoppedAt = new Date(Date.parse(looping.startedAt) + 300_000).toISOString()
    await postB({ execution: { ...looping, stoppedAt } })
    const slow = await until<any>(
      () => reader.read('mixed', B),
      ({ classified, failureCount }) => classified && failureCount === 3,
    )
    expect(found(slow)).toEqual(['LATENCY_SPIKE CRITICAL', 'INFINITE_LOOP HIGH', 'TOOL_FAILURE MEDIUM'])
    expect([slow.severity, slow.primaryFailure.category]).toEqual(['CRITICAL', 'LATENCY_SPIKE'])
  })
})
