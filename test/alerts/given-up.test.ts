// The life of a delivery that fails: each pause as planned, then given up visibly, and sent again by hand.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { soon } from '../support/fault-stand.ts'
import { hang, reply, startOddReceiver, type OddReceiver } from '../support/odd-receiver.ts'
import { afterAttempts, failRuns, runsOf, tellOf } from '../support/told.ts'

const PLAN = [5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200]
const SEND_AGAIN = `mutation ($id: ID!) { sendDeliveryAgain(id: $id) { id state attemptCount } }`

let stand: Awaited<ReturnType<typeof alertStand>>
const receivers: OddReceiver[] = []
beforeAll(async () => void (stand = await alertStand()))
afterAll(async () => {
  await stand.server.stop()
  for (const receiver of receivers) await receiver.close()
})
const receiver = async (conduct = hang) => {
  const one = await startOddReceiver(conduct)
  receivers.push(one)
  return one
}
async function failing(agent: string, conduct = reply(500, 'broken')) {
  const one = await receiver(conduct)
  const [channel] = await tellOf(stand, agent, [`${one.url}/hook`])
  await failRuns(stand.server, runsOf(agent, agent, 1))
  return { one, channel: channel! }
}
const uuidOf = (id: string) => Buffer.from(id, 'base64').toString().split(':')[1]!
const due = (id: string) =>
  stand.server.database.sql`update deliveries set next_attempt_at = now() where id = ${uuidOf(id)}`
const sentAgain = (id: string) => stand.ask(SEND_AGAIN, { id })
/** Seconds from the end of the last attempt to the next. */
async function pauseOf(id: string) {
  const [row] = await stand.server.database.sql`
    select extract(epoch from next_attempt_at - t.started_at) - t.duration_ms / 1000 as pause
    from deliveries d join delivery_attempts t on t.delivery_id = d.id and t.number = d.attempt_count
    where d.id = ${uuidOf(id)}`
  return Number(row!.pause)
}

test('each attempt is logged, each pause is longer, then it is given up, and sent again with the same id', async () => {
  const { one, channel } = await failing('Giving-up')
  for (const [i, planned] of PLAN.entries()) {
    const delivery = await afterAttempts(stand, channel, i + 1)
    expect(delivery).toMatchObject({ state: 'QUEUED', attemptCount: i + 1, lastStatus: 500, isTrying: false })
    const pause = await pauseOf(delivery.id)
    expect(pause).toBeGreaterThanOrEqual(planned - 0.1)
    expect(pause).toBeLessThan(planned * 1.2 + 10)
    await due(delivery.id)
  }
  const failed = await afterAttempts(stand, channel, 9)
  expect(failed).toMatchObject({
    state: 'FAILED',
    attemptCount: 9,
    nextAttemptAt: null,
    lastProblem: 'It answered 500.',
  })
  expect(failed.settledAt).not.toBeNull()
  expect(failed.attempts.map(({ number }: any) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  for (const attempt of failed.attempts) {
    expect(attempt).toMatchObject({ isDelivered: false, status: 500, answer: 'broken', problem: 'It answered 500.' })
    expect(attempt.durationMs).toBeGreaterThan(0)
  }
  expect((await stand.deliveries({ channel, states: ['FAILED'] })).length).toBe(1)

  // By hand, while it still fails: the pauses begin anew.
  await sentAgain(failed.id)
  const again = await afterAttempts(stand, channel, 10)
  expect(again).toMatchObject({ state: 'QUEUED', attemptCount: 10, settledAt: null })
  expect(await pauseOf(again.id)).toBeLessThan(5 * 1.2 + 10)
  // Nobody needs to wait for the pause either.
  one.answers(reply(200))
  await sentAgain(failed.id)
  const sent = await soon(async () => (await stand.deliveries({ channel, states: ['SENT'] }))[0])
  expect(sent).toMatchObject({ attemptCount: 11, lastStatus: 200, lastProblem: null })
  expect(one.asked.length).toBe(11)
  expect(new Set(one.asked.map(({ id }) => id))).toEqual(new Set([`msg_${uuidOf(sent.id)}`]))
  expect(new Set(one.asked.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  await expect(sentAgain(sent.id)).rejects.toThrow('It was sent or suppressed')
})

test('after a day it is given up, however few attempts there were, and the last is made when the day is over', async () => {
  const { channel } = await failing('Old')
  const first = await afterAttempts(stand, channel)
  const { sql } = stand.server.database
  await sql`update deliveries set queued_at = now() - interval '23 hours 59 minutes', retries = 5, next_attempt_at = now()
    where id = ${uuidOf(first.id)}`
  const second = await afterAttempts(stand, channel, 2)
  expect(second.state).toBe('QUEUED')
  expect(await pauseOf(first.id)).toBeLessThanOrEqual(61)
  await sql`update deliveries set queued_at = now() - interval '24 hours', next_attempt_at = now() where id = ${uuidOf(first.id)}`
  expect(await afterAttempts(stand, channel, 3)).toMatchObject({ state: 'FAILED', nextAttemptAt: null })
})

test('nobody sends again what is being tried, nor what is just being taken to its receiver', async () => {
  const { one, channel } = await failing('Asked', hang)
  const trying = await soon(async () => {
    const [delivery] = await stand.deliveries({ channel })
    return delivery?.isTrying && one.asked.length === 1 && delivery
  })
  await expect(sentAgain(trying.id)).rejects.toThrow('An attempt is being made')
  one.release(reply(410))
  await soon(async () => (await stand.deliveries({ channel, states: ['FAILED'] }))[0])
  one.answers(hang)
  // Two people press the button; the second one while the attempt of the first is written down, which takes a second.
  const { sql } = stand.server.database
  await sql.unsafe(`
    create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return new; end $$;
    create trigger lingering before insert on delivery_attempts for each row execute function linger()`)
  await sentAgain(trying.id)
  await soon(async () => {
    const [row] = await sql`
      select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
    return row!.count > 0
  })
  const second = await sentAgain(trying.id).then(
    () => 'taken',
    (error: Error) => error.message,
  )
  await sql`drop trigger lingering on delivery_attempts`
  await soon(() => one.asked.length >= 2)
  // Nothing more comes.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect(one.asked.length).toBe(2)
  expect(second).toContain('An attempt is being made')
  one.release(reply(200))
  const sent = await soon(async () => (await stand.deliveries({ channel, states: ['SENT'] }))[0])
  expect(sent.attemptCount).toBe(2)
})
