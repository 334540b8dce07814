// Recorded posts, changed at random, over both endpoints: whatever comes, the answer is a receipt of what can be read
// back or a sentence about what is wrong, and what was refused left no trace.
//
// Bounds: 600 requests of at most 256 KiB, one after the other, 8 s on two cores (20 s where others use them too). The
// same seed sends the same bodies. FUZZ_SEED=7 takes another one, FUZZ_ROUNDS=20000 goes on for longer.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Random } from '../../server/demo/random.ts'
import { ERROR_TABLE, type ErrorCode } from '../../server/errors.ts'
import { platformARecordings, platformBRecordings, requestRecordings } from '../fixtures/recordings.ts'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { Mutator, treeOf, withGoodIds, write, type Tree } from './fuzz-mutations.ts'
import { Tally } from './fuzz-tally.ts'

const SEED = Number(process.env.FUZZ_SEED ?? 1)
const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 600)
const READ_EVERY = 40
const MAX_GROWTH_BYTES = 500 * 1024 * 1024

const A = '/api/ingest/platform-a'
const B = '/api/ingest/platform-b'
const RECORDED: { path: string; tree: Tree }[] = [
  ...platformARecordings.map(({ value }) => ({ path: A, tree: treeOf(value.body) })),
  ...platformBRecordings.map(({ value }) => ({ path: B, tree: treeOf({ execution: value }) })),
  ...requestRecordings.flatMap(({ value }) => {
    const body = jsonOf(Buffer.from(value.body ?? ''))
    return body === undefined ? [] : [{ path: B, tree: treeOf(body) }]
  }),
]

let server: TestServer
let tally: Tally
beforeAll(async () => {
  server = await startServer()
  tally = new Tally(server.database.sql)
})
afterAll(() => server.stop())

test(
  'whatever is sent, it is recorded whole and can be read, or is refused with a sentence and leaves nothing',
  {
    timeout: 60_000 + ROUNDS * 200,
  },
  async () => {
    const rssBefore = process.memoryUsage().rss
    const statuses: Record<number, number> = {}
    let touched = new Set<string>()
    let body: Buffer = Buffer.alloc(0)
    let round = 0
    try {
      for (; round < ROUNDS; round++) {
        const random = new Random(SEED * 1_000_003 + round)
        const sent = makeRequest(random, round)
        body = sent.body
        const { status, text, type } = await post(sent)
        statuses[status] = (statuses[status] ?? 0) + 1
        if (status === 200) {
          const receipt = expectReceipt(text, type)
          tally.add(sent.path === A ? 'A' : 'B', jsonOf(sent.body), receipt)
          for (const { url } of receipt.sessions) touched.add(url.split('/').at(-1)!)
        } else expectRefusal(status, text, type, sent.body)
        await tally.compare()
        if ((round + 1) % READ_EVERY === 0) {
          body = Buffer.from(`one of the last ${READ_EVERY}`)
          await readAll(touched)
          touched = new Set()
        }
      }
      body = Buffer.from('all of them')
      await tally.compareTotals()
      await readList()
    } catch (error) {
      const hint = `FUZZ_SEED=${SEED}, round ${round}, ${body.length} bytes: ${body.toString().slice(0, 3_000)}`
      throw new Error(`${hint}\n\n${(error as Error).message}`, { cause: error })
    }
    // A fuzz test whose bodies are all refused, or all taken, tests nothing.
    expect(statuses[200]).toBeGreaterThan(ROUNDS / 4)
    expect(statuses[400]).toBeGreaterThan(ROUNDS / 50)
    expect(statuses[422]).toBeGreaterThan(ROUNDS / 50)
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(MAX_GROWTH_BYTES)
    const good = await server.ingestA({ session_id: 'after-all-of-it', type: 'span', status: 'success' })
    expect(good).toMatchObject({ status: 200, body: { accepted: 1, warnings: [] } })
  },
)

interface Sent {
  path: string
  body: Buffer
  encoding: 'gzip' | 'deflate' | 'br' | null
}

function makeRequest(random: Random, round: number): Sent {
  const mutator = new Mutator(random)
  const recorded = random.pick(random.chance(0.4) ? RECORDED.filter(({ path }) => path === A) : RECORDED)
  const changed = mutator.structure(recorded.tree)
  // Most of them under an id of their own that is taken, so that not everything is a repeat or refused for its id.
  const tree = random.chance(0.7) ? withGoodIds(changed, `fuzz-${round}`) : changed
  const body = random.chance(0.2) ? mutator.bytes(Buffer.from(write(tree))) : Buffer.from(write(tree))
  const path = random.chance(0.03) ? random.pick([A, B]) : recorded.path
  return { path, body, encoding: random.chance(0.1) ? random.pick(['gzip', 'deflate', 'br'] as const) : null }
}

async function post({ path, body, encoding }: Sent) {
  const pack = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': KEY,
      ...(encoding && { 'content-encoding': encoding }),
    },
    body: (encoding ? pack[encoding](body) : body) as unknown as string,
  })
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') }
}

/** What the server makes of the bytes, or undefined where they are no JSON. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString().replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

function expectReceipt(text: string, type: string | null) {
  expect(type).toBe('application/json; charset=utf-8')
  const receipt = JSON.parse(text)
  expect(Object.keys(receipt)).toEqual(['accepted', 'duplicate', 'sessions', 'warnings'])
  for (const session of receipt.sessions) {
    expect(Object.keys(session)).toEqual(['session_id', 'status', 'url'])
    expect(['running', 'completed', 'failed']).toContain(session.status)
  }
  for (const warning of receipt.warnings) expectFinding(warning)
  return receipt
}

const MEMBERS = ['detail', 'message', 'title', 'status', 'type', 'code', 'errors', 'errorCount', 'requestId']
/** Words of the server's inside: they may only stand in an answer if they were sent. */
const INSIDE =
  /\n\s+at |node_modules|\.ts:\d+|syntax error|invalid input|out of range for|\brelation\b|\bcolumn "|rw_test_\w+/g

function expectRefusal(status: number, text: string, type: string | null, sent: Buffer): void {
  expect(type).toBe('application/problem+json; charset=utf-8')
  const problem = JSON.parse(text)
  expect(Object.keys(problem)).toEqual(MEMBERS)
  expect(problem.status).toBe(status)
  expect(status).toBeLessThan(500)
  expect(ERROR_TABLE[problem.code as ErrorCode]).toEqual({ status, title: problem.title })
  expect(problem.message).toBe(problem.detail)
  expect(problem.detail).toMatch(/No event was recorded\./)
  expect(problem.errors.length).toBe(Math.min(problem.errorCount, 50))
  for (const found of [problem, ...problem.errors]) expectSentence(found.detail)
  for (const found of problem.errors) expectFinding(found)
  if (status === 422) {
    const [first] = problem.errors
    // What is no object has no field that could be named.
    if (first.code !== 'not_an_object') expect(problem.detail).toContain(first.field.replace('/', '.'))
  }
  for (const [word] of text.matchAll(INSIDE)) expect(sent.toString()).toContain(word)
}

function expectFinding(found: any): void {
  expect(Object.keys(found)).toEqual(['pointer', 'field', 'code', 'detail'])
  expect(found.pointer).toMatch(/^(\/|$)/)
  expect(found.code).toMatch(/^[a-z_0-9]+$/)
  expectSentence(found.detail)
}

function expectSentence(sentence: string): void {
  expect(sentence.isWellFormed()).toBe(true)
  expect(sentence).toMatch(/\.( \(\d+ more in errors\.\))?$/)
  // A field's own name is not cut, values are.
  expect(sentence.length).toBeLessThan(500)
}

const SESSION = `id project platform externalId agent workflowId mode status reportedStatus errorMessage lastNode
  externalUrl firstSeenAt startedAt lastEventAt closedAt durationMs durationSource eventCount errorCount llmCalls
  toolCalls models promptTokens completionTokens totalTokens tokensEstimated costUsd unpricedCalls retryOf quiet quietAt
  coverage { code detail } revision`
const EVENT = `id type kind kindSource name runIndex parentId parentName model inputBytes outputBytes promptTokens
  completionTokens tokensEstimated costUsd costSource durationMs status error { message name cause httpStatus } occurredAt
  receivedAt late skewed masked orderKey revision`
const ONE = `query ($id: ID!, $after: String) { session(id: $id) { ${SESSION}
  events(first: 1000, after: $after) { nodes { ${EVENT} } pageInfo { hasNextPage endCursor } } } }`
const TEXTS = `query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Event { input output attributes } } }`

/** Reads these sessions as a person would open them: whole, page by page, each event with its texts. */
async function readAll(ids: Set<string>): Promise<void> {
  for (const id of ids) {
    const events: any[] = []
    for (let after: string | null = null; ;) {
      const { session }: any = await server.query(ONE, { id, after })
      events.push(...session.events.nodes)
      if (!session.events.pageInfo.hasNextPage) {
        expect(events.length).toBe(session.eventCount)
        break
      }
      after = session.events.pageInfo.endCursor
    }
    const keys = events.map((event) => event.orderKey)
    expect(keys).toEqual(keys.toSorted())
    for (let at = 0; at < events.length; at += 200) {
      const { nodes } = await server.query(TEXTS, { ids: events.slice(at, at + 200).map((event) => event.id) })
      expect(nodes).not.toContain(null)
    }
  }
}

/** All sessions, as the list shows them. */
async function readList(): Promise<void> {
  let count = 0
  for (let after: string | null = null; ;) {
    const query = `query ($after: String) {
      sessions(first: 100, after: $after) { nodes { ${SESSION} } pageInfo { hasNextPage endCursor } } }`
    const { sessions }: any = await server.query(query, { after })
    count += sessions.nodes.length
    if (!sessions.pageInfo.hasNextPage) break
    after = sessions.pageInfo.endCursor
  }
  expect(count).toBe(tally.sessionCount)
}
