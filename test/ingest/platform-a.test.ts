// Platform A over the real endpoint.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

test('one event that opens and closes a session is committed when it is acknowledged', async () => {
  const { status, body } = await server.ingestA({ session_id: 'a-1', type: 'llm.call', status: 'success' })
  expect(status).toBe(200)
  expect(body.sessions).toMatchObject([{ session_id: 'a-1', status: 'completed' }])
  const [row] = await server.database.sql`select status, event_count from sessions where external_id = 'a-1'`
  expect(row).toMatchObject({ status: 'COMPLETED', event_count: 1 })
})
