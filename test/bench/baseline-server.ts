// The servers that the product is measured against, each a process of its own:
// `bare` reads and parses JSON and answers a receipt of the same size; `validated` also does the product's parsing;
// `transaction` and `statement` write each request by itself, between begin and commit or as one statement.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import postgres from 'postgres'
import { readJsonBody } from '../../server/ingest/body.ts'
import type { ParseContext, ParsedRequest } from '../../server/ingest/parsed.ts'
import { parsePlatformA } from '../../server/ingest/platform-a.ts'
import { draftReceipt, finishReceipt } from '../../server/ingest/receipt.ts'
import { nextArrivalUs } from '../../server/sessions/identity.ts'
import { priceTokens } from '../../server/sessions/prices.ts'
import { foldEvents } from '../../server/sessions/session.ts'
import { foldSessions } from '../../server/sessions/store.ts'
import { parseContext } from '../support/parse-context.ts'

export interface BaselineOptions {
  kind: 'bare' | 'validated' | 'transaction' | 'statement'
  databaseUrl?: string
}

const MAX_BYTES = 5 * 1024 * 1024
const POOL = 10
const SAME_SIZE_URL = '/sessions/01234567-89ab-cdef-0123-456789abcdef'

function context(): ParseContext {
  const receivedAt = Date.now()
  return parseContext({
    receivedAt,
    arrivalUs: nextArrivalUs(receivedAt),
    price: (model, prompt, completion, at) => priceTokens(undefined, model, prompt, completion, at),
  })
}

const receiptOf = (parsed: ParsedRequest, statuses: string[], base: string) =>
  finishReceipt(draftReceipt(parsed, base), statuses)

function bareServer(isValidated: boolean): http.Server {
  return http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
      const base = `http://${request.headers.host}`
      const receipt = isValidated ? validatedReceipt(body, base) : bareReceipt(body, base)
      const answer = JSON.stringify(receipt)
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.setHeader('content-length', Buffer.byteLength(answer))
      response.end(answer)
    })
  })
}

function bareReceipt(body: unknown, base: string) {
  const events = (Array.isArray(body) ? body : [body]) as { session_id: string }[]
  const ids = [...new Set(events.map((event) => event.session_id))].slice(0, 100)
  const sessions = ids.map((id) => ({ session_id: id, status: 'completed', url: base + SAME_SIZE_URL }))
  return { accepted: events.length, duplicate: false, sessions, warnings: [] }
}

function validatedReceipt(body: unknown, base: string) {
  const parsed = parsePlatformA(body, context())
  return receiptOf(
    parsed,
    parsed.sessions.map(() => 'COMPLETED'),
    base,
  )
}

async function writingServer(databaseUrl: string, isTransaction: boolean): Promise<http.Server> {
  const sql = postgres(databaseUrl, {
    max: POOL,
    onnotice: () => {},
    connection: { jit: false, enable_seqscan: false, plan_cache_mode: 'force_generic_plan' } as Record<
      string,
      string | number | boolean
    >,
  })
  const app = Fastify({ genReqId: () => crypto.randomUUID() })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.post('/api/ingest/platform-a', async (request) => {
    const value = await readJsonBody(request.raw, MAX_BYTES)
    const parsed = parsePlatformA(value, context())
    const writes = parsed.sessions.map(({ identity, events }) => ({ session: foldEvents(identity, events), events }))
    const written = isTransaction ? await sql.begin((tx) => foldSessions(tx, writes)) : await foldSessions(sql, writes)
    const statuses = written.map(({ status }) => status)
    return receiptOf(parsed, statuses, `${request.protocol}://${request.host}`)
  })
  await app.ready()
  return app.server
}

const { kind, databaseUrl } = JSON.parse(process.argv[2]!) as BaselineOptions
const server =
  kind === 'bare' || kind === 'validated'
    ? bareServer(kind === 'validated')
    : await writingServer(databaseUrl!, kind === 'transaction')
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
server.listen(0, '127.0.0.1', () => process.send!({ ready: (server.address() as AddressInfo).port }))
