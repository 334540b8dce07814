// Trying a channel: one message, marked as a test and signed, and what its receiver answered.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { alertStand } from '../support/alert-stand.ts'
import { failedStep } from '../support/failed-runs.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

let stand: Awaited<ReturnType<typeof alertStand>>
let receiver: Receiver
beforeAll(async () => {
  stand = await alertStand({ env: { PUBLIC_URL: 'https://runwatch.example.com/' } })
  receiver = await startReceiver()
})
afterAll(async () => {
  await stand.server.stop()
  await receiver.close()
})
const last = () => receiver.received.at(-1) as any

test('a test of a webhook is signed, says that it is a test, and shows status, time and answer', async () => {
  receiver.answers(answer(202, '  taken <b>it</b>  '))
  const { channel, secret } = await stand.channel('WEBHOOK', { name: 'Hook', url: `${receiver.url}/a` })
  const before = receiver.received.length
  const result = await stand.test(channel.id)
  expect(result).toMatchObject({ isDelivered: true, status: 202, answer: 'taken <b>it</b>', problem: null })
  expect(result.durationMs).toBeGreaterThan(0)
  expect(receiver.received).toHaveLength(before + 1)
  expect(new Webhook(secret!).verify(last().text, last().headers)).toMatchObject({
    type: 'alert.test',
    data: { isTest: true, project: 'default', url: 'https://runwatch.example.com/alerts' },
  })
  expect(last().headers['content-type']).toBe('application/json; charset=utf-8')
})

test('a test of Slack says that it is one in the blocks and in plain text', async () => {
  receiver.answers(answer(200, 'ok'))
  const { channel } = await stand.channel('SLACK', { name: 'Slack <!channel>', url: `${receiver.url}/services/T/B/x` })
  expect(await stand.test(channel.id)).toMatchObject({ isDelivered: true, status: 200, answer: 'ok' })
  expect(last().body.text).toMatch(/^\[TEST\] .*&lt;!channel&gt;/)
  expect(last().body.blocks[0].text.text).toMatch(/^\[TEST\] /)
  expect(last().headers).not.toHaveProperty('webhook-signature')
})

test.each([400, 401, 403, 404, 429, 500, 503])(
  'a receiver that answers %i is shown with what it said',
  async (status) => {
    receiver.answers(answer(status, 'invalid_blocks'))
    const { channel } = await stand.channel('SLACK', { name: `Answers ${status}`, url: `${receiver.url}/x` })
    expect(await stand.test(channel.id)).toMatchObject({
      isDelivered: false,
      status,
      answer: 'invalid_blocks',
      problem: `It answered ${status}.`,
    })
  },
)

test('of a long answer 500 characters are shown, whatever they are', async () => {
  const { channel } = await stand.channel('SLACK', { name: 'Long', url: `${receiver.url}/x` })
  for (const text of ['x'.repeat(1_000_000), '🔥'.repeat(1_000), `x${'🔥'.repeat(1_000)}`, 'a\0'.repeat(400)]) {
    receiver.answers(answer(500, text))
    const result = await stand.test(channel.id)
    expect(result.answer).toHaveLength(500)
    expect(result.answer.isWellFormed()).toBe(true)
    expect(result.answer).not.toContain('\0')
  }
})

test('a channel that is switched off can be tried, and a test is no delivery', async () => {
  receiver.answers(answer(200))
  const { channel } = await stand.channel('WEBHOOK', { name: 'Off', url: `${receiver.url}/x`, isEnabled: false })
  expect(channel.isEnabled).toBe(false)
  expect(await stand.test(channel.id)).toMatchObject({ isDelivered: true })
  expect(await stand.deliveries()).toEqual([])
})

test('an alert verifies with its own secret, and not when a byte, the time, the id or the secret is another', async () => {
  receiver.answers(answer(200))
  const { channel, secret } = await stand.channel('WEBHOOK', { name: 'Signed', url: `${receiver.url}/signed` })
  await stand.rule({ channels: [channel.id] })
  await stand.server.ingestA(failedStep('signed-1', { error: 'Ünïcode 🔥 \u2028 failed' }))
  await until(() => last().path === '/signed')
  const { text, headers } = last()
  const webhook = new Webhook(secret!)
  expect(webhook.verify(text, headers)).toMatchObject({ type: 'alert.failure', data: { isTest: false } })
  const [delivery] = await stand.deliveries()
  expect(headers['webhook-id']).toBe(`msg_${Buffer.from(delivery.id, 'base64').toString().split(':')[1]}`)

  const refused = (body: string, own: object = {}, other = webhook) =>
    expect(() => other.verify(body, { ...headers, ...own })).toThrow(WebhookVerificationError)
  refused(text.replace('Desk', 'Dusk'))
  refused(`${text} `)
  refused(text, { 'webhook-id': 'msg_other' })
  refused(text, { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) })
  refused(text, {}, new Webhook(`whsec_${Buffer.alloc(32, 1).toString('base64')}`))
  // Sent again six minutes ago it would be refused as old, although it is signed.
  const old = new Date(Date.now() - 6 * 60_000)
  const seconds = String(Math.floor(old.getTime() / 1_000))
  refused(text, {
    'webhook-timestamp': seconds,
    'webhook-signature': webhook.sign(headers['webhook-id'], old, text),
  })
})

test('after a secret was made anew only the new one verifies', async () => {
  const { channel, secret } = await stand.channel('WEBHOOK', { name: 'Rotated', url: `${receiver.url}/rotated` })
  const rotate = 'mutation ($id: ID!) { rotateChannelSecret(id: $id) { secret } }'
  const made = (await stand.ask(rotate, { id: channel.id })).rotateChannelSecret.secret
  await stand.test(channel.id)
  const { text, headers } = last()
  expect(new Webhook(made).verify(text, headers)).toMatchObject({ type: 'alert.test' })
  expect(() => new Webhook(secret!).verify(text, headers)).toThrow(WebhookVerificationError)
})

test.each([
  'whsec_',
  'whsec_short',
  'no-prefix-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  `whsec_${Buffer.alloc(23).toString('base64')}`,
  `whsec_${Buffer.alloc(65).toString('base64')}`,
  `whsec_${'A'.repeat(33)}`,
  `whsec_${'_'.repeat(32)}`,
  `whsec_${'A'.repeat(32)}\nx`,
])('%j is no signing secret', async (secret) => {
  const make = 'mutation ($input: ChannelInput!) { createChannel(kind: WEBHOOK, input: $input) { secret } }'
  const refusal = await stand.refusal(make, { input: { name: 'Odd', url: receiver.url, secret } })
  expect(refusal?.message).toMatch(/^secret must be whsec_ and base64 of 24 to 64 bytes/)
  expect(refusal?.message).not.toContain(secret.length > 12 ? secret : '\0')
})

test.each([24, 32, 64])('a given secret of %i bytes is used', async (length) => {
  const secret = `whsec_${Buffer.alloc(length, length).toString('base64')}`
  const { channel } = await stand.channel('WEBHOOK', { name: `Given ${length}`, url: `${receiver.url}/given`, secret })
  await stand.test(channel.id)
  expect(new Webhook(secret).verify(last().text, last().headers)).toMatchObject({ type: 'alert.test' })
})
