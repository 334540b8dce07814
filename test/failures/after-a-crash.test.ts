// Classification when servers are killed, work beside each other, or lose their database: all of it, exactly, and once.
import { describe, expect, test as plainTest } from 'vitest'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { disagreements, dueCount, execution, failedStep, untilAllClassified } from '../support/failed-runs.ts'
import { endServer, soon, startServer as startChild } from '../support/fault-stand.ts'
import { freePort, type ServerProcess } from '../support/process.ts'
import { breakableProxy } from '../support/proxy.ts'
import { KEY, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const TIMEOUT = 90_000
/** From the start of a server on: what a crash left is classified by then. */
const FOUND_AGAIN_MS = 10_000

/** Each test has a database and servers of its own, so that those that mostly wait can do it side by side. */
const test = plainTest.extend<{
  database: TestDatabase
  start: (env?: Record<string, string>) => Promise<ServerProcess>
  cleanUps: (() => Promise<unknown>)[]
}>({
  database: async ({}, use) => {
    const database = await newDatabase()
    await use(database)
    await database.drop()
  },
  cleanUps: async ({ database: _dropped }, use) => {
    const cleanUps: (() => Promise<unknown>)[] = []
    await use(cleanUps)
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  },
  start: async ({ database }, use) => {
    const started: ServerProcess[] = []
    await use(async (env = {}) => {
      const server = await startChild({ DATABASE_URL: database.url, ...env })
      started.push(server)
      return server
    })
    for (const server of started) await endServer(server)
  },
})
const post = (url: string, platform: 'a' | 'b', body: unknown) =>
  fetch(`${url}/api/ingest/platform-${platform}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
    body: JSON.stringify(body),
  })
    .then(async (response) => {
      await response.arrayBuffer()
      return response.status
    })
    .catch(() => 0)

const AGENTS = 5
const TOOLS = 4
/** Failed runs of platform A: each has one failure, of one of 20 patterns. */
const failedRuns = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    failedStep(`${prefix}-${i}`, {
      agent_name: `Agent ${i % AGENTS}`,
      tool_name: `tool-${Math.floor(i / AGENTS) % TOOLS}`,
      error: `Rate limit 429 for request ${i}`,
    }),
  )
/** What is stored of the failures of all sessions so called. */
async function foundIn({ sql }: TestDatabase, prefix: string) {
  const [row] = await sql`
    select count(*)::int as sessions, count(*) filter (where failure_count = 1)::int as with_one,
      (select count(*)::int from failures f join sessions x on x.id = f.session_id
        where starts_with(x.external_id, ${prefix})) as failures
    from sessions where starts_with(external_id, ${prefix})`
  return row
}
const patternCounts = async ({ sql }: TestDatabase) =>
  (await sql`select pattern_id, count(*)::int as sessions from failures group by 1`).map(
    ({ sessions }) => sessions as number,
  )
const deadlocks = async ({ sql }: TestDatabase) =>
  (await sql`select deadlocks::int as count from pg_stat_database where datname = current_database()`)[0]!.count
const setMark = ({ sql }: TestDatabase, secondsAgo: number) => sql`
  update classified_until set at = date_trunc('second', now()) - ${secondsAgo} * interval '1 second'`
const markAge = async ({ sql }: TestDatabase) =>
  Number((await sql`select extract(epoch from now() - at) as age from classified_until`)[0]!.age)

describe('a killed server', () => {
  test(
    'is classified after by the next: all it acknowledged, each once, within 10 s of its start',
    { timeout: TIMEOUT },
    async ({ database, start }) => {
      const PORT = String(await freePort())
      const left: number[] = []
      const took: number[] = []
      let sent = 0
      for (let round = 0; round < 3; round++) {
        const server = await start({ PORT })
        if (round > 0) {
          const since = performance.now()
          await soon(async () => (await dueCount(database.sql)) === 0, FOUND_AGAIN_MS)
          took.push(Math.round(performance.now() - since))
        }
        const acknowledged = Promise.all([
          post(server.url, 'a', failedRuns(`k-a-${round}`, 1_500)),
          ...Array.from({ length: 30 }, (_, i) =>
            post(server.url, 'b', execution(`k-b-${round}-${i}`, { workflow: `Flow ${i % 3}`, error: 'Bad gateway' })),
          ),
        ])
        sent += 1
        expect(new Set(await acknowledged)).toEqual(new Set([200]))
        server.child.kill('SIGKILL')
        await server.exited
        left.push(await dueCount(database.sql))
      }
      await start({ PORT })
      const since = performance.now()
      await soon(async () => (await dueCount(database.sql)) === 0, FOUND_AGAIN_MS)
      took.push(Math.round(performance.now() - since))
      console.log(
        `killed 3 times: left unclassified ${left.join(', ')}; classified ${took.join(', ')} ms after the start`,
      )
      expect(Math.max(...left)).toBeGreaterThan(0)
      expect(await foundIn(database, 'k-a')).toEqual({
        sessions: sent * 1_500,
        with_one: sent * 1_500,
        failures: sent * 1_500,
      })
      expect(await foundIn(database, 'k-b')).toEqual({ sessions: sent * 30, with_one: sent * 30, failures: sent * 30 })
      expect((await patternCounts(database)).toSorted((a, b) => a - b)).toEqual([
        ...Array(3).fill(sent * 10),
        ...Array(AGENTS * TOOLS).fill((sent * 1_500) / (AGENTS * TOOLS)),
      ])
      expect(await disagreements(database.sql)).toEqual([])
    },
  )
})

describe('a database that goes away', () => {
  test.for(['refuses', 'falls silent'])(
    'and %s: what was acknowledged is classified when it is back',
    { timeout: TIMEOUT },
    async (how, { database, cleanUps }) => {
      const proxy = await breakableProxy(database.url)
      cleanUps.push(() => proxy.close())
      const server = await startServer({ database: { ...database, url: proxy.url } })
      const acknowledged: string[] = []
      let isOver = false
      const clients = Promise.all(
        Array.from({ length: 8 }, async (_, client) => {
          for (let i = 0; !isOver; i++) {
            const prefix = `w-${client}-${i}`
            if ((await post(server.url, 'a', failedRuns(prefix, 40))) === 200) acknowledged.push(prefix)
          }
        }),
      )
      let left = 0
      try {
        for (let round = 0; round < 3; round++) {
          const before = acknowledged.length
          await until(() => acknowledged.length > before + 8, Boolean, 20_000)
          if (how === 'refuses') proxy.refuse()
          else proxy.fallSilent()
          left = Math.max(left, await dueCount(database.sql))
          await new Promise((resolve) => setTimeout(resolve, 1_500))
          await proxy.accept()
        }
      } finally {
        isOver = true
        await clients
      }
      const since = performance.now()
      await untilAllClassified(database.sql, 20_000)
      const took = Math.round(performance.now() - since)
      console.log(
        `${how} 3 times: ${acknowledged.length} posts of 40, up to ${left} left, done ${took} ms after the last`,
      )
      const { sessions, with_one, failures } = (await foundIn(database, 'w-'))!
      expect(sessions).toBeGreaterThanOrEqual(acknowledged.length * 40)
      expect([with_one, failures]).toEqual([sessions, sessions])
      expect(await disagreements(database.sql)).toEqual([])
      expect(server.log()).not.toMatch(/a session could not be classified/)
      await server.stop()
    },
  )

  test('a statement that is cancelled, as by its time limit, is no reason to give a session up', async ({
    database,
    cleanUps,
  }) => {
    const server = await startServer({ database })
    cleanUps.push(() => server.stop())
    const holder = await database.sql.reserve()
    await holder`begin`
    // As a migration or a VACUUM FULL holds it.
    await holder`lock table failures`
    try {
      await server.ingestA(failedRuns('cancelled', 1))
      const waiting = await until(
        () => database.sql`
          select pid from pg_stat_activity where datname = current_database() and application_name = 'runwatch-classify'
            and wait_event_type = 'Lock'`,
        (rows) => rows.length > 0,
      )
      for (const { pid } of waiting) await database.sql`select pg_cancel_backend(${pid})`
      await until(() => server.log().includes('could not be classified'))
    } finally {
      await holder`rollback`
      holder.release()
    }
    await untilAllClassified(database.sql, FOUND_AGAIN_MS)
  })
})

// From here on side by side: each mostly waits for the next look at what is left.
describe.concurrent('two servers on one database', () => {
  test(
    'classify the same load at once exactly, and never lock each other out',
    { timeout: TIMEOUT },
    async ({ database, start }) => {
      const [one, two] = await Promise.all([start(), start()])
      // Each session is closed through one and gets the same error once more through the other, at the same time.
      const count = 300
      const errors = failedRuns('t', count)
      const batches = Array.from({ length: 10 }, (_, i) => errors.slice(i * 30, i * 30 + 30))
      const statuses = await Promise.all(
        batches.flatMap((batch, i) => [
          post((i % 2 ? one : two).url, 'a', batch),
          post((i % 2 ? two : one).url, 'a', batch),
        ]),
      )
      expect(new Set(statuses)).toEqual(new Set([200]))
      await untilAllClassified(database.sql)
      expect(await foundIn(database, 't-')).toEqual({ sessions: count, with_one: count, failures: count })
      const [evidence] =
        await database.sql`select min(evidence_count) as least, max(evidence_count) as most from failures`
      expect(evidence).toEqual({ least: 2, most: 2 })
      // All of it due once more, so that both find it: as after a crash of a third.
      for (let round = 0; round < 3; round++) {
        await database.sql`
        update sessions set content_revision = content_revision + 1, last_event_at = now() - interval '10 seconds'`
        await untilAllClassified(database.sql, FOUND_AGAIN_MS)
      }
      expect(await foundIn(database, 't-')).toEqual({ sessions: count, with_one: count, failures: count })
      expect(await patternCounts(database)).toEqual(Array(AGENTS * TOOLS).fill(count / AGENTS / TOOLS))
      expect(await disagreements(database.sql)).toEqual([])
      expect(await deadlocks(database)).toBe(0)
      for (const server of [one, two]) expect(server.output()).not.toMatch(/deadlock|could not be classified/)
    },
  )
})

describe.concurrent('the time up to which all is classified', () => {
  /** As if its server had died between its commit and its classification. */
  const forget = (database: TestDatabase, id: string, secondsAgo: number) =>
    database.sql.begin(async (tx) => {
      const [row] = await tx`
      update sessions set classified_content = 0, failure_count = 0, failure_categories = '{}', severity = null,
        last_event_at = now() - ${secondsAgo} * interval '1 second'
      where external_id = ${id} returning id`
      await tx`delete from failures where session_id = ${row!.id}`
    })

  test(
    'moves on while nothing is left behind, also where nothing ever came',
    { timeout: TIMEOUT },
    async ({ database, cleanUps }) => {
      const server = await startServer({ database })
      cleanUps.push(() => server.stop())
      await until(
        () => markAge(database),
        (age) => age < 30,
      )
      await setMark(database, 40)
      await until(
        () => markAge(database),
        (age) => age < 30,
      )
    },
  )

  test(
    'leaves room for what was committed late, and waits for what cannot be classified yet',
    { timeout: TIMEOUT },
    async ({ database, cleanUps }) => {
      const server = await startServer({ database })
      cleanUps.push(() => server.stop())
      await server.ingestA(failedRuns('late', 3))
      await untilAllClassified(database.sql)
      await until(
        () => markAge(database),
        (age) => age < 30,
      )
      // Its events were received well before the mark, and it is committed only now.
      await forget(database, 'late-0', 100)
      await untilAllClassified(database.sql, FOUND_AGAIN_MS)
      expect(await foundIn(database, 'late')).toEqual({ sessions: 3, with_one: 3, failures: 3 })

      const holder = await database.sql.reserve()
      await forget(database, 'late-1', 10)
      await holder`begin`
      await holder`select from sessions where external_id = 'late-1' for update`
      try {
        await setMark(database, 40)
        // Nothing more happens: two looks at what is due go by.
        await new Promise((resolve) => setTimeout(resolve, 8_000))
        expect(await markAge(database)).toBeGreaterThan(40)
        expect(await dueCount(database.sql)).toBe(1)
      } finally {
        await holder`rollback`
        holder.release()
      }
      await untilAllClassified(database.sql, FOUND_AGAIN_MS)
      await until(
        () => markAge(database),
        (age) => age < 30,
      )
      expect(await disagreements(database.sql)).toEqual([])
    },
  )
})
