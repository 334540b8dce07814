// The analysis beside a lot of traffic, beside another server, and beside a run that cannot be written: all runs, each once.
import { expect, test } from 'vitest'
import { newDatabase } from '../support/database.ts'
import { storedFindings, untilAllAnalysed } from '../support/analysed.ts'
import { repeatedRun, repeatedRuns } from '../support/repeated-runs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const analysedSessions = async (server: TestServer) =>
  Number(/runwatch_analysed_sessions_total (\d+)/.exec(await (await fetch(`${server.url}/metrics`)).text())![1])

test(
  '5,000 runs that are posted quickly to two servers are all analysed, and all are taken',
  { timeout: 60_000 },
  async () => {
    const database = await newDatabase()
    const servers = await Promise.all([startServer({ database }), startServer({ database })])
    try {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => servers[i % 2]!.ingestA(repeatedRuns(`many-${i}`, 100))),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      await untilAllAnalysed(database.sql)
      const [row] = await database.sql`
      select count(*)::int as findings, count(distinct session_id)::int as sessions, bool_and(cardinality(evidence) = 2) as has_evidence from findings`
      expect(row).toEqual({ findings: 5_000, sessions: 5_000, has_evidence: true })
      expect((await analysedSessions(servers[0]!)) + (await analysedSessions(servers[1]!))).toBe(5_000)
      for (const server of servers) expect(server.log()).not.toMatch(/could not be (looked for|analysed)/)
    } finally {
      await Promise.all(servers.map((server) => server.stop()))
      await database.drop()
    }
  },
)

test('a run that is written to while it is analysed has the findings of all of it in the end', async () => {
  const server = await startServer()
  try {
    const [first] = repeatedRun('written')
    await server.ingestA(repeatedRun('written'))
    for (let i = 0; i < 150; i++) expect((await server.ingestA({ ...first, event_id: `later-${i}` })).status).toBe(200)
    await untilAllAnalysed(server.database.sql)
    const [finding, ...more] = await storedFindings(server.database.sql, 'written')
    expect(more).toEqual([])
    expect(finding!.sentence).toMatch(/ was sent 151 times more\.$/)
    expect(finding!.evidence).toHaveLength(100)
  } finally {
    await server.stop()
  }
})

test('a run that the database refuses to hold does not keep the others from being analysed', async () => {
  const server = await startServer()
  const { sql } = server.database
  try {
    await sql`alter table findings add constraint no_bad_agent check (agent <> 'Agent x')`
    await server.ingestA([...repeatedRuns('good', 20), ...repeatedRun('bad-x'), ...repeatedRuns('good-too', 20)])
    await until(
      () => storedFindings(sql, 'good'),
      ({ length }) => length === 40,
      20_000,
    )
    expect(await storedFindings(sql, 'bad')).toEqual([])
    await until(() => server.log().includes('a session could not be analysed'))
  } finally {
    await server.stop()
  }
})
