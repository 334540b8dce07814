// A server between browser and product that passes everything on, and can say again, faster, what the product said.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

const PROTOCOL = 'graphql-transport-ws'
const MOST_BUFFERED_BYTES = 1_000_000
const TURN_MS = 10

interface ChangedSession {
  id: string
  externalId: string
  revision: number
  totalTokens: number
  costUsd: string
}

export class Replay {
  readonly recorded = new Map<string, ChangedSession>()
  private socket: WebSocket | null = null
  private subscription = ''
  private readonly sockets = new WebSocketServer({ noServer: true, handleProtocols: () => PROTOCOL })
  private readonly server = http.createServer((request, response) => this.forward(request, response))

  constructor(private readonly target: URL) {}

  async listen(): Promise<URL> {
    this.server.on('upgrade', (request, socket, head) =>
      this.sockets.handleUpgrade(request, socket, head, (client) => this.join(client, request)),
    )
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return new URL(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`)
  }

  async close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate()
    this.server.close()
    this.server.closeAllConnections()
  }

  /**
   * Sends what was recorded again and again, each time with a newer revision and other figures.
   * @returns the sessions as they were sent last
   */
  async play(count: number, perSecond: number, signal: AbortSignal): Promise<ChangedSession[]> {
    const sessions = [...this.recorded.values()]
    if (!this.socket || sessions.length === 0) throw new Error('nothing was recorded to be sent again')
    const began = performance.now()
    for (let sent = 0; sent < count; await sleep(TURN_MS)) {
      if (signal.aborted) throw new Error('the replay was stopped')
      const due = Math.min(count, Math.ceil(((performance.now() - began) / 1000) * perSecond))
      if (this.socket.bufferedAmount > MOST_BUFFERED_BYTES) continue
      for (; sent < due; sent++) {
        const session = sessions[sent % sessions.length]!
        session.revision += 1
        session.totalTokens += 140
        session.costUsd = (session.totalTokens / 1e6).toFixed(6)
        const payload = { data: { sessionChanged: { session, goneId: null, resync: false } } }
        this.socket.send(JSON.stringify({ id: this.subscription, type: 'next', payload }))
      }
    }
    return sessions
  }

  private forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { method, url, headers } = request
    const onward = http.request(new URL(url!, this.target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  }

  private join(client: WebSocket, { headers }: http.IncomingMessage): void {
    const { cookie, origin, host } = headers
    const url = new URL('/graphql', this.target.href.replace('http', 'ws'))
    const product = new WebSocket(url, PROTOCOL, { headers: { cookie, origin, host } as Record<string, string> })
    const early: string[] = []
    client.on('message', (data) => {
      const text = String(data)
      const message = JSON.parse(text) as { id: string; type: string; payload?: { query?: string } }
      if (message.type === 'subscribe' && message.payload?.query?.includes('sessionChanged')) {
        this.socket = client
        this.subscription = message.id
      }
      if (product.readyState === WebSocket.OPEN) product.send(text)
      else early.push(text)
    })
    product.on('open', () => early.forEach((text) => product.send(text)))
    product.on('message', (data) => {
      const text = String(data)
      this.record(text)
      client.send(text)
    })
    product.on('error', () => client.terminate())
    product.on('close', () => client.terminate())
    client.on('close', () => product.terminate())
  }

  private record(text: string): void {
    if (!text.includes('"sessionChanged"')) return
    const { id, payload } = JSON.parse(text)
    const session = payload?.data?.sessionChanged?.session
    if (id === this.subscription && session) this.recorded.set(session.id, session)
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
