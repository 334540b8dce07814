// A connection that is lost while the driver still asks what types the database has: it is one of many things to lose.
import { connect, createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { newDatabase } from '../support/database.ts'
import { startProcess } from '../support/process.ts'
import { KEY } from '../support/server.ts'
import { until } from '../support/until.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Passes everything on; once told to, it resets the next connection that asks for the types. */
async function resettingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const state = { mustReset: false, resets: 0 }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
    upstream.on('data', (data) => client.write(data))
    client.on('data', (data) => {
      if (!state.mustReset || !data.includes('pg_catalog.pg_type')) return void upstream.write(data)
      state.mustReset = false
      state.resets += 1
      client.resetAndDestroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)))
  const url = new URL(databaseUrl)
  url.port = String((server.address() as { port: number }).port)
  return { state, url: url.href }
}

test('a server lives on when a new connection is reset at its very beginning', async () => {
  const database = await newDatabase()
  cleanUps.push(() => database.drop())
  const { state, url } = await resettingProxy(database.url)
  const server = await startProcess({ DATABASE_URL: url, INIT_API_KEY: KEY, LOG_LEVEL: 'error' })
  cleanUps.push(async () => {
    server.child.kill('SIGKILL')
    await server.exited
  })
  state.mustReset = true
  const ask = () =>
    fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY },
      body: JSON.stringify({ query: '{ sessions { nodes { id } } agents { name } }' }),
    }).then(
      (response) => response.status,
      () => 0,
    )
  // Several at once, so that more connections are opened.
  await until(async () => {
    await Promise.all(Array.from({ length: 12 }, ask))
    return state.resets === 1
  })
  expect(await until(ask, (status) => status === 200 || server.child.exitCode !== null)).toBe(200)
  expect(server.child.exitCode, server.output()).toBeNull()
})
