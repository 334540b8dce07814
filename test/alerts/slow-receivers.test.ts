// A receiver that hangs delays nobody: not other channels, not ingest, not classification; and it is not overrun.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { untilAllClassified } from '../support/failed-runs.ts'
import { soon } from '../support/fault-stand.ts'
import { hang, reply, startOddReceiver, type OddReceiver } from '../support/odd-receiver.ts'
import { countOf, failRuns, ONCE_EACH, runsOf, statesOf, tellOf } from '../support/told.ts'

const PLACES = 4
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
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const statesAt = async (channel: string) =>
  Object.fromEntries(
    (
      await stand.server.database.sql`
        select state, count(*)::int as count from deliveries d join channels c on c.id = d.channel_id
        where c.name = ${channel} group by state`
    ).map(({ state, count }) => [state, count]),
  )

test('a receiver has at most 4 attempts at once, and a free place is taken at once', async () => {
  const slow = await receiver()
  await tellOf(stand, 'Four', [`${slow.url}/hook`])
  await failRuns(stand.server, runsOf('Four', 'four', 60))
  await soon(() => slow.open === PLACES)
  // Nothing more comes.
  await pause(1_500)
  expect([slow.asked.length, slow.mostOpen]).toEqual([PLACES, PLACES])
  slow.release((socket, asked) => void setTimeout(() => reply(200)(socket, asked), 20))
  await soon(async () => (await statesAt('Four 0')).SENT === 60, 25_000)
  expect(slow.mostOpen).toBe(PLACES)
  expect(countOf(slow.asked)).toEqual(ONCE_EACH(60))
})

test('300 failed runs reach the quick channels while two others hang, and those when they come back', async () => {
  const [dead, silent, one, two] = [
    await receiver(),
    await receiver(),
    await receiver(reply(200)),
    await receiver(reply(202)),
  ]
  const urls = [dead, silent, one, two].map(({ url }) => `${url}/hook`)
  await tellOf(stand, 'Many', urls)
  const runs = runsOf('Many', 'many', 300)
  for (let i = 0; i < 300; i += 50) await failRuns(stand.server, runs.slice(i, i + 50))
  await untilAllClassified(stand.server.database.sql, 20_000)
  await soon(() => one.asked.length >= 300 && two.asked.length >= 300, 25_000)
  // Those that hang were waited for all the time, with hundreds behind them.
  for (const name of ['Many 0', 'Many 1']) expect(await statesAt(name)).toEqual({ QUEUED: 300 })
  expect([dead.open, silent.open].every((open) => open <= PLACES)).toBe(true)
  for (const quick of [one, two]) expect(countOf(quick.asked)).toEqual(ONCE_EACH(300))

  // What comes now is told at once too.
  await failRuns(stand.server, runsOf('Many', 'later', 5))
  await soon(() => one.asked.length >= 305 && two.asked.length >= 305, 25_000)
  expect(await statesAt('Many 0')).toEqual({ QUEUED: 305 })

  for (const back of [dead, silent]) back.release(reply(200))
  await soon(async () => {
    // Those that timed out meanwhile wait for their pause.
    await stand.server.database.sql`
      update deliveries d set next_attempt_at = now() where state = 'QUEUED' and not exists (
        select from delivery_attempts where delivery_id = d.id and number = d.attempt_count and duration_ms is null)`
    return (await statesAt('Many 0')).SENT === 305 && (await statesAt('Many 1')).SENT === 305
  }, 30_000)
  for (const all of [dead, silent]) {
    expect(countOf(all.asked)).toMatchObject({ sessions: 305, mostIds: 1, ids: 305 })
    expect(all.mostOpen).toBeLessThanOrEqual(PLACES)
  }
  for (const quick of [one, two]) expect(countOf(quick.asked)).toEqual(ONCE_EACH(305))
  expect(one.asked.map(({ id }) => id).filter((id) => two.asked.some((other) => other.id === id))).toEqual([])
}, 90_000)

test('while every receiver hangs, runs are taken and classified, and the log can be read', async () => {
  const hanging = await Promise.all(Array.from({ length: 8 }, () => receiver()))
  await tellOf(
    stand,
    'Stuck',
    hanging.map(({ url }) => `${url}/hook`),
  )
  await failRuns(stand.server, runsOf('Stuck', 'stuck-first', 20))
  await soon(() => hanging.every(({ open }) => open === PLACES))
  const before = hanging.map(({ asked }) => asked.length)
  for (let i = 0; i < 10; i++) await failRuns(stand.server, runsOf('Stuck', `stuck-${i}`, 20))
  await untilAllClassified(stand.server.database.sql, 20_000)
  const [row] = await stand.server.database.sql`
    select count(*)::int as sessions, count(*) filter (where failure_count = 1)::int as told from sessions
    where starts_with(external_id, 'stuck-')`
  expect(row).toEqual({ sessions: 220, told: 220 })
  expect((await stand.deliveries({ states: ['QUEUED'] })).length).toBe(100)
  expect((await statesOf(stand.server.database.sql)).QUEUED).toBe(220 * 8)
  // None of them has answered, so whatever ended ended by itself.
  for (const [i, { asked }] of hanging.entries()) expect(asked.length - before[i]!).toBeLessThanOrEqual(3 * PLACES)
})
