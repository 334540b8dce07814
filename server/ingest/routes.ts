// The two endpoints: authenticate, read, parse, queue, and answer once it is committed.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiKey, KeyRing } from '../access/keys.ts'
import { RateLimit } from '../access/rate-limit.ts'
import { Problem } from '../errors.ts'
import type { OwnPrices } from '../sessions/own-prices.ts'
import { nextArrivalUs } from '../sessions/identity.ts'
import { readJsonBody } from './body.ts'
import type { ParseContext, ParsedRequest } from './parsed.ts'
import { parsePlatformA } from './platform-a.ts'
import { parsePlatformB } from './platform-b.ts'
import { receiptOf } from './receipt.ts'
import type { WriteQueue } from './write-queue.ts'

const MIB = 1024 * 1024

const ENDPOINTS: { path: string; parse(body: unknown, context: ParseContext): ParsedRequest; maxBytes: number }[] = [
  { path: '/api/ingest/platform-a', parse: parsePlatformA, maxBytes: 5 * MIB },
  { path: '/api/ingest/platform-b', parse: parsePlatformB, maxBytes: 16 * MIB },
]

export interface IngestServices {
  keys: KeyRing
  prices: OwnPrices
  queue: WriteQueue
  rateLimitPerMinute: number
  baseUrl(request: FastifyRequest): string
}

export async function ingestRoutes(app: FastifyInstance, services: IngestServices): Promise<void> {
  const { keys, prices, queue } = services
  const keyOf = new WeakMap<FastifyRequest, ApiKey>()
  // The body is read by readJsonBody, whatever its type: Fastify's own reading turns wrong charsets into U+FFFD.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const rateLimit = new RateLimit(services.rateLimitPerMinute)
  app.addHook('onRequest', async (request, reply) => {
    const key = await keys.authenticate(headerOf(request), 'INGEST')
    keyOf.set(request, key)
    const { limit, remaining, resetSeconds, isExceeded } = rateLimit.take(key.id)
    reply
      .header('ratelimit-limit', limit)
      .header('ratelimit-remaining', remaining)
      .header('ratelimit-reset', resetSeconds)
    if (!isExceeded) return
    const sentence = `This key sent more than ${limit} requests in a minute. Send the request again in ${resetSeconds} s. No event was recorded.`
    throw new Problem('rate_limited', sentence, [], { 'retry-after': String(resetSeconds) })
  })
  for (const { path, parse, maxBytes } of ENDPOINTS) {
    app.post(path, async (request) => {
      const { value, bytes } = await readJsonBody(request.raw, maxBytes)
      const receivedAt = Date.now()
      const { projectId } = keyOf.get(request)!
      const parsed = parse(value, {
        projectId,
        receivedAt,
        arrivalUs: nextArrivalUs(receivedAt),
        price: prices.priceFor(projectId),
      })
      const written = await queue.write(parsed.sessions, bytes)
      return receiptOf(parsed, written, services.baseUrl(request))
    })
  }
}

/** Two such headers count as wrong: Node joins them, and no key holds a comma and a space. */
function headerOf(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key']
  return Array.isArray(header) ? header.join(', ') : header
}
