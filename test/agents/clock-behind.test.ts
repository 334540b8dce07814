// Sums of agents where the clock of the server and that of the database do not agree.
import { expect, onTestFinished, test, vi } from 'vitest'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

test('a server whose clock is behind that of the database counts what comes to it', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 10 * 60_000 })
  const server = await startServer()
  onTestFinished(() => server.stop())
  const { sql } = server.database
  // Its start has looked.
  await until(
    () => sql`select from agent_rollups_until where at < now() - interval '5 minutes'`,
    (rows) => rows.length === 1,
  )
  const { status } = await server.ingestA({ session_id: 'late', type: 'llm.call', agent_name: 'Late clock' })
  expect(status).toBe(200)
  await until(
    () => sql`select from agent_rollups where agent = 'Late clock' and runs = 1`,
    (rows) => rows.length === 2,
  )
})
