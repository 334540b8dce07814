// A socket that is cut under load: in the end the client holds what the database holds, without gap or double.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe, type Subscription } from '../support/socket.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

const FIELDS = 'id externalId status eventCount promptTokens revision'

/** What a page does: subscribe first, then read, then merge by revision. */
class Page {
  readonly rows = new Map<string, any>()
  readonly events = new Map<string, any>()
  private held = 0
  connects = 0

  constructor(private readonly sessionId: string) {}

  merge(row: any): void {
    const before = this.rows.get(row.id)
    if (!before || row.revision > before.revision) this.rows.set(row.id, row)
  }

  async catchUp(): Promise<void> {
    this.connects += 1
    let after: string | null = null
    do {
      const { sessions }: any = await server.query(
        `query ($after: String) { sessions(first: 100, after: $after) { nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } }`,
        { after },
      )
      sessions.nodes.forEach((row: any) => this.merge(row))
      after = sessions.pageInfo.hasNextPage ? sessions.pageInfo.endCursor : null
    } while (after)
  }

  async take(change: any): Promise<void> {
    let { events } = change
    if (change.more) {
      events = []
      let after: string | null = null
      do {
        const { session }: any = await server.query(
          `query ($id: ID!, $held: BigInt, $after: String) {
            session(id: $id) { events(first: 200, changedAfter: $held, after: $after) { nodes { id name revision } pageInfo { hasNextPage endCursor } } }
          }`,
          { id: this.sessionId, held: this.held, after },
        )
        events.push(...session.events.nodes)
        after = session.events.pageInfo.hasNextPage ? session.events.pageInfo.endCursor : null
      } while (after)
    }
    for (const event of events) this.events.set(event.id, event)
    this.held = change.revision
  }

  get after(): number {
    return this.held
  }
}

test('the socket is cut 12 times while 3,000 events arrive', async () => {
  await server.ingestA({ session_id: 'followed', type: 'span' })
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "followed") { id } }`)
  const page = new Page(session.id)

  let isPosting = true
  const posting = (async () => {
    for (let i = 0; i < 300; i++) {
      const batch = Array.from({ length: 10 }, (_, k) => ({
        session_id: k < 3 ? 'followed' : `load-${(i * 7 + k) % 150}`,
        type: 'llm.call',
        tool_name: `step-${i}-${k}`,
        prompt_tokens: 1,
        status: i > 280 && k > 6 ? 'success' : undefined,
      }))
      expect((await server.ingestA(batch)).status).toBe(200)
    }
    isPosting = false
  })()

  let cuts = 0
  let list: Subscription<any>
  let timeline: Subscription<any>
  let pending: Promise<unknown> = Promise.resolve()
  const drain = async () => {
    for (const { data } of list.waiting.splice(0)) {
      if (data.sessionChanged.resync) await page.catchUp()
      else page.merge(data.sessionChanged.session)
    }
    for (const { data } of timeline.waiting.splice(0)) await page.take(data.eventsChanged)
  }
  const open = async () => {
    const client = socketClient(server.url)
    let isOpen = false
    client.on('connected', () => (isOpen = true))
    list = subscribe(client, `subscription { sessionChanged { resync session { ${FIELDS} } } }`)
    timeline = subscribe(
      client,
      `subscription ($id: ID!, $after: BigInt!) { eventsChanged(sessionId: $id, after: $after) { revision more events { id name revision } } }`,
      { id: session.id, after: page.after },
    )
    await until(() => isOpen)
    await page.catchUp()
    return client
  }

  let client = await open()
  while (isPosting || cuts < 12) {
    const received = page.events.size
    await until(async () => {
      await drain()
      return !isPosting || page.events.size > received + 40
    })
    if (cuts < 12) {
      cuts += 1
      // No goodbye: as when a laptop sleeps or a proxy dies.
      client.terminate()
      client = await open()
    }
  }
  await posting
  await pending

  const expected = await server.database.sql`select external_id, status, event_count, revision from sessions`
  await until(
    async () => {
      await drain()
      return expected.every((row) =>
        [...page.rows.values()].some(
          (held) => held.externalId === row.external_id && String(held.revision) === row.revision,
        ),
      )
    },
    Boolean,
    15_000,
  )
  for (const row of expected) {
    const held = [...page.rows.values()].find((one) => one.externalId === row.external_id)
    expect(held).toMatchObject({ status: row.status, eventCount: row.event_count })
  }
  const stored = await server.database.sql`
    select name from events e join sessions s on s.id = e.session_id where s.external_id = 'followed'`
  await until(
    async () => {
      await drain()
      return page.events.size
    },
    (size) => size === stored.length,
  )
  const names = [...page.events.values()].map((event) => event.name)
  expect(names.toSorted()).toEqual(stored.map((row) => row.name).toSorted())
  expect(cuts).toBe(12)
  await client.dispose()
})
