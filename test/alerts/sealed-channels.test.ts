// Channels under another SECRET_KEY, and rows that were moved about: what cannot be opened waits and says why.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Seal, SealError } from '../../server/alerts/sealed.ts'
import { alertStand, alertsOf } from '../support/alert-stand.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { failedStep } from '../support/failed-runs.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const FIRST = 'the first key of the tests, 32 characters'
const OTHER = 'another key of the tests, 32 characters'
const SENTENCE = /sealed with another SECRET_KEY .*set the address again\.$/

let database: TestDatabase
let receiver: Receiver
beforeAll(async () => {
  database = await newDatabase()
  receiver = await startReceiver()
})
afterAll(async () => {
  await database.drop()
  await receiver.close()
})

const start = (key: string) => alertStand({ database, env: { SECRET_KEY: key } })
const dueNow = () => database.sql`update deliveries set next_attempt_at = now() where state = 'QUEUED'`
const refusedTest = 'mutation ($id: ID!) { testChannel(id: $id) { status } }'
const posts = (path: string) => receiver.received.filter((one) => one.path === path)

type Stand = Awaited<ReturnType<typeof alertsOf>>
/** Once so many attempts of its only delivery have ended. */
const tried = (stand: Stand, channel: string, attempts: number) =>
  until(
    async () => (await stand.deliveries({ channel }))[0],
    (one) => one?.attemptCount >= attempts && one.lastProblem !== null && !one.isTrying,
    20_000,
  )

test('what was sealed is opened by its own key for its own owner, and by nothing else', () => {
  const seal = new Seal(FIRST)
  const sealed = seal.seal('https://example.com/hook', 'a')
  expect(new Seal(FIRST).open(sealed, 'a')).toBe('https://example.com/hook')
  expect(seal.seal('https://example.com/hook', 'a')).not.toBe(sealed)
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('example')
  expect(() => new Seal(OTHER).open(sealed, 'a')).toThrow(SealError)
  expect(() => seal.open(sealed, 'b')).toThrow(SENTENCE)
  for (const broken of ['', 'x', sealed.slice(0, 38), sealed.slice(0, -4), `A${sealed.slice(1)}x`, '%%%'])
    expect(() => seal.open(broken, 'a')).toThrow(SealError)
  const bytes = Buffer.from(sealed, 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const turned = Buffer.from(bytes)
    turned[at]! ^= 1
    expect(() => seal.open(turned.toString('base64url'), 'a')).toThrow(SealError)
  }
})

test('of another key the channel says so, deliveries wait, and go out when the right key is back', async () => {
  const before = await start(FIRST)
  const { channel } = await before.channel('WEBHOOK', { name: 'Right key back', url: `${receiver.url}/back` })
  await before.rule({ name: 'Back', agents: ['Back'], channels: [channel.id] })
  await before.server.stop()

  const other = await start(OTHER)
  expect((await other.refusal(refusedTest, { id: channel.id }))?.message).toMatch(SENTENCE)
  const { channels } = await other.ask('{ channels { name address isEnabled } }')
  expect(channels).toEqual([{ name: 'Right key back', address: channel.address, isEnabled: true }])
  await other.server.ingestA(failedStep('back-1', { agent_name: 'Back' }))
  const waiting = await tried(other, channel.id, 1)
  expect(waiting).toMatchObject({ state: 'QUEUED', lastStatus: null, lastProblem: expect.stringMatching(SENTENCE) })
  expect(waiting.nextAttemptAt).not.toBeNull()
  expect((await fetch(`${other.server.url}/readyz`)).status).toBe(200)
  const log = other.server.log()
  expect(log).not.toMatch(/"level":50/)
  await other.server.stop()
  expect(posts('/back')).toHaveLength(0)

  const again = await start(FIRST)
  await dueNow()
  const [delivery] = await again.settled({ channel: channel.id })
  expect(delivery.state).toBe('SENT')
  expect(posts('/back')).toHaveLength(1)
  await again.server.stop()
})

test('of another key what waits goes out when the address is set anew, signed with a secret that is told', async () => {
  const before = await start(FIRST)
  const { channel, secret: lost } = await before.channel('WEBHOOK', { name: 'Set anew', url: `${receiver.url}/anew` })
  await before.rule({ name: 'Anew', agents: ['Anew'], channels: [channel.id] })
  await before.server.stop()

  const other = await start(OTHER)
  await other.server.ingestA(failedStep('anew-1', { agent_name: 'Anew' }))
  await tried(other, channel.id, 1)
  const { channels } = await other.ask('{ channels { id problem } }')
  expect(channels).toContainEqual({ id: channel.id, problem: expect.stringContaining('another SECRET_KEY') })
  const rotate = 'mutation ($id: ID!) { rotateChannelSecret(id: $id) { secret } }'
  expect((await other.refusal(rotate, { id: channel.id }))?.message).toMatch(/SECRET_KEY.*set url again/)
  const change = `mutation ($id: ID!, $input: ChannelInput!) { updateChannel(id: $id, input: $input) { secret } }`
  expect((await other.ask(change, { id: channel.id, input: { name: 'Anew' } })).updateChannel.secret).toBeNull()
  const half = await other.refusal(change, { id: channel.id, input: { secret: lost } })
  expect(half?.message).toMatch(/set the address again/)
  const { secret } = (await other.ask(change, { id: channel.id, input: { url: `${receiver.url}/anew` } })).updateChannel
  expect(secret).toMatch(/^whsec_/)
  expect(secret).not.toBe(lost)
  await dueNow()
  expect((await other.settled({ channel: channel.id }))[0].state).toBe('SENT')
  expect(posts('/anew')).toHaveLength(1)
  await other.server.stop()
})

test('the sealed part of one channel is of no use in another', async () => {
  const stand = await start(FIRST)
  const inner = await stand.channel('WEBHOOK', { name: 'Inner', url: `${receiver.url}/inner` })
  const outer = await stand.channel('WEBHOOK', { name: 'Outer', url: `${receiver.url}/outer` })
  await stand.rule({ name: 'Swap', agents: ['Swap'], channels: [outer.channel.id] })
  await database.sql`update channels set sealed = (select sealed from channels where name = 'Inner') where name = 'Outer'`
  expect((await stand.refusal(refusedTest, { id: outer.channel.id }))?.message).toMatch(SENTENCE)
  await stand.server.ingestA(failedStep('swap-1', { agent_name: 'Swap' }))
  expect(await tried(stand, outer.channel.id, 1)).toMatchObject({ state: 'QUEUED' })
  expect((await stand.test(inner.channel.id)).isDelivered).toBe(true)
  expect(posts('/outer')).toHaveLength(0)
  expect(posts('/inner')).toHaveLength(1)
  await stand.server.stop()
})
