// The recipes of the Connect page: nodes that n8n takes when pasted, fields for Zapier, and what is said of what arrives.
import { describe, expect, it } from 'vitest'
import {
  n8nCall,
  n8nClock,
  n8nEnd,
  n8nErrorWorkflow,
  n8nFollowUp,
  zapierFailure,
  zapierRun,
  zapierSetUp,
} from '../../dashboard/rules/connect-recipes.ts'
import { agoWords, arrivedWords, isTold, newestReceived, type RefusedPost } from '../../dashboard/rules/arrivals.ts'
import { sampleSession, testEvent } from '../../dashboard/rules/first-events.ts'
import { parsePlatformA } from '../../server/ingest/platform-a.ts'
import { parsePlatformB } from '../../server/ingest/platform-b.ts'
import { parseContext } from '../support/parse-context.ts'

const address = 'https://runwatch.example.com/'
const recipes = {
  end: n8nEnd(address),
  clock: n8nClock(),
  failures: n8nErrorWorkflow(address),
  followUp: n8nFollowUp(address),
  call: n8nCall(),
}
const nodesOf = (text: string): any[] => JSON.parse(text).nodes

describe.each(Object.entries(recipes))('the nodes of %s', (_name, text) => {
  const { nodes, connections } = JSON.parse(text)
  const names = nodes.map((node: any) => node.name)

  it('have ids and names of their own, and connections between nodes that are there', () => {
    expect(new Set(names).size).toBe(nodes.length)
    for (const { id } of nodes) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    for (const [from, { main }] of Object.entries<any>(connections))
      for (const { node } of main.flat()) expect(names).toEqual(expect.arrayContaining([from, node]))
  })
  it('carry no key, only the name of the credential that does', () => {
    expect(text).not.toMatch(/api.?key|rw_/i)
    for (const node of nodes.filter(({ type }: any) => type.endsWith('.httpRequest')))
      expect(node).toMatchObject({
        credentials: { httpHeaderAuth: { id: null, name: 'Runwatch' } },
        parameters: { method: 'POST', url: 'https://runwatch.example.com/api/ingest/platform-b' },
      })
  })
})

/** As n8n evaluates what stands between the braces. */
function evaluated(text: string, given: Record<string, unknown>): any {
  const code = /^=\{\{ ([\s\S]*) \}\}$/.exec(text)![1]!
  return new Function(...Object.keys(given), `return ${code}`)(...Object.values(given))
}
const read = (body: unknown) => parsePlatformB(JSON.parse(JSON.stringify(body)), parseContext()).sessions[0]!.execution!

describe('the end node', () => {
  const [node] = nodesOf(recipes.end)
  const run = {
    $execution: { id: '7', mode: 'production' },
    $workflow: { id: 'w1', name: 'Say "hi"\\' },
    $now: '2026-11-20T10:00:02.500Z',
  }
  const bodyWhere = ($: unknown) => evaluated(node.parameters.jsonBody, { ...run, $ })
  const missing = () => {
    throw new Error('Referenced node does not exist')
  }

  it('posts once for any number of items and never fails the run', () => {
    expect(node).toMatchObject({ executeOnce: true, onError: 'continueRegularOutput', retryOnFail: true })
  })
  it('tells the run with its duration where the start node is', () => {
    const first = () => ({ json: { runStartedAt: '2026-11-20T10:00:00.000Z' } })
    expect(read(bodyWhere(() => ({ first })))).toMatchObject({
      externalId: '7',
      workflowId: 'w1',
      agent: 'Say "hi"\\',
      status: 'COMPLETED',
      reportedStatus: 'success',
      durationMs: 2500,
    })
  })
  it('tells it without one where that node is not', () => {
    expect(read(bodyWhere(missing))).toMatchObject({ externalId: '7', status: 'COMPLETED', durationMs: null })
  })
})

describe('the error workflow', () => {
  const body = ($json: object) =>
    evaluated(nodesOf(recipes.failures)[1].parameters.jsonBody, { $json, $execution: { id: '99' } })
  const workflow = { id: 'w1', name: 'Intake' }

  it('tells what failed and why, and nothing else of the error', () => {
    const error = {
      name: 'NodeApiError',
      message: 'Bad',
      description: 'No such order',
      httpCode: '404',
      node: { parameters: 1 },
    }
    const execution = {
      id: '8',
      mode: 'webhook',
      lastNodeExecuted: 'Find order',
      url: 'https://n8n.example.com/x',
      error,
    }
    const sent = body({ execution, workflow })
    expect(JSON.stringify(sent)).not.toContain('parameters')
    expect(read(sent)).toMatchObject({
      externalId: '8',
      agent: 'Intake',
      status: 'FAILED',
      errorMessage: 'No such order',
      lastNode: 'Find order',
      mode: 'webhook',
      externalUrl: 'https://n8n.example.com/x',
    })
  })
  it('tells of a trigger that failed before there was an execution', () => {
    const sent = body({ trigger: { mode: 'trigger', error: { message: 'No connection' } }, workflow })
    expect(read(sent)).toMatchObject({ externalId: 'trigger-99', status: 'FAILED', errorMessage: 'No connection' })
  })
})

describe('the follow-up', () => {
  const node = (name: string) => nodesOf(recipes.followUp).find((each) => each.name === name)
  it.each([
    ['the call', { executionId: '5' }],
    ['a failure', { execution: { id: '5' }, workflow: {} }],
    ['a look that was too early', { id: '5', stoppedAt: null }],
  ])('fetches the run that is named by %s', (_what, $json) => {
    expect(evaluated(node('Get the run with its data').parameters.executionId, { $json })).toBe('5')
  })
  it('looks until the run is over, and not for ever', () => {
    const isOver = (stoppedAt: string | null, $runIndex: number) =>
      evaluated(node('Has it ended?').parameters.conditions.conditions[0].leftValue, {
        $json: { stoppedAt },
        $runIndex,
      })
    expect([isOver(null, 0), isOver(null, 59), isOver(null, 60), isOver('2026-11-20T10:00:00Z', 0)]).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})

describe('the fields for Zapier', () => {
  it('are ones that are known, and bring the end of the run', () => {
    for (const rows of [zapierRun, zapierFailure]) {
      const event = Object.fromEntries(rows.map((row) => [row.field, 'value' in row ? row.value : '12']))
      const { sessions, warnings } = parsePlatformA(event, parseContext())
      expect(sessions[0]!.events[0]!.attributes).toBeNull()
      expect([sessions.length, warnings]).toEqual([1, []])
    }
    expect(zapierFailure).toContainEqual({ field: 'type', value: 'span' })
    expect(zapierFailure).toContainEqual({ field: 'status', value: 'error' })
  })
  it('have the key in its header alone', () => {
    const rows = zapierSetUp(address, 'rw_secret')
    expect(rows.filter((row) => JSON.stringify(row).includes('rw_secret'))).toEqual([
      { field: 'Headers, value', value: 'rw_secret' },
    ])
  })
})

describe('what the dashboard posts by itself', () => {
  const nowMs = Date.parse('2026-11-20T10:00:00Z')
  it('is a run that is over, under an agent of its own', () => {
    const names = [
      parsePlatformA(sampleSession('sample-1', nowMs), parseContext()),
      parsePlatformA(testEvent('platform-a', 'test-1', nowMs), parseContext()),
      parsePlatformB(testEvent('platform-b', 'test-1', nowMs), parseContext()),
    ].map(({ sessions, warnings }) => [sessions.length, sessions[0]!.identity.agent, warnings])
    expect(names).toEqual(Array(3).fill([1, 'Sample from the Connect page', []]))
  })
})

describe('what is said of arrivals', () => {
  const session = {
    id: 's1',
    platform: 'PLATFORM_A' as const,
    externalId: 'run-abc',
    agent: 'Support triage',
    lastEventAt: '2026-11-20T10:00:00Z',
    eventCount: 1,
    events: { nodes: [{ type: 'LLM_CALL' as const }] },
  }
  const nowMs = Date.parse('2026-11-20T10:00:30Z')

  it('names the run, what came and the agent', () => {
    expect(arrivedWords(session)).toBe('run-abc, llm.call, Support triage')
    expect(arrivedWords({ ...session, eventCount: 5 })).toBe('run-abc, 5 events, Support triage')
    const execution = { ...session, platform: 'PLATFORM_B' as const, agent: null, eventCount: 2 }
    expect(arrivedWords(execution)).toBe('run-abc, 2 steps')
    expect(arrivedWords({ ...execution, eventCount: 0 })).toBe('run-abc, without its steps')
  })
  it('says when', () => {
    expect(agoWords('2026-11-20T10:00:26Z', nowMs)).toBe('just now')
    expect(agoWords('2026-11-20T10:00:20Z', nowMs)).toBe('10 s ago')
    expect(agoWords('2026-10-20T10:00:20Z', nowMs)).toMatch(/^on .*2026/)
  })
  it('knows of sessions that are older than the log, and waits only where nothing came', () => {
    const post = { at: '2026-11-20T10:00:05Z', events: 1, session }
    expect(newestReceived(post, null)).toBe(post)
    expect(newestReceived(null, session)).toMatchObject({ at: session.lastEventAt, session })
    expect(newestReceived({ ...post, session: null }, null)).toMatchObject({ at: post.at, session: null })
    expect(newestReceived({ ...post, events: 0, session: null }, session)).toMatchObject({ session })
    expect(newestReceived({ ...post, events: 0, session: null }, null)).toBeNull()
    expect(newestReceived(null, null)).toBeNull()
  })
  it('tells a refusal while it is news', () => {
    const refused: RefusedPost = {
      id: 'r',
      at: '2026-11-20T10:00:00Z',
      status: 422,
      code: 'c',
      detail: 'd',
      sentAgainAt: null,
    }
    const received = { at: '2026-11-20T10:00:10Z', session: null, events: 1 }
    const later = nowMs + 3_600_000
    expect(isTold(null, null, nowMs)).toBe(false)
    expect(isTold(refused, received, nowMs)).toBe(true)
    expect(isTold(refused, received, later)).toBe(false)
    expect(isTold(refused, null, later)).toBe(true)
    expect(isTold({ ...refused, sentAgainAt: refused.at }, null, nowMs)).toBe(false)
  })
})
