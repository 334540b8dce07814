// Of which failures a rule tells: severity, categories, agents and platform, each alone and together, and to whom.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execution } from '../support/failed-runs.ts'
import { failed, messagesAt, ruleStand } from '../support/rule-stand.ts'

let stand: Awaited<ReturnType<typeof ruleStand>>
beforeAll(async () => void (stand = await ruleStand()))
afterAll(() => stand.stop())

const WENT_ON = { status: 'success' }
/** One run each: its failure, its agent and its platform. */
const RUNS_OF_A = [
  failed('a-tool-high', 'Desk'),
  failed('a-tool-medium', 'Desk', WENT_ON),
  failed('a-model-high', 'Desk', { type: 'llm.call', tool_name: undefined, model: 'm' }),
  failed('a-find-medium', 'Help', { type: 'retrieval', tool_name: 'docs', ...WENT_ON }),
  failed('a-run-high', 'Help', { type: 'session.end', tool_name: undefined }),
  failed('a-nobody-high', 'Desk', { agent_name: undefined }),
  { session_id: 'a-without-text', agent_name: 'Desk', type: 'span', status: 'error' },
  { session_id: 'a-fine', agent_name: 'Desk', type: 'span', status: 'success' },
]
const RUNS_OF_B = [
  execution('b-tool-high', { workflow: 'Desk', error: 'Bad gateway' }),
  execution('b-tool-medium', { workflow: 'Flow', error: 'Bad gateway', status: 'success' }),
  execution('b-slow-medium', { workflow: 'Slow', durationMs: 60_001 }),
  execution('b-slow-critical', { workflow: 'Slower', durationMs: 240_000 }),
  execution('b-dear-high', { workflow: 'Dear', pricedTokens: 800_000 }),
  execution('b-run-high', { workflow: 'Flow', status: 'error', hasNodes: false }),
  execution('b-fine', { workflow: 'Flow' }),
]

const ALL = [
  'a-find-medium',
  'a-model-high',
  'a-nobody-high',
  'a-run-high',
  'a-tool-high',
  'a-tool-medium',
  'b-dear-high',
  'b-run-high',
  'b-slow-critical',
  'b-slow-medium',
  'b-tool-high',
  'b-tool-medium',
]
const of = (...parts: string[]) => ALL.filter((id) => parts.some((part) => id.includes(part)))

const CASES: [string, object, string[]][] = [
  ['without conditions', {}, ALL],
  ['of LOW', { minSeverity: 'LOW' }, ALL],
  ['of MEDIUM', { minSeverity: 'MEDIUM' }, ALL],
  ['of HIGH', { minSeverity: 'HIGH' }, of('high', 'critical')],
  ['of CRITICAL', { minSeverity: 'CRITICAL' }, ['b-slow-critical']],
  ['of tools', { categories: ['TOOL_FAILURE'] }, of('-tool-', 'nobody')],
  ['of models', { categories: ['MODEL_FAILURE'] }, ['a-model-high']],
  ['of retrievals', { categories: ['RETRIEVAL_FAILURE'] }, ['a-find-medium']],
  ['of runs', { categories: ['RUN_FAILURE'] }, of('-run-')],
  ['of slow and costly runs', { categories: ['LATENCY_SPIKE', 'COST_ANOMALY'] }, of('slow', 'dear')],
  ['of loops', { categories: ['INFINITE_LOOP'] }, []],
  [
    'of an agent of both platforms',
    { agents: ['Desk'] },
    ['a-model-high', 'a-tool-high', 'a-tool-medium', 'b-tool-high'],
  ],
  ['of two agents', { agents: ['Slow', 'Help'] }, ['a-find-medium', 'a-run-high', 'b-slow-medium']],
  ['of an agent in other letters', { agents: ['desk'] }, []],
  ['of platform A', { platform: 'PLATFORM_A' }, of('a-')],
  ['of platform B', { platform: 'PLATFORM_B' }, of('b-')],
  [
    'of tools, HIGH, of Desk, of platform B',
    { minSeverity: 'HIGH', categories: ['TOOL_FAILURE'], agents: ['Desk'], platform: 'PLATFORM_B' },
    ['b-tool-high'],
  ],
  [
    'of two categories, CRITICAL',
    { minSeverity: 'CRITICAL', categories: ['LATENCY_SPIKE', 'RUN_FAILURE'] },
    ['b-slow-critical'],
  ],
  ['of an agent and a platform it does not run on', { agents: ['Help'], platform: 'PLATFORM_B' }, []],
]

describe('of runs of both platforms', () => {
  const made = new Map<string, Awaited<ReturnType<typeof stand.rule>>>()
  beforeAll(async () => {
    for (const [name, input] of CASES) made.set(name, await stand.rule(input))
    made.set('switched off', await stand.rule({ isEnabled: false }))
    await stand.postA(RUNS_OF_A)
    for (const one of RUNS_OF_B) await stand.postB(one)
  })

  test.each(CASES)('a rule %s tells of just those', async (name, _input, expected) => {
    const rule = made.get(name)!
    expect(await rule.toldOf()).toEqual(expected)
    await rule.settled()
    expect(
      rule
        .messages()
        .map(({ data }) => data.session.externalId)
        .toSorted(),
    ).toEqual(expected)
  })

  test('a rule that is switched off raises nothing', async () => {
    expect(await made.get('switched off')!.raised()).toEqual([])
  })

  test('how many occasions of the last 7 days are said is how many it told of', async () => {
    for (const [name, input, expected] of CASES) {
      const { describeAlertRule } = await stand.ask(
        `query ($input: AlertRuleInput!) { describeAlertRule(input: $input) { occasionsInLast7Days } }`,
        { input: { name, ...input } },
      )
      expect([name, describeAlertRule.occasionsInLast7Days]).toEqual([name, expected.length])
    }
  })
})

test('of a run with several failures the worst that the rule is about is told, and once', async () => {
  const any = await stand.rule({ agents: ['Many'] })
  const models = await stand.rule({ agents: ['Many'], categories: ['MODEL_FAILURE'] })
  await stand.postA([
    failed('many', 'Many', {
      status: undefined,
      type: 'llm.call',
      tool_name: undefined,
      model: 'm',
      error: 'out of tokens',
    }),
    failed('many', 'Many', { error: 'first' }),
    failed('many', 'Many', { error: 'second', tool_name: 'other' }),
  ])
  expect(await any.raised()).toMatchObject([{ category: 'TOOL_FAILURE', severity: 3 }])
  expect(await models.raised()).toMatchObject([{ category: 'MODEL_FAILURE' }])
})

test('two channels of a rule are each told once, and one channel of two rules hears of both', async () => {
  const both = await Promise.all(
    ['one', 'two'].map((name) => stand.channel('WEBHOOK', { name, url: `${stand.receiver.url}/${name}` })),
  )
  const [one, two] = both.map(({ channel }) => channel.id as string) as [string, string]
  const first = await stand.rule({ agents: ['Shared'], channels: [one, two, one] })
  const second = await stand.rule({ agents: ['Shared'], channels: [one] })
  await stand.postA([failed('shared-1', 'Shared'), failed('shared-2', 'Shared')])
  await first.settled()
  await second.settled()
  const at = (path: string) =>
    messagesAt(stand.receiver, path)
      .map(({ data }) => `${data.rule} of ${data.session.externalId}`)
      .toSorted()
  const runs = ({ name }: { name: string }) => [`${name} of shared-1`, `${name} of shared-2`]
  expect(at('/one')).toEqual([...runs(first), ...runs(second)].toSorted())
  expect(at('/two')).toEqual(runs(first))
  const ids = stand.receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(ids.length)
})

test('a rule tells of its own project alone, with the channels and mutes of that', async () => {
  const other = await stand.newProject()
  const here = await stand.rule({ agents: ['Both'] })
  const there = await stand.rule({ agents: ['Both'] }, { project: other.name })
  await stand.muteAgent('Both', 1)
  const key = { 'x-api-key': other.key }
  await stand.postA(failed('both', 'Both'))
  await stand.postA(failed('both', 'Both'), key)
  expect(await here.toldOf()).toEqual(['both AGENT_MUTED'])
  expect(await there.toldOf()).toEqual(['both'])
  await there.settled()
  expect(there.messages()).toMatchObject([{ data: { project: other.name } }])
  expect(await there.raised()).toHaveLength(1)
})

test('a failure is told of through the rule that stands ready, once it is switched on with a channel', async () => {
  const [ready] = (await stand.rules()).filter(({ name }: any) => name === 'High and critical failures')
  const { channel } = await stand.channel('WEBHOOK', { name: 'ready', url: `${stand.receiver.url}/ready` })
  expect(ready).toMatchObject({ kind: 'FAILURE', isEnabled: false, minSeverity: 'HIGH', updatedBy: null, channels: [] })
  expect((await stand.changeRule(ready.id, { isEnabled: true, channels: [channel.id] })).isEnabled).toBe(true)
  await stand.postA([failed('ready-high', 'Ready'), failed('ready-medium', 'Ready', WENT_ON)])
  await stand.settled({ channel: channel.id })
  expect(messagesAt(stand.receiver, '/ready').map(({ data }) => data.session.externalId)).toEqual(['ready-high'])
  await stand.changeRule(ready.id, { isEnabled: false })
})
