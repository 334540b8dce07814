// What deletion and retention leave of failures and patterns: nothing of what went, and all of what stayed.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Projects } from '../../server/access/projects.ts'
import { connectDatabase } from '../../server/database/connect.ts'
import { ensurePartitions } from '../../server/database/partitions.ts'
import { Retention } from '../../server/sessions/retention.ts'
import { ownProject } from '../fixtures/own-project.ts'
import { disagreements, execution, failedStep, failureReader, untilAllClassified } from '../support/failed-runs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'

const DAY_MS = 86_400_000
let server: TestServer
let admin: { cookie: string }
beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
})
afterAll(() => server.stop())
afterEach(async () => expect(await disagreements(server.database.sql)).toEqual([]))

const sql = () => server.database.sql
const mutate = (text: string, variables = {}) => server.query(`mutation ${text}`, variables, admin)
const deleteById = (id: string) => mutate(`($id: ID!) { deleteSession(id: $id) }`, { id })
const PATTERN = 'id agent title sessions severity firstSeenAt lastSeenAt state'
const patternsOf = async (agent: string) =>
  (
    await server.query(
      `query ($agent: String!) { failurePatterns(filter: { agents: [$agent] }, range: LAST_30_DAYS) { nodes { ${PATTERN} } } }`,
      { agent },
    )
  ).failurePatterns.nodes as any[]
/** What of an agent is still anywhere where failures are kept. */
const tracesOf = async (agent: string) => {
  const [row] = await sql()`
    select (select count(*)::int from failure_patterns where agent = ${agent}) as patterns,
      (select count(*)::int from failures f left join failure_patterns p on p.id = f.pattern_id
        where p.agent = ${agent} or p.id is null) as failures`
  return row
}

test('a deleted session takes its failures along, its pattern counts one less and goes with the last, and it is told', async () => {
  const reader = failureReader(server)
  await server.ingestA([failedStep('d-1', { agent_name: 'Del' }), failedStep('d-2', { agent_name: 'Del' })])
  await untilAllClassified(sql())
  const [one, two] = [await reader.read('d-1'), await reader.read('d-2')]
  const [pattern] = await patternsOf('Del')
  expect(pattern).toMatchObject({ sessions: 2, severity: 'HIGH', state: 'OPEN' })
  const client = socketClient(server.url)
  const changes = subscribe(
    client,
    'subscription { failurePatternChanged { goneId resync pattern { id sessions lastSeenAt } } }',
  )
  let n = 0
  await until(async () => {
    await server.ingestA(failedStep(`d-probe-${n++}`, { agent_name: 'Probe' }))
    return changes.next(700).catch(() => null)
  })
  const told = (isThere: (change: any) => boolean) =>
    until<any>(async () => (await changes.next()).data.failurePatternChanged, isThere)

  expect(await deleteById(two.id)).toEqual({ deleteSession: true })
  expect((await patternsOf('Del'))[0]).toMatchObject({ id: pattern.id, sessions: 1 })
  expect(await told((change) => change.pattern?.id === pattern.id)).toMatchObject({ pattern: { sessions: 1 } })
  expect(await deleteById(one.id)).toEqual({ deleteSession: true })
  expect(await patternsOf('Del')).toEqual([])
  expect(await told(({ goneId }) => goneId !== null)).toEqual({ goneId: pattern.id, resync: false, pattern: null })
  expect((await server.query(`query ($id: ID!) { node(id: $id) { id } }`, { id: pattern.id })).node).toBeNull()
  expect(await tracesOf('Del')).toEqual({ patterns: 0, failures: 0 })
  await client.dispose()

  // Posted to again, it is another session with a failure of its own.
  await server.ingestA(failedStep('d-1', { agent_name: 'Del', status: 'success' }))
  expect(await reader.classified('d-1')).toMatchObject({ failureCount: 1, severity: 'MEDIUM' })
  expect(await patternsOf('Del')).toMatchObject([{ id: pattern.id, sessions: 1, severity: 'MEDIUM' }])
})

test('nothing is left of a pattern whose failure was gone before its session was deleted', async () => {
  const reader = failureReader(server)
  const run = { workflow: 'Mended', error: 'Bad gateway' }
  await server.ingestB(execution('m-1', run))
  await reader.classified('m-1', 'PLATFORM_B')
  await server.ingestB(execution('m-1', { workflow: 'Mended', durationMs: 500 }))
  const mended = await until<any>(
    () => reader.read('m-1', 'PLATFORM_B'),
    ({ classified, failureCount }) => classified && failureCount === 0,
  )
  expect(await patternsOf('Mended')).toEqual([])
  await deleteById(mended.id)
  expect(await tracesOf('Mended')).toEqual({ patterns: 0, failures: 0 })
})

test('nothing is left of patterns whose last two sessions are deleted at the same time', async () => {
  const reader = failureReader(server)
  const tools = Array.from({ length: 25 }, (_, i) => `pair-${i}`)
  const post = (side: string) =>
    server.ingestA(tools.map((tool) => failedStep(`${side}-${tool}`, { agent_name: 'Pairs', tool_name: tool })))
  await Promise.all([post('left'), post('right')])
  await untilAllClassified(sql())
  expect(await tracesOf('Pairs')).toEqual({ patterns: 25, failures: 50 })
  for (const tool of tools) {
    const pair = await Promise.all([reader.read(`left-${tool}`), reader.read(`right-${tool}`)])
    await Promise.all(pair.map(({ id }) => deleteById(id)))
  }
  expect(await tracesOf('Pairs')).toEqual({ patterns: 0, failures: 0 })
})

test('retention takes old failures, patterns keep what is left and go with their last session', async () => {
  const project = await ownProject(server)
  await project.ingestA([
    failedStep('r-old', { agent_name: 'Kept', event_id: 'old' }),
    failedStep('r-new', { agent_name: 'Kept' }),
    failedStep('r-gone', { agent_name: 'Gone' }),
  ])
  await untilAllClassified(sql())
  await ensurePartitions(sql(), Date.now() - 20 * DAY_MS)
  const then = new Date(Date.now() - 20 * DAY_MS)
  for (const id of ['r-old', 'r-gone']) {
    const [session] = await sql()`
      update sessions set first_seen_at = ${then}, last_event_at = ${then} where external_id = ${id} returning id`
    await sql()`update events set day = ${then.toISOString().slice(0, 10)}::date where session_id = ${session!.id}`
    await sql()`update failures set seen_at = ${then} where session_id = ${session!.id}`
  }
  const kept = async () =>
    (
      await server.query(
        `{ failurePatterns(range: LAST_30_DAYS) { nodes { ${PATTERN} sparkline runs share } } }`,
        {},
        { 'x-api-key': project.key },
      )
    ).failurePatterns.nodes.toSorted((a: any, b: any) => a.agent.localeCompare(b.agent))
  const before = await kept()
  expect(before).toMatchObject([
    { agent: 'Gone', sessions: 1 },
    { agent: 'Kept', sessions: 2, runs: 2, share: 1, firstSeenAt: then.toISOString() },
  ])
  await mutate(`($project: String!) { updateProject(project: $project, settings: { retentionDays: 10 }) { name } }`, {
    project: project.name,
  })
  const projects = new Projects(sql(), () => {})
  await projects.load()
  const told: string[] = []
  const retention = new Retention({
    sql: sql(),
    projects,
    onGone: (_sessions, patternIds) => told.push(...patternIds),
    onError: (error) => expect(error).toBeUndefined(),
  })
  await retention.run()
  const after = await kept()
  expect(after).toMatchObject([{ agent: 'Kept', sessions: 1, runs: 1, share: 1 }])
  expect(after[0].firstSeenAt).toBe(after[0].lastSeenAt)
  expect(after[0].sparkline.reduce((sum: number, one: number) => sum + one)).toBe(1)
  expect(told).toHaveLength(2)
  expect(await tracesOf('Gone')).toEqual({ patterns: 0, failures: 0 })
})

test('all runs of an agent deleted while it goes on failing leave the failures of the later ones, each in its pattern', async () => {
  for (let round = 0; round < 6; round++) {
    const post = (part: string) =>
      server.ingestA(
        Array.from({ length: 60 }, (_, i) =>
          failedStep(`w-${round}-${part}-${i}`, { agent_name: 'Wiped', tool_name: `tool-${i % 20}` }),
        ),
      )
    await post('before')
    await untilAllClassified(sql())
    const { deleteAgentSessions } = await mutate('{ deleteAgentSessions(agent: "Wiped") { id } }')
    for (let part = 0; part < 4; part++) expect((await post(`during-${part}`)).status).toBe(200)
    await until(
      async () =>
        (await sql()`select 1 from deletions where id = ${deleteAgentSessions.id} and finished_at is not null`).length,
      Boolean,
      20_000,
    )
    await untilAllClassified(sql(), 20_000)
    expect(await disagreements(sql()), `round ${round}`).toEqual([])
  }
})

test('a session classified while the last one of its pattern is deleted keeps its pattern', async () => {
  const reader = failureReader(server)
  const fails = (id: string, tool: string) =>
    failedStep(id, { agent_name: 'Raced', tool_name: tool, status: undefined })
  const close = (id: string) => server.ingestA({ session_id: id, type: 'session.end' })
  const waitAtLocks = async ({ isClassifying }: { isClassifying: boolean }) =>
    await sql()`
      select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and (application_name = 'runwatch-classify') = ${isClassifying}`
  const pools = connectDatabase({ url: server.database.url, prepare: true })
  expect(await pools.classify`show statement_timeout`).toEqual([{ statement_timeout: '10s' }])
  await pools.close()
  const tools = ['first', 'second', 'third', 'fourth']
  for (const tool of tools) {
    await server.ingestA(fails(`q-${tool}`, tool))
    await close(`q-${tool}`)
  }
  await untilAllClassified(sql())
  const known = await sql()`select * from failure_patterns where agent = 'Raced' order by id`
  expect(known).toHaveLength(4)
  // The last of them is not there, and somebody is about to write it: whoever writes all four waits at it.
  const last = known.at(-1)!
  await deleteById((await reader.read(`q-${last.subject}`)).id)
  const holder = await sql().reserve()
  await holder`begin`
  await holder`insert into failure_patterns ${sql()(last)}`
  try {
    await server.ingestA(tools.map((tool) => fails('q-new', tool)))
    await close('q-new')
    await until(async () => (await waitAtLocks({ isClassifying: true })).length)
    const others = await Promise.all(known.slice(0, -1).map(({ subject }) => reader.read(`q-${subject}`)))
    let isDeleted = false
    const deleting = Promise.all(others.map(({ id }) => deleteById(id))).then(() => (isDeleted = true))
    // If they wait for whoever classifies, then until its time limit: ending its statement now does what that would.
    await until(async () => {
      if ((await waitAtLocks({ isClassifying: false })).length > 0)
        for (const { pid } of await waitAtLocks({ isClassifying: true })) await sql()`select pg_cancel_backend(${pid})`
      return isDeleted
    })
    await deleting
  } finally {
    await holder`rollback`
    holder.release()
  }
  await reader.classified('q-new')
  expect(await disagreements(sql())).toEqual([])
  expect(await patternsOf('Raced')).toHaveLength(4)
})
