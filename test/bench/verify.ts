// Whether the database holds exactly what was acknowledged, after each round of the product.
import type postgres from 'postgres'

export interface Verdict {
  isExact: boolean
  sentence: string
}

/** @param acknowledged events that were answered with 200 since the tables were emptied */
export async function verify(sql: postgres.Sql, acknowledged: number): Promise<Verdict> {
  const [row] = await sql`
    with sums as (
      select session_id, count(*) as events, count(error) as errors, count(*) filter (where type = 'LLM_CALL') as calls,
        count(*) filter (where type = 'TOOL_CALL') as tools, sum(prompt_tokens) as prompt,
        sum(completion_tokens) as completion, sum(cost_usd) as cost
      from events group by session_id
    )
    select (select count(*) from events)::int as events, count(*)::int as sessions,
      count(*) filter (where (s.event_count, s.error_count, s.llm_calls, s.tool_calls, s.prompt_tokens, s.completion_tokens, s.cost_usd)
        is distinct from (e.events, e.errors, e.calls, e.tools, e.prompt, e.completion, e.cost))::int as differing
    from sessions s full join sums e on e.session_id = s.id`
  const { events, sessions, differing } = row as unknown as { events: number; sessions: number; differing: number }
  const isExact = events === acknowledged && differing === 0
  return {
    isExact,
    sentence: `${events} events stored of ${acknowledged} acknowledged, ${differing} of ${sessions} sessions differ from the sums of their events`,
  }
}
