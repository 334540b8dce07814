// Findings on a real server: of runs that end, turn quiet, go on, change their price, get a name, or are deleted.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownProject } from '../fixtures/own-project.ts'
import {
  kindsOf,
  revisionsOf,
  silentFor,
  storedFindings,
  unanalysedCount,
  untilAllAnalysed,
} from '../support/analysed.ts'
import { call as pricedCall, execution, priceStand } from '../support/prices.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
let admin: { cookie: string }
let sql: TestServer['database']['sql']
beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
  sql = server.database.sql
})
afterAll(() => server.stop())

const call = (session_id: string, own: object = {}) => ({
  session_id,
  agent_name: 'Mail',
  type: 'llm.call',
  model: 'gpt-4o',
  input: 'Classify this mail: my invoice is wrong and nobody answers',
  output: 'billing',
  prompt_tokens: 1000,
  completion_tokens: 5,
  ...own,
})
const closed = (session_id: string, own: object = {}) => ({
  session_id,
  type: 'session.end',
  status: 'success',
  ...own,
})

/** Another server on the same database: as it starts it looks for what is due. */
async function meanwhile(work: (other: TestServer) => Promise<unknown>) {
  const other = await startServer({ database: server.database })
  try {
    await work(other)
  } finally {
    await other.stop()
  }
}
const sentencesOf = async (prefix: string) => (await storedFindings(sql, prefix)).map(({ sentence }) => sentence)
const until1 = (ask: () => Promise<unknown[]>) => until(ask, ({ length }) => length > 0, 20_000)

test('a running run has findings once it is quiet, and others once it was quiet again', async () => {
  await server.ingestA([call('quiet-1'), call('quiet-1'), call('quiet-2'), call('quiet-2')])
  await silentFor(sql, 'quiet-1', 31)
  await meanwhile(() => until1(() => storedFindings(sql, 'quiet-1')))
  expect(await kindsOf(sql, 'quiet-')).toEqual(['REPEATED_PROMPT'])
  const [row] =
    await sql`select status, findings_of from (select status, (select count(*)::int from findings f where f.session_id = s.id) as findings_of from sessions s where external_id = 'quiet-1') q`
  expect(row).toEqual({ status: 'RUNNING', findings_of: 1 })
  await server.ingestA([call('quiet-1', { output: '{"a": "b' })])
  await silentFor(sql, 'quiet-1', 31)
  await meanwhile(() =>
    until(
      () => kindsOf(sql, 'quiet-1'),
      ({ length }) => length === 2,
      20_000,
    ),
  )
  expect((await sentencesOf('quiet-1'))[0]).toMatch(/sent 2 times more/)
  expect(await kindsOf(sql, 'quiet-2')).toEqual([])
})

test('a later event is analysed with what was there before it, and may take a finding away', async () => {
  await server.ingestA([
    call('later', { model: 'gpt-4o', input: 'What does the guide say of refunds?', output: 'Calling' }),
    {
      session_id: 'later',
      type: 'tool.call',
      tool_name: 'search_docs',
      input: 'refunds',
      output: 'Customers receive vouchers within fourteen business days, excluding furniture and perishable groceries.',
    },
    call('later', { input: 'Now answer', output: 'I cannot say.' }),
    closed('later'),
  ])
  await until1(() => storedFindings(sql, 'later'))
  expect(await kindsOf(sql, 'later')).toEqual(['UNUSED_TOOL_ANSWER'])
  await server.ingestA([call('later', { input: 'And now?', output: 'Groceries are excluded.' })])
  await until(
    () => kindsOf(sql, 'later'),
    ({ length }) => length === 0,
    20_000,
  )
})

test('readers see findings with evidence that exists, and the revision tells them of it', async () => {
  await server.ingestA([call('seen'), call('seen'), closed('seen')])
  const ask = async () =>
    (
      await server.query(
        `{ session(platform: PLATFORM_A, externalId: "seen") { revision findings { kind evidence savingMs } } }`,
      )
    ).session
  const session = await until(ask, ({ findings }) => findings.length > 0)
  expect(session.findings).toEqual([
    { kind: 'REPEATED_PROMPT', evidence: [expect.any(String), expect.any(String)], savingMs: null },
  ])
  const { nodes } = await server.query(`query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Event { model } } }`, {
    ids: session.findings[0].evidence,
  })
  expect(nodes.map((node: any) => node?.model)).toEqual(['gpt-4o', 'gpt-4o'])
})

test('analysed once more, by this server or by another, nothing changes and nobody is told', async () => {
  await server.ingestA([call('twice-1'), call('twice-1'), closed('twice-1'), call('twice-2'), closed('twice-2')])
  await untilAllAnalysed(sql)
  const before = { findings: await storedFindings(sql, 'twice'), revisions: await revisionsOf(sql, 'twice') }
  expect(before.findings).toHaveLength(1)
  const again = () =>
    sql`update sessions set analysed_content = 0, last_event_at = last_event_at - interval '3 seconds' where starts_with(external_id, 'twice')`
  await again()
  await meanwhile(() => untilAllAnalysed(sql))
  await again()
  await Promise.all([meanwhile(() => untilAllAnalysed(sql)), meanwhile(() => untilAllAnalysed(sql))])
  expect({ findings: await storedFindings(sql, 'twice'), revisions: await revisionsOf(sql, 'twice') }).toEqual(before)
})

test('a run without a name has findings, and they take the name that comes later', async () => {
  await server.ingestA([
    call('unnamed', { agent_name: null }),
    call('unnamed', { agent_name: null }),
    closed('unnamed'),
  ])
  await until1(() => storedFindings(sql, 'unnamed'))
  expect((await storedFindings(sql, 'unnamed'))[0]!.agent).toBeNull()
  await server.ingestA([{ session_id: 'unnamed', type: 'span', agent_name: 'Late Name' }])
  await until(
    () => storedFindings(sql, 'unnamed'),
    ([finding]) => finding?.agent === 'Late Name',
    20_000,
  )
})

test('a deleted run takes its findings along', async () => {
  await server.ingestA([call('gone'), call('gone'), closed('gone')])
  await until1(() => storedFindings(sql, 'gone'))
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "gone") { id } }`)
  const [before] = await sql`select count(*)::int as count from findings`
  await server.query(`mutation ($id: ID!) { deleteSession(id: $id) }`, { id: session.id }, admin)
  const [after] = await sql`select count(*)::int as count from findings`
  expect(after!.count).toBe(before!.count - 1)
})

test('an execution that is posted again with more of its data is analysed anew', async () => {
  const whole = execution('posted-twice', { model: 'local-model' })
  const { data: _without, ...bare } = whole.execution
  await server.ingestB({ execution: bare })
  await untilAllAnalysed(sql)
  expect(await kindsOf(sql, 'posted-twice')).toEqual([])
  await server.ingestB(whole)
  await until1(() => storedFindings(sql, 'posted-twice'))
  expect(await kindsOf(sql, 'posted-twice')).toEqual(['UNPRICED_MODEL'])
})

test('a model that gets a price, which is applied to what is stored, is no finding any more', async () => {
  const prices = priceStand(server, admin)
  await server.ingestA([pricedCall('priced'), closed('priced')])
  await until1(() => storedFindings(sql, 'priced'))
  expect(await kindsOf(sql, 'priced')).toEqual(['UNPRICED_MODEL'])
  await prices.setPrice('house-model', '2', '8')
  await prices.apply()
  await until(
    () => kindsOf(sql, 'priced'),
    ({ length }) => length === 0,
    20_000,
  )
})

test('emoji do not make a text look cut', async () => {
  await server.ingestA([call('emoji', { output: `{"mood": "${'😀'.repeat(50)}` }), closed('emoji')])
  await until1(() => storedFindings(sql, 'emoji'))
  expect(await kindsOf(sql, 'emoji')).toEqual(['CUT_OFF_OUTPUT'])
  const long = `{"mood": "${'😀'.repeat(8_400)}"}`
  await server.ingestA([call('emoji-long', { output: long }), closed('emoji-long')])
  await untilAllAnalysed(sql)
  expect(await kindsOf(sql, 'emoji-long')).toEqual([])
})

describe('two projects with an agent of the same name', () => {
  test('do not compare their runs', async () => {
    const [ours, theirs] = [await ownProject(server), await ownProject(server)]
    const run = (id: string, duration_ms: number) => ({
      session_id: id,
      agent_name: 'Same',
      type: 'tool.call',
      tool_name: 'work',
      duration_ms,
      status: 'success',
    })
    for (let i = 0; i < 25; i++)
      expect((await ours.ingestA(run(`same-${String(i).padStart(2, '0')}`, 100))).status).toBe(200)
    await theirs.ingestA(run('same-long', 60_000))
    await ours.ingestA(run('same-long', 60_000))
    await until1(() => storedFindings(sql, 'same-long'))
    await untilAllAnalysed(sql)
    expect((await storedFindings(sql, 'same-')).map(({ project, kind, ms }) => [project, kind, ms])).toEqual([
      [ours.name, 'UNUSUAL_DURATION', 59_900],
    ])
  })

  test('do not see what models the other uses', { timeout: 60_000 }, async () => {
    const [ours, theirs] = [await ownProject(server), await ownProject(server)]
    const runs = (prefix: string, agent_name: string, model: string) =>
      Array.from({ length: 35 }, (_, i) =>
        call(`${prefix}-${i}`, { agent_name, model, input: `mail ${i} of ${prefix}`, status: 'success' }),
      )
    await theirs.ingestA(runs('models-x', 'Other', 'gpt-4o-mini'))
    await ours.ingestA(runs('models-x', 'Other', 'gpt-4o'))
    await theirs.ingestA(runs('models-y', 'Same', 'gpt-4o'))
    await ours.ingestA(runs('models-y', 'Same', 'gpt-4o'))
    await untilAllAnalysed(sql)
    const last = { ...call('models-z', { agent_name: 'Same', input: 'the last mail of all' }), status: 'success' }
    // What models do is known anew by a server that starts.
    await meanwhile(async (other) => {
      for (const { key } of [ours, theirs]) await other.ingestA(last, { 'x-api-key': key })
      await untilAllAnalysed(sql)
      await until1(() => storedFindings(sql, 'models-z'))
    })
    expect((await storedFindings(sql, 'models-z')).map(({ project, kind }) => [project, kind])).toEqual([
      [theirs.name, 'DEARER_MODEL'],
    ])
  })
})

test('nothing is left over, and no rule failed', async () => {
  await untilAllAnalysed(sql)
  expect(await unanalysedCount(sql)).toBe(0)
  expect(server.log()).not.toMatch(/could not be (looked for|analysed)/)
  const orphans = await sql`
    select f.kind from findings f cross join unnest(f.evidence) as k (key)
    where not exists (select from events e where e.session_id = f.session_id and e.event_key = k.key)`
  expect(orphans).toEqual([])
})
