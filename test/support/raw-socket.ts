// A WebSocket over bare TCP that reads only when it is told to, and sends whatever it likes.
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { INIT } from './socket.ts'

export interface RawSocket {
  tcp: Socket
  /** Sends one frame; resolves when the connection takes more, or is gone. */
  send(data: string | Buffer, opcode?: number): Promise<void>
  sendJson(message: object): Promise<void>
  /** Many frames in one piece. */
  sendAll(texts: string[]): Promise<void>
  /** says who it is, and waits until that is taken */
  init(): Promise<void>
  /** Reads on, from the first byte that was left unread; texts of the frames as they come. */
  read(): string[]
  end(): void
}

const TEXT = 1
const PONG = 10
const PONG_EVERY_MS = 1_000

export async function rawSocket(url: string): Promise<RawSocket> {
  const { hostname, port, host } = new URL(url)
  const tcp = connect(Number(port), hostname)
  tcp.on('error', () => {})
  tcp.write(
    `GET /graphql HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`,
  )
  const readOnce = async () => {
    await new Promise((resolve) => tcp.once('data', resolve))
    tcp.pause()
  }
  await readOnce()
  const write = async (bytes: Buffer) => {
    if (tcp.destroyed || tcp.write(bytes)) return
    await new Promise<void>((resolve) => {
      const done = () => {
        tcp.off('drain', done).off('close', done)
        resolve()
      }
      tcp.on('drain', done).on('close', done)
    })
  }
  const send = (data: string | Buffer, opcode = TEXT) => write(frame(opcode, Buffer.from(data)))
  const sendJson = (message: object) => send(JSON.stringify(message))
  // It pretends to be alive, so that only its silence in reading counts against it.
  const pongs = setInterval(() => tcp.write(frame(PONG, Buffer.alloc(0))), PONG_EVERY_MS)
  tcp.on('close', () => clearInterval(pongs))
  return {
    tcp,
    send,
    sendJson,
    sendAll: (texts) => write(Buffer.concat(texts.map((text) => frame(TEXT, Buffer.from(text))))),
    async init() {
      const taken = readOnce()
      tcp.resume()
      await sendJson(INIT)
      await taken
    },
    read() {
      const texts: string[] = []
      let bytes = Buffer.alloc(0)
      tcp.on('data', (chunk) => {
        bytes = Buffer.concat([bytes, chunk as Buffer])
        for (let read = readFrame(bytes); read; read = readFrame(bytes)) {
          if (read.opcode === TEXT) texts.push(read.payload.toString())
          bytes = bytes.subarray(read.length)
        }
      })
      tcp.resume()
      return texts
    },
    end: () => void tcp.destroy(),
  }
}

/** Masked with zeros, which changes nothing. */
function frame(opcode: number, payload: Buffer): Buffer {
  const size = payload.length
  const head = Buffer.alloc(size < 126 ? 6 : size < 65_536 ? 8 : 14)
  head[0] = 0x80 | opcode
  head[1] = 0x80 | (size < 126 ? size : size < 65_536 ? 126 : 127)
  if (head.length === 8) head.writeUInt16BE(size, 2)
  if (head.length === 14) head.writeBigUInt64BE(BigInt(size), 2)
  return Buffer.concat([head, payload])
}

function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; length: number } | null {
  if (bytes.length < 2) return null
  const short = bytes[1]! & 0x7f
  const start = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < start) return null
  const size = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  if (bytes.length < start + size) return null
  return { opcode: bytes[0]! & 0x0f, payload: bytes.subarray(start, start + size), length: start + size }
}
