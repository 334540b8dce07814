// Rules of the kind NEW_PATTERN: first sight, again, after resolving, and patterns that go and come back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pruneAlerts } from '../../server/alerts/read.ts'
import { execution } from '../support/failed-runs.ts'
import { failed, ruleStand } from '../support/rule-stand.ts'

let stand: Awaited<ReturnType<typeof ruleStand>>
beforeAll(async () => void (stand = await ruleStand()))
afterAll(() => stand.stop())

const WENT_ON = { status: 'success' }
const OTHER = { tool_name: 'billing.charge', error: 'card declined' }
const newOf = (agent: string, more: object = {}) => stand.rule({ kind: 'NEW_PATTERN', agents: [agent], ...more })
const deleteSession = async (externalId: string) =>
  stand.ask(`mutation ($id: ID!) { deleteSession(id: $id) }`, { id: (await stand.read(externalId)).id })

describe('a pattern', () => {
  test('is told of at its first sight, on either platform, and never again', async () => {
    const rule = await newOf('First')
    await stand.postA([failed('first-1', 'First'), failed('first-2', 'First'), failed('first-3', 'First', OTHER)])
    await stand.postA([
      failed('first-4', 'First'),
      failed('first-5', 'First', { error: 'connect ECONNREFUSED 10.9.9.9:1' }),
    ])
    await stand.postB(execution('first-b-1', { workflow: 'First', error: 'Bad gateway' }))
    await stand.postB(execution('first-b-2', { workflow: 'First', error: 'Bad gateway' }))
    await rule.settled()
    expect(
      rule
        .messages()
        .map(({ data }) => data.subject)
        .toSorted(),
    ).toEqual(['Push to CRM', 'billing.charge', 'crm.lookup'])
    expect(rule.messages()[0]).toMatchObject({
      type: 'alert.new_pattern',
      data: { seenInLast7Days: expect.any(Number) },
    })
  })

  test('that was seen while the rule was off is not new to it', async () => {
    await stand.postA(failed('known-1', 'Known'))
    const rule = await newOf('Known')
    await stand.postA([failed('known-2', 'Known'), failed('known-3', 'Known', OTHER)])
    expect(await rule.toldOf()).toEqual(['known-3'])
  })

  test('is told of again after it was resolved and came back, once for each resolution', async () => {
    const rule = await newOf('Back')
    await stand.postA(failed('back-1', 'Back'))
    for (const n of [2, 3]) {
      await stand.resolvePattern('Back')
      await stand.classifyAgain(['back-1'])
      expect(await rule.toldOf()).toHaveLength(n - 1)
      await stand.postA([failed(`back-${n}-a`, 'Back'), failed(`back-${n}-b`, 'Back')])
      await stand.postA(failed(`back-${n}-c`, 'Back'))
      expect(await rule.toldOf()).toHaveLength(n)
    }
    await stand.resolvePattern('Back', 'reopen')
    await stand.postA(failed('back-4', 'Back'))
    expect(await rule.toldOf()).toHaveLength(3)
  })

  test('that came back is not called new in what people read', async () => {
    const { channel } = await stand.channel('SLACK', { name: 'slack', url: `${stand.receiver.url}/slack` })
    const rule = await newOf('Called new', { channels: [channel.id] })
    await stand.postA(failed('called-1', 'Called new'))
    await stand.resolvePattern('Called new')
    await stand.postA(failed('called-2', 'Called new'))
    await rule.settled()
    const texts = stand.receiver.received.filter(({ path }) => path === '/slack').map(({ body }) => body.text as string)
    expect(texts).toEqual([
      expect.stringMatching(/^Called new: new: tool failure/),
      expect.stringMatching(/^Called new: seen again after it was resolved: tool failure/),
    ])
  })

  test('that went with its only run and comes back is told of as new', async () => {
    const rule = await newOf('Gone')
    await stand.postA(failed('gone-1', 'Gone'))
    await rule.settled()
    await deleteSession('gone-1')
    expect(await rule.raised()).toEqual([])
    await stand.postA(failed('gone-2', 'Gone'))
    expect(await rule.toldOf()).toEqual(['gone-2'])
  })

  test('whose first run is deleted is not told of anew while others of it are kept', async () => {
    const rule = await newOf('Kept')
    await stand.postA(failed('kept-1', 'Kept'))
    await stand.postA(failed('kept-2', 'Kept'))
    await deleteSession('kept-1')
    await stand.postA(failed('kept-3', 'Kept'))
    await rule.settled()
    expect(rule.messages()).toHaveLength(1)
  })
})

describe('a pattern that came back after it was resolved is not told of a second time', () => {
  const cameBack = async (agent: string) => {
    const rule = await newOf(agent)
    await stand.postA(failed(`${agent}-1`, agent))
    await stand.resolvePattern(agent)
    await stand.postA(failed(`${agent}-2`, agent))
    await rule.settled()
    expect(rule.messages()).toHaveLength(2)
    return rule
  }

  test('when the run that it came back with is deleted', async () => {
    const rule = await cameBack('Reopener')
    await deleteSession('Reopener-2')
    await stand.postA(failed('Reopener-3', 'Reopener'))
    await rule.settled()
    expect(rule.messages()).toHaveLength(2)
  })

  test('when the log of 90 days ago is cleared', async () => {
    const rule = await cameBack('Pruned')
    await stand.sql`update alerts set created_at = created_at - interval '91 days' where agent = 'Pruned'`
    await stand.sql`update failure_patterns set resolved_at = resolved_at - interval '91 days' where agent = 'Pruned'`
    await stand.sql`
      update failures f set seen_at = seen_at - interval '91 days' from sessions s where s.id = f.session_id and s.agent = 'Pruned'`
    await pruneAlerts(stand.sql as any)
    await stand.postA(failed('Pruned-3', 'Pruned'))
    await rule.settled()
    expect(rule.messages()).toHaveLength(2)
  })
})

describe('a severity or category that the rule asks for', () => {
  test('is looked at where the pattern is first seen', async () => {
    const high = await newOf('Bad', { minSeverity: 'HIGH' })
    const models = await newOf('Bad', { categories: ['MODEL_FAILURE'] })
    const b = await newOf('Bad', { platform: 'PLATFORM_B' })
    await stand.postA([
      failed('bad-1', 'Bad'),
      failed('bad-2', 'Bad', { type: 'llm.call', model: 'm', error: 'overloaded' }),
    ])
    await stand.postB(execution('bad-3', { workflow: 'Bad', error: 'Bad gateway', status: 'success' }))
    expect(await high.toldOf()).toEqual(['bad-1', 'bad-2'])
    expect(await models.toldOf()).toEqual(['bad-2'])
    expect(await b.toldOf()).toEqual(['bad-3'])
  })

  test('and reached by the same run a moment later is told of', async () => {
    const high = await newOf('Rises', { minSeverity: 'HIGH' })
    await stand.postA(failed('rises', 'Rises', WENT_ON))
    await stand.postA({ session_id: 'rises', type: 'session.end', status: 'error' })
    expect(await high.toldOf()).toEqual(['rises'])
  })
})

describe('a pattern first seen', () => {
  test('while its agent is muted leaves a suppressed delivery with the reason, and is told of by the next run', async () => {
    const rule = await newOf('Hushed')
    await stand.muteAgent('Hushed', 1)
    await stand.postA(failed('hushed-1', 'Hushed'))
    expect(await rule.toldOf()).toEqual(['hushed-1 AGENT_MUTED'])
    await stand.muteAgent('Hushed', null)
    await stand.classifyAgain(['hushed-1'])
    expect(await rule.toldOf()).toEqual(['hushed-1 AGENT_MUTED'])
    await stand.postA(failed('hushed-2', 'Hushed'))
    expect(await rule.toldOf()).toEqual(['hushed-2'])
  })

  test('by two rules at once is told by both', async () => {
    const rules = [await newOf('Two rules'), await newOf('Two rules')]
    await stand.postA(failed('two-rules', 'Two rules'))
    for (const rule of rules) expect(await rule.toldOf()).toEqual(['two-rules'])
  })

  test('in a run whose agent is named only afterwards is told of once', async () => {
    const rule = await stand.rule({ kind: 'NEW_PATTERN', categories: ['RETRIEVAL_FAILURE'] })
    const step = { type: 'retrieval', tool_name: 'unnamed docs', error: 'index is gone', agent_name: undefined }
    await stand.postA(failed('named-later', '', step))
    await stand.postA({ session_id: 'named-later', agent_name: 'Named later', type: 'span' })
    await rule.settled()
    expect(rule.messages()).toHaveLength(1)
  })
})
