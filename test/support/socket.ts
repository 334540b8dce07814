// A graphql-ws client whose messages queue up, so that a test waits for a message and never for a time.
import { createClient, type Client } from 'graphql-ws'
import WebSocket from 'ws'
import { KEY } from './server.ts'

export interface Subscription<T> {
  /** the next message, waited for at most `withinMs` */
  next(withinMs?: number): Promise<T>
  /** all that have come and were not read */
  waiting: T[]
  /** why it ended, once it has */
  ended: Promise<unknown>
  stop(): void
}

export function socketClient(
  url: string,
  options: { connectionParams?: Record<string, unknown>; retryAttempts?: number } = {},
): Client {
  return createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: options.connectionParams ?? { 'x-api-key': KEY },
    retryAttempts: options.retryAttempts ?? 0,
    lazy: true,
  })
}

export interface PlainSocket {
  socket: WebSocket
  /** what came, as JSON */
  messages: any[]
  /** resolves with the close code */
  closed: Promise<number>
  send(...messages: object[]): void
  /** says who it is, and waits until that is taken */
  init(): Promise<void>
}

/** A socket without a client: it sends what it is told to, in whatever order. */
export async function plainSocket(
  url: string,
  {
    headers = {},
    protocols = ['graphql-transport-ws'],
  }: { headers?: Record<string, string>; protocols?: string[] } = {},
): Promise<PlainSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, protocols, { headers })
  const messages: any[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data))))
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  const send = (...all: object[]) => {
    for (const message of all) socket.send(JSON.stringify(message))
  }
  const init = async () => {
    const taken = new Promise<void>((resolve) => socket.once('message', () => resolve()))
    send(INIT)
    await taken
  }
  return { socket, messages, closed, send, init }
}

export const INIT = { type: 'connection_init', payload: { 'x-api-key': KEY } }
export const operation = (id: string, query: string, variables?: object) => ({
  type: 'subscribe',
  id,
  payload: { query, variables },
})

export function subscribe<T = any>(
  client: Client,
  query: string,
  variables: Record<string, unknown> = {},
): Subscription<T> {
  const waiting: T[] = []
  const readers: ((message: T) => void)[] = []
  let stop = () => {}
  const ended = new Promise<unknown>((resolve) => {
    stop = client.subscribe<T>(
      { query, variables },
      {
        next: (message) => {
          const reader = readers.shift()
          if (reader) reader(message as T)
          else waiting.push(message as T)
        },
        error: resolve,
        complete: () => resolve(null),
      },
    )
  })
  return {
    waiting,
    ended,
    stop: () => stop(),
    next: (withinMs = 5_000) => {
      if (waiting.length > 0) return Promise.resolve(waiting.shift()!)
      return new Promise((resolve, reject) => {
        const reader = (message: T) => {
          clearTimeout(timer)
          resolve(message)
        }
        const timer = setTimeout(() => {
          // A reader that gave up must not swallow the next message.
          readers.splice(readers.indexOf(reader), 1)
          reject(new Error(`no message within ${withinMs} ms`))
        }, withinMs)
        readers.push(reader)
      })
    },
  }
}
