// The list of patterns: its filters, its pages, and what a stranger to the project sees of it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failedStep } from '../support/failed-runs.ts'
import { patternStand } from '../support/pattern-stand.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let stand: ReturnType<typeof patternStand>
beforeAll(async () => {
  server = await startServer()
  stand = patternStand(server, { cookie: await server.signIn() })
})
afterAll(() => server.stop())

const sql = () => server.database.sql

describe('the list', () => {
  test('is filtered by agent, category, severity, state, and text, all that is given at once', async () => {
    const { postA, patterns, pattern } = await stand.newProject()
    await postA([
      failedStep('g-1', { agent_name: 'One', error: 'No route to 100% of hosts' }),
      failedStep('g-2', { agent_name: 'Two', tool_name: 'mailer_x', status: 'success' }),
      failedStep('g-3', { agent_name: 'Two', type: 'llm.call', model: 'gpt-4o', error: 'Context too long' }),
    ])
    await stand.decide('resolve', (await pattern('One')).id)
    const agentsOf = async (filter: object) =>
      (await patterns(filter)).map(({ agent, category }) => `${agent} ${category}`).sort()
    const [one, tool, model] = ['One TOOL_FAILURE', 'Two TOOL_FAILURE', 'Two MODEL_FAILURE']
    const cases: [filter: object, expected: (string | undefined)[]][] = [
      [{}, [one, model, tool]],
      [{ agents: [] }, [one, model, tool]],
      [{ agents: ['One', 'nobody'] }, [one]],
      [{ category: 'TOOL_FAILURE' }, [one, tool]],
      [{ category: 'TOOL_FAILURE', agents: ['Two'] }, [tool]],
      [{ minSeverity: 'HIGH' }, [one, model]],
      [{ minSeverity: 'CRITICAL' }, []],
      [{ states: ['RESOLVED'] }, [one]],
      [{ states: ['OPEN', 'REOPENED'] }, [model, tool]],
      [{ search: 'CONTEXT too' }, [model]],
      [{ search: 'mailer_x' }, [tool]],
      [{ search: 'mailerxx' }, []],
      [{ search: '100%' }, [one]],
      [{ search: '%' }, [one]],
      [{ search: ' two ' }, [model, tool]],
    ]
    for (const [filter, expected] of cases) expect([filter, await agentsOf(filter)]).toEqual([filter, expected])
  })

  test("is paged through without a hole or a double, and a foreign cursor is the caller's fault", async () => {
    const { postA, ask, refusal } = await stand.newProject()
    await postA(
      Array.from({ length: 260 }, (_, i) =>
        failedStep(`p-${i}`, { tool_name: `tool-${i % 130}`, agent_name: `A ${i % 3}` }),
      ),
    )
    const expected = (
      await sql()`
      select distinct pattern_id from failures f join sessions s on s.id = f.session_id where s.external_id like 'p-%'`
    ).length
    expect(expected).toBeGreaterThanOrEqual(130)
    for (const size of [100, 37]) {
      const ids: string[] = []
      let after: string | null = null
      do {
        const { failurePatterns }: any = await ask(
          `query ($after: String, $size: Int) {
            failurePatterns(first: $size, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }`,
          { after, size },
        )
        ids.push(...failurePatterns.nodes.map(({ id }: any) => id))
        after = failurePatterns.pageInfo.hasNextPage ? failurePatterns.pageInfo.endCursor : null
      } while (after)
      expect([size, ids.length, new Set(ids).size]).toEqual([size, expected, expected])
    }
    const cursor = (offset: string) => Buffer.from(`OffsetConnection:${offset}`).toString('base64')
    const pages = [
      'after: "nope"',
      `after: "${cursor('-5')}"`,
      `after: "${cursor('9'.repeat(25))}"`,
      'last: 5',
      'first: 101',
    ]
    const codes: string[] = []
    for (const page of pages) codes.push(`${page} ${await refusal(`{ failurePatterns(${page}) { nodes { id } } }`)}`)
    expect(codes).toEqual(pages.map((page) => `${page} BAD_USER_INPUT`))
    expect(await refusal(`{ failurePatterns(filter: { search: "${'x'.repeat(201)}" }) { nodes { id } } }`)).toBe(
      'BAD_USER_INPUT',
    )
  })
})
