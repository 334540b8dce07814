// Receivers that take all the time there is: an attempt ends after 10 s whatever they do. This file really waits for it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { soon } from '../support/fault-stand.ts'
import { bytes, dripping, hang, startOddReceiver, type Conduct, type OddReceiver } from '../support/odd-receiver.ts'
import { failRuns, runsOf, tellOf } from '../support/told.ts'

const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
const ENDLESS: [what: string, conduct: Conduct, status: number | null, isDelivered: boolean][] = [
  ['nothing', hang, null, false],
  ['a head without end', dripping('HTTP/1.1 200 OK\r\nx: ', 'x', 200), null, false],
  ['hints without end', dripping('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 200), null, false],
  ['a body of drops after 200', dripping('HTTP/1.1 200 OK\r\n\r\n', 'x', 200), 200, true],
  ['a body of drops after 500', dripping('HTTP/1.1 500 No\r\n\r\n', 'x', 200), 500, false],
  // As a websocket server does that takes anything for one of its own.
  ['another protocol', (socket) => void socket.write(UPGRADE), null, false],
  ['another protocol and the end', bytes(UPGRADE), null, false],
]

let stand: Awaited<ReturnType<typeof alertStand>>
const receivers: OddReceiver[] = []
const channels: string[] = []
beforeAll(async () => {
  stand = await alertStand()
  for (const [i, [, conduct]] of ENDLESS.entries()) {
    const receiver = await startOddReceiver(conduct)
    receivers.push(receiver)
    channels.push(...(await tellOf(stand, `Endless-${i}`, [`${receiver.url}/hook`])))
  }
  for (const i of ENDLESS.keys()) await failRuns(stand.server, runsOf(`Endless-${i}`, `endless-${i}`, 1))
  await soon(() => receivers.every(({ asked }) => asked.length > 0))
})
afterAll(async () => {
  await stand.server.stop()
  for (const receiver of receivers) await receiver.close()
})

test.each(ENDLESS.map((one, i) => [one[0], i] as const))(
  'an attempt that is answered with %s ends',
  async (_what, i) => {
    const [, , status, isDelivered] = ENDLESS[i]!
    const delivery = await soon(async () => {
      const [one] = await stand.deliveries({ channel: channels[i] })
      return one.attempts[0].durationMs !== null && one
    }, 16_000)
    const [first] = delivery.attempts
    expect(first).toMatchObject({ isDelivered, status })
    if (isDelivered) expect([delivery.state, first.problem]).toEqual(['SENT', null])
    else expect(delivery.state).toBe('QUEUED')
    // The timers of two clocks may differ a little.
    if (!_what.startsWith('another')) expect(first.durationMs).toBeGreaterThan(9_900)
    expect(first.durationMs).toBeLessThan(14_000)
    if (status === null && !_what.startsWith('another')) expect(first.problem).toBe('It did not answer within 10 s.')
    if (status !== null) expect(first.answer).toMatch(/^x+$/)
  },
)
