// WebSockets as graphql-ws is served over them: bounded in what they take at once and in what they leave unread.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { CloseCode, handleProtocols, makeServer, type ServerOptions } from 'graphql-ws'
import { WebSocketServer, type WebSocket } from 'ws'

const MAX_MESSAGE_BYTES = 256 * 1024
/** What comes beyond these stays with its sender until some are done; a running operation counts as one. */
const MAX_MESSAGES_AT_ONCE = 200
/** Whoever leaves this much unread is cut off: they can come back and catch up. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024
const ALIVE_EVERY_MS = 12_000
/** Time for a socket to answer that it ends. */
const CLOSE_WITHIN_MS = 1_000
const PONG = JSON.stringify({ type: 'pong' })

type Parameters = Record<string, unknown>

export interface SocketExtra {
  socket: WebSocket
  request: IncomingMessage
}

export function webSockets<Extra extends SocketExtra>(
  options: ServerOptions<Parameters, Extra>,
  onError: (error: unknown, what: string) => void,
) {
  const server = makeServer<Parameters, Extra>(options)
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, handleProtocols })
  const alive = new WeakSet<WebSocket>()

  function serve(socket: WebSocket, request: IncomingMessage): void {
    let working = 0
    alive.add(socket)
    socket.on('pong', () => alive.add(socket))
    // ws closes the socket by itself, with the code for what was wrong with a frame.
    socket.on('error', () => {})
    // Resolves when the socket has taken it, so that a subscription is asked for more only then.
    const send = (text: string) =>
      new Promise<void>((resolve) => {
        if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate()
        if (socket.readyState !== socket.OPEN) return resolve()
        socket.send(text, () => resolve())
      })
    const closed = server.opened(
      {
        protocol: socket.protocol,
        send,
        close: (code, reason) => socket.close(code, reason),
        // Without what came with the ping: it would cost as much to answer as somebody likes to send.
        onPing: () => send(PONG),
        onMessage: (take) => {
          socket.on('message', (data) => {
            if (++working >= MAX_MESSAGES_AT_ONCE) socket.pause()
            take(String(data))
              .catch((error: unknown) => {
                // graphql-ws throws for the messages that only a server sends.
                if (/^Unexpected message/.test(String((error as Error).message)))
                  return socket.close(CloseCode.BadRequest, 'Invalid message received')
                onError(error, 'a message of a socket could not be answered')
                socket.close(CloseCode.InternalServerError, 'Internal server error')
              })
              .finally(() => {
                if (--working < MAX_MESSAGES_AT_ONCE && socket.isPaused) socket.resume()
              })
          })
        },
      },
      { socket, request } as Extra,
    )
    socket.once('close', (code, reason) => {
      closed(code, String(reason)).catch((error: unknown) => onError(error, 'a socket did not end cleanly'))
    })
  }

  const timer = setInterval(() => {
    for (const socket of sockets.clients) {
      if (!alive.delete(socket)) socket.terminate()
      else if (socket.readyState === socket.OPEN) socket.ping()
    }
  }, ALIVE_EVERY_MS)

  return {
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      sockets.handleUpgrade(request, socket, head, (opened) => serve(opened, request))
    },
    async close(): Promise<void> {
      clearInterval(timer)
      const closed = new Promise((resolve) => sockets.close(resolve))
      for (const socket of sockets.clients) socket.close(1001, 'Going away')
      const force = setTimeout(() => sockets.clients.forEach((socket) => socket.terminate()), CLOSE_WITHIN_MS)
      await closed
      clearTimeout(force)
    },
  }
}
