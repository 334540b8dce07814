// The commands and addresses that the README names for those who operate it.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

/** Runs a command of package.json to its end. */
function run(file: string, ...parameters: string[]): Promise<{ code: number | null; output: string }> {
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DATABASE_URL: server.database.url,
    RUNWATCH_URL: server.url,
  }
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...parameters], { cwd: ROOT, env })
  let output = ''
  child.stdout.on('data', (text) => (output += text))
  child.stderr.on('data', (text) => (output += text))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

const signIn = (password: string) =>
  fetch(`${server.url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: ADMIN.email, password }),
  })

test('health, readiness and metrics are there to be watched', async () => {
  await server.ingestA([
    { session_id: 'm', type: 'span' },
    { session_id: 'm', type: 'span' },
  ])
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toMatch(/^# TYPE runwatch_ingested_events_total counter\nrunwatch_ingested_events_total 2$/m)
})

test('reset-admin gives an admin a new password, and the old one ends with every sign-in', async () => {
  const cookie = await server.signIn()
  const { code, output } = await run('server/reset-admin.ts', ADMIN.email)
  expect(code).toBe(0)
  const password = /password:\n {2}(\S+)/.exec(output)![1]!
  expect((await signIn(ADMIN.password)).status).toBe(401)
  expect((await signIn(password)).status).toBe(200)
  expect((await server.graphql('{ viewer { email } }', {}, { cookie })).status).toBe(401)
  expect((await run('server/reset-admin.ts')).output).toContain('npm run reset-admin -- someone@example.com')
})

test('the demo posts into a project of its own and takes all of it away again', async () => {
  const sessionsOfDemo = async () =>
    (
      await server.database
        .sql`select count(*)::int as count from sessions s join projects p on p.id = s.project_id where p.name = 'demo'`
    )[0]!.count
  const demo = await run('server/demo.ts', '--history', '12', '--rate', '60', '--seconds', '2', '--seed', '1')
  expect([demo.code, demo.output]).toEqual([0, expect.stringContaining('Posted 12 sessions')])
  expect(await sessionsOfDemo()).toBeGreaterThanOrEqual(12)
  const platforms = await server.database
    .sql`select distinct platform from sessions s join projects p on p.id = s.project_id where p.name = 'demo'`
  expect(platforms).toHaveLength(2)
  expect((await run('server/demo.ts', '--delete')).code).toBe(0)
  expect(await sessionsOfDemo()).toBe(0)
  const [left] = await server.database.sql`
    select (select count(*)::int from api_keys where name = 'demo') as keys,
      (select count(*)::int from events e where not exists (select from sessions s where s.id = e.session_id)) as events`
  expect(left).toEqual({ keys: 0, events: 0 })
})
