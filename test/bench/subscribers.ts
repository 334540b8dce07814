// Subscribers of sessionChanged, a process of its own: each on its own socket, speaking graphql-ws by hand.
import { once } from 'node:events'
import WebSocket from 'ws'
import { msSince } from './clock-id.ts'
import { LIST_FIELDS } from './session-list.ts'

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

const SUBSCRIBE = JSON.stringify({
  id: '1',
  type: 'subscribe',
  payload: { query: `subscription { sessionChanged { resync session { ${LIST_FIELDS} } } }` },
})
const OPENING_AT_ONCE = 25

await serve(JSON.parse(process.argv[2]!) as SubscribersOptions)

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
      const text = data.toString()
      const latencyMs = msSince(text)
      if (latencyMs !== null) latencies.push(latencyMs)
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
