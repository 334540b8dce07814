// HTTP requests that real n8n nodes sent, replayed over a raw socket header by header.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownProject, type OwnProject } from '../fixtures/own-project.ts'
import { requestRecordings, type Recording } from '../fixtures/recordings.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { acceptedRequests, refusedRequests } from './expected-request-answers.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

const labelOf = ({ file }: Recording) => file.replace('.json', '')
const find = (label: string) => requestRecordings.find((one) => labelOf(one) === label)!

test('every recorded request has an expected answer', () => {
  expect([...Object.keys(acceptedRequests), ...Object.keys(refusedRequests), '007-rawtext'].sort()).toEqual(
    requestRecordings.map(labelOf),
  )
})

describe('requests that are taken', () => {
  test.each(Object.entries(acceptedRequests))('%s', async (label, expected) => {
    const project = await ownProject(server)
    const answer = await replay(find(label), project.key)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.body).toMatchObject({
      duplicate: false,
      sessions: [{ session_id: expected.externalId, status: expected.status.toLowerCase() }],
    })
    const { events, ...session } = await project.session()
    expect(session).toMatchObject(expected)
    expect(session.closedAt).not.toBeNull()
    const [row] = await server.database.sql`
      select s.status from sessions s join projects p on p.id = s.project_id where p.name = ${project.name}`
    expect(row!.status).toBe(expected.status)
  })

  test('sent in the recorded order into one project, the repeats of one execution stay one session', async () => {
    const project = await ownProject(server)
    const executions = new Set<string>()
    for (const label of Object.keys(acceptedRequests)) {
      const answer = await replay(find(label), project.key)
      expect(answer.status, `${label}: ${answer.text}`).toBe(200)
      const { workflowId, externalId } = acceptedRequests[label]!
      executions.add(`${workflowId}/${externalId}`)
    }
    const sessions = await project.sessions()
    expect(sessions.map((one) => `${one.workflowId}/${one.externalId}`).sort()).toEqual([...executions].sort())
    const ofWorkflow = (id: string) => sessions.find((one) => one.workflowId === id)
    expect(ofWorkflow('repPerItem000000')).toMatchObject({ closedAt: '2026-11-20T23:59:23.430Z', durationMs: 20 })
    expect(ofWorkflow('repRetry00000000')).toMatchObject({ closedAt: '2026-11-20T23:59:24.115Z', durationMs: 517 })
    expect(ofWorkflow('repTimeout000000')).toMatchObject({ closedAt: '2026-11-20T23:59:35.051Z', durationMs: 1241 })
    expect(ofWorkflow('repKeypair000000')).toMatchObject({ status: 'FAILED' })
    expect(ofWorkflow('repFailing000000')).toMatchObject({
      status: 'FAILED',
      agent: 'Report: failing workflow',
      errorMessage: 'Cannot reach billing system [line 1]',
      startedAt: '2026-11-20T23:59:24.923Z',
    })
  })

  test.each([
    ['015-peritem', '016-peritem'],
    ['022-retry', '023-retry'],
    ['040-timeoutretry', '041-timeoutretry'],
  ])('of %s and %s the later end stays, whichever comes first', async (first, second) => {
    const project = await ownProject(server)
    await replay(find(second), project.key)
    await replay(find(first), project.key)
    const stoppedAt = JSON.parse(find(second).value.body).execution.stoppedAt
    expect((await project.session()).closedAt).toBe(new Date(stoppedAt).toISOString())
  })

  test('one post per item of the last node, seven at once, makes one session', async () => {
    const project = await ownProject(server)
    const posts = [0, 1, 2, 3, 4, 5, 6].map((item) => {
      const one = find(item % 2 ? '015-peritem' : '016-peritem')
      return replay(one, project.key)
    })
    expect((await Promise.all(posts)).map((one) => one.status)).toEqual(Array(7).fill(200))
    expect(await project.session()).toMatchObject({ status: 'COMPLETED', closedAt: '2026-11-20T23:59:23.430Z' })
  })
})

describe('requests that are refused', () => {
  test.each(Object.entries(refusedRequests))('%s', async (label, expected) => {
    const project = await ownProject(server)
    const answer = await replay(find(label), project.key)
    expect(answer.status, answer.text).toBe(expected.status)
    expectProblem(answer, expected.code)
    expect(answer.body.detail).toMatch(expected.sentence)
    for (const name of expected.headers ?? []) expect(answer.headers[name]).toMatch(/\w/)
    if (expected.status === 405) expect(answer.headers.allow).toContain('POST')
    expect(await project.sessions()).toEqual([])
  })

  test('007-rawtext, JSON that calls itself text, is either taken or refused with the setting to change', async () => {
    const project = await ownProject(server)
    const answer = await replay(find('007-rawtext'), project.key)
    if (answer.status === 200) {
      expect(await project.session()).toMatchObject({ externalId: '6', status: 'COMPLETED', workflowId: null })
      return
    }
    expect(answer.status).toBe(415)
    expectProblem(answer, 'unsupported_media_type')
    expect(answer.body.detail).toMatch(/application\/json|Payload Type|JSON/)
    expect(await project.sessions()).toEqual([])
  })
})

interface RawAnswer {
  status: number
  headers: Record<string, string>
  text: string
  body: any
}

function expectProblem(answer: RawAnswer, code: string): void {
  const problem = answer.body
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
  expect(problem).toMatchObject({ status: answer.status, code, message: problem.detail, requestId: expect.any(String) })
  const order = ['detail', 'message', 'title', 'status', 'type', 'code', 'errors', 'errorCount', 'requestId']
  expect(Object.keys(problem)).toEqual(order.filter((member) => member in problem))
  expect(problem.detail).toMatch(/^[A-Z"'{].*\w.*\.$/s)
  expect(answer.text).not.toMatch(/ at .*\.(ts|js):\d|select |insert |postgres/i)
}

/** Sends the recorded bytes; only the key is another one, and the length where secrets were cut out of the body. */
function replay({ value: request }: Recording, key: string): Promise<RawAnswer> {
  const body = Buffer.from(request.body ?? '')
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name: string = request.rawHeaders[at]
    const replaced: Record<string, unknown> = { 'x-api-key': key, 'content-length': body.length }
    lines.push(`${name}: ${replaced[name.toLowerCase()] ?? request.rawHeaders[at + 1]}`)
  }
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname)
    socket.on('error', reject)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', () => resolve(parse(Buffer.concat(chunks).toString())))
    socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]))
  })
}

function parse(raw: string): RawAnswer {
  const end = raw.indexOf('\r\n\r\n')
  const [first, ...lines] = raw.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => line.split(/: (.*)/s)).map(([name, to]) => [name!.toLowerCase(), to!]),
  )
  const text = raw.slice(end + 4)
  return { status: Number(first!.split(' ')[1]), headers, text, body: JSON.parse(text) }
}
