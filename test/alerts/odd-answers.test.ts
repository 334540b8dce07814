// What is made of an attempt, by what its receiver answered: as it is logged, and whether and when it is made again.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { soon } from '../support/fault-stand.ts'
import {
  bytes,
  dripping,
  flooding,
  reply,
  startOddReceiver,
  type Conduct,
  type OddReceiver,
} from '../support/odd-receiver.ts'
import { freePort } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { afterAttempts, failRuns, runsOf, tellOf } from '../support/told.ts'

let stand: Awaited<ReturnType<typeof alertStand>>
let count = 0
const receivers: OddReceiver[] = []
beforeAll(async () => void (stand = await alertStand()))
afterAll(async () => {
  await stand.server.stop()
  for (const receiver of receivers) await receiver.close()
})

const receiver = async (conduct?: Conduct) => {
  const one = await startOddReceiver(conduct)
  receivers.push(one)
  return one
}
/** What became of the first attempt of one delivery to this address. */
async function attemptAt(url: string) {
  const agent = `Odd-${count++}`
  const [channel] = await tellOf(stand, agent, [url])
  await failRuns(stand.server, runsOf(agent, agent, 1))
  const delivery = await afterAttempts(stand, channel!)
  return { delivery, attempt: delivery.attempts[0], channel: channel! }
}
const attemptAnswered = async (conduct: Conduct) => {
  const one = await receiver(conduct)
  return { ...(await attemptAt(`${one.url}/hook`)), one }
}
/** Seconds from the end of the last attempt to the next. */
async function pauseOf(deliveryId: string): Promise<number> {
  const uuid = Buffer.from(deliveryId, 'base64').toString().split(':')[1]!
  const [row] = await stand.server.database.sql`
    select extract(epoch from next_attempt_at - t.started_at) - t.duration_ms / 1000 as pause
    from deliveries d join delivery_attempts t on t.delivery_id = d.id and t.number = d.attempt_count where d.id = ${uuid}`
  return Number(row!.pause)
}
async function expectRetry(delivery: any, leastSeconds = 5): Promise<void> {
  expect(delivery).toMatchObject({ state: 'QUEUED', settledAt: null, attemptCount: 1 })
  const pause = await pauseOf(delivery.id)
  expect(pause).toBeGreaterThanOrEqual(leastSeconds - 0.1)
  expect(pause).toBeLessThan(leastSeconds * 1.2 + 15)
}

describe('an answer', () => {
  test.each([200, 201, 202, 204, 299])('of %d is taken', async (status) => {
    const { delivery, attempt } = await attemptAnswered(reply(status, status === 204 ? '' : 'thanks'))
    expect(delivery).toMatchObject({ state: 'SENT', nextAttemptAt: null, attemptCount: 1, lastProblem: null })
    expect(attempt).toMatchObject({ number: 1, isDelivered: true, status, problem: null })
    expect(attempt.durationMs).toBeGreaterThan(0)
    expect(attempt.answer ?? '').toBe(status === 204 ? '' : 'thanks')
  })

  test.each([400, 401, 404, 408, 500, 502, 503, 999])(
    'of %d is tried again, and logged with its text',
    async (status) => {
      const { delivery, attempt } = await attemptAnswered(reply(status, 'no thanks'))
      expect(attempt).toMatchObject({
        isDelivered: false,
        status,
        answer: 'no thanks',
        problem: `It answered ${status}.`,
      })
      expect(delivery).toMatchObject({ lastStatus: status, lastProblem: `It answered ${status}.` })
      await expectRetry(delivery)
    },
  )

  test('of 410 is given up at once and visibly', async () => {
    const { delivery, attempt } = await attemptAnswered(reply(410, 'gone'))
    expect(delivery).toMatchObject({ state: 'FAILED', nextAttemptAt: null, attemptCount: 1, lastStatus: 410 })
    expect(delivery.settledAt).not.toBeNull()
    expect(attempt).toMatchObject({ isDelivered: false, status: 410, answer: 'gone' })
  })

  test.each([301, 302, 303, 307, 308])(
    'of %d is not followed, to the same host, another, or a private one',
    async (status) => {
      const other = await receiver(reply(200))
      const places = [
        '/elsewhere',
        `${other.url}/x`,
        'http://169.254.169.254/latest',
        'http://10.0.0.1/',
        '//[',
        '\u00ff',
      ]
      for (const location of places) {
        const { delivery, attempt, one } = await attemptAnswered(reply(status, 'moved', { location }))
        expect(attempt).toMatchObject({ isDelivered: false, status, answer: 'moved' })
        expect(attempt.problem).toContain('redirects are not followed')
        expect(delivery.state).toBe('QUEUED')
        expect(one.asked.map(({ path }) => path)).toEqual(['/hook'])
      }
      expect(other.asked).toEqual([])
    },
  )

  test('of a redirect without an address says what it is', async () => {
    const { attempt } = await attemptAnswered(reply(302, ''))
    expect(attempt.problem).toBe('It answered 302.')
  })

  test('a redirect to a host with a name without end leaves a problem that can be read', async () => {
    const { attempt } = await attemptAnswered(reply(302, '', { location: `http://${'a'.repeat(12_000)}/` }))
    expect(attempt.problem.length).toBeLessThanOrEqual(1_000)
  })
})

describe('Retry-After', () => {
  const inAMinute = () => new Date(Date.now() + 61_000).toUTCString()
  const pausedUntil = async (name: string) =>
    (
      await stand.server.database.sql`
      select extract(epoch from c.paused_until - now()) as left from channels c where name = ${name}`
    )[0]!.left

  test.each([
    ['seconds', () => '77', 77],
    ['a date', inAMinute, 59],
    ['less than planned', () => '1', 5],
    ['a date that has passed', () => new Date(0).toUTCString(), 5],
    ['nonsense', () => 'after lunch', 5],
    ['a negative number', () => '-3', 5],
    ['a number without end', () => '9'.repeat(400), 5],
  ])('of %s is honoured as far as it makes sense', async (_what, header, least) => {
    const { delivery, attempt } = await attemptAnswered(reply(429, 'slow down', { 'retry-after': header() }))
    expect(attempt).toMatchObject({ status: 429, answer: 'slow down', isDelivered: false })
    await expectRetry(delivery, least)
  })

  test.each(['999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'of %s waits a day at most, and its channel an hour',
    async (header) => {
      const { delivery } = await attemptAnswered(reply(503, '', { 'retry-after': header }))
      const pause = await pauseOf(delivery.id)
      expect(pause).toBeGreaterThan(86_000)
      expect(pause).toBeLessThanOrEqual(86_410)
      const left = Number(await pausedUntil(delivery.channel))
      expect(left).toBeGreaterThan(3_500)
      expect(left).toBeLessThanOrEqual(3_600)
    },
  )

  test('holds up all that its channel has, and that alone, until it is over', async () => {
    const agent = 'Paused'
    const [busy, free] = [await receiver(reply(429, '', { 'retry-after': '600' })), await receiver(reply(200))]
    const [channel] = await tellOf(stand, agent, [`${busy.url}/hook`, `${free.url}/hook`])
    await failRuns(stand.server, runsOf(agent, 'paused-first', 1))
    await soon(() => free.asked.length === 1)
    await afterAttempts(stand, channel!)
    await failRuns(stand.server, runsOf(agent, 'paused', 20))
    await soon(() => free.asked.length === 21)
    expect(busy.asked.length).toBe(1)
    busy.answers(reply(200))
    await stand.server.database.sql`update channels set paused_until = now() where name = 'Paused 0'`
    await soon(() => busy.asked.length === 21)
    expect(new Set(busy.asked.map(({ id }) => id)).size).toBe(21)
  })
})

describe('a body', () => {
  test('of 10 MB, or without end, is read no further than its first words', async () => {
    for (const [head, total] of [
      ['HTTP/1.1 200 OK\r\ncontent-length: 10485760\r\n\r\n', 10_485_760],
      ['HTTP/1.1 500 Sorry\r\n\r\n', 1e12],
    ] as const) {
      let written = 0
      const { attempt } = await attemptAnswered(flooding(head, total, (bytes) => void (written = bytes)))
      expect(attempt.answer).toBe('y'.repeat(500))
      expect(attempt.status).toBe(total === 1e12 ? 500 : 200)
      // What lies in the buffers of both sockets is no matter.
      if (total === 1e12) expect(written).toBeLessThan(100_000_000)
    }
  })

  test.each([
    ['emoji', Buffer.from('😀'.repeat(2_000))],
    ['an emoji across the limit', Buffer.from(`x${'😀'.repeat(600)}`)],
    ['bytes that are no text', Buffer.alloc(4_096, 0xff)],
    ['zeros', Buffer.alloc(3_000)],
    ['all bytes there are', Buffer.from(Array.from({ length: 2_048 }, (_, i) => i % 256))],
  ])('of %s is kept to 500 characters that can be stored and read', async (_what, body) => {
    const head = Buffer.from(`HTTP/1.1 500 Sorry\r\ncontent-length: ${body.length}\r\n\r\n`)
    const { attempt, delivery } = await attemptAnswered(bytes(Buffer.concat([head, body])))
    expect(attempt.status).toBe(500)
    expect(attempt.answer.length).toBeLessThanOrEqual(500)
    expect(attempt.answer.length).toBeGreaterThan(200)
    expect(attempt.answer.isWellFormed()).toBe(true)
    expect(delivery.state).toBe('QUEUED')
  })

  test('that repeats the secret address at the limit of what is kept shows no part of it', async () => {
    const path = '/services/T0A1B2C3D/B9Z8Y7X6W/q7Wn3kPz81LmVt5RbcXe'
    for (const before of [460, 470, 485]) {
      const one = await receiver(reply(404, `${'-'.repeat(before)}${path}`))
      const { attempt } = await attemptAt(one.url + path)
      expect(attempt.answer).not.toMatch(/T0A1|B9Z8|q7Wn/)
    }
  })
})

describe('no answer', () => {
  test.each([
    ['garbage', bytes('\0\u00ff nonsense \r\n\r\n'), null],
    ['a page without a head', bytes('<html>hello</html>'), null],
    ['a head of 200 kB', bytes(`HTTP/1.1 200 OK\r\na: ${'x'.repeat(200_000)}\r\n\r\n`), null],
    ['the end of the connection', bytes(''), null],
    ['a reset', (socket) => void socket.resetAndDestroy(), null],
    [
      'a reset in the head',
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nx-a', () => socket.resetAndDestroy()),
      null,
    ],
    ['only hints', bytes('HTTP/1.1 103 Early Hints\r\n\r\n'), null],
  ] satisfies [string, Conduct, null][])('but %s is tried again, with a problem in words', async (_what, conduct) => {
    const { delivery, attempt } = await attemptAnswered(conduct as Conduct)
    expect(attempt).toMatchObject({ isDelivered: false, status: null, answer: null })
    expect(attempt.problem).toMatch(/^[A-Z].{10,}/)
    await expectRetry(delivery)
  })

  test('because nothing listens there, or because it speaks no TLS, is tried again', async () => {
    const closed = await attemptAt(`http://127.0.0.1:${await freePort()}/hook`)
    expect(closed.attempt).toMatchObject({
      isDelivered: false,
      status: null,
      problem: 'Nothing listens at its address.',
    })
    await expectRetry(closed.delivery)
    const plain = await startReceiver()
    const { attempt, delivery } = await attemptAt(`${plain.url.replace('http:', 'https:')}/hook`)
    await plain.close()
    expect(attempt).toMatchObject({ isDelivered: false, status: null })
    await expectRetry(delivery)
  })

  test.each([
    [200, 'SENT'],
    [500, 'QUEUED'],
  ])('is what a status of %d is not, though the connection breaks after it', async (status, state) => {
    const head = `HTTP/1.1 ${status} Said\r\ncontent-length: 100\r\n\r\nhalf`
    const { attempt, delivery } = await attemptAnswered((socket) =>
      socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 100)),
    )
    expect(attempt).toMatchObject({ status, answer: 'half', isDelivered: status === 200 })
    expect(delivery.state).toBe(state)
  })
})

test('an answer that comes in small parts is waited for', async () => {
  const { attempt, delivery } = await attemptAnswered((socket, asked) => {
    dripping('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n', 'ab', 40)(socket, asked)
  })
  expect([attempt.status, attempt.answer, delivery.state]).toEqual([200, 'ababab', 'SENT'])
})
