// Limits that people fix and limits that runs make usual: what holds for the next run, at once and on every server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { disagreements, execution, failureReader, untilAllClassified, type RunOfB } from '../support/failed-runs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { AS_RECORDED, changing, GeneratedExecution, rounds } from './generated-executions.ts'

const B = 'PLATFORM_B'
let server: TestServer
let admin: { cookie: string }
beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
})
afterAll(async () => {
  expect(await disagreements(server.database.sql)).toEqual([])
  await server.stop()
})

const FIXED = 'project agent latencyMs costUsd tokens loopRounds updatedBy'
const set = async (thresholds: object, agent: string | null = null) =>
  (
    await server.query(
      `mutation ($agent: String, $thresholds: ThresholdsInput!) {
        setThresholds(agent: $agent, thresholds: $thresholds) { ${FIXED} } }`,
      { agent, thresholds },
      admin,
    )
  ).setThresholds as any[]
const effective = async (agent: string | null, at = server) => {
  const { effectiveThresholds } = await at.query(
    `query ($agent: String) { effectiveThresholds(agent: $agent) { measure value unit source runs because } }`,
    { agent },
  )
  return Object.fromEntries(effectiveThresholds.map((one: any) => [one.measure, one])) as Record<string, any>
}
/** Each posted alone, one after the other, without a look at what becomes of it. */
async function postAll(prefix: string, runs: RunOfB[]) {
  for (const [i, run] of runs.entries())
    expect((await server.ingestB(execution(`${prefix}-${i}`, run))).status).toBe(200)
}
const found = async (id: string, run: RunOfB) => {
  expect((await server.ingestB(execution(id, run))).status).toBe(200)
  const { failures } = await failureReader(server).classified(id, B)
  return failures.map((one: any) => `${one.category} ${one.severity} ${one.thresholdSource}`)
}
/** The value that so large a share of them does not exceed. */
const within = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!
/** Never twice the same, from 1 to 2 s. */
const usualMs = (count: number) => Array.from({ length: count }, (_, i) => 1_000 + ((i * 379) % 997))

describe('fixed limits', () => {
  test('of an agent go before those of its project, each measure by itself, and go when they are taken back', async () => {
    const run = { workflow: 'Fix', durationMs: 20_000, tokens: 30_000 }
    expect(await found('fix-1', run)).toEqual([])
    await set({ latencyMs: 10_000, tokens: 20_000 })
    expect(await found('fix-2', run)).toEqual([
      'LATENCY_SPIKE HIGH FIXED_FOR_PROJECT',
      'COST_ANOMALY MEDIUM FIXED_FOR_PROJECT',
    ])
    const all = await set({ latencyMs: 25_000, costUsd: 0.5 }, 'Fix')
    expect(all).toEqual([
      {
        project: 'default',
        agent: null,
        latencyMs: 10_000,
        costUsd: null,
        tokens: 20_000,
        loopRounds: null,
        updatedBy: 'admin@example.com',
      },
      {
        project: 'default',
        agent: 'Fix',
        latencyMs: 25_000,
        costUsd: 0.5,
        tokens: null,
        loopRounds: null,
        updatedBy: 'admin@example.com',
      },
    ])
    // Who did is for people to know.
    const seen = (await server.query(`{ fixedThresholds { ${FIXED} } }`)).fixedThresholds
    expect(seen).toEqual(all.map((one: object) => ({ ...one, updatedBy: null })))
    expect(await found('fix-3', run)).toEqual(['COST_ANOMALY MEDIUM FIXED_FOR_PROJECT'])
    expect(await found('fix-4', { ...run, workflow: 'Other' })).toEqual([
      'LATENCY_SPIKE HIGH FIXED_FOR_PROJECT',
      'COST_ANOMALY MEDIUM FIXED_FOR_PROJECT',
    ])
    expect(await effective('Fix')).toMatchObject({
      LATENCY: { value: 25_000, unit: 'MS', source: 'FIXED_FOR_AGENT' },
      COST: { value: 0.5, unit: 'USD', source: 'FIXED_FOR_AGENT' },
      TOKENS: { value: 20_000, unit: 'TOKENS', source: 'FIXED_FOR_PROJECT' },
      LOOP_ROUNDS: { value: 20, unit: 'ROUNDS', source: 'DEFAULT' },
    })
    // What was found before stays as it was found.
    expect((await failureReader(server).read('fix-2', B)).failureCount).toBe(2)
    await set({}, 'Fix')
    expect(await found('fix-5', run)).toEqual([
      'LATENCY_SPIKE HIGH FIXED_FOR_PROJECT',
      'COST_ANOMALY MEDIUM FIXED_FOR_PROJECT',
    ])
    expect(await set({})).toEqual([])
    expect(await found('fix-6', run)).toEqual([])
    expect(await effective('Fix')).toMatchObject({ LATENCY: { value: 60_000, source: 'DEFAULT', runs: 5 } })
  })

  test('exactly at the limit is not over it, the rounds of a loop are', async () => {
    await set({ latencyMs: 5_000, loopRounds: 3 }, 'Edge')
    expect(await found('edge-1', { workflow: 'Edge', durationMs: 5_000 })).toEqual([])
    expect(await found('edge-2', { workflow: 'Edge', durationMs: 5_001 })).toEqual([
      'LATENCY_SPIKE MEDIUM FIXED_FOR_AGENT',
    ])
    for (const [times, expected] of [
      [2, []],
      [3, ['INFINITE_LOOP HIGH FIXED_FOR_AGENT']],
    ] as const) {
      const looping = new GeneratedExecution(AS_RECORDED)
      rounds(looping, ['Fetch', 'Check'], times, changing)
      const id = `edge-loop-${times}`
      const made = looping.execution({ id, workflowId: 'edge', workflowName: 'Edge' })
      delete made.workflowData.name
      expect((await server.ingestB({ execution: made })).status).toBe(200)
      const { failures } = await failureReader(server).classified(id, B)
      expect(failures.map((one: any) => `${one.category} ${one.severity} ${one.thresholdSource}`)).toEqual(expected)
    }
    await set({}, 'Edge')
  })

  test('many that are set at once are all there', async () => {
    const agents = Array.from({ length: 20 }, (_, i) => `At once ${i}`)
    await Promise.all(agents.map((agent, i) => set({ latencyMs: 1_000 + i }, agent)))
    const { fixedThresholds } = await server.query(`{ fixedThresholds { agent latencyMs } }`)
    expect(fixedThresholds.map(({ agent }: any) => agent).toSorted()).toEqual(agents.toSorted())
    for (const agent of agents) await set({}, agent)
  })

  const BAD: [field: string, value: unknown][] = [
    ['latencyMs', 0],
    ['latencyMs', -1],
    ['latencyMs', 366 * 86_400_000],
    ['costUsd', 0],
    ['costUsd', -0.01],
    ['costUsd', 1_000_000.01],
    ['tokens', 0],
    ['tokens', 1.5],
    ['tokens', 2 ** 53],
    ['loopRounds', 1],
    ['loopRounds', -5],
    ['loopRounds', 1_000_001],
  ]
  test.each(BAD)('%s %d is refused with its name, also where it is only tried', async (field, value) => {
    const documents = [
      'mutation ($t: ThresholdsInput!) { setThresholds(thresholds: $t) { agent } }',
      'query ($t: ThresholdsInput!) { thresholdPreview(thresholds: $t) { gained } }',
    ]
    for (const document of documents) {
      const { body } = await server.graphql(document, { t: { latencyMs: 1_000, [field]: value } }, admin)
      expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT')
      expect(body.errors[0].message).toMatch(new RegExp(`^${field} must be .*, not ${value}\\.$`))
    }
    expect((await server.query('{ fixedThresholds { agent } }')).fixedThresholds).toEqual([])
  })

  test.each([
    ['a project that is not there', '{ setThresholds(project: "nope", thresholds: {}) { agent } }', 'NOT_FOUND'],
    [
      'text for a number',
      '{ setThresholds(thresholds: { latencyMs: "1000" }) { agent } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'an agent named with U+0000',
      '{ setThresholds(agent: "a\\u0000", thresholds: { tokens: 5 }) { agent } }',
      'BAD_USER_INPUT',
    ],
    [
      'a name longer than any agent can have',
      `{ setThresholds(agent: "${Array.from({ length: 2_500 }, (_, i) => (i * 7919).toString(36)).join('')}", thresholds: { tokens: 5 }) { agent } }`,
      'BAD_USER_INPUT',
    ],
  ])('%s is refused', async (_what, mutation, code) => {
    const { body } = await server.graphql(`mutation ${mutation}`, {}, admin)
    expect(body.errors?.[0].extensions.code).toBe(code)
  })

  test('hold on another server within a second', async () => {
    const other = await startServer({ database: server.database })
    try {
      await effective('Across', other)
      await set({ latencyMs: 3_000 }, 'Across')
      const isFixed = ({ LATENCY }: Record<string, any>) => LATENCY.source === 'FIXED_FOR_AGENT'
      await until(() => effective('Across', other), isFixed, 1_000)
      expect((await other.ingestB(execution('across-1', { workflow: 'Across', durationMs: 3_500 }))).status).toBe(200)
      const { failures } = await failureReader(other).classified('across-1', B)
      expect(failures).toMatchObject([{ category: 'LATENCY_SPIKE', threshold: 3_000 }])
      await set({}, 'Across')
      await until(
        () => effective('Across', other),
        (all) => !isFixed(all),
        1_000,
      )
    } finally {
      await other.stop()
    }
  })
})

describe('what is usual', () => {
  test.each([
    [19, 'DEFAULT', 0],
    [25, 'ADAPTIVE', 0.95],
    [120, 'ADAPTIVE', 0.98],
    [210, 'ADAPTIVE', 0.98],
  ] as const)('after %d runs is known for the next at once', async (count, source, share) => {
    const workflow = `Usual ${count}`
    const durations = usualMs(count)
    await postAll(
      `usual-${count}`,
      durations.map((durationMs, i) => ({ workflow, durationMs, tokens: 2_000 + i })),
    )
    await untilAllClassified(server.database.sql)
    const { LATENCY, TOKENS, COST } = await effective(workflow)
    // The newest 200 are compared.
    const runs = Math.min(count, 200)
    const last = durations.slice(-200)
    const latency = source === 'DEFAULT' ? 60_000 : Math.max(3 * within(last, 0.5), 2 * within(last, share))
    expect(LATENCY).toMatchObject({ value: latency, source, runs })
    const spent = durations.map((_, i) => 2_000 + i).slice(-200)
    const tokens = source === 'DEFAULT' ? 50_000 : Math.max(3 * within(spent, 0.5), 2 * within(spent, share))
    expect(TOKENS).toMatchObject({ value: tokens, source, runs })
    expect(COST).toMatchObject({ value: 1, source: 'DEFAULT', runs: 0 })
    if (source === 'ADAPTIVE') expect(LATENCY.because).toContain(`last ${runs} runs`)
    const top = Math.max(...last)
    const expected = source === 'ADAPTIVE' ? [expect.stringMatching(/^LATENCY_SPIKE .* ADAPTIVE$/)] : []
    expect(await found(`usual-${count}-slow`, { workflow, durationMs: 5 * top })).toEqual(expected)
  })

  test.each(['one after the other', 'as one array'])(
    'is known to a run that comes right behind 150 posted %s',
    async (how) => {
      const workflow = `Quick ${how}`
      const durations = usualMs(150)
      if (how === 'as one array') {
        const executions = durations.map((durationMs, i) => execution(`q-${how}-${i}`, { workflow, durationMs }))
        expect((await server.ingestB(executions)).status).toBe(200)
      } else
        await postAll(
          `q-${how}`,
          durations.map((durationMs) => ({ workflow, durationMs })),
        )
      expect(
        (await server.ingestB(execution(`q-${how}-slow`, { workflow, durationMs: 5 * Math.max(...durations) }))).status,
      ).toBe(200)
      const slow = await failureReader(server).classified(`q-${how}-slow`, B)
      expect(slow.failures).toMatchObject([
        { category: 'LATENCY_SPIKE', thresholdSource: 'ADAPTIVE', thresholdRuns: 150 },
      ])
      // Nothing of the usual ones was taken for a spike.
      await untilAllClassified(server.database.sql)
      const [row] = await server.database.sql`
        select count(*)::int as count from sessions where external_id like ${`q-${how}-%`} and failure_count > 0`
      expect(row!.count).toBe(1)
    },
  )

  test('is not changed by a run that is posted again, and follows one that got another duration', async () => {
    const runs = Array.from({ length: 30 }, () => ({ workflow: 'Twice', durationMs: 2_000 }))
    await postAll('twice', runs)
    await postAll('twice', runs)
    await untilAllClassified(server.database.sql)
    expect((await effective('Twice')).LATENCY).toMatchObject({ value: 6_000, runs: 30 })
    await postAll(
      'twice',
      Array.from({ length: 30 }, () => ({ workflow: 'Twice', durationMs: 4_000 })),
    )
    await untilAllClassified(server.database.sql)
    expect((await effective('Twice')).LATENCY).toMatchObject({ value: 12_000, runs: 30 })
  })

  test('of an agent on both platforms is made by its runs on platform B alone', async () => {
    expect(await found('both-0', { workflow: 'Both', pricedTokens: 4_000 })).toEqual([])
    const cheap = Array.from({ length: 40 }, (_, i) => ({
      session_id: `both-a-${i}`,
      type: 'llm.call',
      agent_name: 'Both',
      cost: 0.0001,
      prompt_tokens: 10,
      completion_tokens: 1,
      error: 'Overloaded',
      status: 'error',
    }))
    expect((await server.ingestA(cheap)).status).toBe(200)
    await untilAllClassified(server.database.sql)
    // 0.05 USD are far from the dollar that holds while runs of platform B are few.
    expect(await found('both-1', { workflow: 'Both', pricedTokens: 20_000 })).toEqual([])
    expect((await effective('Both')).COST).toMatchObject({ source: 'DEFAULT', runs: 2 })
  })
})
