// What is found in the recorded executions and the flat payloads, listed by hand.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())
test('x', async () => {
  for (const p of ['platform-b', 'platform-a']) {
    const dir = new URL(`../fixtures/${p}/`, import.meta.url)
    for (const f of readdirSync(dir).sort()) {
      const j = JSON.parse(readFileSync(new URL(f, dir), 'utf8'))
      const a = await (p === 'platform-b' ? server.ingestB(j) : server.ingestA(j.body))
      if (a.status !== 200) console.log(f, a.status, a.body.detail)
    }
  }
  await new Promise((r) => setTimeout(r, 1000))
  const rows = await server.database
    .sql`select s.agent, s.external_id, s.status, s.failure_count, s.failure_categories, s.classified_content=s.content_revision ok, active_ms, loop_rounds, equal_rounds, (select string_agg(f.category||'/'||f.severity||'/'||coalesce(f.cause,'')||': '||f.sentence||' ['||f.evidence_count||']', E'\n     ' order by place) from failures f where f.session_id=s.id) as t from sessions s order by platform desc, first_seen_at`
  for (const r of rows)
    console.log(
      r.agent,
      r.external_id,
      r.status,
      r.ok,
      r.active_ms,
      r.loop_rounds,
      r.equal_rounds,
      r.t ? '\n     ' + r.t : '',
    )
})
