// Sockets and streams made to hurt: each ends with a code or goes on, others are served, and the process stays up and small.
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { rawSocket } from '../support/raw-socket.ts'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { INIT, operation, plainSocket, socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'

const MB = 1024 * 1024
const CHANGES = 'subscription { sessionChanged { resync session { externalId errorMessage } } }'
const VIEWER = '{ viewer { kind } }'

let server: TestServer
let pulse = 0
beforeAll(async () => void (server = await startServer()))
afterEach(async () => {
  expect((await server.ingestA({ session_id: `pulse-${pulse++}`, type: 'span' })).status).toBe(200)
  const { socket, init } = await plainSocket(server.url)
  await init()
  socket.terminate()
})
afterAll(() => server.stop())

test.each<[string, (object | string | Buffer)[], number]>([
  ['is opened a second time', [INIT, INIT], 4429],
  ['asks before it said who it is', [operation('1', VIEWER)], 4401],
  ['uses a name twice', [INIT, operation('1', CHANGES), operation('1', CHANGES)], 4409],
  ['sends bytes that mean nothing', [INIT, Buffer.from([0, 1, 2, 0xff, 0xfe])], 4400],
  ['sends a text that is no JSON', ['hello'], 4400],
  ['sends JSON that is no message', ['[[[]]]'], 4400],
  ['sends a message of an unknown kind', [INIT, { type: 'drop' }], 4400],
  ['sends what only a server sends', [{ type: 'connection_ack' }], 4400],
  ['sends a message of 300 KB', ['x'.repeat(300_000)], 1009],
  [
    'has no key where one is needed',
    [{ type: 'connection_init', payload: { 'x-api-key': 5, authorization: {} } }],
    4401,
  ],
])('a socket that %s is closed with a code', async (_what, messages, code) => {
  const { socket, closed, send, init } = await plainSocket(server.url)
  for (const [i, message] of messages.entries()) {
    if (message === INIT && i === 0) await init()
    else if (typeof message === 'string' || Buffer.isBuffer(message)) socket.send(message)
    else send(message)
  }
  expect(await closed).toBe(code)
})

test('a socket without the protocol of graphql-ws is closed with a code', async () => {
  expect(await (await plainSocket(server.url, { protocols: [] })).closed).toBe(4406)
})

test('an operation that cannot be read is refused by itself, and the socket goes on', async () => {
  const { socket, messages, send, init } = await plainSocket(server.url)
  await init()
  const deep = `{"type":"subscribe","id":"deep","payload":{"query":"${VIEWER}","variables":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`
  socket.send(deep)
  send(operation('none', 'query a { viewer { kind } }'), operation('good', VIEWER))
  await until(() => messages.find((one) => one.id === 'good' && one.type === 'complete'))
  expect(messages.find((one) => one.id === 'deep')).toMatchObject({
    type: 'error',
    payload: [{ message: 'The query is nested too deep.', extensions: { code: 'QUERY_TOO_COSTLY' } }],
  })
  socket.terminate()
})

test('of 1,000 subscriptions on one socket 100 run, the others hear why, and the socket stays usable', async () => {
  const { socket, messages, send, init } = await plainSocket(server.url)
  await init()
  send(...Array.from({ length: 1_000 }, (_, i) => operation(`s${i}`, CHANGES)))
  const refused = await until(
    () => messages.filter((one) => one.type === 'error'),
    (errors) => errors.length === 900,
  )
  for (const { payload } of refused) expect(payload[0].extensions).toEqual({ code: 'TOO_MANY_SUBSCRIPTIONS' })
  await server.ingestA({ session_id: 'seen-by-100', type: 'span' })
  const told = () => messages.filter((one) => one.payload?.data?.sessionChanged.session?.externalId === 'seen-by-100')
  await until(told, (all) => new Set(all.map((one) => one.id)).size === 100)
  send({ type: 'complete', id: told()[0].id })
  let n = 0
  const asked: any = await until(() => {
    send(operation(`q${n++}`, VIEWER))
    return messages.find((one) => one.payload?.data?.viewer)
  }, Boolean)
  expect(asked.payload.data).toEqual({ viewer: { kind: 'KEY' } })
  socket.terminate()
})

test.concurrent(
  'two hundred sockets that never say who they are are closed with a code, and others come in',
  async () => {
    const silent = await Promise.all(Array.from({ length: 200 }, () => plainSocket(server.url)))
    const other = await plainSocket(server.url)
    await other.init()
    other.send(operation('1', VIEWER))
    await until(() => other.messages.some((one) => one.payload?.data))
    const codes = await Promise.all(silent.map(({ closed }) => closed))
    expect(new Set(codes)).toEqual(new Set([4408]))
    expect(other.socket.readyState).toBe(other.socket.OPEN)
    other.socket.terminate()
  },
)

test.concurrent(
  'whoever sends and never reads is not read from either, and is cut off',
  { timeout: 60_000 },
  async () => {
    const raw = await rawSocket(server.url)
    const before = process.memoryUsage().rss
    const many = Array(10_000).fill('{"type":"ping"}')
    while (!raw.tcp.destroyed) await raw.sendAll(many)
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * MB)
  },
)

test('whoever pings with 200 KB and never reads is answered in a few bytes', { timeout: 60_000 }, async () => {
  const raw = await rawSocket(server.url)
  const before = process.memoryUsage().rss
  const ping = JSON.stringify({ type: 'ping', payload: { x: 'x'.repeat(200_000) } })
  for (let i = 0; i < 4_000; i++) await raw.send(ping)
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * MB)
  raw.end()
})

/** Posts 5,000 changed sessions of some 2 KB each, and waits until one who reads has heard of the last. */
async function manyChanges(name: string): Promise<void> {
  const client = socketClient(server.url)
  const reader = subscribe(client, CHANGES)
  await until(async () => {
    await server.ingestA({ session_id: `${name}-first`, type: 'span' })
    return reader.waiting.length
  })
  for (let part = 0; part < 10; part++) {
    const error = 'x'.repeat(4_000)
    const events = Array.from({ length: 500 }, (_, i) => ({ session_id: `${name}-${part}-${i}`, type: 'span', error }))
    expect((await server.ingestA(events)).status).toBe(200)
  }
  await server.ingestA({ session_id: `${name}-last`, type: 'span' })
  await until(() => reader.waiting.find((one) => one.data.sessionChanged.session?.externalId === `${name}-last`))
  await client.dispose()
}

test(
  'a socket that stops reading holds up nobody, takes little, and is told later to read again',
  { timeout: 60_000 },
  async () => {
    const raw = await rawSocket(server.url)
    await raw.init()
    for (let i = 0; i < 50; i++) await raw.sendJson(operation(`${i}`, CHANGES))
    const before = process.memoryUsage().rss
    await manyChanges('socket')
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * MB)
    const read = raw.read()
    await until(() => read.some((text) => text.includes('"resync":true')))
    expect(read.length).toBeLessThan(50 * 1_000)
    raw.end()
  },
)

test('so does a stream of server-sent events', { timeout: 60_000 }, async () => {
  const { hostname, port } = new URL(server.url)
  const stream = connect(Number(port), hostname)
  const body = JSON.stringify({ query: CHANGES })
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nAccept: text/event-stream`
  stream.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await new Promise((resolve) => stream.once('data', resolve))
  stream.pause()
  await manyChanges('stream')
  let text = ''
  stream.on('data', (data) => (text += data)).resume()
  await until(() => text.includes('"resync":true'))
  stream.destroy()
})

test('whoever asks for more and more and never reads it is cut off', { timeout: 60_000 }, async () => {
  const events = Array.from({ length: 1_000 }, (_, i) => ({
    session_id: 'wide',
    type: 'tool.call',
    tool_name: `${i}`.padEnd(500, 'x'),
  }))
  await server.ingestA(events)
  const raw = await rawSocket(server.url)
  await raw.init()
  const query =
    '{ session(platform: PLATFORM_A, externalId: "wide") { events(first: 1000) { nodes { name again: name } } } }'
  const isCut = new Promise((resolve) => raw.tcp.on('close', resolve))
  for (let i = 0; i < 90; i++) await raw.sendJson(operation(`${i}`, query))
  await isCut
})

test('connections that break while their upgrade is refused do not end the process', async () => {
  const { port } = new URL(server.url)
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${'x'.repeat(100_000)}`,
    )
    await new Promise((resolve) => setImmediate(resolve))
    socket.resetAndDestroy()
  }
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

test('a refused upgrade does not leave its connection open', async () => {
  const { port } = new URL(server.url)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  let answer = ''
  socket.on('data', (data) => (answer += data)).on('error', () => {})
  socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await until(() => {
    socket.write('x')
    return socket.destroyed
  })
  expect(answer).toMatch(/^HTTP\/1.1 404 /)
})

test('the server stops though a socket does not answer', { timeout: 20_000 }, async () => {
  const stopping = await startServer()
  const raw = await rawSocket(stopping.url)
  await raw.init()
  await stopping.stop()
  raw.end()
})
