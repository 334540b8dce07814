// A failed run is told of: once, signed, with what a person needs to know.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { alertStand } from '../support/alert-stand.ts'
import { failedStep } from '../support/failed-runs.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

let stand: Awaited<ReturnType<typeof alertStand>>
let receiver: Receiver
beforeAll(async () => {
  stand = await alertStand()
  receiver = await startReceiver()
})
afterAll(async () => {
  await stand.server.stop()
  await receiver.close()
})

test('a webhook is signed as Standard Webhooks say', async () => {
  const { channel, secret } = await stand.channel('WEBHOOK', { name: 'Ops', url: `${receiver.url}/hooks/abc` })
  await stand.rule({ minSeverity: 'HIGH', channels: [channel.id] })
  await stand.server.ingestA(failedStep('run-1'))
  await until(
    () => receiver.received.length,
    (count) => count === 1,
  )
  const [{ text, headers }] = receiver.received as any

  expect(new Webhook(secret!).verify(text, headers)).toMatchObject({ type: 'alert.failure' })
})
