// All recorded executions and posts, each in a project of its own: what is found in them, as their owner would read it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownProject } from '../fixtures/own-project.ts'
import { platformARecordings, platformBRecordings } from '../fixtures/recordings.ts'
import { UNFIT } from '../support/analysed-run.ts'
import { untilAllAnalysed } from '../support/analysed.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

test('recordings have these findings and no others', { timeout: 60_000 }, async () => {
  const { sql } = server.database
  const fileOf = new Map<string, string>()
  await Promise.all([
    ...platformARecordings.map(async ({ file, value }) => {
      const project = await ownProject(server)
      fileOf.set(project.name, file)
      expect((await project.ingestA(value.body)).status, file).toBe(200)
    }),
    ...platformBRecordings.map(async ({ file, value }) => {
      const project = await ownProject(server)
      fileOf.set(project.name, file)
      expect((await project.ingestB({ execution: value })).status, file).toBe(200)
    }),
  ])
  await untilAllAnalysed(sql)
  const rows = await sql`
    select p.name, s.external_id, f.kind, f.subject, f.sentence, f.advice, f.evidence_count
    from findings f join sessions s on s.id = f.session_id join projects p on p.id = s.project_id`
  for (const { sentence, advice } of rows) {
    expect(sentence).not.toMatch(UNFIT)
    expect(advice).not.toMatch(UNFIT)
  }
  const table = rows.map((row) => `${fileOf.get(row.name)} ${row.kind}: ${row.sentence}`).sort()
  expect(table).toEqual([
    '24-chain-usage-estimate.json UNPRICED_MODEL: 1 call of "llama3-no-usage" has tokens but no known price, so the cost of this run leaves it out.',
    '51-retry-succeeded.json RETRIES: The run repeats run 45 and takes over 1 step of it.',
  ])
})

test('a retried execution counts what the other one lost, not what was taken over', async () => {
  const project = await ownProject(server)
  for (const name of ['50-failed-later-retried.json', '51-retry-succeeded.json']) {
    const { value } = platformBRecordings.find(({ file }) => file === name)!
    await project.ingestB({ execution: value })
    await untilAllAnalysed(server.database.sql)
  }
  const rows = await server.database.sql`
    select f.kind, f.sentence, f.saving_ms, f.saving_usd from findings f join projects p on p.id = f.project_id where p.name = ${project.name}`
  expect(rows).toEqual([
    {
      kind: 'RETRIES',
      sentence: 'The run repeats run 45 and takes over 1 step of it; 76 ms of that one were spent for nothing.',
      saving_ms: 76,
      saving_usd: null,
    },
  ])
})
