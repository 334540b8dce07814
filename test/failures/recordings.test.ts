// What is found in each recorded execution and flat payload, decided by hand from the recording; and that the rules are
// given the same events by the store as by the adapter that the tests of loops use.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { severityOf } from '../../server/failures/failure.ts'
import { readEventsOf, readForExplaining } from '../../server/failures/due.ts'
import { ownProject } from '../fixtures/own-project.ts'
import { platformARecordings, platformBRecordings, recording } from '../fixtures/recordings.ts'
import { runOf } from '../support/run-of.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

/** category, severity, cause, subject */
type Row = [category: string, severity: string, cause: string | null, subject: string | null]

const CONTINUED: Row[] = [
  ['TOOL_FAILURE', 'MEDIUM', 'NOT_FOUND', 'HTTP continue (regular)'],
  ['TOOL_FAILURE', 'MEDIUM', 'OTHER', 'Code continue (regular)'],
  ['TOOL_FAILURE', 'MEDIUM', 'PROVIDER_ERROR', 'HTTP error output'],
  ['TOOL_FAILURE', 'MEDIUM', 'OTHER', 'Code legacy continueOnFail'],
]

const PLATFORM_B: Record<string, Row[]> = {
  '01-basic-success.json': [],
  '02-code-error.json': [['TOOL_FAILURE', 'HIGH', 'INVALID_INPUT', 'Calculate Price']],
  '03-error-workflow-mode-error.json': [],
  '04-http-error-404.json': [['TOOL_FAILURE', 'HIGH', 'NOT_FOUND', 'Push to CRM']],
  '04-http-error-500.json': [['TOOL_FAILURE', 'HIGH', 'PROVIDER_ERROR', 'Push to CRM']],
  '04-http-error-refused.json': [['TOOL_FAILURE', 'HIGH', 'CONNECTION', 'Push to CRM']],
  '05-loop-12-items.json': [],
  '06-runaway-loop-61.json': [['INFINITE_LOOP', 'HIGH', null, 'Check Status']],
  '07-subworkflow-parent.json': [],
  '08-subworkflow-child-integrated.json': [],
  '10-subworkflow-child-failed.json': [['TOOL_FAILURE', 'HIGH', 'OTHER', 'Refuse']],
  '11-agent-v3-tools-memory.json': [],
  '13-agent-v31-responses-api.json': [],
  '14-agent-v22.json': [],
  '16-agent-tool-error.json': [['TOOL_FAILURE', 'MEDIUM', 'PROVIDER_ERROR', 'broken_tool']],
  // The agent only hands on what its model said.
  '18-agent-model-429.json': [['TOOL_FAILURE', 'HIGH', 'RATE_LIMIT', 'OpenAI Chat Model']],
  '23-chain-basic-usage.json': [],
  '24-chain-usage-estimate.json': [],
  '25-chain-output-parser.json': [],
  '27-vendor-nodes.json': [],
  '28-retry-on-fail-ok.json': [],
  '30-continue-on-fail-success.json': CONTINUED,
  '31-waiting.json': [],
  '32-timeout-canceled.json': [],
  '34-weird-names-binary.json': [],
  '35-custom-data.json': [],
  '37-chat-trigger.json': [],
  '38-schedule-trigger.json': [],
  '40-running.json': [],
  '41-canceled.json': [],
  // Crashed counts as completed, so the node's error is MEDIUM.
  '43-crashed.json': [['TOOL_FAILURE', 'MEDIUM', 'OTHER', 'Slow Call']],
  '44-cli-mode.json': [],
  '46-lone-surrogate-nan.json': [],
  '47-expression-error.json': [['TOOL_FAILURE', 'HIGH', 'NOT_FOUND', 'Bad Reference']],
  '48-engine-continued-errors-success.json': [
    ['TOOL_FAILURE', 'MEDIUM', 'OTHER', 'Call failing child'],
    // "Invalid input for 'Wait Amount'": "'amount' expects a number but we got 'abc'".
    ['TOOL_FAILURE', 'MEDIUM', 'INVALID_INPUT', 'Wait bad amount'],
  ],
  '50-failed-later-retried.json': [['TOOL_FAILURE', 'HIGH', 'PROVIDER_ERROR', 'Flaky API']],
  '51-retry-succeeded.json': [],
  '52-waiting-for-webhook.json': [],
  '55-data-too-large-to-display.json': [],
  '56-new-queued.json': [],
  '58-code-beside-constructor-node.json': [['TOOL_FAILURE', 'HIGH', 'OTHER', 'Plain code']],
  '61-running-with-saved-progress.json': [],
  'v1-01-basic-success.json': [],
  'v1-03-http-error-404.json': [['TOOL_FAILURE', 'HIGH', 'NOT_FOUND', 'Push to CRM']],
  'v1-05-agent-v22.json': [],
  'v1-08-chain-basic-usage.json': [],
  'v1-10-continue-on-fail.json': CONTINUED,
}

/** By session; 'open' where nothing closed it, so that no rule looked at it. */
const PLATFORM_A: Record<string, Record<string, Row[] | 'open'>> = {
  'all-text.json': { 'zap-1002': [] },
  'blank-values.json': { 'zap-1003': 'open' },
  'failed-then-end.json': { 'zap-1013': [['RUN_FAILURE', 'HIGH', 'TIMEOUT', null]] },
  'failed-without-text.json': { 'zap-1006': [] },
  'failure.json': { 'zap-1005': [['RUN_FAILURE', 'HIGH', 'RATE_LIMIT', null]] },
  'multi-step.json': { 'zap-1004': [] },
  'nested-by-unflatten.json': { 'zap-1010': 'open' },
  'no-type.json': { 'zap-1009': 'open' },
  'out-of-order.json': { 'zap-1012': [] },
  'single-success.json': { 'zap-1001': [] },
  'tool-error-then-end.json': { 'zap-1007': [['TOOL_FAILURE', 'MEDIUM', 'CONNECTION', 'crm.lookup']] },
  'two-sessions-interleaved.json': { 'zap-1008a': [], 'zap-1008b': [] },
  'unknown-fields.json': { 'zap-1011': 'open' },
}

interface Classified {
  id: string
  status: string
  isClassified: boolean
  found: Row[]
}

/** The sessions of a project by external id, once all that are closed are classified. */
async function classifiedIn(project: string): Promise<Record<string, Classified>> {
  const read = () => server.database.sql`
    select s.id, s.external_id, s.status, s.failure_count, s.classified_content = s.content_revision as is_classified,
      (select coalesce(jsonb_agg(jsonb_build_array(f.category, f.severity, f.cause, f.subject) order by f.place), '[]')
        from failures f where f.session_id = s.id) as found
    from sessions s join projects p on p.id = s.project_id where p.name = ${project}`
  const rows = await until(
    read,
    (all) => all.length > 0 && all.every((row) => row.is_classified || row.status === 'RUNNING'),
  )
  return Object.fromEntries(
    rows.map((row) => {
      const found = row.found.map(([category, severity, cause, subject]: [string, number, null, null]) => [
        category,
        severityOf(severity),
        cause,
        subject,
      ])
      expect(row.failure_count).toBe(found.length)
      return [row.external_id, { id: row.id, status: row.status, isClassified: row.is_classified, found }]
    }),
  )
}
const inOrder = (rows: Row[]) => rows.map((row) => JSON.stringify(row)).sort()

async function foundInExecution(file: string): Promise<Classified> {
  const project = await ownProject(server)
  const { value, text } = recording(platformBRecordings, file)
  const { status } = await project.ingestB(text)
  expect(status).toBe(200)
  const sessions = await classifiedIn(project.name)
  expect(Object.keys(sessions)).toEqual([value.id])
  return sessions[value.id]!
}

describe('platform B', () => {
  test('every recording has its row', () => {
    expect(Object.keys(PLATFORM_B)).toEqual(platformBRecordings.map(({ file }) => file))
  })

  for (const [file, expected] of Object.entries(PLATFORM_B)) {
    const title = `${file}: ${expected.map(([category, , cause]) => cause ?? category).join(', ') || 'nothing'} is found`
    test(title, async () => {
      expect(inOrder((await foundInExecution(file)).found)).toEqual(inOrder(expected))
    })
  }

  test('the rules are given the events of each recording as the tests of loops make them', async () => {
    const { sql } = server.database
    for (const { file, value, text } of platformBRecordings) {
      const project = await ownProject(server)
      await project.ingestB(text)
      const { id } = (await classifiedIn(project.name))[value.id]!
      const session = (await readForExplaining(sql, id))!
      const stored = (await readEventsOf(sql, [session])).get(id)!
      const made = runOf(value)
      expect(made.events, file).toEqual(stored)
      const { durationMs, tokens, llmCalls, status, coverage } = session
      expect(made.session, file).toMatchObject({ durationMs, tokens, llmCalls, status, coverage })
    }
  })
})

describe('platform A', () => {
  test('every payload has its row', () => {
    expect(Object.keys(PLATFORM_A)).toEqual(platformARecordings.map(({ file }) => file))
  })

  test.each(Object.entries(PLATFORM_A))('%s', async (file, expected) => {
    const project = await ownProject(server)
    const { status } = await project.ingestA(recording(platformARecordings, file).value.body)
    expect(status).toBe(200)
    const sessions = await classifiedIn(project.name)
    expect(Object.keys(sessions).sort()).toEqual(Object.keys(expected))
    for (const [id, rows] of Object.entries(expected)) {
      const isOpen = rows === 'open'
      expect(sessions[id], id).toMatchObject({ isClassified: !isOpen, found: isOpen ? [] : rows })
      expect(sessions[id]!.status === 'RUNNING', id).toBe(isOpen)
    }
  })

  test('an open session is looked at when it closes', async () => {
    const closed: Record<string, Row[]> = {
      'blank-values.json': [],
      'nested-by-unflatten.json': [['RUN_FAILURE', 'MEDIUM', 'PROVIDER_ERROR', null]],
      'no-type.json': [],
      'unknown-fields.json': [],
    }
    for (const [file, rows] of Object.entries(closed)) {
      const project = await ownProject(server)
      const { body } = recording(platformARecordings, file).value
      await project.ingestA([body, { session_id: body.session_id, type: 'session.end' }])
      const { found } = (await classifiedIn(project.name))[body.session_id]!
      expect(found, file).toEqual(rows)
    }
  })
})
