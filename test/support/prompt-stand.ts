// What tests of prompts do: runs that fail in the same way, versions as people read them, decisions, and fetches.
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { untilAllClassified } from './failed-runs.ts'
import { KEY, startServer, type TestServer } from './server.ts'
import { until } from './until.ts'

const PROMPT = `id project agent version state prompt maker category cause subject title caution instructionSeen evidenceCount
  evidenceDays revision createdBy createdAt decidedAt activatedAt retiredAt fetchCount lastFetchedAt pattern { id }
  evidence { externalId }
  proposals { maker prompt rewrite reason model problem attempts nextAttemptAt promptTokens completionTokens costUsd }
  decisions { action decidedBy reason prompt decidedAt }
  effect { before { runs sessions per100Runs } after { runs sessions per100Runs } }`

export interface FailingRuns {
  /** what tells the pattern from others: the tool that fails */
  tool?: string
  error?: string
  /** what the model is sent before the tool is called; none where it is null */
  input?: string | null
  /** of the first run: two posts with the same number are the same run */
  from?: number
}

/** Runs of an agent that fail in the same way, as events for platform A. */
export function failingRuns(agent: string | undefined, count: number, own: FailingRuns = {}): object[] {
  const { tool = 'book_slot', error = 'Invalid date: the field date must be a date', input = null, from = 1 } = own
  return Array.from({ length: count }, (_, i) => {
    const run = {
      session_id: `${agent?.trim() || 'nobody'}-${tool}-${from + i}`.replace(/[^\w-]/g, '-'),
      agent_name: agent,
    }
    const call = {
      ...run,
      type: 'llm.call',
      model: 'gpt-4o',
      input,
      output: 'calling',
      prompt_tokens: 9,
      completion_tokens: 1,
    }
    const failed = { ...run, type: 'tool.call', tool_name: tool, input: `{"run":${from + i}}`, error, status: 'error' }
    return input === null ? [failed] : [call, failed]
  }).flat()
}

export type PromptStand = Awaited<ReturnType<typeof promptStand>>

export async function promptStand(options: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer(options)
  return { server, ...(await promptsOn(server)), stop: () => server.stop() }
}

/** The same on a server that runs. */
export async function promptsOn(server: TestServer) {
  const admin = { cookie: await server.signIn() }
  const own = randomUUID().slice(0, 8)
  let controls = 0

  const versions = async (filter: object = {}): Promise<any[]> =>
    (
      await server.query(
        `query ($filter: PromptVersionFilter) { promptVersions(filter: $filter, first: 100) { nodes { ${PROMPT} } } }`,
        { filter },
        admin,
      )
    ).promptVersions.nodes
  const ofAgent = (agent: string) => versions({ agents: [agent] })

  const fail = async (agent: string | undefined, count: number, own: FailingRuns = {}) => {
    expect((await server.ingestA(failingRuns(agent, count, own))).status).toBe(200)
  }
  const candidates = (agent: string, count = 1) =>
    until(
      () => ofAgent(agent),
      (all) => all.filter(({ state }) => state === 'SHADOW').length >= count,
      20_000,
    )
  const decide = async (mutation: string, args: object) => {
    const given = Object.entries(args)
    const types: Record<string, string> = { id: 'ID!', revision: 'Int!', activeVersion: 'Int' }
    const { body } = await server.graphql(
      `mutation (${given.map(([name]) => `$${name}: ${types[name] ?? 'String!'}`)}) {
        ${mutation}Prompt(${given.map(([name]) => `${name}: $${name}`)}) { ${PROMPT} } }`,
      args,
      admin,
    )
    return body.errors
      ? { refused: body.errors[0].extensions.code as string, says: body.errors[0].message as string }
      : body.data[`${mutation}Prompt`]
  }
  return {
    admin,
    versions,
    ofAgent,
    fail,
    decide,
    /** Waits until an agent has so many. */
    candidates,
    /** The one candidate of an agent, made of five runs. */
    candidate: async (agent: string, own: FailingRuns = {}) => {
      await fail(agent, 5, own)
      return (await candidates(agent))[0]
    },
    byHand: async (agent: string, prompt = `Be kind, ${agent}.`) => decide('create', { agent, prompt }),
    rule: (agent: string | null, rule: object | null) =>
      server.query(
        'mutation ($agent: String, $rule: CandidateRuleInput) { setCandidateRule(agent: $agent, rule: $rule) { agent isEnabled sessions days isDefault } }',
        { agent, rule },
        admin,
      ),
    /** Until all that was posted has been looked at: what is posted after it has become a candidate, and then once more. */
    async lookedAt() {
      await untilAllClassified(server.database.sql)
      for (let i = 0; i < 2; i++) {
        const agent = `Control ${own} ${controls++}`
        await fail(agent, 5)
        await candidates(agent)
      }
    },
    active: (agent: string, headers: Record<string, string> = {}) =>
      fetch(`${server.url}/api/prompts/active?agent_name=${encodeURIComponent(agent)}`, {
        headers: { 'x-api-key': KEY, ...headers },
      }),
  }
}

/** Candidates of a secret agent, one to read and one for each decision about it; that which is to be retired is active. */
export async function promptsToDecide(server: TestServer, admin: Record<string, string>) {
  const ids: Record<string, string> = {}
  for (const name of ['read', 'edit', 'activate', 'reject', 'retire']) {
    const { createPrompt } = await server.query(
      'mutation ($agent: String!) { createPrompt(agent: $agent, prompt: "Secret prompt", reason: "Secret reason") { id } }',
      // Another that becomes active would take its place.
      { agent: name === 'retire' ? 'Secret agent that goes' : 'Secret agent' },
      admin,
    )
    ids[name] = createPrompt.id
  }
  await server.query(
    `mutation { activatePrompt(id: "${ids.retire}", revision: 1, reason: "Secret reason") { id } }`,
    {},
    admin,
  )
  return ids
}
