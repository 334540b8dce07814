// Findings after a server was killed.
import { expect, test } from 'vitest'
import { unanalysedCount, untilAllAnalysed } from '../support/analysed.ts'
import { newDatabase } from '../support/database.ts'
import { endServer, startServer as startChild } from '../support/fault-stand.ts'
import { repeatedRuns } from '../support/repeated-runs.ts'
import { KEY } from '../support/server.ts'

test('what a killed server left is analysed by the next one', { timeout: 60_000 }, async () => {
  const database = await newDatabase()
  const started = [await startChild({ DATABASE_URL: database.url })]
  try {
    const post = () =>
      fetch(`${started[0]!.url}/api/ingest/platform-a`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': KEY },
        body: JSON.stringify(repeatedRuns('killed', 600)),
      })
    expect((await post()).status).toBe(200)
    started[0]!.child.kill('SIGKILL')
    await started[0]!.exited
    expect(await unanalysedCount(database.sql)).toBeGreaterThan(0)
    // A server that starts leaves alone what came in this moment: others may be at it.
    await database.sql`update sessions set last_event_at = last_event_at - interval '5 seconds'`
    started.push(await startChild({ DATABASE_URL: database.url }))
    await untilAllAnalysed(database.sql)
    const [row] =
      await database.sql`select count(*)::int as findings, count(distinct session_id)::int as sessions from findings`
    expect(row).toEqual({ findings: 600, sessions: 600 })
  } finally {
    for (const server of started) await endServer(server)
    await database.drop()
  }
})
