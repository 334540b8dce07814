// The HTTP application: every route, in the order in which a request meets them, and how errors leave it.
import type { Socket } from 'node:net'
import helmet from '@fastify/helmet'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { actorOf, checkOrigin, isSameRole, type Access, type Actor } from './access/actor.ts'
import { accessRoutes } from './access/routes.ts'
import type { Config } from './config.ts'
import { dashboardRoutes, noRoute, type DashboardFiles } from './dashboard-files.ts'
import { kindOfError, type Database } from './database/connect.ts'
import { Problem } from './errors.ts'
import { makeContext, type Services } from './graphql/context.ts'
import { graphqlErrorOf, makeYoga, notSignedIn, readOperation, UNSTORABLE_TEXT } from './graphql/http.ts'
import { contentTypeProblem } from './ingest/body.ts'
import { serveSocket } from './graphql/socket.ts'
import type { Intake } from './ingest/intake.ts'
import type { IngestLog } from './ingest/log.ts'
import { ingestRoutes } from './ingest/routes.ts'
import type { WriteQueue } from './ingest/write-queue.ts'
import type { Analyser } from './findings/analyser.ts'
import { metricsText } from './metrics.ts'
import type { ActivePrompts } from './prompts/active.ts'
import type { Candidates } from './prompts/candidates.ts'
import { promptRoutes } from './prompts/routes.ts'
import type { Logger } from './log.ts'
import { afterAnswers } from './pipelining.ts'

export interface AppOptions {
  config: Config
  database: Database
  access: Access
  services: Services
  queue: WriteQueue
  intake: Intake
  ingestLog: IngestLog
  activePrompts: ActivePrompts
  analyser: Analyser
  candidates: Candidates
  dashboard: DashboardFiles
  log: Logger
}

/** Time for the last answers to be read before connections are cut. */
const CLOSE_WITHIN_MS = 3_000
const STREAM_RECHECK_MS = 60_000

export async function buildApp(options: AppOptions) {
  const { config, database, access, services, queue, intake, ingestLog, activePrompts, dashboard, log } = options
  const onError = (error: unknown, what: string) => log.error({ err: safeError(error) }, what)
  const app = Fastify({
    trustProxy: config.trustProxy > 0 && ((_address, hop) => hop < config.trustProxy),
    bodyLimit: 1024 * 1024,
    // Zero would let a slow sender hold a connection for ever; bodies have their own, shorter limit on silence.
    requestTimeout: 120_000,
    keepAliveTimeout: 75_000,
    connectionTimeout: 0,
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    routerOptions: { ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    genReqId: () => crypto.randomUUID(),
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) =>
      void sendProblem(asProblem(error, onError), request as FastifyRequest, reply as unknown as FastifyReply),
    clientErrorHandler: brokenRequests(),
  })

  const problemOf = (error: unknown, request: FastifyRequest) => {
    const problem = asProblem(error, onError)
    // What the database fails with is logged once where it fails, not once for each who waits for it.
    const level = problem.code === 'internal' ? 'error' : 'debug'
    if (problem.status >= 500)
      log[level]({ requestId: request.id, code: problem.code }, 'a request was answered with an error')
    return problem
  }
  app.setErrorHandler((error, request, reply) => sendProblem(problemOf(error, request), request, reply))
  app.setNotFoundHandler((request) => {
    throw noRoute(request)
  })

  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-content-type-options', 'nosniff')
    if (!request.url.startsWith('/api/ingest/')) void reply.header('cache-control', 'no-store')
    done()
  })
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'", 'ws:', 'wss:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    // Only a browser that came by https may be told to stay there; a proxy in front decides that.
    strictTransportSecurity: false,
    global: false,
  })

  const baseUrl = (request: FastifyRequest) =>
    config.publicUrl ?? `${request.protocol}://${request.host || `${config.host}:${config.port}`}`

  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    const answers = await database.ping()
    if (answers && !queue.isFailing) return { status: 'ok' }
    const sentence = answers ? 'The database does not write.' : 'The database does not answer.'
    return sendProblem(new Problem('unavailable', sentence, [], { 'retry-after': '2' }), request, reply)
  })
  app.get('/metrics', async (_request, reply) => {
    void reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
    const { classifier, courier } = services
    const { analyser, candidates } = options
    return metricsText({ queue, log: ingestLog, classifier, courier, analyser, candidates })
  })

  await app.register((scope) =>
    ingestRoutes(scope, {
      keys: access.keys,
      intake,
      log: ingestLog,
      rateLimitPerMinute: config.rateLimitPerMinute,
      baseUrl,
    }),
  )
  await app.register((scope) =>
    promptRoutes(scope, { keys: access.keys, active: activePrompts, rateLimitPerMinute: config.rateLimitPerMinute }),
  )
  const { publicUrl, signInTriesPerMinute: triesPerMinute } = config
  await app.register((scope) => accessRoutes(scope, { access, publicUrl, triesPerMinute }))

  const streams = watchedStreams(access)
  const yoga = makeYoga(config, (error) => onError(error, 'a GraphQL resolver failed'))
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.addHook('onRequest', async (request) => checkOrigin(request.headers, publicUrl))
    scope.setErrorHandler((error, request, reply) => {
      const problem = problemOf(error, request)
      const { message, extensions } = graphqlErrorOf(problem)
      return reply
        .code(problem.status)
        .headers(problem.headers)
        .send({ errors: [{ message, extensions: { code: extensions.code } }] })
    })
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql',
      handler: async (request, reply) => {
        const actor = await actorOf(access, request.headers)
        if (!actor) throw notSignedIn()
        const body = request.method === 'POST' ? await readOperation(request.raw) : undefined
        streams.watch(request, reply, actor)
        // yoga makes a URL of the Host, which may hold anything.
        const headers = { ...request.headers, host: 'runwatch' }
        const asked = { method: request.method, url: request.url, headers, body }
        const runwatch = makeContext(services, actor)
        const response = await yoga.handleNodeRequestAndResponse(asked, reply, { runwatch })
        response.headers.forEach((value, name) => void reply.header(name, value))
        return reply.code(response.status).send(response.body ?? undefined)
      },
    })
  })

  await app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => {
      await reply.helmet()
    })
    dashboardRoutes(scope, dashboard)
  })

  const sockets = serveSocket({
    server: app.server,
    yoga,
    access,
    services,
    publicUrl,
    build: dashboard.build,
    onError,
  })

  return {
    app,
    listen: () => app.listen({ port: config.port, host: config.host }),
    /** Takes nothing new, answers what was taken, then closes. */
    async close(): Promise<void> {
      const closed = app.close()
      // Connections that were busy when closing began stay open after their answer; a browser's would for a minute.
      const hangUp = setInterval(() => app.server.closeIdleConnections(), 50)
      streams.close()
      await sockets.close()
      await queue.close()
      const force = setTimeout(() => app.server.closeAllConnections(), CLOSE_WITHIN_MS)
      await closed
      clearInterval(hangUp)
      clearTimeout(force)
    },
  }
}

function asProblem(error: unknown, onError: (error: unknown, what: string) => void): Problem {
  if (error instanceof Problem) return error
  const { statusCode, code } = error as { statusCode?: number; code?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Problem('body_too_large', 'The body is too large.')
  if (statusCode === 415) return contentTypeProblem('not one that can be read')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new Problem('invalid_json', 'The request could not be read.')
  // Whoever asked left while they were answered: nobody reads this, and nothing failed.
  if (code === 'ERR_STREAM_PREMATURE_CLOSE')
    return new Problem('invalid_json', 'The connection ended before the answer did.')
  if (code === '22021') return new Problem('invalid_payload', UNSTORABLE_TEXT)
  onError(error, 'a request failed')
  if (kindOfError(error) !== 'refused') {
    return new Problem('unavailable', 'The database cannot be reached. Try again in a few seconds.', [], {
      'retry-after': '3',
    })
  }
  return new Problem('internal', 'The server failed because of a fault of its own. No event was recorded.')
}

function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply) {
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(problem.body(request.id)))
}

/** Server-sent events stay open like sockets: they end with the rights they were opened with. */
function watchedStreams(access: Access) {
  const open = new Map<FastifyReply, { request: FastifyRequest; opener: Actor }>()
  const recheck = async () => {
    for (const [reply, { request, opener }] of open) {
      const actor = await actorOf(access, request.headers).catch((error: unknown) =>
        error instanceof Problem ? null : undefined,
      )
      if (actor === null || (actor && !isSameRole(opener, actor))) reply.raw.destroy()
    }
  }
  access.onRightsChanged(() => void recheck())
  const timer = setInterval(() => void recheck(), STREAM_RECHECK_MS)
  return {
    watch(request: FastifyRequest, reply: FastifyReply, opener: Actor) {
      if (!request.headers.accept?.includes('text/event-stream')) return
      open.set(reply, { request, opener })
      reply.raw.on('close', () => open.delete(reply))
    },
    close() {
      clearInterval(timer)
      for (const reply of open.keys()) reply.raw.destroy()
    },
  }
}

/** Requests that are no HTTP, or never become whole: Node refuses them before there is a route. */
function brokenRequests() {
  const waiting = new WeakSet<Socket>()
  return (error: Error & { code?: string }, socket: Socket): void => {
    // Node says it again for whatever follows.
    if (waiting.has(socket)) return
    waiting.add(socket)
    // A request before it may be recorded already: "no event was recorded" would be taken for its answer.
    afterAnswers(socket, () => {
      waiting.delete(socket)
      refuseBrokenRequest(error, socket)
    })
  }
}

function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Problem('invalid_json', 'The headers of the request are larger than 16 KiB. No event was recorded.')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new Problem('request_timeout', 'The request did not arrive in time. No event was recorded.')
        : new Problem('invalid_json', 'The request is not whole or not valid HTTP. No event was recorded.')
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const body = JSON.stringify(problem.body(crypto.randomUUID()))
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.status === 408 ? 'Request Timeout' : 'Bad Request'}\r\ncontent-type: application/problem+json; charset=utf-8\r\n` +
      `x-content-type-options: nosniff\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

/** What may be logged of an error: never its query, its parameters or a payload. */
export function safeError(error: unknown) {
  const { name, message, code, stack } = error as { name?: string; message?: string; code?: string; stack?: string }
  const detail = (error as { severity?: string }).severity ? undefined : message
  return {
    name,
    code,
    message: detail ?? (error as { routine?: string }).routine,
    stack: detail === undefined ? undefined : stack,
  }
}
