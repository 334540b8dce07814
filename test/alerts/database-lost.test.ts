// The database goes away between sending and settling: nothing is lost, and a repeat can be told by its id.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ALERT_ENV, alertsOf } from '../support/alert-stand.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { soon } from '../support/fault-stand.ts'
import { hang, reply, startOddReceiver, type OddReceiver } from '../support/odd-receiver.ts'
import { breakableProxy } from '../support/proxy.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { countOf, failRuns, hurry, ONCE_EACH, runsOf, statesOf, tellOf } from '../support/told.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof breakableProxy>>
let server: TestServer
let one: OddReceiver
beforeEach(async () => {
  database = await newDatabase()
  proxy = await breakableProxy(database.url)
  server = await startServer({ database: { ...database, url: proxy.url }, env: ALERT_ENV })
  one = await startOddReceiver(hang)
  await tellOf(await alertsOf(server), 'Lost', [`${one.url}/hook`])
})
afterEach(async () => {
  await proxy.accept()
  await server.stop()
  await one.close()
  await proxy.close()
  await database.drop()
}, 60_000)

test(
  'for a moment: what the receivers took is taken down when it is back, and comes once',
  { timeout: 60_000 },
  async () => {
    await failRuns(server, runsOf('Lost', 'moment', 4))
    await soon(() => one.asked.length === 4)
    proxy.refuse()
    one.release(reply(200))
    await soon(() => one.open === 0)
    await pause(300)
    await proxy.accept()
    await soon(async () => (await statesOf(database.sql)).SENT === 4)
    expect(countOf(one.asked)).toEqual(ONCE_EACH(4))
  },
)

test.each(['refuses', 'falls silent'])(
  'and %s for long: all is told in the end, each with one id',
  { timeout: 90_000 },
  async (how) => {
    await failRuns(server, runsOf('Lost', 'long', 30))
    await soon(() => one.asked.length === 4)
    if (how === 'refuses') proxy.refuse()
    else proxy.fallSilent()
    one.release(reply(200))
    await soon(() => one.open === 0)
    await pause(4_000)
    await proxy.accept()
    await soon(async () => {
      // As when the leases of those are over of which nothing could be taken down.
      await database.sql`
        update deliveries set next_attempt_at = now() where state = 'QUEUED' and exists (
          select from delivery_attempts t where t.delivery_id = deliveries.id and t.number = attempt_count
            and t.duration_ms is null and t.started_at < now() - interval '3 seconds')`
      return (await statesOf(database.sql)).SENT === 30
    }, 40_000)
    expect(countOf(one.asked)).toMatchObject({ sessions: 30, mostIds: 1, ids: 30 })
    expect(one.asked.length).toBeLessThanOrEqual(34)
  },
)

test(
  'silent for some seconds: when it is back, people are told of what fails from then on at once',
  { timeout: 90_000 },
  async () => {
    const quick = await startOddReceiver(reply(200))
    try {
      await tellOf(await alertsOf(server), 'Next', [`${quick.url}/hook`])
      // What is due is being taken when the silence begins.
      const holder = await database.sql.reserve()
      await holder`begin`
      await holder`lock table delivery_attempts in exclusive mode`
      await failRuns(server, runsOf('Lost', 'silent', 1))
      await soon(async () => {
        const [row] = await database.sql`
          select count(*)::int as count from pg_stat_activity where datname = current_database()
            and application_name = 'runwatch-alerts' and wait_event_type = 'Lock'`
        return row!.count > 0
      })
      proxy.fallSilent()
      await holder`rollback`
      holder.release()
      await pause(5_000)
      await proxy.accept()
      const since = performance.now()
      // Ingest is back within 5 s, as the fault tests show.
      await soon(
        () =>
          failRuns(server, runsOf('Next', 'next', 1)).then(
            () => true,
            () => false,
          ),
        20_000,
      )
      await soon(async () => (await database.sql`select from alerts where agent = 'Next'`).length > 0, 20_000)
      console.log(`classified ${Math.round(performance.now() - since)} ms after the silence`)
      await soon(() => quick.asked.length > 0, 60_000)
      const ms = Math.round(performance.now() - since)
      console.log(`told ${ms} ms after the silence`)
      expect(ms).toBeLessThan(20_000)
    } finally {
      await quick.close()
    }
  },
)

test(
  'in the commit that takes down a failed attempt: it counts once, so that no pause is left out',
  { timeout: 60_000 },
  async () => {
    // The commit takes long enough for its connection to be cut meanwhile; it is done all the same.
    await database.sql.unsafe(`
    create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return null; end $$;
    create constraint trigger lingering after update of retries on deliveries deferrable initially deferred
      for each row when (new.retries > old.retries) execute function linger()`)
    one.answers(reply(500))
    await failRuns(server, runsOf('Lost', 'commit', 1))
    await soon(async () => {
      const [row] = await database.sql`
      select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      return row!.count > 0
    })
    proxy.refuse()
    await pause(100)
    await proxy.accept()
    await soon(async () => {
      const [row] = await database.sql`select retries from deliveries`
      return row!.retries > 0
    })
    // The second try has been made by then.
    await pause(4_000)
    const [row] = await database.sql`select attempt_count, retries, state from deliveries`
    expect(row).toEqual({ attempt_count: 1, retries: 1, state: 'QUEUED' })
    await database.sql`drop trigger lingering on deliveries`
    one.answers(reply(200))
    await hurry(database.sql)
    await soon(async () => (await statesOf(database.sql)).SENT === 1)
    expect(countOf(one.asked)).toEqual({ sessions: 1, mostTimes: 2, mostIds: 1, ids: 1 })
  },
)
