// Prompt versions for the browser's tests: candidates of repeated failures, what a model proposed, and what is fetched.
import { KEY, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

export const within = 20_000
export const INSTRUCTION = 'You book appointments for a dentist in Basel and answer in the language of the caller.'

const VERSIONS = `query ($agent: String!) { promptVersions(filter: { agents: [$agent] }) { nodes {
  id version state prompt revision } } }`

export interface Version {
  id: string
  version: number
  state: string
  prompt: string
  revision: number
}

export function promptStand(server: () => TestServer) {
  let runs = 0
  let cookie: string | null = null
  const admin = async () => ({ cookie: (cookie ??= await server().signIn()) })
  const versionsOf = async (agent: string): Promise<Version[]> =>
    (await server().query(VERSIONS, { agent })).promptVersions.nodes

  /** Runs that fail in the same way. */
  async function fail(agent: string, count: number, tool = 'book_slot') {
    for (let i = 0; i < count; i++) {
      const session_id = `booking-${(runs += 1)}`
      await server().ingestA([
        {
          session_id,
          agent_name: agent,
          type: 'llm.call',
          model: 'gpt-4o',
          input: `System: ${INSTRUCTION}\nHuman: caller ${runs} wants <b>Tuesday</b>`,
          output: `calling ${tool}`,
        },
        {
          session_id,
          agent_name: agent,
          type: 'tool.call',
          tool_name: tool,
          error: `Invalid date "next Tuesday ${runs}": the field date must be a date in the format YYYY-MM-DD`,
          status: 'error',
        },
      ])
    }
  }

  /** A candidate of five runs that failed, once it is there. */
  async function candidate(agent: string, tool = 'book_slot'): Promise<Version> {
    const before = (await versionsOf(agent)).length
    await fail(agent, 5, tool)
    const [made] = await until(
      () => versionsOf(agent),
      (all) => all.length > before,
      within,
    )
    return made!
  }

  async function mutate(text: string, variables: object) {
    return server().query(text, variables, await admin())
  }

  return {
    versionsOf,
    fail,
    candidate,
    write: async (agent: string, prompt: string): Promise<Version> =>
      (
        await mutate(
          `mutation ($agent: String!, $prompt: String!) { made: createPrompt(agent: $agent, prompt: $prompt) { id version state prompt revision } }`,
          { agent, prompt },
        )
      ).made,
    edit: ({ id, revision }: Version, prompt: string, reason: string) =>
      mutate(
        `mutation ($id: ID!, $revision: Int!, $prompt: String!, $reason: String) { editPrompt(id: $id, revision: $revision, prompt: $prompt, reason: $reason) { id } }`,
        { id, revision, prompt, reason },
      ),
    activate: ({ id, revision }: Version, activeVersion: number | null = null) =>
      mutate(
        `mutation ($id: ID!, $revision: Int!, $activeVersion: Int) { activatePrompt(id: $id, revision: $revision, activeVersion: $activeVersion, reason: "Tried by hand") { id } }`,
        { id, revision, activeVersion },
      ),
    reject: ({ id, revision }: Version, reason: string) =>
      mutate(
        `mutation ($id: ID!, $revision: Int!, $reason: String!) { rejectPrompt(id: $id, revision: $revision, reason: $reason) { id } }`,
        { id, revision, reason },
      ),
    /** As a model would have proposed it, beside what the rules built. */
    propose: async (agent: string, version: number, prompt: string, rewrite: string) => {
      const { sql } = server().database
      await sql`
        insert into prompt_proposals (prompt_id, maker, prompt, rewrite, reason, model, prompt_tokens, completion_tokens, cost_usd)
        select id, 'MODEL', ${prompt}, ${rewrite}, 'The tool refuses words for dates.', 'gpt-4o-mini', 812, 96, 0.00018
        from prompt_versions where agent = ${agent} and version = ${version}`
    },
    fetchActive: async (agent: string): Promise<string> => {
      const answer = await fetch(`${server().url}/api/prompts/active?agent_name=${encodeURIComponent(agent)}`, {
        headers: { 'x-api-key': KEY, accept: 'text/plain' },
      })
      return answer.text()
    },
  }
}
