// Rules of the kind FAILURE_RATE: what counts as failed, below, at and over the share, once in a window, on two servers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FailureRates } from '../../server/alerts/rates.ts'
import { ALERT_ENV } from '../support/alert-stand.ts'
import { execution } from '../support/failed-runs.ts'
import { failed, ruleStand, type OwnRule } from '../support/rule-stand.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let stand: Awaited<ReturnType<typeof ruleStand>>
let watch: OwnRule
const WATCHED = Array.from({ length: 30 }, (_, i) => `watched ${i}`)
beforeAll(async () => {
  stand = await ruleStand()
  watch = await rateOf(WATCHED, { minRuns: 1, failureShare: 1 })
})
afterAll(() => stand.stop())

const rateOf = (agents: string[], more: object = {}, at?: object) =>
  stand.rule({ kind: 'FAILURE_RATE', agents, failureShare: 0.5, minRuns: 4, windowMinutes: 60, ...more }, at)

/** All that is committed by now was counted: a run that came after it was. */
let turn = 0
async function counted(own: object = {}) {
  const agent = WATCHED[turn++]!
  expect((await stand.server.ingestA(failed(agent.replace(' ', '-'), agent, own))).status).toBe(200)
  await until(
    () => watch.raised(),
    (all) => all.some((one) => one.agent === agent),
    20_000,
  )
}

const fine = (session_id: string, agent_name: string) => ({ session_id, agent_name, type: 'span', status: 'success' })
let run = 0
/** Runs of an agent, the failed ones first. */
const runs = (agent: string, failedCount: number, count: number, own: object = {}) =>
  Array.from({ length: count }, (_, i) => {
    const id = `rate-${run++}`
    return i < failedCount ? failed(id, agent, own) : fine(id, agent)
  })
const WITHOUT_TEXT = { error: undefined }
const WENT_ON = { status: 'success' }
const ageRuns = (agent: string, minutes: number) => stand.sql`
  update sessions set last_event_at = last_event_at - ${minutes} * interval '1 minute' where agent = ${agent}`
const ageAlerts = (ruleId: string, minutes: number) => stand.sql`
  update alerts set created_at = created_at - ${minutes} * interval '1 minute',
    subject = subject || ' before' where rule_id = ${ruleId}`
const agentsOf = async (rule: OwnRule) => (await rule.raised()).map(({ agent }) => agent).toSorted()

describe('counted once', () => {
  const rules: Record<string, OwnRule> = {}
  beforeAll(async () => {
    const made = async (name: string, ...of: Parameters<typeof rateOf>) => void (rules[name] = await rateOf(...of))
    await made('half', ['Below', 'At', 'Above', 'Few'])
    await made('whole', ['Nearly', 'All'], { failureShare: 1 })
    await made('exact', ['Exact'], { failureShare: 0.28, minRuns: 25 })
    await made('textless', ['Textless'])
    await made('textless medium', ['Textless'], { minSeverity: 'MEDIUM' })
    await made('textless tools', ['Textless'], { categories: ['TOOL_FAILURE'] })
    await made('medium', ['Medium'], { minSeverity: 'MEDIUM' })
    await made('high', ['Medium'], { minSeverity: 'HIGH' })
    await made('tools', ['Medium'], { categories: ['TOOL_FAILURE'] })
    await made('models', ['Medium'], { categories: ['MODEL_FAILURE'] })
    await made('of B', ['Mixed'], { platform: 'PLATFORM_B', minRuns: 2 })
    await made('of A', ['Mixed'], { platform: 'PLATFORM_A', minRuns: 2 })
    await made('of both', ['Mixed'], { minRuns: 4 })
    await made('running', ['Open'], { minRuns: 3 })
    await made('old', ['Old'])
    await made('muted pattern', ['Quiet', 'Quiet too'])
    await made('muted agent', ['Hushed'])
    await stand.muteAgent('Hushed', 1)
    await stand.postA([...runs('Quiet', 1, 1), ...runs('Old', 3, 3)])
    await stand.mutePattern('Quiet', 1)
    await ageRuns('Old', 61)
    for (const id of ['mixed-1', 'mixed-2'])
      await stand.postB(execution(id, { workflow: 'Mixed', error: 'Bad gateway' }))
    await stand.postA([
      ...[...runs('Below', 1, 4), ...runs('At', 2, 4), ...runs('Above', 3, 4), ...runs('Few', 3, 3)],
      ...[...runs('Nearly', 3, 4), ...runs('All', 4, 4), ...runs('Exact', 7, 25)],
      ...[...runs('Textless', 4, 4, WITHOUT_TEXT), ...runs('Medium', 4, 4, WENT_ON), ...runs('Mixed', 0, 4)],
      ...[...runs('Open', 2, 2), { session_id: 'open', agent_name: 'Open', type: 'span' }],
      ...[...runs('Old', 1, 1), ...runs('Quiet', 3, 3), ...runs('Hushed', 4, 4)],
    ])
    await counted()
  })

  test.each([
    ['half', ['Above', 'At']],
    ['whole', ['All']],
    ['exact', ['Exact']],
    ['textless', ['Textless']],
    ['textless medium', []],
    ['textless tools', []],
    ['medium', ['Medium']],
    ['high', []],
    ['tools', ['Medium']],
    ['models', []],
    ['of B', ['Mixed']],
    ['of A', []],
    ['of both', []],
    ['running', []],
    ['old', []],
    ['muted pattern', []],
    ['muted agent', ['Hushed']],
  ] as const)('the rule "%s" told of just these agents: %j', async (name, agents) => {
    expect(await agentsOf(rules[name]!)).toEqual(agents)
  })

  test('what is told says how many of how many, since when, which failures most, and where to look', async () => {
    await rules.half!.settled()
    const { data, type } = rules.half!.messages().find((one) => one.data.agent === 'Above')
    expect(type).toBe('alert.failure_rate')
    expect(data).toMatchObject({
      title: '3 of 4 runs of Above failed',
      severity: 'HIGH',
      rate: { runs: 4, failed: 3, minutes: 60 },
      evidence: ['3 × connect ECONNREFUSED 10.0.0.7:443'],
      session: null,
    })
    expect(Date.parse(data.since.at)).toBe(Date.parse(rules.half!.messages()[0].timestamp) - 3_600_000)
    expect(data.url).toContain(`/sessions?agent=Above&from=`)
    expect(await rules['muted agent']!.raised()).toMatchObject([{ suppressedBy: 'AGENT_MUTED' }])
    expect(rules['muted agent']!.messages()).toEqual([])
  })

  test('an agent is told of once in a window, and again after it while its share is still high', async () => {
    await stand.postA([...runs('At', 4, 4), ...runs('Above', 4, 4)])
    await counted()
    expect(await agentsOf(rules.half!)).toEqual(['Above', 'At'])
    await ageAlerts(rules.half!.uuid, 59)
    await counted()
    expect(await agentsOf(rules.half!)).toEqual(['Above', 'At'])
    await stand.postA(runs('At', 0, 20))
    await ageAlerts(rules.half!.uuid, 2)
    await counted()
    expect(await agentsOf(rules.half!)).toEqual(['Above', 'Above', 'At'])
  })
})

test('runs without a name are counted together, in words that read like a sentence', async () => {
  const { name, key } = await stand.newProject()
  const rule = await rateOf([], { minRuns: 2 }, { project: name })
  await stand.postA(runs('', 2, 2, { agent_name: undefined }), { 'x-api-key': key })
  await counted()
  expect(await rule.raised()).toMatchObject([{ agent: null, facts: { runs: 2, failed: 2 } }])
  await rule.settled()
  const [{ data }] = rule.messages()
  expect(data.url).toContain('/sessions?agent=&from=')
  expect(data.title).toBe('2 of 2 runs without a name failed')
})

test('a rule that is switched on does not tell of runs that failed before', async () => {
  const rule = await rateOf(['Long known'], { isEnabled: false, windowMinutes: 10_080 })
  await stand.postA(runs('Long known', 4, 4))
  await ageRuns('Long known', 6 * 1_440)
  await rule.change({ isEnabled: true })
  await counted()
  expect(await rule.raised()).toEqual([])
})

test('an agent whose mute has ended is told of while its share is high', async () => {
  const rule = await rateOf(['Woken'], { windowMinutes: 1_440 })
  await stand.muteAgent('Woken', 1)
  await stand.postA(runs('Woken', 4, 4))
  await counted()
  expect(await rule.raised()).toMatchObject([{ suppressedBy: 'AGENT_MUTED' }])
  await stand.muteAgent('Woken', null)
  await stand.postA(runs('Woken', 4, 4))
  await counted()
  await rule.settled()
  expect(rule.messages()).toHaveLength(1)
})

test('a muted pattern does not count while its runs wait to be classified', async () => {
  const rule = await rateOf(['Waiting'])
  await stand.postA(runs('Waiting', 1, 1))
  await stand.mutePattern('Waiting', 1)
  const counting = new FailureRates({ sql: stand.sql as any, onRaised: () => {}, onError: () => {} })
  const holder = await stand.sql.reserve()
  try {
    await holder`begin`
    await holder`lock table failures in share row exclusive mode`
    expect((await stand.server.ingestA(runs('Waiting', 4, 4))).status).toBe(200)
    // One without a text needs no classification.
    const done = counted(WITHOUT_TEXT)
    await until(
      () => holder`select from sessions where agent = ${WATCHED[turn - 1]!}`,
      ({ length }) => length === 1,
    )
    counting.start()
    await done
    expect(await rule.raised()).toEqual([])
  } finally {
    await holder`rollback`
    holder.release()
    await counting.close()
  }
})

test('two servers that count at once tell once', async () => {
  const other = await startServer({ database: stand.server.database, env: ALERT_ENV })
  try {
    const rule = await rateOf(['Two servers'], { windowMinutes: 1 })
    const all = runs('Two servers', 40, 40)
    await Promise.all([
      ...all.slice(0, 20).map((one) => stand.server.ingestA(one)),
      ...all.slice(20).map((one) => other.ingestA(one)),
    ])
    await counted()
    await counted()
    await rule.settled()
    expect(await rule.raised()).toHaveLength(1)
    expect(rule.messages()).toHaveLength(1)
  } finally {
    await other.stop()
  }
})
