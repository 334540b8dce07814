// Where messages may not go: private and reserved addresses in all their forms, whatever a name says they are.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net, { type AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { testMessage } from '../../server/alerts/message.ts'
import { Sender, type AttemptResult } from '../../server/alerts/send.ts'
import { readConfig } from '../../server/config.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const message = testMessage('default', 'Ops', 'http://runwatch', 'an-id', new Date(0))
const PRIVATE = /^Its address is private or reserved.*ALLOWED_PRIVATE_HOSTS\.$/
const realLookup = dns.lookup

let trap: net.Server
let port: number
let connections = 0
let receiver: Receiver
beforeAll(async () => {
  // Hears every address of this machine, of both kinds.
  trap = net.createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  const host = await new Promise<string>((resolve) => {
    trap.once('error', () => resolve('0.0.0.0'))
    trap.listen(0, '::', () => resolve('::'))
  })
  if (host !== '::') await new Promise<void>((resolve) => trap.listen(0, host, resolve))
  port = (trap.address() as AddressInfo).port
  receiver = await startReceiver()
})
afterEach(() => answerNames(realLookup))
afterAll(async () => {
  trap.close()
  await receiver.close()
})

function answerNames(lookup: typeof dns.lookup): void {
  dns.lookup = lookup
  syncBuiltinESMExports()
}

/** Names of example.test get these addresses, one list after the other, the last for ever. */
function resolveTo(...answers: string[][]): { count: number } {
  const asked = { count: 0 }
  answerNames(((name: string, options: dns.LookupAllOptions, callback: (...all: any[]) => void) => {
    if (!name.endsWith('example.test')) return realLookup(name, options, callback as never)
    const addresses = answers[Math.min(asked.count, answers.length - 1)]!
    asked.count += 1
    const found = addresses.map((address) => ({ address, family: net.isIP(address) }))
    if (options.all) process.nextTick(callback, null, found)
    else process.nextTick(callback, null, found[0]!.address, found[0]!.family)
  }) as typeof dns.lookup)
  return asked
}

const sender = (allowed = '') => new Sender(readConfig({ ALLOWED_PRIVATE_HOSTS: allowed }))
const post = (url: string, allowed?: string) => sender(allowed).send({ kind: 'SLACK', url }, message, 'msg_1')

test('a trap hears of a post where nothing guards it', async () => {
  const before = connections
  await post(`http://127.0.0.1:${port}/`, '127.0.0.1')
  expect(connections).toBe(before + 1)
})

const REFUSED: [what: string, host: string][] = [
  ['loopback', '127.0.0.1'],
  ['loopback beyond the first', '127.8.9.10'],
  ['one number', '2130706433'],
  ['octal', '0177.0.0.1'],
  ['octal of many noughts', '000000000177.0.0.01'],
  ['hex', '0x7f.0.0.1'],
  ['one hex number', '0x7f000001'],
  ['a short form', '127.1'],
  ['a dot at its end', '127.0.0.1.'],
  ['digits in circles', '①②⑦.⓪.⓪.①'],
  ['ideographic stops', '127。0。0。1'],
  ['percent signs', '%31%32%37.0.0.1'],
  ['nothing at all', '0.0.0.0'],
  ['a nought', '0'],
  ['this network', '0.1.2.3'],
  ['a private class A', '10.1.2.3'],
  ['a private class B', '172.31.255.1'],
  ['a private class C', '192.168.0.1'],
  ['link-local', '169.254.10.20'],
  ['metadata', '169.254.169.254'],
  ['metadata as a number', '2852039166'],
  ['metadata in hex', '0xa9.0xfe.0xa9.0xfe'],
  ['metadata of Alibaba, carrier-grade NAT', '100.100.100.200'],
  ['metadata of Oracle', '192.0.0.192'],
  ['the wire server of Azure', '168.63.129.16'],
  ['the wire server of Azure as a number', '2822734096'],
  ['the wire server of Azure, mapped', '[::ffff:168.63.129.16]'],
  ['benchmarks', '198.18.0.1'],
  ['examples', '203.0.113.7'],
  ['a relay of 6to4', '192.88.99.1'],
  ['multicast', '224.0.0.1'],
  ['the future', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['IPv6 loopback', '[::1]'],
  ['IPv6 loopback in full', '[0:0:0:0:0:0:0:1]'],
  ['IPv6 nothing', '[::]'],
  ['mapped', '[::ffff:127.0.0.1]'],
  ['mapped in hex', '[::ffff:7f00:1]'],
  ['mapped metadata', '[::ffff:a9fe:a9fe]'],
  ['translated', '[::ffff:0:7f00:1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['NAT64 of one network', '[64:ff9b:1::a9fe:a9fe]'],
  ['6to4', '[2002:7f00:1::]'],
  ['Teredo', '[2001:0:7f00:1::]'],
  ['unique local', '[fc00::1]'],
  ['metadata over IPv6', '[fd00:ec2::254]'],
  ['IPv6 link-local', '[fe80::1]'],
  ['IPv6 site-local', '[fec0::1]'],
  ['IPv6 multicast', '[ff02::1]'],
  ['localhost', 'localhost'],
  ['LOCALHOST', 'LOCALHOST'],
]

test.each(REFUSED)('%s (%s) is refused at once and never connected to', async (_what, host) => {
  for (const protocol of ['http', 'https']) {
    const before = connections
    const result = await post(`${protocol}://${host}:${port}/hook`)
    expect(result).toMatchObject({ isDelivered: false, isFinal: true, status: null, answer: null })
    expect(result.problem).toMatch(PRIVATE)
    expect(connections).toBe(before)
  }
})

// ::a.b.c.d was given up in 2006 (RFC 4291, 2.5.5.1), and some systems route it to the IPv4 address still.
test.each([
  ['loopback', '[::7f00:1]'],
  ['metadata', '[::169.254.169.254]'],
])('an IPv4-compatible form of %s (%s) is refused as reserved', async (_what, host) =>
  expect(await post(`http://${host}:${port}/`)).toMatchObject({ isFinal: true }),
)

test.each([
  ['loopback', ['127.0.0.1']],
  ['IPv6 loopback', ['::1']],
  ['a mapped address', ['::ffff:127.0.0.1']],
  ['metadata', ['169.254.169.254']],
  ['the wire server of Azure', ['168.63.129.16']],
  ['a public and a private one', ['1.1.1.1', '127.0.0.1']],
  ['a private one after several public ones', ['1.1.1.1', '2606:4700::1', '::1']],
])('a name that leads to %s is refused', async (_what, addresses) => {
  resolveTo(addresses)
  const before = connections
  expect(await post(`http://rebound.example.test:${port}/`)).toMatchObject({ isFinal: true, status: null })
  expect(connections).toBe(before)
})

test('a name that turns to loopback between two look-ups is refused when it has turned', async () => {
  // Of the public addresses this one was given to nobody.
  const asked = resolveTo(['2e00::1'], ['127.0.0.1'])
  const before = connections
  const url = `http://rebound.example.test:${port}/`
  const stop = new AbortController()
  const first = sender().send({ kind: 'SLACK', url }, message, 'msg_1', stop.signal)
  await until(() => asked.count === 1)
  stop.abort()
  expect((await first).isFinal).toBe(false)
  // Those who ask while it is asked share the answer.
  await new Promise((resolve) => setTimeout(resolve, 50))
  // It was connected to what was looked at: nobody asked again in between.
  expect(asked.count).toBe(1)
  expect(await post(url)).toMatchObject({ isFinal: true, problem: expect.stringMatching(PRIVATE) })
  expect(connections).toBe(before)
})

test('exactly the hosts that the operator allows are let through, by name and by address', async () => {
  const { port: own } = new URL(receiver.url)
  const reached = async (host: string, allowed: string) => (await post(`http://${host}:${own}/`, allowed)).isDelivered
  resolveTo(['127.0.0.1'])
  expect(await reached('127.0.0.1', '127.0.0.1')).toBe(true)
  expect(await reached('2130706433', '127.0.0.1')).toBe(true)
  expect(await reached('127.0.0.1', '0x7f000001')).toBe(true)
  expect(await reached('localhost', ' Localhost ')).toBe(true)
  expect(await reached('chat.example.test', 'other.test, chat.example.test')).toBe(true)
  expect(await reached('127.0.0.1', 'localhost')).toBe(false)
  expect(await reached('localhost', '127.0.0.1')).toBe(false)
  expect(await reached('127.0.0.2', '127.0.0.1')).toBe(false)
  expect(await reached('[::ffff:127.0.0.1]', '127.0.0.1')).toBe(false)
  expect(await reached('evil.example.test', 'chat.example.test')).toBe(false)
  expect(await reached('x.chat.example.test', 'chat.example.test')).toBe(false)
})

test.each([301, 302, 303, 307, 308])(
  'a redirect (%i) is not followed, and where it leads to is said',
  async (status) => {
    receiver.answers(answer(status, 'moved', { location: `http://user:pass@localhost:${port}/secret-page` }))
    const before = [connections, receiver.received.length]
    const result = await post(`${receiver.url}/hook`, '127.0.0.1, localhost')
    expect(result).toMatchObject({ isDelivered: false, status, isFinal: false })
    expect(result.problem).toContain(`a redirect to localhost:${port}: redirects are not followed`)
    expect(result.problem).not.toMatch(/user|pass|secret-page/)
    expect([connections, receiver.received.length]).toEqual([before[0], before[1]! + 1])
  },
)

test('a receiver that answers a request to switch protocols does not hold the attempt for ever', async () => {
  let answered = false
  const switching = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')
      socket.on('close', () => (answered = true))
    })
  })
  await new Promise<void>((resolve) => switching.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(switching.address() as AddressInfo).port}/`
  const stop = new AbortController()
  let result: AttemptResult | null = null
  void sender('127.0.0.1')
    .send({ kind: 'SLACK', url }, message, 'msg_1', stop.signal)
    .then((ended) => (result = ended))
  await until(() => answered)
  // What ends an attempt after 10 s, sooner.
  stop.abort()
  await until(() => result)
  switching.close()
  expect(result).toMatchObject({ isDelivered: false })
})
