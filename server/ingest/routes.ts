// The two endpoints over HTTP: authenticate, read the body, take it, answer once it is committed, and log what became of it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey, KeyRing } from '../access/keys.ts'
import { RateLimit } from '../access/rate-limit.ts'
import { Problem, quoted } from '../errors.ts'
import { contentTypeProblem, readBody, type ReadBody } from './body.ts'
import { blankKeyWarning, readIdempotencyKey } from './idempotency.ts'
import { ENDPOINTS, type Endpoint, type Intake } from './intake.ts'
import type { IngestLog } from './log.ts'

export interface IngestServices {
  keys: KeyRing
  intake: Intake
  log: IngestLog
  rateLimitPerMinute: number
  baseUrl(request: FastifyRequest): string
}

/** What came of a body, and how large it was. */
type Arrived = Pick<ReadBody, 'bytes' | 'size'>

const CONTENT_TYPE = /^\s*[\w!#$%&'*.^`|~+-]+\/[\w!#$%&'*.^`|~+-]+\s*(;.*)?$/
const NOTHING = Buffer.alloc(0)

export async function ingestRoutes(app: FastifyInstance, services: IngestServices): Promise<void> {
  const { keys, intake, log } = services
  const keyOf = new WeakMap<FastifyRequest, ApiKey>()
  const rateLimit = new RateLimit(services.rateLimitPerMinute)
  // The body is read by readBody, whatever its type: Fastify's own reading turns wrong charsets into U+FFFD.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  async function admit(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = await keys.authenticate(keyHeader(request), 'INGEST').catch((error: unknown) => {
      if (error instanceof Problem) log.countUnauthenticated(error.code)
      throw error
    })
    keyOf.set(request, key)
    const { limit, remaining, resetSeconds, excess } = rateLimit.take(key.id)
    reply
      .header('ratelimit-limit', limit)
      .header('ratelimit-remaining', remaining)
      .header('ratelimit-reset', resetSeconds)
    // Fastify refuses such a type by itself, and nothing of it would be logged.
    const type = request.headers['content-type']
    if (excess === 0 && type !== undefined && !CONTENT_TYPE.test(type)) {
      const problem = contentTypeProblem(type === '' ? 'empty' : quoted(type))
      refused(endpoint, request, { bytes: NOTHING, size: 0 }, performance.now(), problem)
      throw problem
    }
    if (excess === 0) return
    const sentence = `This key sent more than ${limit} requests in a minute. Send the request again in ${resetSeconds} s. No event was recorded.`
    const problem = new Problem('rate_limited', sentence, [], { 'retry-after': String(resetSeconds) })
    // One of them stands for all of the minute: a flood must not fill the log.
    if (excess === 1) refused(endpoint, request, { bytes: NOTHING, size: 0 }, performance.now(), problem)
    throw problem
  }

  async function take(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) {
    const since = performance.now()
    let bytes: Buffer = NOTHING
    let size = 0
    try {
      const body = await readBody(request.raw, endpoint.maxBytes)
      bytes = body.bytes
      size = body.size
      if (body.problem) throw body.problem
      // Only where there is one: looking for all of a name costs a list of all headers.
      const header = request.headers['idempotency-key']
      const idempotencyKey =
        header === undefined ? null : readIdempotencyKey(request.raw.headersDistinct['idempotency-key'])
      const { receipt, isReplayed, sessionId, sessionCount } = await intake.take(endpoint, {
        projectId: keyOf.get(request)!.projectId,
        bytes,
        idempotencyKey,
        baseUrl: services.baseUrl(request),
      })
      if (header !== undefined && idempotencyKey === null) receipt.warnings.push(blankKeyWarning())
      if (isReplayed) void reply.header('idempotency-replayed', 'true')
      const key = keyOf.get(request)!
      // Every field by name: this is done for each event.
      log.accept({
        id: request.id,
        at: Date.now(),
        projectId: key.projectId,
        keyId: key.id,
        platform: endpoint.platform,
        bytes: size,
        durationMs: performance.now() - since,
        events: receipt.accepted,
        duplicate: receipt.duplicate,
        sessionId,
        sessionCount,
      })
      return receipt
    } catch (error) {
      refused(endpoint, request, { bytes, size }, since, error)
      throw error
    }
  }

  function refused(endpoint: Endpoint, request: FastifyRequest, body: Arrived, since: number, error: unknown): void {
    const isProblem = error instanceof Problem
    const { status, code, detail, fields: problems } = isProblem ? error : new Problem('internal', 'The server failed.')
    const idempotencyKey = request.headers['idempotency-key']?.slice(0, 300).toString() ?? null
    const { id: keyId, projectId } = keyOf.get(request)!
    log.refuse({
      id: request.id,
      at: Date.now(),
      projectId,
      keyId,
      platform: endpoint.platform,
      bytes: body.size,
      durationMs: performance.now() - since,
      status,
      code,
      detail,
      problems,
      idempotencyKey,
      body: body.bytes,
    })
  }

  for (const endpoint of ENDPOINTS) {
    app.post(endpoint.path, { onRequest: (request, reply) => admit(endpoint, request, reply) }, (request, reply) =>
      take(endpoint, request, reply),
    )
  }
}

/** Two such headers count as wrong: Node joins them, and no key holds a comma and a space. */
function keyHeader(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key']
  return Array.isArray(header) ? header.join(', ') : header
}
