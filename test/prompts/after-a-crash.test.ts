// Servers that are killed at the worst moment: no candidate is lost or doubled.
import { afterEach, expect, test } from 'vitest'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { endServer, startServer as startProcess } from '../support/fault-stand.ts'
import { neverAnswers, proposes, startLlmServer, type LlmServer } from '../support/llm-server.ts'
import type { ServerProcess } from '../support/process.ts'
import { failingRuns } from '../support/prompt-stand.ts'
import { KEY } from '../support/server.ts'
import { until } from '../support/until.ts'

const TIMEOUT = 60_000
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
}, TIMEOUT)

async function newStand() {
  const database = await newDatabase()
  closers.push(() => database.drop())
  const model = await startLlmServer()
  closers.push(() => model.close())
  return { database, model }
}
async function start(database: TestDatabase, model: LlmServer): Promise<ServerProcess> {
  const server = await startProcess({
    DATABASE_URL: database.url,
    SECRET_KEY: 'a key for tests alone, 32 long',
    ...model.env,
  })
  closers.push(() => endServer(server))
  return server
}
const post = async ({ url }: ServerProcess, runs: object[]) => {
  const response = await fetch(`${url}/api/ingest/platform-a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
    body: JSON.stringify(runs),
  })
  expect(response.status).toBe(200)
}
const kill = async (server: ServerProcess) => {
  server.child.kill('SIGKILL')
  await server.exited
}
const counts = async ({ sql }: TestDatabase) =>
  (
    await sql`
    select (select count(*)::int from prompt_versions) as versions, (select count(*)::int from prompt_proposals where maker = 'MODEL') as asked,
      (select count(*)::int from prompt_proposals where maker = 'MODEL' and prompt is not null) as proposed,
      (select count(*)::int from prompt_decisions where action = 'PROPOSED') as told`
  )[0]!

test(
  'killed before it looked at the failures, and again in the middle of a call: one candidate, one proposal',
  { timeout: TIMEOUT },
  async () => {
    const { database, model } = await newStand()
    model.answers(neverAnswers)
    const first = await start(database, model)
    await post(first, failingRuns('Killed', 6))
    await kill(first)
    expect(await counts(database)).toMatchObject({ versions: 0 })
    const second = await start(database, model)
    await until(() => model.open === 1, Boolean, 20_000)
    expect(await counts(database)).toEqual({ versions: 1, asked: 1, proposed: 0, told: 0 })
    await kill(second)
    model.answers(proposes())
    const third = await start(database, model)
    const [lease] = await database.sql`
    select attempts, extract(epoch from next_attempt_at - now())::int as wait from prompt_proposals where maker = 'MODEL'`
    // Without moving anything it would be asked again within this time.
    expect(lease!.attempts).toBe(1)
    expect(lease!.wait).toBeLessThanOrEqual(120)
    expect(model.asked).toHaveLength(1)
    await database.sql`update prompt_proposals set next_attempt_at = now() where maker = 'MODEL'`
    await until(async () => (await counts(database)).proposed === 1, Boolean, 20_000)
    await post(third, failingRuns('Killed', 6))
    expect(await counts(database)).toEqual({ versions: 1, asked: 1, proposed: 1, told: 1 })
    expect(model.asked).toHaveLength(2)
    // The call that was broken off counts as all that it may have cost.
    const [usage] = await database.sql`select calls, tokens::int from llm_usage`
    expect(usage!.calls).toBe(2)
    expect(usage!.tokens).toBeGreaterThan(4_750)
    expect(third.output()).not.toContain(model.env.LLM_API_KEY)
  },
)
