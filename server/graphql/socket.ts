// GraphQL over WebSocket (graphql-ws) on the same path: authenticated on connecting, errors masked as over HTTP.
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { getOperationAST, type ExecutionArgs, type GraphQLError } from 'graphql'
import { CloseCode, type SubscribePayload } from 'graphql-ws'
import { actorOf, checkOrigin, isSameRole, type Access, type Actor } from '../access/actor.ts'
import { Problem } from '../errors.ts'
import { afterAnswers } from '../pipelining.ts'
import { costError, failure } from './builder.ts'
import { makeContext, type Context, type Services } from './context.ts'
import { maskError, withoutHttp, type makeYoga } from './http.ts'
import { subscribeShared, type SharedArgs } from './shared-execution.ts'
import { webSockets, type SocketExtra } from './socket-transport.ts'

const MAX_OPERATIONS_PER_SOCKET = 100
const INIT_WITHIN_MS = 10_000
const FORBIDDEN_CLOSE_CODE = 4403
/** Nothing is wrong with who asks: clients of graphql-ws connect again by themselves. */
const ROLE_CHANGED_CLOSE_CODE = 4423
const RECHECK_EVERY_MS = 60_000

interface Extra extends SocketExtra {
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
      close(extra, closeCodeOf(error), error.detail)
    }
    opened.delete(extra)
    return null
  }
  async function recheckOne(extra: Extra): Promise<void> {
    const actor = await stillMay(extra)
    if (!actor || isSameRole(extra.actor, actor)) return
    opened.delete(extra)
    close(extra, ROLE_CHANGED_CLOSE_CODE, 'Your role was changed.')
  }
  const recheck = () => {
    for (const extra of opened) void recheckOne(extra)
  }
  access.onRightsChanged(recheck)
  const timer = setInterval(recheck, RECHECK_EVERY_MS)

  const sockets = webSockets<Extra>(
    {
      connectionInitWaitTimeout: INIT_WITHIN_MS,
      onConnect: async ({ extra, connectionParams = {} }) => {
        try {
          const actor = await actorOf(access, extra.request.headers, connectionParams)
          if (!actor) return close(extra, CloseCode.Unauthorized, 'Sign in, or send an API key in connection_init.')
          extra.actor = actor
          extra.parameters = connectionParams
          // It may have been closed meanwhile, and nothing would take it out again.
          if (extra.socket.readyState === extra.socket.OPEN) opened.add(extra)
          return { build }
        } catch (error) {
          if (error instanceof Problem) return close(extra, closeCodeOf(error), error.detail)
          onError(error, 'a socket could not be authenticated')
          return close(extra, CloseCode.InternalServerError, 'The server cannot check who you are right now.')
        }
      },
      onSubscribe: async (context, id, payload) => {
        const running = operations.get(context) ?? new Set()
        operations.set(context, running)
        try {
          const actor = await stillMay(context.extra)
          if (!actor) return [failure('UNAUTHENTICATED', 'Your access has ended.')]
          if (running.size >= MAX_OPERATIONS_PER_SOCKET) {
            const sentence = `A socket runs at most ${MAX_OPERATIONS_PER_SOCKET} operations at once.`
            return [failure('TOO_MANY_SUBSCRIPTIONS', sentence)]
          }
          running.add(id)
          return await prepare(makeContext(services, actor), payload)
        } catch (error) {
          running.delete(id)
          return [maskError(error, (original) => onError(original, 'an operation could not be started'))]
        }
      },
      execute: (args) => (args as Enveloped).rootValue.execute(args),
      subscribe: (args) => {
        const { shareKey } = (args as Enveloped).rootValue
        return subscribeShared({ ...args, rootValue: undefined, shareKey, maskErrors })
      },
      onNext: (_context, _id, _payload, _args, { errors, ...result }) =>
        errors && { ...result, errors: errors.map(withoutHttp) },
      onClose: (context) => void opened.delete(context.extra),
      onComplete: (context, id) => void operations.get(context)?.delete(id),
      onError: (context, id, _payload, errors) => {
        operations.get(context)?.delete(id)
        return errors.map(withoutHttp)
      },
    },
    onError,
  )

  /** What graphql-ws is to execute, or what is wrong with it. */
  async function prepare(
    runwatch: Context,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { schema, parse, validate, contextFactory, execute } = yoga.getEnveloped({ runwatch, params: payload })
    const document = parse(payload.query)
    const errors = validate(schema, document)
    if (errors.length > 0) return errors
    if (!getOperationAST(document, payload.operationName))
      return [failure('OPERATION_RESOLUTION_FAILURE', 'Could not determine what operation to execute.')]
    const { operationName, variables: variableValues } = payload
    const args = { schema, document, operationName, variableValues, contextValue: await contextFactory() }
    const tooCostly = costError(args)
    if (tooCostly) return [tooCostly]
    return { ...args, rootValue: { execute, shareKey: shareKeyOf(runwatch, payload) } }
  }

  const serveUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (socket.destroyed) return
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return serveAsItIs(server, request, socket, head)
    const path = (request.url ?? '').split('?')[0]
    const refuse = (line: string) => {
      socket.once('finish', () => socket.destroy())
      socket.end(`HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    }
    if (path !== '/graphql') return refuse('404 Not Found')
    try {
      checkOrigin(request.headers, publicUrl)
    } catch {
      return refuse('403 Forbidden')
    }
    sockets.upgrade(request, socket, head)
  }
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node listens no more: a connection that breaks now would end the process.
    socket.on('error', ignore)
    afterAnswers(socket, () => serveUpgrade(request, socket, head))
  }
  server.on('upgrade', onUpgrade)

  return {
    async close() {
      clearInterval(timer)
      server.off('upgrade', onUpgrade)
      await sockets.close()
    },
  }
}

const ignore = () => {}

/**
 * Clients that would rather speak HTTP/2 ask for it in passing (Java's does by default), and mean their request to be
 * answered all the same. Node has taken it from HTTP by then: it is given back without the wish.
 */
function serveAsItIs(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!/^(upgrade|http2-settings)$/i.test(rawHeaders[i]!)) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  socket.off('error', ignore)
  server.emit('connection', socket)
}

type Enveloped = ExecutionArgs & { rootValue: { execute(args: unknown): never; shareKey: string } }

/** Equal for sockets that ask the same and may see the same. */
function shareKeyOf({ actor, projectIds }: Context, { query, variables, operationName }: SubscribePayload): string {
  const rights = actor.kind === 'PERSON' ? actor.person.role : 'KEY'
  return JSON.stringify([rights, projectIds, operationName ?? null, variables ?? null, query])
}

const closeCodeOf = (problem: Problem) => (problem.status === 403 ? FORBIDDEN_CLOSE_CODE : CloseCode.Unauthorized)

/** A sentence of at most 123 bytes fits into a close frame. */
function close({ socket }: SocketExtra, code: number, reason: string): false {
  socket.close(code, Buffer.from(reason).subarray(0, 120).toString().replaceAll('\ufffd', ''))
  return false
}
