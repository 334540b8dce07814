// A rule with a fault of its own, and a result that the database cannot hold: nothing else suffers, and it is said.
import { afterEach, describe, expect, test } from 'vitest'
import type { Rule, Run } from '../../server/failures/failure.ts'
import { RULES } from '../../server/failures/rules.ts'
import { newDatabase } from '../support/database.ts'
import { disagreements, execution, failedStep, failureReader, untilAllClassified } from '../support/failed-runs.ts'
import { CANARY } from '../support/secrets.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'

const B = 'PLATFORM_B'
const started: TestServer[] = []
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})
async function start(options: Parameters<typeof startServer>[0]) {
  const server = await startServer(options)
  started.push(server)
  return server
}

/** The rules, with another `find` in those of the category. */
const withFind = (category: string, find: (run: Run, rule: Rule) => ReturnType<Rule['find']>): Rule[] =>
  RULES.map((rule) => (rule.category === category ? { ...rule, find: (run: Run) => find(run, rule) } : rule))
const broken = () => {
  throw new Error('a fault of the rule')
}
const linesOf = (server: TestServer, word: string) =>
  server
    .log()
    .trim()
    .split('\n')
    .filter((line) => line.includes(word))

async function metric(server: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

describe('a rule that throws', () => {
  test.each(['in find', 'in cannotTell'])('%s leaves the others to theirs, and everyone is told', async (where) => {
    const rules: Rule[] =
      where === 'in find'
        ? withFind('LATENCY_SPIKE', broken)
        : RULES.map((rule) => (rule.category === 'LATENCY_SPIKE' ? { ...rule, cannotTell: broken } : rule))
    const server = await start({ rules })
    const reader = failureReader(server)
    const answer = await server.ingestB(execution('t-1', { durationMs: 300_000, error: 'Bad gateway', tokens: 60_000 }))
    expect(answer).toMatchObject({ status: 200, body: { accepted: 1, warnings: [] } })
    const session = await reader.classified('t-1', B)
    expect(session.failureCategories).toEqual(['TOOL_FAILURE', 'COST_ANOMALY'])
    expect(session.rulesNotRun).toMatchObject([{ category: 'LATENCY_SPIKE' }])
    expect(session.rulesNotRun[0].sentence).toContain('The rule for slow runs could not run')
    const said = await reader.explained('t-1', B)
    expect(said.LATENCY_SPIKE).toMatchObject({ outcome: 'COULD_NOT_RUN', measured: null, threshold: null })
    expect([said.TOOL_FAILURE.outcome, said.COST_ANOMALY.outcome]).toEqual(['FOUND', 'FOUND'])
    expect(await metric(server, 'runwatch_rules_not_run_total')).toBe(1)
    expect(await metric(server, 'runwatch_classified_sessions_total')).toBe(1)
    expect(await metric(server, 'runwatch_failures_found_total')).toBe(2)
    expect(linesOf(server, 'the rule LATENCY_SPIKE could not run')).toHaveLength(1)
    expect(linesOf(server, 'sessions could not be classified')).toEqual([])
    // Rules of the other platform are not asked.
    await server.ingestA(failedStep('t-a'))
    expect((await reader.classified('t-a')).rulesNotRun).toEqual([])
    expect(await disagreements(server.database.sql)).toEqual([])
  })

  test('on a run without a failure is heard of by its subscribers: the revision rises', async () => {
    const server = await start({ rules: withFind('COST_ANOMALY', broken) })
    const client = socketClient(server.url)
    cleanUps.push(() => client.dispose())
    const changes = subscribe(
      client,
      'subscription { sessionChanged { session { externalId revision classified rulesNotRun { category } } } }',
    )
    let n = 0
    await until(async () => {
      await server.ingestA({ session_id: `probe-${n++}`, type: 'span' })
      return changes.next(500).catch(() => null)
    })
    await server.ingestB(execution('t-2', { tokens: 10 }))
    await failureReader(server).classified('t-2', B)
    // The analysis may find something, and then raises it once more.
    await until(
      () => server.database.sql`select from sessions where analysed_content < content_revision and status <> 'RUNNING'`,
      (rows) => rows.length === 0,
    )
    const stands = await failureReader(server).classified('t-2', B)
    expect(stands.failures).toEqual([])
    const told = await until<any>(
      async () => (await changes.next()).data.sessionChanged.session,
      ({ externalId, rulesNotRun, revision }) =>
        externalId === 't-2' && rulesNotRun.length > 0 && revision === stands.revision,
    )
    expect(told).toEqual({
      externalId: 't-2',
      classified: true,
      revision: stands.revision,
      rulesNotRun: [{ category: 'COST_ANOMALY' }],
    })
  })

  test('where the rule is mended, the next post of the execution is looked at by all', async () => {
    const database = await newDatabase()
    cleanUps.push(() => database.drop())
    const first = await start({ database, rules: withFind('TOOL_FAILURE', broken) })
    await first.ingestB(execution('t-3', { error: 'Bad gateway', durationMs: 90_000 }))
    const before = await failureReader(first).classified('t-3', B)
    expect([before.failureCategories, before.rulesNotRun.length]).toEqual([['LATENCY_SPIKE'], 1])
    await first.stop()
    started.length = 0
    const second = await start({ database })
    await second.ingestB(execution('t-3', { error: 'Bad gateway', durationMs: 90_000 }))
    const after = await until<any>(
      () => failureReader(second).read('t-3', B),
      ({ classified, rulesNotRun }) => classified && rulesNotRun.length === 0,
    )
    expect(after.failureCategories).toEqual(['TOOL_FAILURE', 'LATENCY_SPIKE'])
    expect(after.revision).toBeGreaterThan(before.revision)
  })
})

describe('a result that the database cannot hold', () => {
  /** Of the run with this id the rule makes a text that Postgres refuses. */
  const unstorable = (agent: string) =>
    withFind('TOOL_FAILURE', (run, rule) => {
      const finding = rule.find(run)
      if (run.session.agent !== agent) return finding
      return { ...finding, found: finding.found.map((one) => ({ ...one, advice: `\u0000 ${CANARY}` })) }
    })

  test('holds up none of the sessions beside it', async () => {
    const server = await start({ rules: unstorable('Odd') })
    const { sql } = server.database
    const body = Array.from({ length: 300 }, (_, i) =>
      failedStep(`u-${i}`, { agent_name: i === 137 || i === 208 ? 'Odd' : 'Desk' }),
    )
    expect(await server.ingestA(body)).toMatchObject({ status: 200, body: { accepted: 300 } })
    await until(
      async () => (await sql`select count(*)::int as count from sessions where failure_count = 1`)[0]!.count,
      (count) => count === 298,
    )
    // Of these two it is said that no rule could look at them.
    const given = () => sql`select external_id from sessions where cardinality(rules_not_run) > 0 order by 1`
    await until(given, (rows) => rows.length === 2)
    expect((await given()).map((row) => row.external_id)).toEqual(['u-137', 'u-208'])
    await until(() => linesOf(server, 'a session could not be classified').length === 2)
    // It is not tried without end.
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    expect(linesOf(server, 'could not be classified')).toHaveLength(2)
    expect(server.log()).not.toContain(CANARY)
    await server.ingestA(failedStep('u-later'))
    expect(await failureReader(server).classified('u-later')).toMatchObject({ failureCount: 1 })
    expect(await disagreements(sql)).toEqual([])
  })

  test('is classified by a server whose rule is mended, however long after', async () => {
    const database = await newDatabase()
    cleanUps.push(() => database.drop())
    const { sql } = database
    const first = await start({ database, rules: unstorable('Odd') })
    await first.ingestA(failedStep('u-odd', { agent_name: 'Odd' }))
    await until(() => linesOf(first, 'a session could not be classified').length === 1)
    // Ten minutes go by, in which this server looks for what is due a few times.
    await sql`update sessions set last_event_at = last_event_at - interval '10 minutes'`
    await sql`update classified_until set at = date_trunc('second', now()) - interval '11 minutes'`
    await until(async () => {
      const [mark] = await sql`select at > now() - interval '1 minute' as is_new from classified_until`
      return mark!.is_new || linesOf(first, 'a session could not be classified').length > 2
    }, Boolean)
    await first.stop()
    started.length = 0
    await start({ database })
    await untilAllClassified(sql)
  })
})
