// What goes: sessions older than their project keeps them, one session, an agent's; and what comes after it.
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { dropOldPartitions, dropPartition, ensurePartitions, partitionDays } from '../../server/database/partitions.ts'
import { Projects } from '../../server/access/projects.ts'
import { Retention } from '../../server/sessions/retention.ts'
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
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const mutate = (text: string, variables = {}) => server.query(`mutation ${text}`, variables, admin)
const sql = () => server.database.sql
const countOf = async (search: string) => {
  const [row] = await sql()`
    select count(distinct s.id)::int as sessions, count(e.*)::int as events
    from sessions s left join events e on e.session_id = s.id where s.external_id like ${`${search}%`}`
  return row
}
/** Events that have no session any more. */
const orphans = async () => {
  const [row] = await sql()`
    select count(*)::int as count from events e where not exists (select from sessions s where s.id = e.session_id)`
  return row!.count
}

/** Posts a session and moves it into the past, with its events. */
async function postOld(id: string, daysAgo: number, key?: string) {
  const events = [
    { session_id: id, type: 'span', agent_name: 'Old hand' },
    { session_id: id, status: 'success' },
  ]
  await server.ingestA(events, key ? { 'x-api-key': key } : {})
  await ensurePartitions(sql(), Date.now() - daysAgo * DAY_MS)
  const then = new Date(Date.now() - daysAgo * DAY_MS)
  await sql().begin(async (tx) => {
    const [session] = await tx`update sessions set first_seen_at = ${then} where external_id = ${id} returning id`
    await tx`update events set day = ${then.toISOString().slice(0, 10)}::date where session_id = ${session!.id}`
  })
}

async function runRetention() {
  const projects = new Projects(sql(), () => {})
  await projects.load()
  const errors: unknown[] = []
  const gone: string[] = []
  const retention = new Retention({
    sql: sql(),
    projects,
    onGone: (rows) => gone.push(...rows.map(({ id }) => id)),
    onError: (error) => errors.push(error),
  })
  await retention.run()
  expect(errors).toEqual([])
  return gone.length
}

test('a dry run says what would go, and nothing goes', async () => {
  await postOld('dry-40', 40)
  await postOld('dry-20', 20)
  const preview = async (days: number) => {
    const text = `query ($days: Int!) { retentionPreview(days: $days) { before sessions events oldestFirstSeenAt } }`
    return (await server.query(text, { days }, admin)).retentionPreview
  }
  expect(await preview(30)).toMatchObject({ sessions: 1, events: 2 })
  expect(await preview(10)).toMatchObject({ sessions: 2, events: 4 })
  expect(await preview(50)).toMatchObject({ sessions: 0, events: 0, oldestFirstSeenAt: null })
  expect((await preview(30)).before).toMatch(/T00:00:00.000Z$/)
  expect(await countOf('dry-')).toEqual({ sessions: 2, events: 4 })
  for (const days of [0, -1, 4_000]) {
    const { body } = await server.graphql(`{ retentionPreview(days: ${days}) { sessions } }`, {}, admin)
    expect(body.errors[0].message).toMatch(/retentionDays must be 1 to 3650/)
  }
})

test('days that nobody keeps go as whole partitions, others row by row, and nothing else goes', async () => {
  const { createApiKey } = await mutate(
    `{ createApiKey(input: { name: "k", scopes: [INGEST], project: "keeper" }) { secret } }`,
  )
  for (const days of [5, 25, 45]) {
    await postOld(`mine-${days}`, days)
    await postOld(`keeper-${days}`, days, createApiKey.secret)
  }
  await mutate(`{ updateProject(settings: { retentionDays: 10 }) { retentionDays } }`)
  // The other project keeps all: rows go one by one.
  expect(await runRetention()).toBeGreaterThanOrEqual(2)
  expect(await countOf('mine-')).toEqual({ sessions: 1, events: 2 })
  expect(await countOf('keeper-')).toEqual({ sessions: 3, events: 6 })
  await mutate(`{ updateProject(project: "keeper", settings: { retentionDays: 30 }) { retentionDays } }`)
  const before = await partitionDays(sql(), 'events')
  expect(await runRetention()).toBe(1)
  expect(await countOf('keeper-')).toEqual({ sessions: 2, events: 4 })
  const after = await partitionDays(sql(), 'events')
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
  expect(before).toContain(day(45))
  expect(after).not.toContain(day(45))
  expect(after).toContain(day(25))
  expect(await runRetention()).toBe(0)
  expect(await orphans()).toBe(0)
  const { projects } = await server.query(`{ projects { name retentionDays } }`, {}, admin)
  expect(projects).toEqual([
    { name: 'default', retentionDays: 10 },
    { name: 'keeper', retentionDays: 30 },
  ])
  await mutate(`{ updateProject(settings: { retentionDays: null }) { retentionDays } }`)
})

test('a session whose day is gone is opened anew by the next post', async () => {
  await mutate(`{ updateProject(settings: { retentionDays: 60 }) { retentionDays } }`)
  await mutate(`{ updateProject(project: "keeper", settings: { retentionDays: 60 }) { retentionDays } }`)
  await postOld('again', 90)
  await runRetention()
  expect(await countOf('again')).toEqual({ sessions: 0, events: 0 })
  const { status, body } = await server.ingestA({ session_id: 'again', type: 'span' })
  expect({ status, sessions: body.sessions[0].status }).toEqual({ status: 200, sessions: 'running' })
  expect(await countOf('again')).toEqual({ sessions: 1, events: 1 })
})

test('a dropped partition is taken out while others read and write, also after it was broken off half way', async () => {
  await ensurePartitions(sql(), Date.now() - 200 * DAY_MS)
  const day = new Date(Date.now() - 200 * DAY_MS).toISOString().slice(0, 10)
  const table = `events_${day.replaceAll('-', '')}`
  // A reader holds it, and whoever detaches it gives up waiting: it stays half detached.
  const impatient = postgres(server.database.url, { max: 1, connection: { statement_timeout: 300 } })
  closers.push(() => impatient.end())
  await sql().begin(async (tx) => {
    await tx`select 1 from events where day = ${day}::date`
    await expect(impatient.unsafe(`alter table events detach partition ${table} concurrently`)).rejects.toThrow(
      /timeout/,
    )
  })
  const [pending] = await sql()`select inhdetachpending from pg_inherits where inhrelid = ${table}::regclass`
  expect(pending!.inhdetachpending).toBe(true)
  const posts = Promise.all(Array.from({ length: 50 }, (_, i) => server.ingestA({ session_id: `beside-${i}` })))
  await dropPartition(sql(), 'events', day)
  expect((await posts).map(({ status }) => status)).toEqual(Array(50).fill(200))
  expect(await partitionDays(sql(), 'events')).not.toContain(day)
  // Nothing is there to drop: nothing happens.
  await dropPartition(sql(), 'events', day)
})

test('old Idempotency-Keys and log entries go with their day, today stays', async () => {
  const send = () => server.ingestA({ session_id: 'kept-key' }, { 'idempotency-key': 'kept' })
  await send()
  const tables = ['idempotency_keys', 'ingest_accepted']
  await ensurePartitions(sql(), Date.now() - 9 * DAY_MS)
  for (const table of tables) expect((await partitionDays(sql(), table)).length).toBeGreaterThan(9)
  await dropOldPartitions(sql())
  const oldest = async (table: string) => Date.parse((await partitionDays(sql(), table))[0]!)
  expect(Date.now() - (await oldest('idempotency_keys'))).toBeLessThan(8 * DAY_MS)
  expect(Date.now() - (await oldest('ingest_accepted'))).toBeLessThan(2 * DAY_MS)
  expect((await send()).body.duplicate).toBe(true)
})

test('a deleted session is gone with its events, its subscribers hear of it, and a later post opens it anew', async () => {
  await server.ingestA([
    { session_id: 'to-delete', type: 'span', input: 'text that goes' },
    { session_id: 'to-delete' },
  ])
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "to-delete") { id revision } }`)
  const client = socketClient(server.url)
  closers.push(async () => client.dispose())
  const list = subscribe(client, `subscription { sessionChanged { goneId resync session { id revision } } }`)
  const timeline = subscribe(
    client,
    `subscription { eventsChanged(sessionId: "${session.id}", after: 0) { revision events { id } } }`,
  )
  expect((await timeline.next()).data.eventsChanged.events).toHaveLength(2)
  // When the timeline has spoken the list, asked for before it, stands too.
  expect(await mutate(`($id: ID!) { deleteSession(id: $id) }`, { id: session.id })).toEqual({ deleteSession: true })
  expect((await list.next()).data.sessionChanged).toEqual({ goneId: session.id, resync: false, session: null })
  expect(await timeline.ended).toBeNull()
  expect(await countOf('to-delete')).toEqual({ sessions: 0, events: 0 })
  const [left] = await sql()`select count(*)::int as count from events where input = 'text that goes'`
  expect(left!.count).toBe(0)
  expect(await mutate(`($id: ID!) { deleteSession(id: $id) }`, { id: session.id })).toEqual({ deleteSession: false })

  await server.ingestA({ session_id: 'to-delete', type: 'span' })
  const anew = (await list.next()).data.sessionChanged.session
  expect(anew.id).toBe(session.id)
  expect(anew.revision).toBeGreaterThan(session.revision)
  expect(await orphans()).toBe(0)
})

test("an agent's sessions go in the background, those that come meanwhile and those of others stay", async () => {
  const batch = Array.from({ length: 450 }, (_, i) => ({ session_id: `agent-${i}`, agent_name: 'To go', type: 'span' }))
  await server.ingestA(batch)
  await server.ingestA({ session_id: 'stays', agent_name: 'To stay', type: 'span' })
  const { deleteAgentSessions } = await mutate(`{ deleteAgentSessions(agent: "To go") { id agent requestedBy } }`)
  expect(deleteAgentSessions).toMatchObject({ agent: 'To go', requestedBy: 'admin@example.com' })
  await server.ingestA({ session_id: 'agent-later', agent_name: 'To go', type: 'span' })
  const done = await until(
    async () =>
      (await server.query(`{ deletions { id deletedSessions finishedAt } }`, {}, admin)).deletions.find(
        ({ id }: any) => id === deleteAgentSessions.id,
      ),
    ({ finishedAt }) => finishedAt !== null,
  )
  expect(done.deletedSessions).toBe(450)
  expect(await countOf('agent-')).toEqual({ sessions: 1, events: 1 })
  expect(await countOf('stays')).toEqual({ sessions: 1, events: 1 })
  expect(await orphans()).toBe(0)
})

test('sessions deleted while they are posted to leave no events without a session', async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `race-${i}`)
  let isOver = false
  const posting = Promise.all(
    ids.map(async (id) => {
      let accepted = 0
      while (!isOver) if ((await server.ingestA({ session_id: id, type: 'span' })).status === 200) accepted += 1
      return accepted
    }),
  )
  for (let round = 0; round < 5; round++) {
    const rows = await sql()`select id from sessions where external_id like 'race-%'`
    for (const { id } of rows) await mutate(`($id: ID!) { deleteSession(id: $id) }`, { id })
  }
  isOver = true
  expect((await posting).every((accepted) => accepted > 0)).toBe(true)
  expect(await orphans()).toBe(0)
  const wrong = await sql()`
    select s.external_id from sessions s join lateral (
      select count(*)::int as events from events e where e.session_id = s.id) e on true
    where s.external_id like 'race-%' and s.event_count <> e.events`
  expect(wrong).toHaveLength(0)
})
