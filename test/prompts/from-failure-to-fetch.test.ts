// The whole way of a prompt: a failure repeats, a candidate is made, a person activates it, a workflow fetches it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
let admin: Record<string, string>
beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
})
afterAll(() => server.stop())

const PROMPTS = `query ($agent: String!) { promptVersions(filter: { agents: [$agent] }) { nodes {
  id version state prompt maker category cause subject title caution instructionSeen evidenceCount evidenceDays revision fetchCount
  evidence { externalId } proposals { maker prompt model problem } decisions { action decidedBy reason }
  effect { before { runs sessions per100Runs } after { runs sessions per100Runs } } } } }`
const promptsOf = async (agent: string, headers?: Record<string, string>) =>
  (await server.query(PROMPTS, { agent }, headers)).promptVersions.nodes

const failedRun = (agent: string, run: number) => [
  {
    session_id: `${agent.replace(/\W/g, '-')}-${run}`,
    agent_name: agent,
    type: 'llm.call',
    model: 'gpt-4o',
    input: `System: You book appointments for a dentist in Basel and answer in the language of the caller.\nHuman: caller ${run} wants Tuesday`,
    output: 'calling book_slot',
    prompt_tokens: 200,
    completion_tokens: 20,
  },
  {
    session_id: `${agent.replace(/\W/g, '-')}-${run}`,
    agent_name: agent,
    type: 'tool.call',
    tool_name: 'book_slot',
    input: `{"date": "next Tuesday ${run}"}`,
    error: `Invalid date "next Tuesday ${run}": the field date must be a date in the format YYYY-MM-DD`,
    status: 'error',
  },
]

const fetchActive = (agent: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/api/prompts/active?agent_name=${encodeURIComponent(agent)}`, {
    headers: { 'x-api-key': KEY, ...headers },
  })

test('a failure that repeats five times makes one candidate, which serves nobody until a person activates it', async () => {
  const agent = 'Booking desk'
  for (let run = 1; run <= 4; run++) expect((await server.ingestA(failedRun(agent, run))).status).toBe(200)
  expect(await promptsOf(agent)).toEqual([])
  for (let run = 5; run <= 7; run++) await server.ingestA(failedRun(agent, run))
  await until(async () => (await promptsOf(agent)).length === 1)
  const [candidate] = await promptsOf(agent, admin)
  expect(candidate).toMatchObject({
    version: 1,
    state: 'SHADOW',
    maker: 'RULES',
    category: 'TOOL_FAILURE',
    cause: 'INVALID_INPUT',
    subject: 'book_slot',
    instructionSeen: 'You book appointments for a dentist in Basel and answer in the language of the caller.',
    evidenceDays: 7,
    revision: 1,
    effect: null,
  })
  expect(candidate.prompt).toContain('"book_slot"')
  expect(candidate.prompt).toContain('YYYY-MM-DD')
  expect(candidate.prompt).not.toContain('Tuesday')
  expect(candidate.evidence.length).toBeGreaterThanOrEqual(5)
  expect(await (await fetchActive(agent)).json()).toEqual({ agent_name: agent, prompt: '', version: null })

  const ACTIVATE = `mutation ($id: ID!, $revision: Int!) { activatePrompt(id: $id, revision: $revision, reason: "Dates are the trouble") { id state revision } }`
  const { activatePrompt } = await server.query(ACTIVATE, { id: candidate.id, revision: 1 }, admin)
  expect(activatePrompt).toEqual({ id: candidate.id, state: 'ACTIVE', revision: 2 })
  const answer = await fetchActive(agent)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ agent_name: agent, prompt: candidate.prompt, version: 1 })
  const etag = answer.headers.get('etag')!
  expect((await fetchActive(agent, { 'if-none-match': etag })).status).toBe(304)
  const text = await fetchActive(agent, { accept: 'text/plain' })
  expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await text.text()).toBe(candidate.prompt)
  await until(async () => (await promptsOf(agent))[0].fetchCount === 3)
  expect((await promptsOf(agent))[0].effect.before).toEqual({ runs: 7, sessions: 7, per100Runs: 100 })
})

test('a session of either platform says what could be better', async () => {
  const prompt = 'Classify this mail: my invoice is wrong and nobody answers'
  const call = {
    session_id: 'twice',
    agent_name: 'Mail',
    type: 'llm.call',
    model: 'gpt-4o',
    input: prompt,
    output: 'billing',
    prompt_tokens: 1000,
    completion_tokens: 5,
  }
  await server.ingestA([call, call, { session_id: 'twice', status: 'success' }])
  const FINDINGS = `{ session(platform: PLATFORM_A, externalId: "twice") { findings { kind subject sentence savingUsd savingTokens evidenceCount } } }`
  await until(async () => (await server.query(FINDINGS)).session.findings.length > 0)
  const { findings } = (await server.query(FINDINGS)).session
  expect(findings).toEqual([
    {
      kind: 'REPEATED_PROMPT',
      subject: 'gpt-4o',
      sentence: 'A prompt of "gpt-4o" that had been answered in this run was sent once more.',
      savingUsd: '0.00255',
      savingTokens: 1005,
      evidenceCount: 2,
    },
  ])
})
