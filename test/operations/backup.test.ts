// Backup as the README has it: the data folder is copied while nothing runs, and started elsewhere.
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { openFolder } from '../support/folder.ts'
import { startProcess, type ServerProcess } from '../support/process.ts'
import { KEY } from '../support/server.ts'

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

const ask = async (server: ServerProcess, path: string, body: object) => {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY, 'idempotency-key': 'backed-up' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as any
}
const stop = async (server: ServerProcess) => {
  server.child.kill('SIGTERM')
  expect(await server.exited).toBe(0)
}

test('a copy of the data folder starts elsewhere with all that was there', { timeout: 60_000 }, async () => {
  const folder = await openFolder()
  folders.push(folder)
  const original = join(folder, 'data')
  const copy = join(folder, 'restored')
  const event = { session_id: 'backed-up', agent_name: 'Archivist', type: 'span', input: 'kept text' }
  const before = await startProcess({ DATA_DIR: original, INIT_API_KEY: KEY })
  expect(await ask(before, '/api/ingest/platform-a', event)).toMatchObject({ accepted: 1, duplicate: false })
  await stop(before)
  await promisify(execFile)('cp', ['-a', original, copy])

  // No INIT_API_KEY: the key is in the data.
  const after = await startProcess({ DATA_DIR: copy })
  const { data } = await ask(after, '/graphql', {
    query: `{ sessions(first: 5) { nodes { externalId agent eventCount events { nodes { input } } } } }`,
  })
  expect(data.sessions.nodes).toEqual([
    { externalId: 'backed-up', agent: 'Archivist', eventCount: 1, events: { nodes: [{ input: 'kept text' }] } },
  ])
  expect(await ask(after, '/api/ingest/platform-a', event)).toMatchObject({ accepted: 1, duplicate: true })
  await stop(after)
})
