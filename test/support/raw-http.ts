// HTTP as bytes on a socket: what a client library would not send, and every answer that comes back.
import { connect } from 'node:net'
import { KEY } from './server.ts'

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  text: string
  /** parsed where it is JSON */
  body: any
}

/** A POST as text, with its length unless the headers given have one. A list is a header that comes several times. */
export function rawPost(path: string, body: string, headers: Record<string, string | string[]> = {}): string {
  const all = { host: 'runwatch', 'x-api-key': KEY, 'content-type': 'application/json', ...headers }
  const lines = Object.entries(all).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`))
  if (!('content-length' in all || 'transfer-encoding' in all)) lines.push(`content-length: ${Buffer.byteLength(body)}`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

/**
 * Writes the parts one after the other.
 * @param answers how many to wait for, if the server does not close the connection before
 */
export function exchange(url: string, parts: (string | Buffer)[], answers = 1): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let received = Buffer.alloc(0)
    const socket = connect(Number(port), hostname, () => parts.forEach((part) => socket.write(part)))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (parse(received).length >= answers) socket.destroy()
    })
    // A server that refuses may close before all of a request is sent.
    socket.on('error', () => {})
    socket.on('close', () => resolve(parse(received)))
  })
}

/** All answers that are there whole. */
function parse(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = received; ;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return answers
    const [first, ...lines] = rest.subarray(0, end).toString().split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':')[0]!.toLowerCase(), line.replace(/^.*?: /, '')]),
    )
    const status = Number(first!.split(' ')[1])
    const length = Number(headers['content-length'] ?? 0)
    if (rest.length < end + 4 + length) return answers
    const text = rest.subarray(end + 4, end + 4 + length).toString()
    const isJson = headers['content-type']?.includes('json') ?? false
    answers.push({ status, headers, text, body: isJson ? JSON.parse(text) : undefined })
    rest = rest.subarray(end + 4 + length)
  }
}
