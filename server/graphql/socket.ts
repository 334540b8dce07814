// GraphQL over WebSocket (graphql-ws) on the same path: authenticated on connecting, errors masked as over HTTP.
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ExecutionArgs, GraphQLError } from 'graphql'
import { CloseCode, type SubscribePayload } from 'graphql-ws'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import { actorOf, checkOrigin, type Access, type Actor } from '../access/actor.ts'
import { Problem } from '../errors.ts'
import { failure } from './builder.ts'
import { makeContext, type Context, type Services } from './context.ts'
import { maskError, type makeYoga } from './http.ts'
import { subscribeShared, type SharedArgs } from './shared-execution.ts'

const MAX_MESSAGE_BYTES = 256 * 1024
const MAX_OPERATIONS_PER_SOCKET = 100
const FORBIDDEN_CLOSE_CODE = 4403
const RECHECK_EVERY_MS = 60_000

interface Extra {
  request: IncomingMessage
  actor?: Actor
  parameters?: Record<string, unknown>
}

export interface SocketOptions {
  server: Server
  yoga: ReturnType<typeof makeYoga>
  access: Access
  services: Services
  publicUrl: string | null
  /** tells the dashboard that the server was updated under it */
  build: string
  onError(error: unknown, what: string): void
}

/** Sockets stay open for hours: who opened one is asked for again when rights change, now and then, and per operation. */
export function serveSocket({ server, yoga, access, services, publicUrl, build, onError }: SocketOptions): {
  close(): Promise<void>
} {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES })
  const maskErrors: SharedArgs['maskErrors'] = (result) => ({
    ...result,
    errors: result.errors?.map((error) => maskError(error, (original) => onError(original, 'a subscription failed'))),
  })
  const operations = new WeakMap<object, Set<string>>()
  const opened = new Set<Extra>()

  /** Who opened the socket, as they stand now; the socket is closed if they may no longer. */
  async function stillMay(extra: Extra): Promise<Actor | null> {
    try {
      const actor = await actorOf(access, extra.request.headers, extra.parameters)
      if (actor) return actor
      close(extra, CloseCode.Unauthorized, 'You are signed out.')
    } catch (error) {
      // Where it cannot be asked right now, nobody is thrown out for it.
      if (!(error instanceof Problem)) return extra.actor ?? null
      close(extra, error.status === 403 ? FORBIDDEN_CLOSE_CODE : CloseCode.Unauthorized, error.detail)
    }
    opened.delete(extra)
    return null
  }
  const recheck = () => {
    for (const extra of opened) void stillMay(extra)
  }
  access.onRightsChanged(recheck)
  const timer = setInterval(recheck, RECHECK_EVERY_MS)

  const disposable = useServer<Record<string, unknown>, Partial<Extra>>(
    {
      connectionInitWaitTimeout: 10_000,
      onConnect: async (context) => {
        const { request } = context.extra as Extra
        try {
          const actor = await actorOf(access, request.headers, context.connectionParams ?? {})
          if (!actor)
            return close(context.extra, CloseCode.Unauthorized, 'Sign in, or send an API key in connection_init.')
          context.extra.actor = actor
          context.extra.parameters = context.connectionParams ?? {}
          opened.add(context.extra as Extra)
          return { build }
        } catch (error) {
          if (!(error instanceof Problem)) onError(error, 'a socket could not be authenticated')
          const isForbidden = error instanceof Problem && error.status === 403
          const reason = error instanceof Problem ? error.detail : 'The server cannot check who you are right now.'
          const code = isForbidden
            ? FORBIDDEN_CLOSE_CODE
            : error instanceof Problem
              ? CloseCode.Unauthorized
              : CloseCode.InternalServerError
          return close(context.extra, code, reason)
        }
      },
      onSubscribe: async (context, id, payload) => {
        const actor = await stillMay(context.extra as Extra)
        if (!actor) return [failure('UNAUTHENTICATED', 'Your access has ended.')]
        const running = operations.get(context) ?? new Set()
        operations.set(context, running)
        if (running.size >= MAX_OPERATIONS_PER_SOCKET) {
          return [
            failure('TOO_MANY_SUBSCRIPTIONS', `A socket runs at most ${MAX_OPERATIONS_PER_SOCKET} operations at once.`),
          ]
        }
        const runwatch = makeContext(services, actor)
        const { schema, parse, validate, contextFactory, execute } = yoga.getEnveloped({
          runwatch,
          params: payload,
        })
        let document
        try {
          document = parse(payload.query)
        } catch (error) {
          return [maskError(error, (original) => onError(original, 'a query could not be read'))]
        }
        const errors = validate(schema, document)
        if (errors.length > 0) return errors as GraphQLError[]
        running.add(id)
        return {
          schema,
          document,
          operationName: payload.operationName,
          variableValues: payload.variables,
          contextValue: await contextFactory(),
          rootValue: { execute, shareKey: shareKeyOf(runwatch, payload) },
        }
      },
      execute: (args) => (args as Enveloped).rootValue.execute(args),
      subscribe: (args) => {
        const { shareKey } = (args as Enveloped).rootValue
        return subscribeShared({ ...args, rootValue: undefined, shareKey, maskErrors })
      },
      onClose: (context) => void opened.delete(context.extra as Extra),
      onComplete: (context, id) => void operations.get(context)?.delete(id),
      onError: (context, id) => void operations.get(context)?.delete(id),
    },
    sockets,
    12_000,
  )

  // graphql-ws would print a stack for each socket that breaks the protocol, which any stranger can do.
  sockets.on('connection', (socket) => {
    socket.removeAllListeners('error')
    socket.on('error', () => socket.terminate())
  })

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = (request.url ?? '').split('?')[0]
    const refuse = (line: string) => socket.end(`HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    if (path !== '/graphql') return refuse('404 Not Found')
    try {
      checkOrigin(request.headers, publicUrl)
    } catch {
      return refuse('403 Forbidden')
    }
    socket.on('error', () => {})
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request))
  }
  server.on('upgrade', onUpgrade)

  return {
    async close() {
      clearInterval(timer)
      server.off('upgrade', onUpgrade)
      await disposable.dispose()
      for (const client of sockets.clients) client.terminate()
    },
  }
}

type Enveloped = ExecutionArgs & { rootValue: { execute(args: unknown): never; shareKey: string } }

/** Equal for sockets that ask the same and may see the same. */
function shareKeyOf({ actor, projectIds }: Context, { query, variables, operationName }: SubscribePayload): string {
  const rights = actor.kind === 'PERSON' ? actor.person.role : 'KEY'
  return JSON.stringify([rights, projectIds, operationName ?? null, variables ?? null, query])
}

/** A sentence of at most 123 bytes fits into a close frame. */
function close(extra: object, code: number, reason: string): false {
  const { socket } = extra as { socket: { close(code: number, reason: string): void } }
  socket.close(code, Buffer.from(reason).subarray(0, 120).toString().replaceAll('\ufffd', ''))
  return false
}
