// What goes takes its alerts along: runs, agents, what retention ends, the demo; and the rules that projects start with.
import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { readConfig } from '../../server/config.ts'
import { migrate } from '../../server/database/migrate.ts'
import { removeProject } from '../../server/demo/own-project.ts'
import { deleteInBatches } from '../../server/sessions/delete.ts'
import { execution } from '../support/failed-runs.ts'
import { answer } from '../support/receiver.ts'
import { failed, ruleStand } from '../support/rule-stand.ts'
import { until } from '../support/until.ts'

let stand: Awaited<ReturnType<typeof ruleStand>>
beforeAll(async () => void (stand = await ruleStand()))
afterAll(() => stand.stop())

const left = async (agent: string | null) => {
  const [row] = await stand.sql`
    with a as (select id from alerts where agent is not distinct from ${agent}),
      d as (select id from deliveries where alert_id in (select id from a))
    select (select count(*)::int from a) as alerts, (select count(*)::int from d) as deliveries,
      (select count(*)::int from delivery_attempts where delivery_id in (select id from d)) as attempts`
  return row
}
const orphans = async () => {
  const [row] = await stand.sql`
    select (select count(*)::int from deliveries d where not exists (select from alerts where id = d.alert_id))
      + (select count(*)::int from delivery_attempts t where not exists (select from deliveries where id = t.delivery_id))
      + (select count(*)::int from alerts a where session_id is not null
        and not exists (select from sessions where id = a.session_id)) as count`
  return row!.count
}
const NOTHING = { alerts: 0, deliveries: 0, attempts: 0 }
const deleteSession = async (externalId: string) =>
  stand.ask(`mutation ($id: ID!) { deleteSession(id: $id) }`, { id: (await stand.read(externalId)).id })

describe('a deleted run', () => {
  test('takes its alerts, deliveries and attempts along; the log and its page say nothing of it', async () => {
    const rule = await stand.rule({ agents: ['Deleted'] })
    await stand.postA([failed('deleted', 'Deleted'), failed('other', 'Deleted')])
    await rule.settled()
    expect(await left('Deleted')).toEqual({ alerts: 2, deliveries: 2, attempts: 2 })
    await deleteSession('deleted')
    expect(await left('Deleted')).toEqual({ alerts: 1, deliveries: 1, attempts: 1 })
    expect(await rule.toldOf()).toEqual(['other'])
    await stand.postA(failed('deleted', 'Deleted'))
    expect(await rule.toldOf()).toEqual(['deleted', 'other'])
  })

  test('whose delivery waits for its next attempt is not told of any more', async () => {
    const rule = await stand.rule({ agents: ['Waiting'] })
    stand.receiver.answers(answer(500))
    await stand.postA(failed('waiting', 'Waiting'))
    await until(async () => (await left('Waiting'))!.attempts === 1 && rule.messages().length === 1)
    await deleteSession('waiting')
    stand.receiver.answers(answer(200))
    // One that comes after it through the same channel shows that the channel was looked at.
    await stand.postA(failed('after', 'Waiting'))
    await rule.settled()
    expect(rule.messages().map(({ data }) => data.session.externalId)).toEqual(['waiting', 'after'])
    expect(await left('Waiting')).toEqual({ alerts: 1, deliveries: 1, attempts: 1 })
  })

  test('while an attempt runs leaves nothing behind when that ends, whatever it ends with', async () => {
    const rule = await stand.rule({ agents: ['Underway'] })
    const open: (() => void)[] = []
    stand.receiver.answers((response) => {
      const status = open.length === 0 ? 200 : 500
      open.push(() => response.writeHead(status).end())
    })
    await stand.postA([failed('underway-1', 'Underway'), failed('underway-2', 'Underway')])
    await until(() => open.length === 2)
    await deleteSession('underway-1')
    await deleteSession('underway-2')
    stand.receiver.answers(answer(200))
    for (const end of open) end()
    await stand.postA(failed('underway-3', 'Underway'))
    await rule.settled()
    expect(await left('Underway')).toEqual({ alerts: 1, deliveries: 1, attempts: 1 })
    expect(stand.server.log()).not.toMatch(/a delivery could not be made/)
  })
})

test('a deleted agent takes along all that was told of it, its rate too; others keep theirs', async () => {
  const rule = await stand.rule({ agents: ['Agent away', 'Agent here'] })
  const rate = await stand.rule({
    ...{ kind: 'FAILURE_RATE', agents: ['Agent away'], failureShare: 1, minRuns: 2, windowMinutes: 60 },
  })
  await stand.postA([
    ...['away-1', 'away-2'].map((id) => failed(id, 'Agent away')),
    ...['here-1', 'here-2'].map((id) => failed(id, 'Agent here')),
  ])
  await until(async () => (await rate.raised()).length === 1)
  await rule.settled()
  await rate.settled()
  const { deleteAgentSessions } = await stand.ask(
    `mutation { deleteAgentSessions(agent: "Agent away", project: "default") { id } }`,
  )
  expect(deleteAgentSessions.id).toEqual(expect.any(String))
  await until(async () =>
    (await stand.ask(`{ deletions { finishedAt } }`)).deletions.every((one: any) => one.finishedAt),
  )
  expect(await left('Agent away')).toEqual(NOTHING)
  expect(await left('Agent here')).toEqual({ alerts: 2, deliveries: 2, attempts: 2 })
  expect(await orphans()).toBe(0)
})

test('what retention ends takes its alerts along', async () => {
  const rule = await stand.rule({ agents: ['Retained'] })
  await stand.postA([failed('retained-old', 'Retained'), failed('retained-new', 'Retained')])
  await rule.settled()
  await stand.sql`update sessions set first_seen_at = first_seen_at - interval '1 second' where external_id = 'retained-old'`
  const [{ at }] = (await stand.sql`select max(first_seen_at) as at from sessions where agent = 'Retained'`) as any
  await deleteInBatches(
    stand.sql,
    { projectId: 1, before: at, agent: 'Retained' },
    { withEvents: true, onGone: () => {}, mustStop: () => false },
  )
  expect(await rule.toldOf()).toEqual(['retained-new'])
  expect(await orphans()).toBe(0)
})

test('the demo is removed with its rules, channels, mutes and all that was told, and with nothing else', async () => {
  await stand.ask(`mutation { createApiKey(input: { name: "demo", project: "demo", scopes: [INGEST] }) { secret } }`)
  const { createApiKey } = await stand.ask(
    `mutation { createApiKey(input: { name: "demo 2", project: "demo", scopes: [INGEST] }) { secret } }`,
  )
  await until(async () => (await stand.ask(`{ projects { name } }`)).projects.some(({ name }: any) => name === 'demo'))
  const here = await stand.rule({ agents: ['Demo agent'] })
  const rule = await stand.rule({ agents: ['Demo agent'] }, { project: 'demo' })
  const key = { 'x-api-key': createApiKey.secret }
  stand.receiver.answers(answer(503))
  await stand.postA(failed('demo-a', 'Demo agent'), key)
  await stand.postB(execution('demo-b', { workflow: 'Demo agent', error: 'Bad gateway' }), key)
  await stand.postA(failed('not-demo', 'Demo agent'))
  await until(() => rule.messages().length === 2 && here.messages().length === 1)
  stand.receiver.answers(answer(200))
  await stand.muteAgent('Demo agent', 3, 'demo')
  expect(await removeProject(readConfig({ DATABASE_URL: stand.server.database.url }))).toMatchObject({ sessions: 2 })
  const [row] = await stand.sql`
    select (select count(*)::int from projects where name = 'demo') as projects,
      (select count(*)::int from channels where id = ${stand.uuidOf(rule.channel.id)}) as channels,
      (select count(*)::int from muted_agents where agent = 'Demo agent') as mutes,
      (select count(*)::int from alert_rules where id = ${rule.uuid}) as rules`
  expect(row).toEqual({ projects: 0, channels: 0, mutes: 0, rules: 0 })
  expect(await orphans()).toBe(0)
  expect(await here.toldOf()).toEqual(['not-demo'])
})

const DEFAULTS = ['High and critical failures', 'New failure pattern', 'Failure rate']
const defaultsOf = (sql: postgres.Sql, project: string) => sql`
  select r.name, kind, is_enabled, min_severity, failure_share, min_runs, window_minutes, channel_ids, updated_by
  from alert_rules r join projects p on p.id = r.project_id where p.name = ${project} order by r.min_runs, r.min_severity desc`
const READY = [
  { kind: 'FAILURE_RATE', min_severity: 1, failure_share: 0.5, min_runs: 10, window_minutes: 60 },
  { kind: 'FAILURE', min_severity: 3 },
  { kind: 'NEW_PATTERN', min_severity: 1 },
].map((one) => ({ ...one, is_enabled: false, channel_ids: [], updated_by: null }))

describe('three rules stand ready, switched off and telling nobody,', () => {
  test('in a project that is there when alerts come to an installation, and in one made afterwards', async () => {
    const base = inject('databaseUrl')
    const name = `test_${randomBytes(6).toString('hex')}`
    const admin = postgres(base, { max: 1, onnotice: () => {} })
    const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
    await admin.unsafe(`create database ${name}`)
    const url = new URL(base)
    url.pathname = `/${name}`
    const sql = postgres(url.href, { max: 2, onnotice: () => {} })
    try {
      const all = join(import.meta.dirname, '../../migrations')
      for (const file of await readdir(all)) if (file < '0004') await copyFile(join(all, file), join(folder, file))
      await migrate(sql as any, folder)
      await sql`insert into projects (name) values ('older')`
      await migrate(sql as any, all)
      await sql`insert into projects (name) values ('younger')`
      for (const project of ['older', 'younger', 'default']) expect(await defaultsOf(sql, project)).toMatchObject(READY)
    } finally {
      await sql.end()
      await admin.unsafe(`drop database ${name} with (force)`)
      await admin.end()
      await rm(folder, { recursive: true })
    }
  })

  test('in a project that a key is made for, in the same order everywhere', async () => {
    const names: string[][] = []
    for (let i = 0; i < 8; i++) {
      const { name, key } = await stand.newProject()
      expect(await defaultsOf(stand.sql, name)).toMatchObject(READY)
      const { alertRules } = await stand.server.query(`{ alertRules { name sentence } }`, {}, { 'x-api-key': key })
      names.push(alertRules.map((one: any) => one.name))
    }
    expect(names).toEqual(names.map(() => DEFAULTS))
  })
})
