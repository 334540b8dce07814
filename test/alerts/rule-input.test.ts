// What an alert rule may be: every field of AlertRuleInput, what is said where it is refused, and what a rule says it does.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ruleSentence } from '../../server/alerts/rule-sentence.ts'
import { failed, ruleStand } from '../support/rule-stand.ts'

let stand: Awaited<ReturnType<typeof ruleStand>>
let channel: string
let foreign: string
beforeAll(async () => {
  stand = await ruleStand()
  channel = (await stand.channel('WEBHOOK', { name: 'Ops', url: `${stand.receiver.url}/ops` })).channel.id
  const { name } = await stand.newProject()
  foreign = (await stand.channel('WEBHOOK', { name: 'Ops', url: `${stand.receiver.url}/foreign` }, name)).channel.id
})
afterAll(() => stand.stop())

const CREATE = `mutation ($input: AlertRuleInput!) { createAlertRule(input: $input) { id } }`
const DESCRIBE = `query ($id: ID, $input: AlertRuleInput!) {
  describeAlertRule(id: $id, input: $input) { sentence problem occasionsInLast7Days } }`
const describeRule = async (input: object, id?: string) =>
  (await stand.ask(DESCRIBE, { input: { name: 'x', ...input }, id })).describeAlertRule
const RATE = { kind: 'FAILURE_RATE' }
const many = (count: number) => Array.from({ length: count }, (_, i) => `agent ${i}`)

/** With words that the sentence must have: the field, what is allowed, what came. */
const REFUSED: [string, object, string[]][] = [
  ['no name', { name: undefined }, ['name', '1 to 100', 'not 0']],
  ['a name of spaces', { name: '   ' }, ['name', '1 to 100', 'not 0']],
  ['a name that is too long', { name: 'n'.repeat(101) }, ['name', '1 to 100', 'not 101']],
  ['51 agents', { agents: many(51) }, ['agents', '50', '51']],
  ['an agent without letters', { agents: ['Desk', ''] }, ['agents', '1 to 500', 'not 0']],
  ['an agent that is too long', { agents: ['a'.repeat(501)] }, ['agents', '1 to 500', 'not 501']],
  ['a cooldown below 0', { cooldownMinutes: -1 }, ['cooldownMinutes', '0 to 10080', '-1']],
  ['a cooldown above a week', { cooldownMinutes: 10_081 }, ['cooldownMinutes', '0 to 10080', '10081']],
  ['a cooldown of a new pattern', { kind: 'NEW_PATTERN', cooldownMinutes: 5 }, ['cooldownMinutes', 'FAILURE']],
  ['a share of 0', { ...RATE, failureShare: 0 }, ['failureShare', '0.001 to 1', '0']],
  ['a share above 1', { ...RATE, failureShare: 1.001 }, ['failureShare', '0.001 to 1', '1.001']],
  ['a share below 0', { ...RATE, failureShare: -0.5 }, ['failureShare', '0.001 to 1', '-0.5']],
  ['no runs', { ...RATE, minRuns: 0 }, ['minRuns', '1 to 100000', '0']],
  ['too many runs', { ...RATE, minRuns: 100_001 }, ['minRuns', '1 to 100000', '100001']],
  ['no minutes', { ...RATE, windowMinutes: 0 }, ['windowMinutes', '1 to 10080', '0']],
  ['too many minutes', { ...RATE, windowMinutes: 10_081 }, ['windowMinutes', '1 to 10080', '10081']],
  ['a share of a rule of another kind', { failureShare: 0.5 }, ['failureShare', 'FAILURE_RATE']],
  ['no channel, switched on', { isEnabled: true, channels: [] }, ['channel', 'at least one']],
  ['what is no id of a channel', { channels: ['ops'] }, ['"ops"', 'channel']],
  [
    'a channel that is not there',
    { channels: ['00000000-0000-4000-8000-000000000000'] },
    ['channels', 'not there', '00000000-0000-4000-8000-000000000000'],
  ],
]

describe('refused is, with the field, what is allowed and what came,', () => {
  test.each(REFUSED)('%s', async (_what, input, words) => {
    const refusal = await stand.refusal(CREATE, { input: { name: 'x', ...input } })
    expect(refusal?.extensions.code).toBe('BAD_USER_INPUT')
    for (const word of words) expect(refusal!.message).toContain(word)
  })

  test.each(REFUSED.filter(([what]) => what !== 'what is no id of a channel'))(
    'when it is described before, %s, and no more than that',
    async (_what, input) => {
      const refusal = await stand.refusal(CREATE, { input: { name: 'x', ...input } })
      expect((await describeRule(input)).problem).toBe(refusal?.message ?? 'is not refused at all')
    },
  )

  test('a channel of another project, in a new rule, a change and by its bare id', async () => {
    const rule = await stand.rule({ channels: [channel] })
    for (const id of [foreign, stand.uuidOf(foreign)]) {
      const refusal = await stand.refusal(CREATE, { input: { name: 'x', channels: [channel, id] } })
      expect(refusal).toMatchObject({ message: expect.stringContaining('another project') })
      await expect(stand.changeRule(rule.id, { channels: [id] })).rejects.toThrow('another project')
    }
    await stand.changeRule(rule.id, { isEnabled: false })
  })

  test('a rule or project that is not there, and what is no id of a rule', async () => {
    const change = `mutation ($id: ID!) { updateAlertRule(id: $id, input: {}) { id } }`
    const none = await stand.refusal(change, { id: '00000000-0000-4000-8000-000000000000' })
    expect(none?.extensions.code).toBe('NOT_FOUND')
    const bad = await stand.refusal(change, { id: channel })
    expect(bad).toMatchObject({
      extensions: { code: 'BAD_USER_INPUT' },
      message: expect.stringContaining('alert rule'),
    })
    const project = await stand.refusal(`mutation { createAlertRule(project: "nowhere", input: { name: "x" }) { id } }`)
    expect(project).toMatchObject({ extensions: { code: 'NOT_FOUND' }, message: expect.stringContaining('nowhere') })
  })
})

describe('taken is', () => {
  test('the least and the most of every field', async () => {
    for (const input of [
      { name: 'n'.repeat(100), agents: many(50), cooldownMinutes: 10_080 },
      { ...RATE, failureShare: 0.001, minRuns: 1, windowMinutes: 1 },
      { ...RATE, failureShare: 1, minRuns: 100_000, windowMinutes: 10_080 },
    ]) {
      const rule = await stand.rule({ name: 'x', ...input, isEnabled: false })
      expect(rule).toMatchObject(input)
    }
  })

  test('what is not given as the defaults, then as it was; what is no more of its kind is forgotten', async () => {
    const rule = await stand.rule({ isEnabled: false, channels: [], name: '  Trimmed ' })
    expect(rule).toMatchObject({
      ...{ name: 'Trimmed', kind: 'FAILURE', minSeverity: 'LOW', categories: [], agents: [], platform: null },
      ...{ cooldownMinutes: 0, failureShare: null, minRuns: null, windowMinutes: null, channels: [] },
    })
    const given = {
      minSeverity: 'HIGH',
      categories: ['TOOL_FAILURE'],
      agents: ['A'],
      platform: 'PLATFORM_B',
      cooldownMinutes: 5,
    }
    await stand.changeRule(rule.id, { ...given, channels: [channel] })
    expect(await stand.changeRule(rule.id, { name: 'Other' })).toMatchObject({ ...given, name: 'Other' })
    const rate = await stand.changeRule(rule.id, { kind: 'FAILURE_RATE', platform: null })
    expect(rate).toMatchObject({
      cooldownMinutes: 0,
      failureShare: 0.5,
      minRuns: 10,
      windowMinutes: 60,
      platform: null,
    })
    expect(await stand.changeRule(rule.id, { kind: 'FAILURE', agents: [], categories: [] })).toMatchObject({
      ...{ failureShare: null, minRuns: null, windowMinutes: null, agents: [], categories: [], minSeverity: 'HIGH' },
    })
  })

  test('a name of an agent exactly as runs have it, spaces and all', async () => {
    const rule = await stand.rule({ agents: [' Pasted '], channels: [channel] })
    await stand.postA([failed('pasted', 'Pasted'), failed('spaced', ' Pasted ')])
    expect(await rule.toldOf()).toEqual(['spaced'])
  })
})

describe('how many occasions of the last 7 days are said', () => {
  const occasions = async (input: object) => (await describeRule(input)).occasionsInLast7Days
  const newOf = (agent: string) => ({ kind: 'NEW_PATTERN', agents: [agent] })

  test('is as many as runs with a failure, or as patterns that came up; rates have none', async () => {
    const rule = await stand.rule(newOf('Counted'))
    await stand.postA([
      ...many(4).map((_, i) => failed(`counted-${i}`, 'Counted')),
      failed('counted-x', 'Counted', { error: 'x' }),
    ])
    expect(await occasions({ agents: ['Counted'] })).toBe(5)
    expect(await occasions(newOf('Counted'))).toBe((await rule.toldOf()).length)
    expect(await occasions({ ...newOf('Counted'), minSeverity: 'CRITICAL' })).toBe(0)
    expect(await occasions({ ...RATE, agents: ['Counted'] })).toBe(null)
    await stand.sql`update failures set seen_at = now() - interval '8 days'
      where session_id in (select id from sessions where external_id in ('counted-0', 'counted-x'))`
    expect(await occasions({ agents: ['Counted'] })).toBe(3)
    // One is older, and one was not seen in these days.
    expect(await occasions(newOf('Counted'))).toBe(0)
  })

  test('counts a pattern that came back after it was resolved as often as it is told', async () => {
    const rule = await stand.rule(newOf('Counted back'))
    await stand.postA(failed('counted-back-1', 'Counted back'))
    await stand.resolvePattern('Counted back')
    await stand.postA(failed('counted-back-2', 'Counted back'))
    expect(await rule.toldOf()).toHaveLength(2)
    expect(await occasions(newOf('Counted back'))).toBe(2)
  })

  test('is of the project that the rule is of', async () => {
    const { name, key } = await stand.newProject()
    await stand.postA(failed('there', 'Counted there'), { 'x-api-key': key })
    const { describeAlertRule } = await stand.ask(
      `query ($project: String!) { describeAlertRule(project: $project, input: { name: "x", agents: ["Counted there"] }) {
        occasionsInLast7Days } }`,
      { project: name },
    )
    expect(describeAlertRule.occasionsInLast7Days).toBe(1)
    expect(await occasions({ agents: ['Counted there'] })).toBe(0)
  })
})

describe('what a rule says it does', () => {
  const say = (more: object, channels = ['Ops']) =>
    ruleSentence(
      {
        ...{ kind: 'FAILURE', minSeverity: 'LOW', categories: [], agents: [], platform: null, cooldownMinutes: 0 },
        ...{ failureShare: 0.5, minRuns: 10, windowMinutes: 60, ...more },
      } as Parameters<typeof ruleSentence>[0],
      channels,
    )

  test.each([
    ['any failure', {}, 'When a run of any agent has a failure, tell "Ops", once for each run.'],
    [
      'least severity, an agent, a platform and a cooldown',
      { minSeverity: 'HIGH', agents: ['Desk'], platform: 'PLATFORM_A', cooldownMinutes: 90 },
      'When a run of "Desk" on Zapier has a high or critical failure, tell "Ops", once for each run, and of the same failure at most once in 90 minutes.',
    ],
    [
      'an endless loop',
      { categories: ['INFINITE_LOOP'] },
      'When a run of any agent has a failure (endless loop), tell "Ops", once for each run.',
    ],
    ['a failed run', { categories: ['RUN_FAILURE'] }, expect.not.stringContaining('has a failed run')],
    ['a share of all', { ...RATE, failureShare: 1 }, expect.not.stringContaining('100 % or more')],
    ['one run', { ...RATE, minRuns: 1 }, expect.not.stringContaining('at least 1 runs')],
  ])('is plain English of %s', (_what, more, sentence) => {
    expect(say(more)).toEqual(sentence)
  })

  test('is the same of a saved rule and of one that is being made', async () => {
    const input = {
      minSeverity: 'HIGH',
      categories: ['TOOL_FAILURE', 'MODEL_FAILURE'],
      agents: ['A', 'B'],
      channels: [channel],
    }
    const rule = await stand.rule({ ...input, isEnabled: false })
    expect((await describeRule(input)).sentence).toBe(rule.sentence)
    const { sentence } = await describeRule({ agents: [], categories: [] }, rule.id)
    expect(sentence).toBe('When a run of any agent has a high or critical failure, tell "Ops", once for each run.')
  })
})
