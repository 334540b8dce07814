// Prices in tests: calls of a model nobody knows, its price, applying it to history, and what the money then says.
import type { TestServer } from './server.ts'
import { until } from './until.ts'

const REPRICING = `id project requestedBy requestedAt since sessions doneSessions changedSessions finishedAt`

/** @param cookie of an admin */
export function priceStand(server: TestServer, admin: { cookie: string }) {
  const { sql } = server.database
  const mutate = (text: string, variables = {}) => server.query(`mutation ${text}`, variables, admin)
  const finished = (id: string) =>
    until(
      async () =>
        (await server.query(`{ repricings { ${REPRICING} } }`, {}, admin)).repricings.find((one: any) => one.id === id),
      ({ finishedAt }) => finishedAt !== null,
      20_000,
    )
  const removePrice = (model: string) => mutate(`($model: String!) { removeModelPrice(model: $model) }`, { model })
  return {
    mutate,
    finished,
    removePrice,
    setPrice: (model: string, input: string, output: string, project = 'default') =>
      mutate(
        `($project: String!, $model: String!, $input: Decimal!, $output: Decimal!) { setModelPrice(
          project: $project, model: $model, inputUsdPerMillion: $input, outputUsdPerMillion: $output) { model } }`,
        { project, model, input, output },
      ),
    /** Asks for it and waits for its end. */
    async apply(variables: { days?: number | null; project?: string } = {}) {
      const { applyPricesToHistory } = await mutate(
        `($days: Int, $project: String) { applyPricesToHistory(days: $days, project: $project) { id } }`,
        variables,
      )
      return finished(applyPricesToHistory.id)
    },
    async forgetAll() {
      await sql`truncate sessions, events, repricings`
      for (const { model } of await sql`select model from model_prices`) await removePrice(model)
    },
    /** Sessions that do not say the sums over their events. */
    disagreements: () => sql`
      select s.external_id, s.cost_usd, sum(e.cost_usd), s.unpriced_calls, s.event_count, count(e.*)
      from sessions s left join events e on e.session_id = s.id
      group by s.id
      having s.cost_usd is distinct from sum(e.cost_usd) or s.event_count <> count(e.*)
        or s.unpriced_calls <> count(*) filter (
          where e.cost_usd is null and (e.prompt_tokens is not null or e.completion_tokens is not null))
        or s.revision < max(e.revision)`,
  }
}

export const call = (session_id: string, fields: object = {}) => ({
  session_id,
  type: 'llm.call',
  model: 'house-model',
  prompt_tokens: 1000,
  completion_tokens: 100,
  ...fields,
})

/** An execution of platform B with one call of a model by an agent. */
export const execution = (
  id: string,
  { model = 'house-model', startTime = Date.now() - 60_000, tokens = [2000, 200] } = {},
) => ({
  execution: {
    id,
    workflowId: 'w',
    status: 'success',
    startedAt: new Date(startTime).toISOString(),
    stoppedAt: new Date(startTime + 900).toISOString(),
    data: {
      resultData: {
        runData: {
          Model: [
            {
              startTime,
              executionTime: 20,
              executionStatus: 'success',
              source: [{ previousNode: 'Agent' }],
              inputOverride: { ai_languageModel: [[{ json: { messages: ['Hi'], options: { model } } }]] },
              data: {
                ai_languageModel: [
                  [
                    {
                      json: {
                        response: { generations: [[{ text: 'done' }]] },
                        tokenUsage: { promptTokens: tokens[0], completionTokens: tokens[1] },
                      },
                    },
                  ],
                ],
              },
            },
          ],
        },
      },
    },
  },
})
