// The schema as it is printed, and what leaves it: errors masked on both transports, limits, pages.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printedSchema } from '../../server/graphql/print.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await server.ingestA(
    Array.from({ length: 250 }, (_, i) => ({
      session_id: `p-${String(i).padStart(3, '0')}`,
      type: 'span',
      agent_name: `Agent ${i % 3}`,
      status: i % 10 === 0 ? 'error' : i % 2 ? 'success' : undefined,
      error: i % 10 === 0 ? `Rate limit 429 in org-${i}` : undefined,
    })),
  )
})
afterAll(() => server.stop())

test('schema.graphql is what the code prints (npm run schema)', () => {
  expect(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')).toBe(printedSchema())
})

test('every type and every field of an object has a description', () => {
  const undescribed = printedSchema()
    .split('\n')
    .filter((line, i, lines) => /^(type|enum|input|scalar) /.test(line) && !/"""$/.test(lines[i - 1] ?? ''))
  expect(
    undescribed.filter((line) => !/^type (Query|Mutation|Subscription|PageInfo|.*(Edge|Connection))\b/.test(line)),
  ).toEqual([])
})

describe('limits', () => {
  test.each([
    ['a page of sessions', '{ sessions(first: 101) { nodes { id } } }', 'BAD_USER_INPUT'],
    ['a page read backward', '{ sessions(last: 101) { nodes { id } } }', 'BAD_USER_INPUT'],
    ['a page of events', '{ sessions(first: 1) { nodes { events(first: 1001) { nodes { id } } } } }', 'BAD_USER_INPUT'],
    [
      'cost',
      '{ sessions(first: 100) { nodes { events(first: 1000) { nodes { id name type } } } } }',
      'QUERY_TOO_COSTLY',
    ],
    [
      'texts of a whole timeline',
      '{ sessions(first: 2) { nodes { events(first: 1000) { nodes { input } } } } }',
      'QUERY_TOO_COSTLY',
    ],
    [
      'depth',
      `{ sessions(first: 1) { nodes ${'{ events(first: 1) { nodes { session '.repeat(6)}{ id }${' } } }'.repeat(6)} } }`,
      'QUERY_TOO_COSTLY',
    ],
    ['aliases', `{ ${Array.from({ length: 51 }, (_, i) => `a${i}: viewer { kind }`).join(' ')} }`, 'QUERY_TOO_COSTLY'],
    ['nodes', `{ nodes(ids: [${'"x", '.repeat(501)}]) { id } }`, 'BAD_USER_INPUT'],
    ['a foreign cursor', '{ sessions(after: "nope") { nodes { id } } }', 'BAD_USER_INPUT'],
    ['a time that is none', '{ sessions(filter: { since: "yesterday" }) { nodes { id } } }', 'BAD_USER_INPUT'],
  ])('%s', async (_what, query, code) => {
    const { body } = await server.graphql(query)
    expect(body.errors[0].extensions.code).toBe(code)
  })

  test('variables are counted too', async () => {
    const { body } = await server.graphql(
      'query ($n: Int, $m: Int) { sessions(first: $n) { nodes { events(first: $m) { nodes { id name type } } } } }',
      { n: 100, m: 1000 },
    )
    expect(body.errors[0].extensions.code).toBe('QUERY_TOO_COSTLY')
  })

  test('introspection fits', async () => {
    const { getIntrospectionQuery } = await import('graphql')
    expect((await server.query(getIntrospectionQuery())).__schema.queryType.name).toBe('Query')
  })
})

describe('an unexpected error', () => {
  test('is masked over HTTP and over the socket, without the words of the database', async () => {
    const broken = await startServer()
    await broken.database.sql`drop table sessions cascade`
    const http = await broken.graphql('{ sessions { nodes { id } } }')
    const client = socketClient(broken.url)
    const socket = await subscribe(client, '{ sessions { nodes { id } } }').next()
    for (const errors of [http.body.errors, socket.errors]) {
      expect(errors[0]).toMatchObject({
        message: 'Something went wrong on the server.',
        extensions: { code: 'INTERNAL_SERVER_ERROR' },
      })
      expect(JSON.stringify(errors)).not.toMatch(/relation|sessions"|select|stack/i)
    }
    await client.dispose()
    await broken.stop()
  })
})

describe('pages', () => {
  const ALL = `query ($after: String, $filter: SessionFilter) {
    sessions(first: 40, after: $after, filter: $filter) { nodes { externalId } pageInfo { hasNextPage endCursor } }
  }`
  async function readAll(filter: object = {}): Promise<string[]> {
    const ids: string[] = []
    let after: string | null = null
    do {
      const { sessions }: any = await server.query(ALL, { after, filter })
      ids.push(...sessions.nodes.map((node: any) => node.externalId))
      after = sessions.pageInfo.hasNextPage ? sessions.pageInfo.endCursor : null
    } while (after)
    return ids
  }

  test('forward they hold every session once', async () => {
    const ids = await readAll()
    expect(ids).toHaveLength(250)
    expect(new Set(ids).size).toBe(250)
  })

  test('backward they hold the same in the same order', async () => {
    const forward = await readAll()
    const read: string[] = []
    let before: string | null = null
    do {
      const { sessions }: any = await server.query(
        'query ($before: String) { sessions(last: 70, before: $before) { nodes { externalId } pageInfo { hasPreviousPage startCursor } } }',
        { before },
      )
      read.unshift(...sessions.nodes.map((node: any) => node.externalId))
      before = sessions.pageInfo.hasPreviousPage ? sessions.pageInfo.startCursor : null
    } while (before)
    expect(read).toEqual(forward)
  })

  test.each([
    [{ status: 'FAILED' }, 25],
    [{ status: 'RUNNING' }, 100],
    [{ status: 'COMPLETED' }, 125],
    [{ platform: 'PLATFORM_B' }, 0],
    [{ agents: ['Agent 1'] }, 83],
    [{ agents: ['Agent 1', 'Agent 2'] }, 166],
    [{ agents: [null] }, 0],
    [{ search: 'p-00' }, 10],
    [{ search: 'gent 1' }, 83],
    [{ search: 'org-24' }, 1],
    [{ search: 'RATE LIMIT' }, 25],
    [{ search: '%' }, 0],
    [{ search: 'p-00', agents: ['Agent 0'], status: 'FAILED' }, 1],
    [{ range: 'LAST_HOUR' }, 250],
    [{ until: '2020-01-01T00:00:00Z' }, 0],
  ])('the filter %j finds %i', async (filter, count) => {
    const ids = await readAll(filter)
    expect(ids).toHaveLength(count)
    expect(new Set(ids).size).toBe(count)
  })
})

test('agents are counted, and one can be asked for by name', async () => {
  const { agents, agent } = await server.query(
    '{ agents { name runs running completed failed platforms } agent(name: "Agent 0") { runs failed } }',
  )
  expect(agents.map((one: any) => [one.name, one.runs]).toSorted()).toEqual([
    ['Agent 0', 84],
    ['Agent 1', 83],
    ['Agent 2', 83],
  ])
  for (const one of agents) expect(one.running + one.completed + one.failed).toBe(one.runs)
  expect(agent).toEqual({ runs: 84, failed: agents.find((one: any) => one.name === 'Agent 0').failed })
})
