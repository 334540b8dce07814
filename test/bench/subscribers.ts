// Subscribers of sessionChanged, a process of its own: each on its own socket, speaking graphql-ws by hand.
import { once } from 'node:events'
import WebSocket from 'ws'
import { quantile } from './report.ts'

export interface SubscribersOptions {
  url: string
  key: string
  count: number
}

/** What one process received, as samples: merging quantiles would be wrong. */
export interface Received {
  latenciesMs: Float64Array
  resyncs: number
  closed: number
}

/** What the dashboard's list shows. */
export const LIST_FIELDS = `id externalId agent platform status errorMessage firstSeenAt lastEventAt closedAt durationMs
  eventCount llmCalls toolCalls models totalTokens costUsd quietAt revision`

const SUBSCRIBE = JSON.stringify({
  id: '1',
  type: 'subscribe',
  payload: { query: `subscription { sessionChanged { resync session { ${LIST_FIELDS} } } }` },
})
const OPENING_AT_ONCE = 25

/** The monotonic clock is the same for all processes of a machine; a post carries it in its session id. */
export const clockId = () => `live-${process.hrtime.bigint().toString(36)}`
const SENT_AT = /"externalId":"live-([0-9a-z]+)"/

const options = JSON.parse(process.argv[2] ?? 'null') as SubscribersOptions | null
if (options && process.send) await serve(options)

async function serve({ url, key, count }: SubscribersOptions): Promise<void> {
  const latencies: number[] = []
  let resyncs = 0
  let closed = 0
  const sockets: WebSocket[] = []
  const open = async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}graphql`, 'graphql-transport-ws')
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('close', () => (closed += 1))
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init', payload: { 'x-api-key': key } }))
    await once(socket, 'message')
    socket.on('message', (data: Buffer) => {
      const now = process.hrtime.bigint()
      const text = data.toString()
      const sentAt = SENT_AT.exec(text)?.[1]
      if (sentAt !== undefined) latencies.push(Number(now - parse36(sentAt)) / 1e6)
      else if (text.includes('"resync":true')) resyncs += 1
      else if (text.includes('"type":"ping"')) socket.send('{"type":"pong"}')
    })
    socket.send(SUBSCRIBE)
  }
  for (let i = 0; i < count; i += OPENING_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(OPENING_AT_ONCE, count - i) }, open))
  }
  process.on('disconnect', () => process.exit())
  process.on('message', () => {
    process.send!({ latenciesMs: Float64Array.from(latencies), resyncs, closed } satisfies Received)
    for (const socket of sockets) socket.terminate()
  })
  process.send!({ ready: count })
}

function parse36(text: string): bigint {
  let value = 0n
  for (const digit of text) value = value * 36n + BigInt(parseInt(digit, 36))
  return value
}

export const spread = (values: number[]) => ({
  p50: quantile(values, 0.5),
  p95: quantile(values, 0.95),
  p99: quantile(values, 0.99),
  max: quantile(values, 1),
})
