// Every recorded execution of platform B through the real endpoint, against what can be read from the recording itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownProject, unchanging, type OwnProject } from '../fixtures/own-project.ts'
import { platformBRecordings, recording } from '../fixtures/recordings.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { CANARY, withSecrets } from './expected-planted-secrets.ts'
import { errorText, expectedEvents, expectedSession, tasksOf } from './expected-platform-b.ts'
import { recordedTotals } from './expected-recorded-totals.ts'
import { unrecordedCases } from './expected-unrecorded-cases.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

const FINAL = ['success', 'error', 'canceled', 'crashed']
const execution = (file: string) => recording(platformBRecordings, `${file}.json`).value
const times = (count: number, what: () => Promise<any>) => Promise.all(Array.from({ length: count }, what))
const stepOf = (one: any) => `${one.name} #${one.runIndex}`

test('the table of recordings names every file of the folder', () => {
  expect(Object.keys(recordedTotals).sort()).toEqual(platformBRecordings.map((one) => one.file.replace('.json', '')))
})

describe.each(platformBRecordings.map((one) => [one.file, one] as const))('%s', (file, { text, value }) => {
  const expected = expectedSession(value)
  const events = expectedEvents(value)
  const [runs, failedTasks, promptTokens, completionTokens, milliseconds] = recordedTotals[file.replace('.json', '')]!
  let project: OwnProject
  let answer: any
  let session: any
  beforeAll(async () => {
    project = await ownProject(server)
    answer = await project.ingestB(text)
    session = await project.session()
  })

  test('is accepted and closes its session with the outcome that was reported', () => {
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      duplicate: false,
      sessions: [{ session_id: value.id, status: expected.status.toLowerCase() }],
    })
    expect(session).toMatchObject({
      platform: 'PLATFORM_B',
      externalId: value.id,
      status: expected.status,
      reportedStatus: value.status,
      errorMessage: expected.errorMessage,
    })
  })

  test('says who ran, how and when', () => {
    expect(session).toMatchObject({
      agent: expected.agent,
      workflowId: value.workflowId,
      mode: value.mode,
      retryOf: value.retryOf,
      lastNode: value.data.resultData.lastNodeExecuted ?? null,
      startedAt: expected.startedAt,
      durationMs: expected.durationMs,
      durationSource: expected.durationSource,
    })
    if (value.stoppedAt) expect(session).toMatchObject({ closedAt: value.stoppedAt, durationMs: milliseconds })
    expect(session.closedAt).not.toBeNull()
  })

  test('has one event for every node run, in the order in which they ran', () => {
    expect(session.eventCount).toBe(runs)
    expect(session.events.map(stepOf)).toEqual(events.map(stepOf))
    expect(new Set(session.events.map((one: any) => one.id)).size).toBe(tasksOf(value).length)
  })

  test('keeps start, duration, status, kind and parent of every step', () => {
    const step = new Map<string, any>(session.events.map((one: any) => [stepOf(one), one]))
    for (const event of events) {
      const stored = step.get(stepOf(event))
      const start = event.startMs === null ? null : new Date(event.startMs).toISOString()
      expect.soft(stored, stepOf(event)).toMatchObject({
        occurredAt: start,
        status: event.status,
        kind: event.kind,
        kindSource: 'type',
        parentName: event.parent?.name ?? null,
        parentId: event.parent ? (step.get(stepOf(event.parent))?.id ?? expect.any(String)) : null,
        late: false,
        skewed: false,
      })
      const unknown = !event.duration || (event.status === 'crashed' && stored.durationMs === null)
      if (unknown) expect.soft(stored.durationMs).toBeNull()
      else {
        expect.soft(stored.durationMs, stepOf(event)).toBeGreaterThanOrEqual(event.duration!.least)
        expect.soft(stored.durationMs, stepOf(event)).toBeLessThanOrEqual(event.duration!.most)
      }
      expect.soft(stored.type === 'LLM_CALL', `${stepOf(event)} is ${stored.type}`).toBe(event.kind === 'LLM')
      if (event.kind === 'TOOL') expect.soft(stored.type).toBe('TOOL_CALL')
    }
    expect(session.llmCalls).toBe(events.filter((one) => one.kind === 'LLM').length)
  })

  test('says why a step failed in its most telling words', () => {
    const stored = session.events.filter((one: any) => one.error)
    expect(stored.map((one: any) => [stepOf(one), one.error.message])).toEqual(
      events.filter((one) => one.error !== null).map((one) => [stepOf(one), one.error]),
    )
    const expectedStatus = (one: any) => events.find((event) => stepOf(event) === stepOf(one))!.httpStatus
    for (const one of stored) if (expectedStatus(one)) expect(one.error.httpStatus).toBe(expectedStatus(one))
    expect(session.errorCount).toBe(stored.length)
    const failed = tasksOf(value).filter(([, , task]) => task.error || /error|crashed/.test(task.executionStatus))
    expect(failed.length).toBe(failedTasks)
  })

  test('counts tokens once and names the models', () => {
    expect(
      session.events.map((one: any) => [
        stepOf(one),
        one.model,
        one.promptTokens,
        one.completionTokens,
        one.tokensEstimated,
      ]),
    ).toEqual(
      events.map((one) => [stepOf(one), one.model, one.promptTokens, one.completionTokens, one.tokensEstimated]),
    )
    expect(session).toMatchObject({
      promptTokens: expected.promptTokens,
      completionTokens: expected.completionTokens,
      tokensEstimated: expected.tokensEstimated,
    })
    expect([expected.promptTokens, expected.completionTokens]).toEqual([promptTokens, completionTokens])
    expect(session.totalTokens).toBe(promptTokens === null ? null : promptTokens + completionTokens!)
    expect([...session.models].sort()).toEqual(expected.models)
    const unpriced = session.events.filter((one: any) => one.promptTokens !== null && one.costUsd === null)
    expect(session.unpricedCalls).toBe(unpriced.length)
    for (const one of session.events) expect(one.costSource).toBe(one.costUsd === null ? null : 'PRICED')
  })

  test('stores no resume token, signature, header secret, pinned data or node parameter', async () => {
    const other = await ownProject(server)
    expect((await other.ingestB({ execution: withSecrets(value) })).status).toBe(200)
    const texts = [...(await other.texts()), ...(await project.texts())]
    expect(texts.filter((one) => one.includes(CANARY)).map((one) => one.slice(0, 400))).toEqual([])
    expect(texts.filter((one) => /signature=(REDACTED|canary)/.test(one))).toEqual([])
    expect(texts.filter((one) => one.includes('jsCode') || one.includes('resumeToken'))).toEqual([])
    expect((await other.session()).eventCount).toBe(runs)
  })

  test('stays the same when it is posted again, also ten times at once', async () => {
    const before = unchanging(session)
    if (!value.stoppedAt) delete before.closedAt
    expect((await project.ingestB(text)).status).toBe(200)
    expect(unchanging(await project.session())).toMatchObject(before)
    const again = await times(10, () => project.ingestB(text))
    expect(again.map((one) => one.status)).toEqual(Array(10).fill(200))
    expect(unchanging(await project.session())).toMatchObject(before)

    const other = await ownProject(server)
    const first = await times(10, () => other.ingestB(text))
    expect(first.map((one) => one.status)).toEqual(Array(10).fill(200))
    expect(unchanging(await other.session())).toMatchObject(before)
  })

  test('is as rich when a bare notice of it came before or comes after', async () => {
    const { id, workflowId, status, startedAt, stoppedAt } = value
    const notice = { execution: { id, workflowId, status, startedAt, stoppedAt } }
    const { agent, closedAt, ...rich } = unchanging(session)
    await project.ingestB(notice)
    const after = unchanging(await project.session())
    expect(after).toMatchObject({ ...rich, agent })

    const other = await ownProject(server)
    await other.ingestB(notice)
    expect(await other.session()).toMatchObject({ status: expected.status, eventCount: 0 })
    await other.ingestB(text)
    const before = unchanging(await other.session())
    expect(before).toMatchObject(rich)
    expect([agent, workflowId]).toContain(before.agent)
  })

  test('a post that says running never undoes an outcome, and an outcome ends a run that was not over', async () => {
    const { closedAt, ...before } = unchanging(session)
    const running = { ...value, status: 'running', finished: false, stoppedAt: null }
    await project.ingestB({ execution: { ...running, data: { version: 1, resultData: { runData: {} } } } })
    if (FINAL.includes(value.status)) {
      expect(unchanging(await project.session())).toMatchObject({ ...before, ...(value.stoppedAt && { closedAt }) })
      return
    }
    const stoppedAt = new Date(Date.parse(value.createdAt) + 60_000).toISOString()
    await project.ingestB({ execution: { ...value, status: 'error', stoppedAt } })
    expect(await project.session()).toMatchObject({ status: 'FAILED', reportedStatus: 'error', closedAt: stoppedAt })
  })
})

describe('what is not known about a run', () => {
  test.each([
    ['55-data-too-large-to-display', /large|cut|size/i],
    ['40-running', /running/i],
    ['61-running-with-saved-progress', /running/i],
    ['56-new-queued', /new/i],
    ['31-waiting', /wait/i],
    ['52-waiting-for-webhook', /wait/i],
    ['13-agent-v31-responses-api', /estimate/i],
    ['24-chain-usage-estimate', /estimate/i],
    ['43-crashed', /crash/i],
    ['41-canceled', /./],
  ])('%s says so in its coverage', async (file, words) => {
    const project = await ownProject(server)
    await project.ingestB({ execution: execution(file) })
    const { coverage } = await project.session()
    expect(coverage.map((note: any) => `${note.code} ${note.detail}`).join('\n')).toMatch(words)
    for (const note of coverage) expect(note.detail).toMatch(/\w+ \w+/)
  })

  test.each(['01-basic-success', '02-code-error', '23-chain-basic-usage'])('%s leaves nothing open', async (file) => {
    const project = await ownProject(server)
    await project.ingestB({ execution: execution(file) })
    expect((await project.session()).coverage).toEqual([])
  })
})

describe('one execution that was recorded twice', () => {
  test.each([
    ['40-running', '41-canceled', { reportedStatus: 'canceled', durationMs: 986 }],
    ['41-canceled', '40-running', { reportedStatus: 'canceled', durationMs: 986 }],
    ['05-loop-12-items', '55-data-too-large-to-display', { eventCount: 40, lastNode: 'Summary', coverage: [] }],
    ['55-data-too-large-to-display', '05-loop-12-items', { eventCount: 40, lastNode: 'Summary', coverage: [] }],
  ])('%s and then %s keep what is richer', async (first, second, expected) => {
    const project = await ownProject(server)
    await project.ingestB({ execution: execution(first) })
    await project.ingestB({ execution: execution(second) })
    expect(await project.session()).toMatchObject({ status: 'COMPLETED', ...expected })
  })

  test('a retry is a session of its own that names the run it retries', async () => {
    const project = await ownProject(server)
    await project.ingestB({ execution: execution('50-failed-later-retried') })
    await project.ingestB({ execution: execution('51-retry-succeeded') })
    const told = (await project.sessions()).map((one) => [one.externalId, one.status, one.retryOf]).sort()
    expect(told).toEqual([
      ['45', 'FAILED', null],
      ['46', 'COMPLETED', '45'],
    ])
  })
})

describe('shapes that real executions have and the recordings lack', () => {
  test.each(Object.entries(unrecordedCases))('%s', async (_, { execution, session, steps, errors }) => {
    const project = await ownProject(server)
    expect((await project.ingestB({ execution })).status).toBe(200)
    const stored = await project.session()
    expect(stored).toMatchObject(session ?? {})
    expect(stored.events.map(stepOf)).toEqual(expectedEvents(execution).map(stepOf))
    const step = Object.fromEntries(stored.events.map((one: any) => [stepOf(one), one]))
    expect(step).toMatchObject(steps ?? {})
    if (!errors) return
    const failed = stored.events.filter((one: any) => one.error).map(stepOf)
    expect(failed.sort()).toEqual(Object.keys(errors).sort())
    for (const name of failed) expect(step[name].error.message).toMatch(/\w/)
    for (const [name, text] of Object.entries(errors)) expect(step[name].error.message).toContain(text)
  })
})

describe('the texts of a step', () => {
  const stored = async (execution: any) => {
    const project = await ownProject(server)
    await project.ingestB({ execution })
    const { events } = await project.session()
    const whole = await Promise.all(events.map((one: any) => project.event(one.id)))
    return { project, step: (name: string) => whole.find((one) => stepOf(one) === name) }
  }

  test('a model call keeps its prompt and its answer', async () => {
    const { step } = await stored(execution('23-chain-basic-usage'))
    expect(step('OpenAI Chat Model #0').input).toContain('Say hello in one line')
    expect(step('OpenAI Chat Model #0').output).toContain('Echo reply to: Say hello in one line — grüße ✅')
  })

  test('a vendor node keeps its answer, in every form that they have', async () => {
    const { step } = await stored(execution('27-vendor-nodes'))
    for (const name of ['OpenAI v1 simplified', 'OpenAI v1 raw', 'OpenAI v2 simplified', 'OpenAI v2 raw'])
      expect(step(`${name} #0`).output, name).toContain('Echo reply to: Say hi — grüße ✅')
    expect(step('Anthropic message #0').output).toContain('Anthropic-style reply to: Say hi')
  })

  test('NUL and lone surrogates become U+FFFD; markup and odd names stay as they are', async () => {
    const odd = await stored(execution('34-weird-names-binary'))
    expect(odd.step('Échec 失敗 🚀 #0').output).toContain('a\uFFFDb')
    expect(odd.step('Échec 失敗 🚀 #0').output).toContain('<img src=x onerror=alert(1)>')
    expect(odd.step('  spaced.name[0]   #0').name).toBe('  spaced.name[0]  ')
    const lone = await stored(execution('46-lone-surrogate-nan'))
    expect(lone.step('Lone #0').output).toContain('a\uFFFDb')
  })

  test.each([
    ['a key of OpenAI', 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'],
    ['a key of Anthropic', 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH-abcdefghAA'],
    ['a bearer header', 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789'],
  ])('%s in a text is masked, and the step says so', async (_, secret) => {
    const leaking = structuredClone(execution('01-basic-success'))
    leaking.data.resultData.runData.Approve[0].data.main[0][0].json.note = `I used ${secret} for it`
    const { project, step } = await stored(leaking)
    expect(step('Approve #0').masked).toBe(true)
    expect((await project.texts()).filter((one) => one.includes(secret.slice(-20)))).toEqual([])
  })

  test('the signature of a resume link in a text is not stored', async () => {
    const waiting = structuredClone(execution('52-waiting-for-webhook'))
    const link = 'http://localhost:5699/webhook-waiting/47?signature='
    waiting.data.resultData.runData.Before[0].data.main[0][0].json.mail = `Approve here: ${link}${CANARY}`
    const { project } = await stored(waiting)
    expect((await project.texts()).filter((one) => one.includes(CANARY))).toEqual([])
  })
})
