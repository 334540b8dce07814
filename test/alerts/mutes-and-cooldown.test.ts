// Mutes and cooldown: what is kept from people, for which reason, until when, and what must come through all the same.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execution } from '../support/failed-runs.ts'
import { failed, ruleStand } from '../support/rule-stand.ts'
import { ALERT_ENV } from '../support/alert-stand.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let stand: Awaited<ReturnType<typeof ruleStand>>
beforeAll(async () => void (stand = await ruleStand()))
afterAll(() => stand.stop())

const OTHER = { tool_name: 'billing.charge', error: 'card declined' }
/** As if what was told had been told longer ago. */
const ageAlerts = (ruleId: string, minutes: number) => stand.sql`
  update alerts set created_at = created_at - ${minutes} * interval '1 minute' where rule_id = ${ruleId}`

describe('a muted pattern', () => {
  test('is not told of until the mute ends, and the log says why', async () => {
    const rule = await stand.rule({ agents: ['Muted'] })
    await stand.postA(failed('muted-1', 'Muted'))
    await stand.mutePattern('Muted', 7)
    await stand.postA(failed('muted-2', 'Muted'))
    expect(await rule.toldOf()).toEqual(['muted-1', 'muted-2 PATTERN_MUTED'])
    expect((await rule.raised()).map(({ suppressedBy }) => suppressedBy)).toEqual([null, 'PATTERN_MUTED'])
    await stand.mutePattern('Muted', null)
    await stand.postA(failed('muted-3', 'Muted'))
    await stand.mutePattern('Muted', 1)
    await stand.sql`update failure_patterns set muted_until = now() - interval '1 second' where agent = 'Muted'`
    await stand.postA(failed('muted-4', 'Muted'))
    await rule.settled()
    expect(await rule.toldOf()).toEqual(['muted-1', 'muted-2 PATTERN_MUTED', 'muted-3', 'muted-4'])
    expect(rule.messages()).toHaveLength(3)
  })

  test('does not keep back another failure of the same run, at once or in a late event', async () => {
    const rule = await stand.rule({ agents: ['Half muted'] })
    await stand.postA(failed('half-0', 'Half muted'))
    await stand.mutePattern('Half muted', 7)
    await stand.postA([failed('half-1', 'Half muted', { status: undefined }), failed('half-1', 'Half muted', OTHER)])
    await stand.postA(failed('half-2', 'Half muted'))
    expect(await rule.toldOf()).toEqual(['half-0', 'half-1', 'half-2 PATTERN_MUTED'])
    await stand.postA(failed('half-2', 'Half muted', { ...OTHER, status: undefined }))
    await rule.settled()
    expect(await rule.toldOf()).toEqual(['half-0', 'half-1', 'half-2'])
    const subjects = rule.messages().map(({ data }) => `${data.session.externalId} ${data.subject}`)
    expect(subjects.toSorted()).toEqual(['half-0 crm.lookup', 'half-1 billing.charge', 'half-2 billing.charge'])
  })

  test('is not told of after the mute because its old runs are looked at again', async () => {
    const rule = await stand.rule({ agents: ['Unmuted'] })
    await stand.postA(failed('unmuted-0', 'Unmuted'))
    await stand.mutePattern('Unmuted', 7)
    await stand.postA([failed('unmuted-1', 'Unmuted'), failed('unmuted-2', 'Unmuted')])
    await stand.mutePattern('Unmuted', null)
    await stand.classifyAgain(['unmuted-1', 'unmuted-2'])
    await rule.settled()
    expect(await rule.toldOf()).toEqual(['unmuted-0', 'unmuted-1 PATTERN_MUTED', 'unmuted-2 PATTERN_MUTED'])
  })
})

describe('a muted agent', () => {
  test('is not told of on either platform until the mute ends; others are', async () => {
    const rule = await stand.rule({ agents: ['Silent', 'Loud'] })
    await stand.muteAgent('Silent', 365)
    await stand.postA([failed('silent-a', 'Silent'), failed('loud-a', 'Loud')])
    await stand.postB(execution('silent-b', { workflow: 'Silent', error: 'Bad gateway' }))
    expect(await rule.toldOf()).toEqual(['loud-a', 'silent-a AGENT_MUTED', 'silent-b AGENT_MUTED'])
    await stand.muteAgent('Silent', null)
    await stand.postA(failed('silent-c', 'Silent'))
    await stand.muteAgent('Silent', 1)
    await stand.sql`update muted_agents set muted_until = now() where agent = 'Silent'`
    await stand.postA(failed('silent-d', 'Silent'))
    expect(await rule.toldOf()).toEqual([
      'loud-a',
      'silent-a AGENT_MUTED',
      'silent-b AGENT_MUTED',
      'silent-c',
      'silent-d',
    ])
  })
})

describe('the cooldown of a rule', () => {
  test('tells of one run of a pattern in a batch and over batches, until it is over', async () => {
    const rule = await stand.rule({ agents: ['Cool'], cooldownMinutes: 30 })
    const all = await stand.rule({ agents: ['Cool'] })
    await stand.postA(Array.from({ length: 5 }, (_, i) => failed(`cool-${i}`, 'Cool')))
    await stand.postA(failed('cool-5', 'Cool'))
    const told = await rule.toldOf()
    expect(told.filter((one) => !one.includes(' '))).toHaveLength(1)
    expect(told.filter((one) => one.endsWith(' COOLDOWN'))).toHaveLength(5)
    expect(await all.toldOf()).toHaveLength(6)
    await stand.postA(failed('cool-6', 'Cool', OTHER))
    expect(await rule.toldOf()).toContain('cool-6')
    await ageAlerts(rule.uuid, 29)
    await stand.postA(failed('cool-7', 'Cool'))
    expect(await rule.toldOf()).toContain('cool-7 COOLDOWN')
    await ageAlerts(rule.uuid, 2)
    await stand.postA(failed('cool-8', 'Cool'))
    expect(await rule.toldOf()).toContain('cool-8')
    await rule.settled()
    expect(rule.messages()).toHaveLength(3)
  })

  test('does not keep back another failure of the same run that nobody was told of', async () => {
    const rule = await stand.rule({ agents: ['Two at once'], cooldownMinutes: 60 })
    await stand.postA(failed('known', 'Two at once'))
    const both = [failed('both', 'Two at once', { status: undefined }), failed('both', 'Two at once', OTHER)]
    // Each of the two orders: which of two failures of equal weight is the worst is for their fingerprints to say.
    await stand.postA(failed('known-too', 'Two at once', { tool_name: 'zzz', error: 'quite another' }))
    await stand.postA(both)
    expect(await rule.toldOf()).toEqual(['both', 'known', 'known-too'])
    await rule.settled()
    expect(rule.messages().map(({ data }) => data.subject)).toContain('billing.charge')
  })

  test('is not begun by an old run that is only looked at again beside a new one', async () => {
    const rule = await stand.rule({ agents: ['Beside'], cooldownMinutes: 60 })
    for (const id of ['beside-old-1', 'beside-old-2', 'beside-old-3', 'beside-old-4', 'beside-old-5']) {
      await stand.postA(failed(id, 'Beside'))
      await rule.settled()
      await ageAlerts(rule.uuid, 61)
    }
    expect(await rule.toldOf()).toHaveLength(5)
    // One request is one batch. Of six ids the new one is hardly the first.
    const old = ['1', '2', '3', '4', '5'].map((n) => ({ session_id: `beside-old-${n}`, type: 'span' }))
    await stand.postA([...old, failed('beside-new', 'Beside')])
    expect((await rule.toldOf())[0]).toBe('beside-new')
  })

  test('is not begun by an alert that reached nobody because the channel was off', async () => {
    const rule = await stand.rule({ agents: ['Unheard'], cooldownMinutes: 60 })
    const turn = (on: boolean) =>
      stand.ask(`mutation ($id: ID!, $on: Boolean) { updateChannel(id: $id, input: { isEnabled: $on }) { secret } }`, {
        id: rule.channel.id,
        on,
      })
    await turn(false)
    await stand.postA(failed('unheard-1', 'Unheard'))
    await turn(true)
    await stand.postA(failed('unheard-2', 'Unheard'))
    expect(await rule.toldOf()).toEqual(['unheard-1 CHANNEL_OFF', 'unheard-2'])
  })

  test('that is over does not tell of what was kept back, when that run is looked at again', async () => {
    const rule = await stand.rule({ agents: ['Kept back'], cooldownMinutes: 60 })
    await stand.postA(failed('kept-1', 'Kept back'))
    await stand.postA(failed('kept-2', 'Kept back'))
    await ageAlerts(rule.uuid, 61)
    await stand.classifyAgain(['kept-2'])
    await rule.settled()
    expect(await rule.toldOf()).toEqual(['kept-1', 'kept-2 COOLDOWN'])
  })
})
