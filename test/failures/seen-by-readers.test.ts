// What readers see of a classification: filters of the list, live changes, and what each rule says of a run.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CATEGORIES, SEVERITIES } from '../../server/failures/failure.ts'
import { execution, failedStep, failureReader, untilAllClassified } from '../support/failed-runs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe, type Subscription } from '../support/socket.ts'
import { until } from '../support/until.ts'

const B = 'PLATFORM_B'
let server: TestServer
let reader: ReturnType<typeof failureReader>
beforeAll(async () => {
  server = await startServer()
  reader = failureReader(server)
})
afterAll(() => server.stop())

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const ROW = 'id externalId status agent platform severity failureCategories failureCount classified revision'
const CHANGED = `subscription ($filter: SessionFilter, $ids: [ID!]) {
  sessionChanged(filter: $filter, ids: $ids) { resync session { ${ROW} } } }`

/** Known to listen, and nothing of what was posted to find that out is left. */
async function following(variables: { filter?: object; ids?: string[] }, probe: () => Promise<unknown>) {
  const client = socketClient(server.url)
  const changes = subscribe(client, CHANGED, variables)
  await until(async () => {
    await probe()
    return changes.next(500).catch(() => null)
  })
  await untilAllClassified(server.database.sql)
  await pause(300)
  changes.waiting.length = 0
  return { changes, end: () => client.dispose() }
}
const nextOf = (changes: Subscription<any>, id: string, isThere: (session: any) => boolean = () => true) =>
  until<any>(
    async () => (await changes.next()).data.sessionChanged.session,
    (session) => session?.externalId === id && isThere(session),
  )

describe('the list', () => {
  beforeAll(async () => {
    for (let i = 0; i < 4; i++) {
      await server.ingestA([
        failedStep(`l-${i}-failed`, { agent_name: `Desk ${i % 2}` }),
        failedStep(`l-${i}-model`, { type: 'llm.call', model: 'gpt-4o', status: 'success', error: `broke ${i}` }),
        failedStep(`l-${i}-open`, { status: undefined }),
        failedStep(`l-${i}-fine`, { status: 'success', error: undefined }),
      ])
      await server.ingestB(execution(`l-${i}-node`, { error: 'Bad gateway', status: i % 2 ? 'success' : 'error' }))
      await server.ingestB(execution(`l-${i}-slow`, { workflow: `Slow ${i}`, durationMs: 61_000 + i * 70_000 }))
      await server.ingestB(execution(`l-${i}-dear`, { workflow: `Dear ${i}`, durationMs: 400_000, tokens: 60_000 }))
      await server.ingestB(execution(`l-${i}-well`))
    }
    await untilAllClassified(server.database.sql)
  })

  const listed = async (filter: object) =>
    (
      await server.query(
        `query ($filter: SessionFilter) { sessions(filter: $filter, first: 100) { nodes { ${ROW} } } }`,
        {
          filter,
        },
      )
    ).sessions.nodes as any[]

  test('shows exactly the sessions with a failure of the category, at least so bad, beside the other filters', async () => {
    const all = await listed({})
    expect(all.length).toBeGreaterThanOrEqual(32)
    const others: [filter: object, holds: (row: any) => boolean][] = [
      [{}, () => true],
      [{ status: 'COMPLETED' }, ({ status }) => status === 'COMPLETED'],
      [{ status: 'RUNNING' }, ({ status }) => status === 'RUNNING'],
      [{ platform: B }, ({ platform }) => platform === B],
      [{ agents: ['Desk', 'Slow 3'] }, ({ agent }) => ['Desk', 'Slow 3'].includes(agent)],
      [{ search: 'l-2' }, ({ externalId }) => externalId.startsWith('l-2')],
      [{ search: 'gateway' }, ({ externalId }) => externalId.endsWith('-node')],
    ]
    let most = 0
    for (const category of [undefined, ...CATEGORIES]) {
      for (const minSeverity of [undefined, ...SEVERITIES]) {
        if (!category && !minSeverity) continue
        for (const [other, holds] of others) {
          const expected = all.filter(
            (row) =>
              holds(row) &&
              row.failureCount > 0 &&
              (!category || row.failureCategories.includes(category)) &&
              (!minSeverity || SEVERITIES.indexOf(row.severity) >= SEVERITIES.indexOf(minSeverity)),
          )
          const filter = { ...other, category, minSeverity }
          const ids = (await listed(filter)).map(({ externalId }) => externalId)
          expect([filter, ids]).toEqual([filter, expected.map(({ externalId }) => externalId)])
          most = Math.max(most, ids.length)
        }
      }
    }
    // It is compared with something: four failed runs each of five kinds.
    expect(most).toBe(20)
  })

  test('pages with a filter of severity leave out none and show none twice', async () => {
    const filter = { minSeverity: 'MEDIUM' }
    const expected = (await listed(filter)).map(({ id }) => id)
    const ids: string[] = []
    let after: string | null = null
    do {
      const { sessions }: any = await server.query(
        `query ($filter: SessionFilter, $after: String) {
          sessions(filter: $filter, first: 3, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }`,
        { filter, after },
      )
      ids.push(...sessions.nodes.map(({ id }: any) => id))
      after = sessions.pageInfo.hasNextPage ? sessions.pageInfo.endCursor : null
    } while (after)
    expect(ids).toEqual(expected)
  })
})

describe('live', () => {
  let n = 0
  const probe = () => server.ingestA(failedStep(`probe-${n++}`))

  test('a subscriber hears of a failed session when it is classified, and of no other category or less bad one', async () => {
    const bad = await following({ filter: { minSeverity: 'HIGH' } }, probe)
    const tool = await following({ filter: { category: 'TOOL_FAILURE' } }, probe)
    await server.ingestA(failedStep('v-medium', { status: 'success' }))
    await server.ingestB(execution('v-slow', { workflow: 'V slow', durationMs: 130_000 }))
    await server.ingestA({ session_id: 'v-fine', type: 'span', status: 'success' })
    await server.ingestA(failedStep('v-high'))
    expect(await nextOf(bad.changes, 'v-slow')).toMatchObject({ severity: 'HIGH', classified: true })
    expect(await nextOf(bad.changes, 'v-high')).toMatchObject({ failureCategories: ['TOOL_FAILURE'] })
    expect(await nextOf(tool.changes, 'v-medium')).toMatchObject({ severity: 'MEDIUM', status: 'COMPLETED' })
    expect(await nextOf(tool.changes, 'v-high')).toMatchObject({ status: 'FAILED' })
    await pause(400)
    const rest = [...bad.changes.waiting, ...tool.changes.waiting].map(
      ({ data }) => data.sessionChanged.session.externalId,
    )
    expect(rest.filter((id) => id !== 'v-high')).toEqual([])
    await Promise.all([bad.end(), tool.end()])
  })

  test('a listed session is followed when its failures are gone', async () => {
    await server.ingestB(execution('v-listed', { error: 'Bad gateway' }))
    const { id } = await reader.classified('v-listed', B)
    const { changes, end } = await following({ filter: { minSeverity: 'CRITICAL' }, ids: [id] }, () =>
      server.ingestB(execution('v-listed', { error: 'Bad gateway' })),
    )
    const before = (await reader.read('v-listed', B)).revision
    await server.ingestB(execution('v-listed', { durationMs: 500 }))
    const after = await nextOf(changes, 'v-listed', ({ failureCount }) => failureCount === 0)
    expect(after).toMatchObject({ status: 'COMPLETED', severity: null, failureCategories: [] })
    expect(after.revision).toBeGreaterThan(before)
    await end()
  })

  test('a subscriber hears that a run without a failure is classified', async () => {
    const { changes, end } = await following({ filter: { platform: B } }, () => server.ingestB(execution(`v-p-${n++}`)))
    await server.ingestB(execution('v-well'))
    await reader.classified('v-well', B)
    // Whatever was told first, the last that is told is how it stands.
    let last: any = null
    const told = until<any>(
      async () => (last = (await changes.next(3_000)).data.sessionChanged.session),
      (session) => session.externalId === 'v-well' && session.classified,
    )
    await told.catch(() => {})
    expect(last).toMatchObject({ externalId: 'v-well', classified: true })
    await end()
  })
})

describe('what each rule says', () => {
  test('of a run: what was found, what it measured where it found nothing, and why it cannot tell', async () => {
    await server.ingestB(execution('x-slow', { workflow: 'X', durationMs: 130_000, tokens: 1_200 }))
    await reader.classified('x-slow', B)
    const said = await reader.explained('x-slow', B)
    expect(Object.keys(said)).toEqual(CATEGORIES.filter((one) => !/MODEL|RETRIEVAL/.test(one)))
    const outcomes = Object.fromEntries(Object.entries(said).map(([category, { outcome }]) => [category, outcome]))
    expect(outcomes).toEqual({
      TOOL_FAILURE: 'NOT_FOUND',
      RUN_FAILURE: 'NOT_FOUND',
      INFINITE_LOOP: 'NOT_FOUND',
      LATENCY_SPIKE: 'FOUND',
      COST_ANOMALY: 'NOT_FOUND',
    })
    expect(said.LATENCY_SPIKE).toMatchObject({
      measured: 130_000,
      threshold: 60_000,
      unit: 'MS',
      thresholdSource: 'DEFAULT',
    })
    expect(said.LATENCY_SPIKE.sentence).toMatch(/2 min 10 s.*limit is 1 min/)
    expect(said.COST_ANOMALY).toMatchObject({ measured: 1_200, threshold: 50_000, unit: 'TOKENS' })
    expect(said.COST_ANOMALY.sentence).toMatch(/1,200 tokens.*50,000 tokens/)
    for (const { looksFor, sentence } of Object.values(said)) expect([looksFor, sentence]).not.toContain('')

    await server.ingestB(execution('x-bare', { workflow: 'X', hasNodes: false, status: 'error' }))
    await reader.classified('x-bare', B)
    const bare = await reader.explained('x-bare', B)
    for (const category of ['TOOL_FAILURE', 'INFINITE_LOOP', 'COST_ANOMALY'])
      expect(bare[category]).toMatchObject({ outcome: 'CANNOT_TELL', measured: null, threshold: null })
    expect(bare.RUN_FAILURE.outcome).toBe('FOUND')
    expect(bare.LATENCY_SPIKE).toMatchObject({ outcome: 'NOT_FOUND', measured: 100 })
  })

  test('limits that were changed later find nothing in what was classified before, and it is said', async () => {
    const admin = { cookie: await server.signIn() }
    const fix = (latencyMs: number | null) =>
      server.query(
        `mutation ($latencyMs: Float) { setThresholds(agent: "Y", thresholds: { latencyMs: $latencyMs }) { agent } }`,
        { latencyMs },
        admin,
      )
    await server.ingestB(execution('y-quick', { workflow: 'Y', durationMs: 5_000 }))
    await server.ingestB(execution('y-slow', { workflow: 'Y', durationMs: 130_000 }))
    await untilAllClassified(server.database.sql)
    await fix(1_000)
    const quick = (await reader.explained('y-quick', B)).LATENCY_SPIKE
    expect(quick).toMatchObject({ outcome: 'NOT_FOUND', threshold: 1_000, thresholdSource: 'FIXED_FOR_AGENT' })
    expect(quick.sentence).toContain('It was not found when the run was classified: the limits were others then.')
    await fix(600_000)
    const slow = (await reader.explained('y-slow', B)).LATENCY_SPIKE
    expect(slow.outcome).toBe('FOUND')
    expect(slow.sentence).toContain('the limit is 1 min')
    await fix(null)
  })

  test('of a closed run that is not classified yet nobody says what its classification found', async () => {
    const holder = await server.database.sql.reserve()
    await holder`begin`
    // Whoever writes failures waits; posts and readers do not.
    await holder`lock table failures in exclusive mode`
    try {
      await server.ingestB(execution('z-waits', { workflow: 'Z', durationMs: 130_000, error: 'Bad gateway' }))
      expect(await reader.read('z-waits', B)).toMatchObject({ status: 'FAILED', classified: false, failureCount: 0 })
      const said = await reader.explained('z-waits', B)
      expect(said.TOOL_FAILURE.sentence).not.toContain('was not found when the run was classified')
    } finally {
      await holder`rollback`
      holder.release()
    }
    expect(await reader.classified('z-waits', B)).toMatchObject({ failureCount: 2 })
  })
})
