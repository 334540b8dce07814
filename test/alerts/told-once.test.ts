// Once per rule and run: late events, a severity that rises, looks at old runs, two servers, and rules and channels that change.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execution } from '../support/failed-runs.ts'
import { priceStand } from '../support/prices.ts'
import { failed, ruleStand } from '../support/rule-stand.ts'
import { ALERT_ENV } from '../support/alert-stand.ts'
import { answer } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let stand: Awaited<ReturnType<typeof ruleStand>>
beforeAll(async () => void (stand = await ruleStand()))
afterAll(() => stand.stop())

const WENT_ON = { status: 'success' }
const ageBy = (externalId: string, hours: number) => stand.sql`
  update sessions set last_event_at = last_event_at - ${hours} * interval '1 hour' where external_id = ${externalId}`

test('a run that is classified again and again after late events is told of once', async () => {
  const rule = await stand.rule({ agents: ['Late'] })
  await stand.postA(failed('late', 'Late'))
  await rule.settled()
  await stand.postA(failed('late', 'Late', { status: undefined }))
  await stand.postA(failed('late', 'Late', { status: undefined, tool_name: 'other', error: 'another error' }))
  await stand.postA(failed('late', 'Late'))
  expect((await stand.read('late')).failureCount).toBe(2)
  await stand.classifyAgain(['late'])
  await rule.settled()
  expect(rule.messages()).toHaveLength(1)
  expect(await rule.raised()).toHaveLength(1)
})

test('a severity that rises later is told by a rule that asks for it, and not again by one that told', async () => {
  const high = await stand.rule({ agents: ['Rising', 'Slowing'], minSeverity: 'HIGH' })
  const any = await stand.rule({ agents: ['Rising', 'Slowing'] })
  await stand.postA(failed('rising', 'Rising', WENT_ON))
  const run = { workflow: 'Slowing', durationMs: 60_001 }
  await stand.postB(execution('slowing', run))
  expect(await high.raised()).toEqual([])
  expect(await any.toldOf()).toEqual(['rising', 'slowing'])
  await stand.postA({ session_id: 'rising', type: 'session.end', status: 'error' })
  await stand.postB(execution('slowing', { ...run, durationMs: 240_001 }))
  expect(await high.toldOf()).toEqual(['rising', 'slowing'])
  expect((await high.raised()).map(({ severity }) => severity).toSorted()).toEqual([3, 4])
  expect(await any.toldOf()).toEqual(['rising', 'slowing'])
  expect(await any.raised()).toHaveLength(2)
})

describe('what was seen before', () => {
  test('a rule is switched on is not told when it is looked at again; what comes new to the same run is', async () => {
    await stand.postA([failed('before', 'Before'), failed('before-2', 'Before')])
    const rule = await stand.rule({ agents: ['Before'], isEnabled: false })
    await stand.classifyAgain(['before', 'before-2'])
    await rule.change({ isEnabled: true })
    await stand.classifyAgain(['before', 'before-2'])
    await stand.postA(failed('before', 'Before', { status: undefined }))
    expect(await rule.raised()).toEqual([])
    await stand.postA(failed('before-2', 'Before', { tool_name: 'other' }))
    await stand.postA(failed('after', 'Before'))
    expect(await rule.toldOf()).toEqual(['after', 'before-2'])
    await rule.settled()
    await rule.change({ isEnabled: false })
    await stand.postA(failed('while-off', 'Before'))
    await rule.change({ isEnabled: true })
    await stand.classifyAgain(['while-off'])
    expect(await rule.toldOf()).toEqual(['after', 'before-2'])
  })

  test('a rule is widened is not told either', async () => {
    const rule = await stand.rule({ agents: ['Widened'], minSeverity: 'HIGH' })
    await stand.postA(failed('medium-before', 'Widened', WENT_ON))
    await rule.change({ minSeverity: 'LOW' })
    await stand.classifyAgain(['medium-before'])
    expect(await rule.raised()).toEqual([])
  })

  test('a rule is edited goes by its new conditions from then on', async () => {
    const rule = await stand.rule({ agents: ['Edited'], minSeverity: 'HIGH' })
    await stand.postA(failed('edited-1', 'Edited', WENT_ON))
    await rule.change({ minSeverity: 'LOW', categories: ['TOOL_FAILURE'] })
    await stand.postA([
      failed('edited-2', 'Edited', WENT_ON),
      failed('edited-3', 'Edited', { type: 'span', tool_name: null }),
    ])
    await rule.change({ categories: [], agents: ['Edited', 'Edited too'] })
    await stand.postA(failed('edited-4', 'Edited too', WENT_ON))
    expect(await rule.toldOf()).toEqual(['edited-2', 'edited-4'])
  })
})

describe('prices applied to history', () => {
  test('make old runs costly and tell nobody of those of the day before', async () => {
    const prices = priceStand(stand.server, stand.headers)
    const rule = await stand.rule({ agents: ['Priced'], categories: ['COST_ANOMALY'] })
    await stand.postB(execution('priced-old', { workflow: 'Priced', tokens: 40_000 }))
    await ageBy('priced-old', 25)
    await prices.setPrice('house-model', '1000', '1000')
    await prices.apply()
    await until(
      () => stand.read('priced-old', 'PLATFORM_B'),
      ({ classified, failureCount }: any) => classified && failureCount === 1,
    )
    expect(await rule.raised()).toEqual([])
    await stand.postB(execution('priced-new', { workflow: 'Priced', tokens: 40_000 }))
    expect(await rule.toldOf()).toEqual(['priced-new'])
    await prices.removePrice('house-model')
  })

  test('make runs of an hour ago costly and tell nobody of them', async () => {
    const prices = priceStand(stand.server, stand.headers)
    const rule = await stand.rule({ agents: ['Priced today'], categories: ['COST_ANOMALY'] })
    await stand.sql`update alert_rules set enabled_at = enabled_at - interval '1 day' where id = ${rule.uuid}`
    const ids = ['today-1', 'today-2', 'today-3']
    for (const id of ids) await stand.postB(execution(id, { workflow: 'Priced today', tokens: 40_000 }))
    for (const id of ids) await ageBy(id, 1)
    await prices.setPrice('house-model', '1000', '1000')
    await prices.apply()
    for (const id of ids)
      await until(
        () => stand.read(id, 'PLATFORM_B'),
        ({ classified, failureCount }: any) => classified && failureCount === 1,
      )
    await prices.removePrice('house-model')
    expect(await rule.raised()).toEqual([])
  })
})

describe('before anybody was told', () => {
  /** A channel that its receiver has asked to pause. */
  const pause = (channelId: string, until: string | null) =>
    stand.sql`update channels set paused_until = ${until}::timestamptz where id = ${stand.uuidOf(channelId)}`

  test('the failure becomes another one: the run is told of all the same, as it stands', async () => {
    const rule = await stand.rule({ agents: ['Exchanged'] })
    await pause(rule.channel.id, '2100-01-01')
    await stand.postB({
      execution: {
        id: 'exchanged',
        error: { message: 'Bad gateway' },
        lastNodeExecuted: 'Push to CRM',
        mode: 'webhook',
      },
      workflow: { id: 'exchanged', name: 'Exchanged' },
    })
    expect((await stand.read('exchanged', 'PLATFORM_B')).primaryFailure.category).toBe('RUN_FAILURE')
    await stand.postB(execution('exchanged', { workflow: 'Exchanged', error: 'Bad gateway' }))
    expect((await stand.read('exchanged', 'PLATFORM_B')).primaryFailure.category).toBe('TOOL_FAILURE')
    await pause(rule.channel.id, null)
    await rule.settled()
    expect(await rule.toldOf()).toEqual(['exchanged'])
    expect(rule.messages()).toMatchObject([{ data: { category: 'TOOL_FAILURE', subject: 'Push to CRM' } }])
  })

  test('the failure goes: nobody is told, and the log says why', async () => {
    const rule = await stand.rule({ agents: ['Going'], categories: ['LATENCY_SPIKE'] })
    await pause(rule.channel.id, '2100-01-01')
    await stand.postB(execution('going', { workflow: 'Going', durationMs: 70_000 }))
    // As a look with other limits would leave it.
    await stand.sql`delete from failures where session_id = (select id from sessions where external_id = 'going')`
    await pause(rule.channel.id, null)
    await rule.settled()
    expect(await rule.toldOf()).toEqual(['going FAILURE_GONE'])
    expect(rule.messages()).toEqual([])
    await stand.foundDue('going')
    await rule.settled()
    expect(await rule.toldOf()).toEqual(['going'])
  })

  test('the severity rises: what is told is the higher one', async () => {
    const rule = await stand.rule({ agents: ['Worse'] })
    await pause(rule.channel.id, '2100-01-01')
    await stand.postA(failed('worse', 'Worse', WENT_ON))
    await stand.postA(failed('worse', 'Worse'))
    await pause(rule.channel.id, null)
    await rule.settled()
    expect(rule.messages()).toMatchObject([{ data: { severity: 'HIGH' } }])
    expect((await stand.deliveries({ rule: rule.id })).map(({ severity }) => severity)).toEqual(['HIGH'])
  })
})

describe('a channel', () => {
  test('that is deleted or switched off hears nothing, and nothing of that later', async () => {
    const deleted = await stand.rule({ agents: ['Channels'] })
    const off = await stand.rule({ agents: ['Channels'] })
    const change = (isEnabled: boolean) =>
      stand.ask(`mutation ($id: ID!, $on: Boolean) { updateChannel(id: $id, input: { isEnabled: $on }) { secret } }`, {
        id: off.channel.id,
        on: isEnabled,
      })
    stand.receiver.answers(answer(500))
    await stand.postA(failed('channels-0', 'Channels'))
    await until(() => deleted.messages().length > 0 && off.messages().length > 0)
    await stand.ask(`mutation ($id: ID!) { deleteChannel(id: $id) }`, { id: deleted.channel.id })
    await change(false)
    stand.receiver.answers(answer(200))
    expect(await deleted.toldOf()).toEqual(['channels-0 CHANNEL_OFF'])
    await stand.postA(failed('channels-1', 'Channels'))
    await change(true)
    await stand.postA(failed('channels-2', 'Channels'))
    await stand.classifyAgain(['channels-0', 'channels-1'])
    await off.settled()
    expect(await deleted.toldOf()).toEqual(['channels-0 CHANNEL_OFF'])
    expect(await off.toldOf()).toEqual(['channels-0 CHANNEL_OFF', 'channels-1 CHANNEL_OFF', 'channels-2'])
    expect(off.messages().map(({ data }) => data.session.externalId)).toEqual(['channels-0', 'channels-2'])
    expect(deleted.messages()).toHaveLength(1)
  })

  test('that was the last of a rule leaves a rule that can still be changed', async () => {
    const rule = await stand.rule({ agents: ['Left alone'] })
    await stand.ask(`mutation ($id: ID!) { deleteChannel(id: $id) }`, { id: rule.channel.id })
    expect((await rule.change({ name: 'Renamed' })).name).toBe('Renamed')
  })
})

test('a rule that is switched off takes along what waits, also when it is switched on again', async () => {
  const rule = await stand.rule({ agents: ['Taken along'] })
  stand.receiver.answers(answer(503))
  await stand.postA(failed('along-1', 'Taken along'))
  const tried = () => stand.deliveries({ rule: rule.id })
  await until(tried, ([one]) => one?.attemptCount > 0 && !one.isTrying)
  await rule.change({ isEnabled: false })
  stand.receiver.answers(answer(200))
  await rule.change({ isEnabled: true })
  await stand.classifyAgain(['along-1'])
  await stand.postA(failed('along-2', 'Taken along'))
  await rule.settled()
  expect(await rule.toldOf()).toEqual(['along-1 RULE_OFF', 'along-2'])
})

test('a deleted rule raises nothing more, and what it told stays in the log', async () => {
  const rule = await stand.rule({ agents: ['Dropped'] })
  await stand.postA(failed('dropped-1', 'Dropped'))
  await rule.settled()
  await rule.delete()
  await stand.postA(failed('dropped-2', 'Dropped'))
  expect(await rule.toldOf()).toEqual(['dropped-1'])
  expect((await stand.deliveries({ channel: rule.channel.id })).map((one) => [one.rule, one.state])).toEqual([
    [rule.name, 'SENT'],
  ])
})

test('two servers that classify the same runs at once tell of each of them once', async () => {
  const other = await startServer({ database: stand.server.database, env: ALERT_ENV })
  try {
    const rule = await stand.rule({ agents: ['Twice'] })
    const fresh = await stand.rule({ kind: 'NEW_PATTERN', agents: ['Twice'] })
    const runs = Array.from({ length: 100 }, (_, i) => failed(`twice-${String(i).padStart(3, '0')}`, 'Twice'))
    await Promise.all([stand.server.ingestA(runs), other.ingestA(runs)])
    const ids = runs.map((run: any) => run.session_id as string)
    for (let round = 0; round < 3; round++) await stand.classifyAgain(ids)
    await rule.settled()
    await fresh.settled()
    expect(await rule.toldOf()).toEqual(ids)
    expect(
      rule
        .messages()
        .map(({ data }) => data.session.externalId)
        .toSorted(),
    ).toEqual(ids)
    expect(fresh.messages()).toHaveLength(1)
  } finally {
    await other.stop()
  }
})
