// A receiver on a bare socket: it answers bytes, whatever they are, and knows how many attempts it holds open.
import { createServer, type AddressInfo, type Socket } from 'node:net'

export interface Asked {
  path: string
  /** webhook-id */
  id: string
  /** the body, parsed */
  body: any
}

export type Conduct = (socket: Socket, asked: Asked) => void

export interface OddReceiver {
  url: string
  asked: Asked[]
  /** connections that are open now, and that were at most */
  readonly open: number
  readonly mostOpen: number
  /** How it answers from now on; not at all until then. */
  answers(conduct: Conduct): void
  /** Whoever waits is answered so too. */
  release(conduct: Conduct): void
  close(): Promise<void>
}

export const bytes =
  (text: string | Buffer): Conduct =>
  (socket) =>
    void socket.end(text)

export const reply = (status: number, text = 'ok', headers: Record<string, string> = {}): Conduct => {
  const lines = Object.entries({ 'content-length': Buffer.byteLength(text), ...headers }).map(
    ([k, v]) => `${k}: ${v}\r\n`,
  )
  return bytes(`HTTP/1.1 ${status} Said\r\n${lines.join('')}\r\n${text}`)
}

export const hang: Conduct = () => {}

/** Writes the same part again and again until the other side has had enough. */
export const dripping =
  (head: string, part: string, everyMs: number): Conduct =>
  (socket) => {
    socket.write(head)
    const timer = setInterval(() => socket.write(part), everyMs)
    socket.on('close', () => clearInterval(timer))
  }

/** As fast as it can be taken. @param onWritten how many bytes of the body were handed over */
export const flooding =
  (head: string, total: number, onWritten: (bytes: number) => void = () => {}): Conduct =>
  (socket) => {
    const part = Buffer.alloc(65_536, 'y')
    let written = 0
    const more = () => {
      while (written < total && !socket.destroyed) {
        written += part.length
        onWritten(written)
        if (!socket.write(part)) return
      }
      if (!socket.destroyed) socket.end()
    }
    socket.on('drain', more)
    socket.write(head)
    more()
  }

export async function startOddReceiver(first: Conduct = hang): Promise<OddReceiver> {
  const asked: Asked[] = []
  const waiting = new Map<Socket, Asked>()
  const sockets = new Set<Socket>()
  let conduct = first
  let mostOpen = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    mostOpen = Math.max(mostOpen, sockets.size)
    let came = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      waiting.delete(socket)
    })
    socket.on('data', (part) => {
      came = Buffer.concat([came, part])
      const one = wholeRequest(came)
      if (!one || waiting.has(socket)) return
      asked.push(one)
      waiting.set(socket, one)
      conduct(socket, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    get open() {
      return sockets.size
    },
    get mostOpen() {
      return mostOpen
    },
    answers: (next) => void (conduct = next),
    release(next) {
      conduct = next
      for (const [socket, one] of waiting) next(socket, one)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function wholeRequest(came: Buffer): Asked | null {
  const end = came.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = came.subarray(0, end).toString('latin1')
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
  if (came.length < end + 4 + length) return null
  const body = came.subarray(end + 4, end + 4 + length).toString('utf8')
  return {
    path: head.split(' ')[1]!,
    id: /^webhook-id: (\S+)$/im.exec(head)?.[1] ?? '',
    body: JSON.parse(body),
  }
}
