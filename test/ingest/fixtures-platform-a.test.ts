// Every recorded post of platform A through the real endpoint, against what its note promises.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownProject, unchanging, type OwnProject } from '../fixtures/own-project.ts'
import { platformARecordings } from '../fixtures/recordings.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { platformAStories } from './expected-platform-a.ts'

// The recordings carry times of one day in 2026. They are sent as of yesterday, so that no time counts as skewed.
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
const sentYesterday = (text: string) => text.replaceAll('2026-11-20', yesterday)
const stories = JSON.parse(JSON.stringify(platformAStories).replaceAll('{yesterday}', yesterday))

const NOTHING = {
  model: null,
  input: null,
  output: null,
  promptTokens: null,
  completionTokens: null,
  costUsd: null,
  costSource: null,
  durationMs: null,
  occurredAt: null,
  error: null,
  tokensEstimated: false,
  skewed: false,
  masked: false,
}

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

test('every recorded post has an expectation', () => {
  expect(Object.keys(platformAStories).map((name) => `${name}.json`)).toEqual(
    platformARecordings.map((one) => one.file),
  )
})

describe.each(platformARecordings.map((one) => [one.value.note, one] as const))('%s', (_, { file, text }) => {
  const story = stories[file.replace('.json', '')]
  const body = JSON.parse(sentYesterday(text)).body
  const ids = Object.keys(story.sessions)
  let project: OwnProject
  let answer: any
  let sessions: Map<string, any>
  const readAll = async () => new Map((await project.sessions()).map((one) => [one.externalId, one]))
  beforeAll(async () => {
    project = await ownProject(server)
    answer = await project.ingestA(body)
    sessions = await readAll()
  })

  test('the receipt counts the events, names the sessions and warns where something was read differently', () => {
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body)).toEqual(['accepted', 'duplicate', 'sessions', 'warnings'])
    expect(answer.body).toMatchObject({
      accepted: [body].flat().length,
      duplicate: false,
      sessions: ids.map((id) => ({ session_id: id, status: story.sessions[id].session.status.toLowerCase() })),
    })
    for (const one of answer.body.sessions) expect(one.url).toMatch(/^https?:\/\/\S+$/)
    const warned = answer.body.warnings.map((one: any) => one.field)
    // where the hint how to send the text stands is left open
    if (file !== 'failed-without-text.json') expect(warned).toEqual(story.warned)
    else expect(story.warned).toEqual(expect.arrayContaining(warned))
    for (const warning of answer.body.warnings) {
      expect(warning).toMatchObject({ code: expect.stringMatching(/^\w+$/), detail: expect.stringMatching(/\w+ \w+/) })
      expect(warning.pointer).toBe(Array.isArray(body) ? `/0/${warning.field}` : `/${warning.field}`)
    }
  })

  test('the session is what the note says', () => {
    expect([...sessions.keys()].sort()).toEqual(ids)
    for (const id of ids) {
      const { session, events } = story.sessions[id]
      expect(sessions.get(id)).toMatchObject({
        platform: 'PLATFORM_A',
        workflowId: null,
        reportedStatus: null,
        eventCount: events.length,
        ...session,
      })
      expect(sessions.get(id).closedAt === null).toBe(session.status === 'RUNNING')
    }
  })

  test('every event is kept as it was sent, in timeline order', async () => {
    for (const id of ids) {
      const kept = await Promise.all(sessions.get(id).events.map((one: any) => project.event(one.id)))
      const told = kept.map((one) => ({ ...one, error: one.error?.message ?? null }))
      const expected = story.sessions[id].events.map((one: any) => ({ ...NOTHING, ...one }))
      expect(told).toEqual(expected.map((one: any) => expect.objectContaining(one)))
    }
  })

  test('sent again without any key, its steps count as repeated and its outcome stays', async () => {
    project = await ownProject(server)
    await project.ingestA(body)
    const before = await readAll()
    expect((await project.ingestA(body)).body).toMatchObject({ duplicate: false })
    const after = await readAll()
    for (const id of ids) {
      expect(after.get(id)).toMatchObject({
        status: before.get(id).status,
        eventCount: 2 * before.get(id).eventCount,
        errorCount: 2 * before.get(id).errorCount,
        promptTokens: before.get(id).promptTokens === null ? null : 2 * before.get(id).promptTokens,
      })
    }
  })
})
