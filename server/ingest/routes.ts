// The two endpoints: authenticate, read, parse, queue, and answer once it is committed.
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiKey, KeyRing } from '../access/keys.ts'
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
  app.addHook('onRequest', async (request) => {
    keyOf.set(request, await keys.authenticate(headerOf(request), 'INGEST'))
  })
  await app.register(rateLimit, {
    max: services.rateLimitPerMinute,
    timeWindow: 60_000,
    hook: 'preParsing',
    enableDraftSpec: true,
    keyGenerator: (request) => keyOf.get(request)!.id,
    errorResponseBuilder: (_request, { max, ttl }) => {
      const seconds = Math.max(1, Math.ceil(ttl / 1000))
      return new Problem(
        'rate_limited',
        `This key sent more than ${max} requests in a minute. Send the request again in ${seconds} s. No event was recorded.`,
        [],
        { 'retry-after': String(seconds) },
      )
    },
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
