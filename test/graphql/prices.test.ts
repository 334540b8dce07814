// Prices in GraphQL: which models have none, what the table says, and who hears that prices were applied to history.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { call, priceStand } from '../support/prices.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'

let server: TestServer
let admin: { cookie: string }
let stand: ReturnType<typeof priceStand>
beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
  stand = priceStand(server, admin)
})
afterAll(() => server.stop())
const closers: (() => Promise<unknown>)[] = []
beforeEach(() => stand.forgetAll())
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

test('open lists are told of the sessions that changed', async () => {
  await server.ingestA(call('shown'))
  const client = socketClient(server.url)
  closers.push(async () => client.dispose())
  const list = subscribe(client, `subscription { sessionChanged { session { externalId costUsd } } }`)
  const { sessions } = await server.query(`{ sessions { nodes { id } } }`)
  const timeline = subscribe(
    client,
    `subscription { eventsChanged(sessionId: "${sessions.nodes[0].id}", after: 0) { events { costUsd } } }`,
  )
  // When the timeline has spoken the list, asked for before it, stands too.
  expect((await timeline.next()).data.eventsChanged.events).toEqual([{ costUsd: null }])
  await stand.setPrice('house-model', '1', '0')
  await stand.apply()
  expect((await list.next()).data.sessionChanged.session).toEqual({ externalId: 'shown', costUsd: '0.001' })
  expect((await timeline.next()).data.eventsChanged.events).toEqual([{ costUsd: '0.001' }])
})

test('what is asked wrongly is refused in words', async () => {
  const refusal = async (text: string) => {
    const { body } = await server.graphql(text, {}, admin)
    return [body.errors[0].extensions.code, body.errors[0].message]
  }
  for (const days of [0, -1, 3_651]) {
    expect(await refusal(`mutation { applyPricesToHistory(days: ${days}) { id } }`)).toEqual([
      'BAD_USER_INPUT',
      `days must be 1 to 3650, or null for all, not ${days}.`,
    ])
  }
  for (const text of [
    'mutation { applyPricesToHistory(project: "x") { id } }',
    '{ unpricedModels(project: "x") { model } }',
  ])
    expect(await refusal(text)).toEqual(['NOT_FOUND', 'There is no project "x".'])
  expect(await refusal('{ tablePrice(model: "") { model } }')).toEqual([
    'BAD_USER_INPUT',
    'A model has a name of 1 to 500 characters, not of 0.',
  ])
  expect((await server.query(`{ repricings { id } }`, {}, admin)).repricings).toEqual([])
})

test('models without a price are named while they have none, and the table says what it knows', async () => {
  await server.ingestA([
    ...['u-1', 'u-2', 'u-3'].map((id) => call(id, { model: 'house-model' })),
    ...['u-1', 'u-2'].map((id) => call(id, { model: 'attic-model' })),
    call('u-1', { model: 'gpt-4o' }),
    call('u-4', { model: 'reported-model', cost: '1' }),
    call('u-5', { model: 'cellar-model' }),
  ])
  await server.database.sql`
    update sessions set first_seen_at = now() - interval '31 days' where external_id = 'u-5'`
  const unpriced = async () => (await server.query(`{ unpricedModels { model sessions lastSeenAt } }`)).unpricedModels
  expect(await unpriced()).toMatchObject([
    { model: 'house-model', sessions: 3 },
    { model: 'attic-model', sessions: 2 },
  ])
  await stand.setPrice('house-model', '1', '1')
  const [left, ...others] = await unpriced()
  expect([left.model, others]).toEqual(['attic-model', []])
  expect(Date.now() - Date.parse(left.lastSeenAt)).toBeLessThan(60_000)

  const inTable = async (model: string) =>
    (
      await server.query(
        `query ($model: String!) { tablePrice(model: $model) { model inputUsdPerMillion outputUsdPerMillion } }`,
        { model },
      )
    ).tablePrice
  expect(await inTable('openai/gpt-4o')).toEqual({
    model: 'openai/gpt-4o',
    inputUsdPerMillion: '2.5',
    outputUsdPerMillion: '10',
  })
  expect(await inTable('house-model')).toBeNull()
  expect(await inTable('text-embedding-3-small')).toBeNull()
})
