// Connections made to hurt: requests that are cut off, stall, come doubled or lie about their length, floods of headers,
// types and methods that are none. Each gets its answer, and good traffic is served all the while.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Problem } from '../../server/errors.ts'
import { readBody } from '../../server/ingest/body.ts'
import { goodTraffic } from '../support/good-traffic.ts'
import { exchange, rawPost, type RawAnswer } from '../support/raw-http.ts'
import { KEY, startServer, type TestServer } from '../support/server.ts'

const A = '/api/ingest/platform-a'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

let traffic: ReturnType<typeof goodTraffic>
beforeEach(() => void (traffic = goodTraffic(server)))
afterEach(() => traffic.stop())

const post = (body: string, headers: Record<string, string | string[]> = {}) => rawPost(A, body, headers)
const event = (id: string) => JSON.stringify({ session_id: id, type: 'span' })
const send = async (...parts: (string | Buffer)[]) => (await exchange(server.url, parts))[0]!
const countOf = async (id: string) => {
  const [row] = await server.database.sql`
    select coalesce(sum(event_count), 0)::int as count from sessions where external_id = ${id}`
  return row!.count as number
}
const isRefusal = ({ status, headers, body }: RawAnswer) => {
  expect(headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(Object.keys(body).slice(0, 2)).toEqual(['detail', 'message'])
  expect(body).toMatchObject({ status, message: body.detail })
  return true
}

describe('bodies that are cut off, late or of another length', () => {
  test('a body that stalls is answered with 408, packed or not', async () => {
    const problems: Problem[] = []
    const slow = createServer((request, response) => {
      void readBody(request, 1000, 50).then(({ problem }) => {
        problems.push(problem!)
        response.end()
      })
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`
    const packed = gzipSync('{"a":1}')
    await Promise.all([
      exchange(url, [post('{', { 'content-length': '7' })]),
      exchange(url, [
        post('', { 'content-length': String(packed.length), 'content-encoding': 'gzip' }),
        packed.subarray(0, 12),
      ]),
    ])
    expect(problems.map(({ code, status }) => [code, status])).toEqual(Array(2).fill(['request_timeout', 408]))
    expect(problems[0]!.detail).toBe(
      'The body did not arrive completely: nothing more came for 0.05 s. No event was recorded.',
    )
    slow.close()
  })

  test('300 uploads that are given up half way, every second one packed, leave nothing', async () => {
    const body = JSON.stringify({ session_id: 'given-up', input: randomBytes(90_000).toString('hex') })
    const packed = gzipSync(body)
    const head = post('', { 'content-length': String(packed.length), 'content-encoding': 'gzip' })
    const forms = [Buffer.from(post(body)), Buffer.concat([Buffer.from(head), packed])]
    const { port } = new URL(server.url)
    await Promise.all(
      Array.from({ length: 300 }, (_, i) => {
        const bytes = forms[i % 2]!
        const part = bytes.subarray(0, 50 + Math.floor(((bytes.length - 60) * i) / 300))
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(part, () => socket.destroy()))
        socket.on('error', () => {})
        return new Promise((resolve) => socket.on('close', resolve))
      }),
    )
    expect((await send(post(event('not-given-up')))).status).toBe(200)
    expect(await countOf('given-up')).toBe(0)
  })

  test('a body longer than its Content-Length is read up to there, and what follows is refused on its own', async () => {
    const short = await exchange(
      server.url,
      [post(`${event('short')} and more`, { 'content-length': String(event('short').length) })],
      2,
    )
    expect(short.map((answer) => answer.status)).toEqual([200, 400])
    expect(await countOf('short')).toBe(1)
    const cut = await exchange(server.url, [post(event('short-cut'), { 'content-length': '10' })], 2)
    expect(cut.every(isRefusal)).toBe(true)
    expect(cut[0]!.body).toMatchObject({ status: 400, code: 'invalid_json' })
    expect(await countOf('short-cut')).toBe(0)
  })

  test('a body shorter than its Content-Length does not borrow from the next request', async () => {
    const long = post(event('long'), { 'content-length': String(event('long').length + 5) })
    const answers = await exchange(server.url, [long, post(event('long-next'))], 2)
    expect(answers.map(({ status }) => status)).toEqual([400, 400])
    expect(await countOf('long')).toBe(0)
  })

  test('a length and chunks at once, or chunks that are none, are refused', async () => {
    const chunks = { 'transfer-encoding': 'chunked' }
    for (const request of [
      post('0\r\n\r\n', { ...chunks, 'content-length': '5' }),
      post('zz\r\n', chunks),
      post('', { 'content-length': '-1' }),
      post('{}', { 'content-length': ['2', '3'] }),
    ]) {
      const answer = await send(request)
      expect(isRefusal(answer) && answer.status).toBe(400)
    }
  })
})

describe('requests on one connection', () => {
  test('fifty posts sent at once are answered in their order and counted once each', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `piped-${i}`)
    const posts = ids.map((id, i) => post(i % 7 === 3 ? '{' : event(id)))
    const answers = await exchange(server.url, [posts.join('')], 50)
    expect(answers.map(({ body, status }) => (status === 400 ? 'refused' : body.sessions[0].session_id))).toEqual(
      ids.map((id, i) => (i % 7 === 3 ? 'refused' : id)),
    )
    for (const [i, id] of ids.entries()) expect([id, await countOf(id)]).toEqual([id, i % 7 === 3 ? 0 : 1])
  })

  test('what was taken is answered before the nonsense after it, however that comes', async () => {
    const answers = await exchange(
      server.url,
      [post(event('before-1')), post(event('before-2')), 'no HTTP\r\n\r\n', 'at all'],
      3,
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400])
    expect(isRefusal(answers[2]!)).toBe(true)
  })

  test('chunks of one byte, with extensions and trailers, are one body', async () => {
    const chunks = [...event('chunked')].map((letter) => `1;name=value\r\n${letter}\r\n`).join('')
    const answer = await send(post(`${chunks}0\r\nx-trailer: 1\r\n\r\n`, { 'transfer-encoding': 'chunked' }))
    expect([answer.status, await countOf('chunked')]).toEqual([200, 1])
  })

  test('a client that asks before it sends is told to go on, and a wrong key is refused', async () => {
    const [head, body] = post(event('asked'), { expect: '100-continue' }).split('\r\n\r\n')
    const { port } = new URL(server.url)
    const text = await new Promise<string>((resolve) => {
      let received = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(`${head}\r\n\r\n`))
      socket.on('data', (data) => {
        if (received === '') socket.write(body!)
        received += data
        if (received.includes('accepted')) resolve(received)
      })
    })
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    const refused = await exchange(
      server.url,
      [post(event('asked'), { expect: '100-continue', 'x-api-key': 'wrong' })],
      2,
    )
    expect(refused.at(-1)!.status).toBe(401)
    expect(await countOf('asked')).toBe(1)
  })

  const wish = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA' }

  test('a client that would rather speak HTTP/2 is served all the same', async () => {
    const long = JSON.stringify({ session_id: 'http-2', type: 'span', input: 'x'.repeat(1_000_000) })
    const requests = [post(long, wish), post(event('http-2'), wish), post(event('http-2')), post(event('http-2'), wish)]
    const answers = await exchange(server.url, requests, 4)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(await countOf('http-2')).toBe(4)
  })

  test('a socket that is asked for too early waits for the answer before it', async () => {
    const socket = 'GET /nowhere HTTP/1.1\r\nhost: runwatch\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
    const answers = await exchange(server.url, [post(event('then-a-socket')) + socket], 2)
    expect(answers.map(({ status }) => status)).toEqual([200, 404])
  })

  test('a stranger who asks for a socket and hangs up at once does not end the server', async () => {
    const faults: Error[] = []
    const onFault = (error: Error) => faults.push(error)
    process.on('uncaughtException', onFault)
    const { port } = new URL(server.url)
    for (const path of ['/nowhere', '/graphql', A]) {
      for (const upgrade of ['websocket', 'h2c']) {
        const head = `GET ${path} HTTP/1.1\r\nhost: runwatch\r\norigin: http://elsewhere\r\nconnection: upgrade\r\nupgrade: ${upgrade}`
        for (const before of ['', post(event('hung-up'))]) {
          await new Promise<void>((resolve) => {
            const socket = connect(Number(port), '127.0.0.1', () =>
              socket.write(`${before}${head}\r\n\r\n`, () => socket.resetAndDestroy()),
            )
            socket.on('error', () => {})
            socket.on('close', () => resolve())
          })
        }
      }
    }
    // By the time these are answered, the server has seen all that came before them.
    for (let i = 0; i < 3; i++) expect((await send(post(event('after-hanging-up')))).status).toBe(200)
    process.off('uncaughtException', onFault)
    expect(faults).toEqual([])
  })
})

describe('headers, types and methods', () => {
  const flood = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`h${i}`, '1']))

  test('headers over 16 KiB are refused, 1,500 short ones are only headers', async () => {
    for (const request of [
      post(event('flood'), { 'x-long': 'x'.repeat(17_000) }),
      post(event('flood'), { cookie: Array(2_000).fill('a=12345') }),
    ]) {
      const answer = await send(request)
      expect(isRefusal(answer) && answer.status).toBe(400)
      expect(answer.body.detail).toBe('The headers of the request are larger than 16 KiB. No event was recorded.')
    }
    expect((await send(post(event('flood'), flood))).status).toBe(200)
    expect(await countOf('flood')).toBe(1)
  })

  test('2,500 headers never hide the key that came first', async () => {
    const [head, body] = post(event('hidden')).split('\r\n\r\n')
    expect((await send(`${head}\r\n${'a:\r\n'.repeat(2_500)}\r\n${body}`)).status).toBe(200)
  })

  test.each(['x-api-key', 'X-API-KEY', 'x-Api-kEY'])('the key is found as %s', async (name) => {
    const request = post(event(`key-${name}`)).replace('x-api-key', name)
    expect((await send(request)).status).toBe(200)
  })

  test('two keys are none, even if they are equal', async () => {
    const answer = await send(post(event('two-keys'), { 'x-api-key': [KEY, KEY] }))
    expect(isRefusal(answer) && answer.body).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(answer.text).not.toContain(KEY)
    expect(await countOf('two-keys')).toBe(0)
  })

  test.each([
    ['multipart/form-data; boundary=x', '--x\r\n\r\n--x--', '"multipart/form-data"'],
    ['text/plain', event('typed'), '"text/plain"'],
    ['application/octet-stream', event('typed'), '"application/octet-stream"'],
    ['application/jsonx', event('typed'), '"application/jsonx"'],
    ['application/json, text/plain', event('typed'), '"application/json, text/plain"'],
    ['', event('typed'), 'empty'],
    [[], event('typed'), 'missing'],
  ])('the content type %j is refused with the setting to change', async (type, body, named) => {
    const answer = await send(post(body, { 'content-type': type }))
    expect(isRefusal(answer) && answer.status).toBe(415)
    expect(answer.body.detail).toBe(
      `The Content-Type is ${named}, and only JSON is read. Set the Content-Type to application/json: in Zapier set "Payload Type" to JSON, in n8n set "Body Content Type" to JSON. No event was recorded.`,
    )
    expect(await countOf('typed')).toBe(0)
  })

  test.each(['iso-8859-1', 'latin1', 'utf-16le', '"UTF-32"'])(
    'the charset %s is refused by its name',
    async (charset) => {
      const answer = await send(post(event('charset'), { 'content-type': `application/json; charset=${charset}` }))
      expect(isRefusal(answer) && answer.status).toBe(415)
      expect(answer.body.detail).toContain(
        `The charset "${charset.replaceAll('"', '').toLowerCase()}" is not supported; send the JSON in UTF-8.`,
      )
    },
  )

  test.each([
    ['a byte of latin1', Buffer.from('{"session_id":"bytes","input":"\u00e9"}', 'latin1'), /not UTF-8/],
    ['half a character at the end', Buffer.from('{"session_id":"bytes","input":"é').subarray(0, -1), /not UTF-8/],
    ['a slash in two bytes', Buffer.from('22c0af22', 'hex'), /not UTF-8/],
    ['half a pair', Buffer.from('22eda08022', 'hex'), /not UTF-8/],
    ['UTF-16 with its mark', Buffer.from('\ufeff{"session_id":"bytes"}', 'utf16le'), /not UTF-8/],
    ['UTF-16 without', Buffer.from('{"session_id":"bytes"}', 'utf16le'), /not valid JSON: line 1, column 2/],
    ['a mark and nothing else', Buffer.from('\ufeff'), /is empty/],
    ['two marks', Buffer.from('\ufeff\ufeff{"session_id":"bytes"}'), /not valid JSON: line 1, column 1/],
  ])('%s is refused with what is wrong', async (_what, body, sentence) => {
    const answer = await send(post('', { 'content-length': String(body.length) }), body)
    expect(isRefusal(answer) && answer.status).toBe(400)
    expect(answer.body.detail).toMatch(sentence)
    expect(await countOf('bytes')).toBe(0)
  })

  test.each(['OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'])('%s is not taken for POST', async (method) => {
    const answer = await send(`${method} ${A} HTTP/1.1\r\nhost: runwatch\r\nx-api-key: ${KEY}\r\n\r\n`)
    expect(isRefusal(answer) && [answer.status, answer.headers.allow]).toEqual([405, 'POST'])
  })

  test('HEAD is answered like GET, without a body', async () => {
    const response = await fetch(server.url + A, { method: 'HEAD', headers: { 'x-api-key': KEY } })
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([405, 'POST', ''])
  })

  test.each([
    ['no host', post(event('odd')).replace('host: runwatch\r\n', '')],
    ['an expectation that nobody has', post(event('odd'), { expect: 'the-unexpected' })],
    ['the greeting of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a method in small letters', post(event('odd')).replace('POST', 'post')],
    ['another version', post(event('odd')).replace('HTTP/1.1', 'HTTP/3.7')],
    ['a line break in a header', post(event('odd'), { 'x-broken': 'a\rb' })],
    ['a connection to elsewhere', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n'],
    ['TLS', Buffer.from('16030100b8010000b40303', 'hex')],
  ])('%s is refused or hung up on, and recorded in no case', async (_what, request) => {
    const [answer] = await exchange(server.url, [request])
    if (answer) expect([400, 417]).toContain(answer.status)
    expect(await countOf('odd')).toBe(0)
  })
})
