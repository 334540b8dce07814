// A real HTTP receiver on loopback that keeps what it is sent and answers as the test wants.
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  text: string
  /** parsed, where it is JSON */
  body: any
  at: number
}

export type Answer = (response: ServerResponse, received: Received) => void

export const answer =
  (status: number, text = 'ok', headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(text)

export interface Receiver {
  url: string
  received: Received[]
  /** How it answers from now on; 200 until then. */
  answers(how: Answer): void
  close(): Promise<void>
}

/** @param firstByteAt called when the first byte of a body arrives */
export async function startReceiver(firstByteAt?: (at: number) => void): Promise<Receiver> {
  const received: Received[] = []
  let how = answer(200)
  const server = http.createServer((request, response) => {
    const at = performance.now()
    firstByteAt?.(at)
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('error', () => {})
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8')
      let body: unknown = null
      try {
        body = JSON.parse(text)
      } catch {
        // Not JSON.
      }
      const one = { path: request.url!, headers: request.headers, text, body, at }
      received.push(one)
      how(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answers: (next) => void (how = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
