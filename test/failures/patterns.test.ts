// Patterns over sessions and agents: what they count, and what becomes of them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { disagreements, execution, failedStep, untilAllClassified } from '../support/failed-runs.ts'
import { patternStand } from '../support/pattern-stand.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let stand: ReturnType<typeof patternStand>
beforeAll(async () => {
  server = await startServer()
  stand = patternStand(server, { cookie: await server.signIn() })
})
afterAll(async () => {
  expect(await disagreements(server.database.sql)).toEqual([])
  await server.stop()
})

const HOUR_MS = 3_600_000
const sql = () => server.database.sql
const sumOf = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0)
const timeout = (i: number) => `Timeout of ${i}00 ms exceeded for order ${i}`

describe('what they count', () => {
  test('one failure of several sessions is one pattern of each agent, with count, share, times, sparkline and severity', async () => {
    const { postA, patterns, pattern } = await stand.newProject()
    const run = (agent: string, i: number, own: object = {}) =>
      failedStep(`c-${agent}-${i}`, { agent_name: agent, error: timeout(i), ...own })
    await postA([
      ...Array.from({ length: 5 }, (_, i) => run('North', i, { status: i < 4 ? 'success' : 'error' })),
      ...Array.from({ length: 2 }, (_, i) => run('South', i)),
      ...Array.from({ length: 15 }, (_, i) => ({ session_id: `c-fine-${i}`, agent_name: 'North', status: 'success' })),
      // Twice in one session is one session.
      run('South', 1),
      { session_id: 'c-nobody', type: 'span', error: 'Nobody is to blame', status: 'error' },
    ])
    const times = [await stand.age('c-North-0', 150), await stand.age('c-North-1', 30), await stand.age('c-North-2', 2)]
    const north = await pattern('North')
    expect(north).toMatchObject({
      category: 'TOOL_FAILURE',
      cause: 'TIMEOUT',
      subject: 'crm.lookup',
      state: 'OPEN',
      severity: 'HIGH',
      sessions: 5,
      runs: 20,
      share: 0.25,
      firstSeenAt: times[0],
      resolvedAt: null,
      isMuted: false,
      latest: { session: { externalId: expect.stringMatching(/^c-North-[34]$/) } },
    })
    expect(north.title).toBe(north.latest.errorText)
    expect(north.sparkline).toHaveLength(24)
    expect([sumOf(north.sparkline), north.sparkline[23]]).toEqual([5, 3])
    expect(Date.parse(north.lastSeenAt)).toBeGreaterThan(Date.now() - 60_000)
    expect(await pattern('South')).toMatchObject({ sessions: 2, runs: 2, share: 1, latest: { errorText: timeout(1) } })
    expect((await patterns({ agents: [null] })).map(({ agent, title }) => [agent, title])).toEqual([
      [null, 'Nobody is to blame'],
    ])
    expect((await patterns()).map(({ sessions }) => sessions)).toEqual([5, 2, 1])
    // Shorter spans count less of it, and what was seen last and first does not depend on them.
    for (const [range, sessions] of [
      ['LAST_30_DAYS', 5],
      ['LAST_24_HOURS', 3],
      ['LAST_HOUR', 2],
    ] as const) {
      const inRange = await pattern('North', range)
      expect([range, inRange.sessions, sumOf(inRange.sparkline)]).toEqual([range, sessions, sessions])
      expect([inRange.firstSeenAt, inRange.lastSeenAt]).toEqual([times[0], north.lastSeenAt])
    }
  })

  test('the severity is the worst in the range, and a re-posted run that lost its failure is not counted', async () => {
    const { postA, postB, pattern } = await stand.newProject()
    await postA([
      failedStep('s-old', { agent_name: 'Sev' }),
      failedStep('s-new', { agent_name: 'Sev', status: 'success' }),
    ])
    await stand.age('s-old', 48)
    expect(await pattern('Sev')).toMatchObject({ severity: 'HIGH', sessions: 2 })
    expect(await pattern('Sev', 'LAST_24_HOURS')).toMatchObject({ severity: 'MEDIUM', sessions: 1 })
    const run = { workflow: 'Rep', error: 'Bad gateway' }
    await postB([execution('s-1', run), execution('s-2', run)])
    expect(await pattern('Rep')).toMatchObject({ sessions: 2 })
    await postB(execution('s-2', { workflow: 'Rep', durationMs: 500 }))
    expect(await pattern('Rep')).toMatchObject({ sessions: 1, latest: { session: { externalId: 's-1' } } })
    await postB(execution('s-1', { workflow: 'Rep', durationMs: 500 }))
    expect(await pattern('Rep')).toBeUndefined()
  })

  test('a run whose name comes later moves its failures to the pattern of that name', async () => {
    const { postB, patterns } = await stand.newProject()
    const named = execution('n-1', { workflow: 'Billing', error: 'Bad gateway' }).execution
    const { workflowName: _name, ...nameless } = named
    await postB({ execution: nameless })
    expect((await patterns()).map(({ agent, sessions }) => [agent, sessions])).toEqual([['billing', 1]])
    await postB({ execution: named })
    expect((await patterns()).map(({ agent, sessions }) => [agent, sessions])).toEqual([['Billing', 1]])
  })

  test('the days of failures are those of each category in UTC, each session once', async () => {
    const { postA, postB, ask } = await stand.newProject()
    await postA([
      ...[0, 1, 2].map((i) => failedStep(`f-${i}`, { tool_name: 'one' })),
      failedStep('f-0', { tool_name: 'two' }),
      failedStep('f-3', { type: 'llm.call', model: 'gpt-4o' }),
    ])
    await postB(execution('f-4', { error: 'Bad gateway', durationMs: 90_000 }))
    for (const [i, hours] of [0, 30, 54, 30, 400].entries()) await stand.age(`f-${i}`, hours)
    const days = async (range: string) =>
      (await ask(`query ($range: TimeRange) { failureDays(range: $range) { day category sessions } }`, { range }))
        .failureDays
    const expected = async (hours: number) =>
      (
        await sql()`
          select f.seen_at, f.category, f.session_id from failures f join sessions s on s.id = f.session_id
          where s.external_id like 'f-_' and seen_at >= ${new Date(Date.now() - hours * HOUR_MS)}`
      ).reduce(
        (all, row) => {
          const key = `${row.seen_at.toISOString().slice(0, 10)} ${row.category}`
          return { ...all, [key]: (all[key] ?? new Set()).add(row.session_id) }
        },
        {} as Record<string, Set<string>>,
      )
    for (const [range, hours] of [
      ['LAST_7_DAYS', 168],
      ['LAST_30_DAYS', 720],
      ['LAST_24_HOURS', 24],
    ] as const) {
      const said = (await days(range)).map(({ day, category, sessions }: any) => [`${day} ${category}`, sessions])
      const meant = Object.entries(await expected(hours)).map(([key, ids]) => [key, ids.size])
      expect(said).toEqual(meant.toSorted(([a], [b]) => (a! < b! ? -1 : 1)))
    }
    expect(await days('LAST_24_HOURS')).toMatchObject([{ category: 'TOOL_FAILURE', sessions: 1 }])
  })
})

describe('what becomes of them', () => {
  test('a resolved pattern reopens when another session brings it, and not by what comes of an old one', async () => {
    const { postA, postB, pattern } = await stand.newProject()
    await postB(execution('o-1', { workflow: 'Open', error: 'Bad gateway' }))
    await postA(failedStep('o-a', { agent_name: 'Open A' }))
    for (const agent of ['Open', 'Open A']) {
      const { id } = await pattern(agent)
      const resolved = await stand.decide('resolve', id)
      expect(resolved).toMatchObject({ id, state: 'RESOLVED', resolvedBy: 'admin@example.com', sessions: 1 })
      expect(Date.now() - Date.parse(resolved.resolvedAt)).toBeLessThan(60_000)
    }
    const states = async () => [(await pattern('Open')).state, (await pattern('Open A')).state]
    // A late event, the same error once more, a richer post, and a classification without any.
    await postA([{ session_id: 'o-a', type: 'span' }, failedStep('o-a', { agent_name: 'Open A' })])
    await postB(execution('o-1', { workflow: 'Open', error: 'Bad gateway', durationMs: 700, tokens: 10 }))
    await sql()`update sessions set content_revision = content_revision + 1 where external_id in ('o-1', 'o-a')`
    await postB(execution('o-1', { workflow: 'Open', error: 'Bad gateway', durationMs: 800 }))
    await untilAllClassified(sql())
    expect(await states()).toEqual(['RESOLVED', 'RESOLVED'])
    await postB(execution('o-2', { workflow: 'Open', error: 'Bad gateway' }))
    await postA(failedStep('o-b', { agent_name: 'Open A' }))
    expect(await states()).toEqual(['REOPENED', 'REOPENED'])
    // Who did is for people to know.
    expect(await pattern('Open')).toMatchObject({ sessions: 2, resolvedBy: null })
    // Resolved again it is, until a person takes that back.
    const { id } = await pattern('Open')
    expect(await stand.decide('resolve', id)).toMatchObject({ state: 'RESOLVED' })
    expect(await stand.decide('reopen', id)).toMatchObject({ state: 'OPEN', resolvedAt: null, resolvedBy: null })
    expect((await pattern('Open')).state).toBe('OPEN')
  })

  test('a muted pattern goes on counting until a person ends it', async () => {
    const { postA, pattern, patterns } = await stand.newProject()
    await postA(failedStep('u-1', { agent_name: 'Mute' }))
    const { id } = await pattern('Mute')
    const muted = await stand.decide('mute', id, ', days: 7')
    expect(muted).toMatchObject({ isMuted: true, mutedBy: 'admin@example.com', state: 'OPEN' })
    expect(Math.round((Date.parse(muted.mutedUntil) - Date.now()) / HOUR_MS)).toBe(168)
    await postA(failedStep('u-2', { agent_name: 'Mute' }))
    expect(await patterns({ muted: true })).toMatchObject([{ sessions: 2, isMuted: true }])
    expect(await patterns({ muted: false })).toEqual([])
    expect(await stand.decide('mute', id, ', days: null')).toMatchObject({
      isMuted: false,
      mutedUntil: null,
      mutedBy: null,
    })
    expect(await patterns({ muted: false })).toHaveLength(1)
    for (const days of [0, -1, 366]) {
      const { body } = await stand.mutate(`{ muteFailurePattern(id: "${id}", days: ${days}) { id } }`)
      expect(body.errors[0]).toMatchObject({ message: `days must be 1 to 365, not ${days}.` })
    }
    await sql()`update failure_patterns set muted_until = now() - interval '1 second' where agent = 'Mute'`
    expect((await pattern('Mute')).isMuted).toBe(false)
  })

  test.each(['resolve', 'reopen', 'mute'])('nobody can %s what is not there', async (name) => {
    const code = async (id: string) =>
      (await stand.mutate(`{ ${name}FailurePattern(id: "${id}") { id } }`)).body.errors[0].extensions.code
    const nowhere = Buffer.from('FailurePattern:00000000-0000-4000-8000-000000000000').toString('base64')
    expect([await code(nowhere), await code('nope')]).toEqual(['NOT_FOUND', 'BAD_USER_INPUT'])
  })
})
