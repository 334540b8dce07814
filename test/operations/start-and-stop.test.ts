// Starting and stopping as people do it: ready, stopped by a signal, killed, twice on one folder, on a taken port.
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openFolder } from '../support/folder.ts'
import { freePort, startProcess, type ServerProcess } from '../support/process.ts'
import { KEY } from '../support/server.ts'
import { until } from '../support/until.ts'

let dataDir: string
const started: ServerProcess[] = []
beforeAll(async () => void (dataDir = await openFolder()))
afterEach(async () => {
  for (const server of started.splice(0)) {
    if (server.child.exitCode === null && server.child.signalCode === null) server.child.kill('SIGTERM')
    await server.exited
  }
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

async function start(env: Record<string, string> = {}, options = {}): Promise<ServerProcess> {
  const server = await startProcess({ DATA_DIR: dataDir, INIT_API_KEY: KEY, ...env }, options)
  started.push(server)
  return server
}

async function post(server: ServerProcess, id: string): Promise<number> {
  const response = await fetch(`${server.url}/api/ingest/platform-a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
    body: JSON.stringify({ session_id: id, type: 'span' }),
  })
  return response.status
}

async function sessions(server: ServerProcess): Promise<string[]> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
    body: JSON.stringify({ query: '{ sessions(first: 100) { nodes { externalId } } }' }),
  })
  const { data } = (await response.json()) as any
  return data.sessions.nodes.map((node: any) => node.externalId).toSorted()
}

test('it says where it is and how to sign in, and a signal to the whole group stops it without losing anything', async () => {
  const server = await start()
  // It answers a moment before it says so.
  const said = await until(server.output, (text) => text.includes('/set-up#'))
  expect(said).toContain(`Runwatch is ready at ${server.url}`)
  expect(said).toMatch(/one-time link[^]*\/set-up#token=[\w-]{43}/)
  expect(await post(server, 'first')).toBe(200)
  // What a terminal does on Ctrl-C, and npm once more.
  process.kill(-server.child.pid!, 'SIGINT')
  process.kill(server.child.pid!, 'SIGINT')
  expect(await server.exited).toBe(0)
})

test('a killed server leaves nothing that stops the next start, and what it acknowledged is there', async () => {
  const server = await start()
  expect(await post(server, 'second')).toBe(200)
  server.child.kill('SIGKILL')
  await server.exited
  const next = await start()
  expect(await sessions(next)).toEqual(['first', 'second'])
})

test('events that were being written when SIGTERM came are written, the rest hears that the server is going', async () => {
  const server = await start()
  const before = (await sessions(server)).length
  const answers = Array.from({ length: 200 }, (_, i) => post(server, `term-${i}`).catch(() => 0))
  await Promise.race(answers)
  server.child.kill('SIGTERM')
  const accepted = (await Promise.all(answers)).filter((status) => status === 200).length
  expect(await server.exited).toBe(0)
  const next = await start()
  const stored = async () => {
    const all = await fetch(`${next.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY },
      body: '{"query":"{ agents { runs } }"}',
    })
    const { data } = (await all.json()) as any
    return data.agents.reduce((sum: number, agent: any) => sum + agent.runs, 0) - before
  }
  expect(accepted).toBeGreaterThan(0)
  // Sums that were not written before the end are made by the next start.
  await until(stored, (runs) => runs >= accepted)
})

test('a second start on the same folder says so', async () => {
  await start()
  const second = await start({}, { isReady: false })
  expect(await second.exited).toBe(1)
  expect(second.output()).toMatch(/Runwatch is already running on the data folder/)
})

test('a taken port is said, and its Postgres is not left behind', async () => {
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  const server = await start({ PORT: String(port) }, { isReady: false })
  expect(await server.exited).toBe(1)
  expect(server.output()).toContain(
    `Port ${port} on 127.0.0.1 is taken by another program. Stop that one, or set PORT to another number.`,
  )
  await new Promise((resolve) => other.close(resolve))
  await start()
})

// None of them reaches the data folder: side by side.
test.concurrent.for([
  [{ PORT: 'four' }, 'PORT must be a whole number from 0 to 65535, not "four"'],
  [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL must be an address like postgres://'],
  [{ INIT_API_KEY: 'short' }, 'INIT_API_KEY must be 24 to 200 visible characters'],
  [{ INIT_ADMIN_EMAIL: 'a@b' }, 'INIT_ADMIN_EMAIL and INIT_ADMIN_PASSWORD belong together'],
  [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' }, 'The database of DATABASE_URL cannot be used'],
] as const)('the setting %j stops the start with a sentence', { timeout: 60_000 }, async ([env, sentence]) => {
  const settings = { DATA_DIR: dataDir, INIT_API_KEY: KEY, ...env }
  const server = await startProcess(settings, { isReady: false })
  try {
    expect(await server.exited).toBe(1)
    expect(server.output()).toContain(sentence)
    expect(server.output()).not.toMatch(/\n\s+at /)
  } finally {
    server.child.kill('SIGKILL')
  }
})
