// A channel whose receiver may not be posted to, or not in this way: what its people and its deliveries are told.
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { failedStep } from '../support/failed-runs.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'

let stand: Awaited<ReturnType<typeof alertStand>>
let trap: net.Server
let connections = 0
let receiver: Receiver
beforeAll(async () => {
  stand = await alertStand({ env: { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } })
  receiver = await startReceiver()
  trap = net.createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => trap.listen(0, '0.0.0.0', resolve))
})
afterAll(async () => {
  trap.close()
  await stand.server.stop()
  await receiver.close()
})
const port = () => (trap.address() as AddressInfo).port
const PRIVATE = expect.stringMatching(/^Its address is private or reserved, .*ALLOWED_PRIVATE_HOSTS\.$/)

test.each(['WEBHOOK', 'SLACK'] as const)(
  'a %s delivery to a refused address is given up after one attempt, with the reason, and without a connection',
  async (kind) => {
    const { channel } = await stand.channel(kind, { name: `Inside ${kind}`, url: `http://127.0.0.2:${port()}/x` })
    const rule = await stand.rule({ channels: [channel.id] })
    await stand.server.ingestA(failedStep(`refused-${kind}`))
    const [delivery] = await stand.settled({ channel: channel.id })
    await stand.changeRule(rule.id, { isEnabled: false })
    expect(delivery).toMatchObject({ state: 'FAILED', attemptCount: 1, nextAttemptAt: null, lastProblem: PRIVATE })
    expect(delivery.attempts).toMatchObject([{ isDelivered: false, status: null, answer: null, problem: PRIVATE }])
    expect(connections).toBe(0)
  },
)

test('a test of a channel with a refused address says why, and makes no connection', async () => {
  const { channel } = await stand.channel('SLACK', { name: 'Metadata', url: 'http://169.254.169.254/latest/meta-data' })
  expect(await stand.test(channel.id)).toMatchObject({
    isDelivered: false,
    status: null,
    answer: null,
    problem: PRIVATE,
  })
  const inside = await stand.channel('SLACK', { name: 'Local', url: `http://localhost:${port()}/` })
  expect(await stand.test(inside.channel.id)).toMatchObject({ isDelivered: false, problem: PRIVATE })
  expect(connections).toBe(0)
})

test('a redirect to an inner address is told of and not followed', async () => {
  receiver.answers(answer(307, '', { location: `http://127.0.0.2:${port()}/admin` }))
  const { channel } = await stand.channel('WEBHOOK', { name: 'Moved', url: `${receiver.url}/hook` })
  const result = await stand.test(channel.id)
  expect(result).toMatchObject({ isDelivered: false, status: 307 })
  expect(result.problem).toMatch(/redirects are not followed/)
  expect(connections).toBe(0)
})

test.each([
  'file:///etc/passwd',
  'ftp://example.com/x',
  'gopher://127.0.0.1:25/x',
  'javascript:alert(1)',
  'data:text/plain,x',
  'ws://example.com/',
  'unix:/var/run/docker.sock',
  'smtp://example.com',
  '//example.com/x',
  'example.com/hook',
  'http://',
  'http://[::1',
  'http://256.256.256.256/',
  'http://exa mple.com/',
  'http://example.com:99999/',
  '',
  `https://example.com/${'x'.repeat(2_000)}`,
])('%s is no address of a channel', async (url) => {
  for (const kind of ['WEBHOOK', 'SLACK']) {
    const refusal = await stand.refusal(
      `mutation ($url: String, $kind: ChannelKind!) { createChannel(kind: $kind, input: { name: "Odd", url: $url }) { secret } }`,
      { url, kind },
    )
    expect(refusal).toMatchObject({
      extensions: { code: 'BAD_USER_INPUT' },
      message: expect.stringMatching(/^url must /),
    })
  }
})

test('the name and password of an address go to its receiver alone', async () => {
  receiver.answers((response, { headers }) => response.writeHead(200).end(JSON.stringify(headers)))
  const url = `${receiver.url.replace('//', '//runwatch-bot:s3cr%2Ft-pass@')}/hook`
  const { channel } = await stand.channel('WEBHOOK', { name: 'With credentials', url })
  const result = await stand.test(channel.id)
  const basic = Buffer.from('runwatch-bot:s3cr/t-pass').toString('base64')
  expect(receiver.received.at(-1)!.headers.authorization).toBe(`Basic ${basic}`)
  expect(channel.address).toBe(`${receiver.url}/…`)
  const shown = JSON.stringify([result, await stand.ask('{ channels { name address secretSuffix } }')])
  for (const secret of ['runwatch-bot', 's3cr', basic]) expect(shown).not.toContain(secret)
})

test('text that cannot be stored is the fault of who sends it, in words', async () => {
  const make = `mutation ($kind: ChannelKind!, $input: ChannelInput!) { createChannel(kind: $kind, input: $input) { channel { name } } }`
  const refusal = (input: object) => stand.refusal(make, { kind: 'SLACK', input })
  expect(await refusal({ name: 'a\0b', url: receiver.url })).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
  const { createChannel } = await stand.ask(make, { kind: 'SLACK', input: { name: 'lone \ud800', url: receiver.url } })
  expect(createChannel.channel.name).toBe('lone \ufffd')
})
