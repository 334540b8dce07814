// Which models the agents of a project use for which kind of work, and how they fare: read from their newest runs.
import type { Sql } from '../database/connect.ts'
import type { ModelUse, Surroundings } from './finding.ts'
import { useKey, workOf } from './rules-of-usual.ts'

const KEEP_MS = 300_000
const MAX_AGENTS = 50
const RUNS_PER_AGENT = 60
const DAYS = 30
const MAX_PROJECTS = 50

interface AgentUse {
  agent: string | null
  work: string
  model: string
  calls: number
  good: number
}

export class ModelUses {
  private kept = new Map<number, { until: number; uses: Promise<AgentUse[]> }>()

  constructor(private readonly sql: Sql) {}

  /** How an agent's own models fare, and what others use. */
  async of(projectId: number, agent: string | null): Promise<Pick<Surroundings, 'own' | 'others'>> {
    const before = this.kept.get(projectId)
    const uses = before && before.until > Date.now() ? before.uses : this.read(projectId)
    const own = new Map<string, ModelUse>()
    const others = new Map<string, ModelUse[]>()
    for (const use of await uses) {
      const { work, model, calls, good } = use
      if (use.agent === agent) {
        own.set(useKey(work, model), { model, agents: 1, calls, success: good / calls })
        continue
      }
      const known = others.get(work) ?? []
      const same = known.find((one) => one.model === model)
      if (same) {
        same.success = (same.success * same.calls + good) / (same.calls + calls)
        same.calls += calls
        same.agents += 1
      } else known.push({ model, agents: 1, calls, success: good / calls })
      others.set(work, known)
    }
    return { own, others }
  }

  private read(projectId: number): Promise<AgentUse[]> {
    const uses = readUses(this.sql, projectId)
    if (this.kept.size >= MAX_PROJECTS) this.kept.clear()
    this.kept.set(projectId, { until: Date.now() + KEEP_MS, uses })
    uses.catch(() => this.kept.delete(projectId))
    return uses
  }
}

async function readUses(sql: Sql, projectId: number): Promise<AgentUse[]> {
  const rows = await sql`
    with agents as (
      select agent from (
        select agent, max(first_seen_at) as last from (
          select agent, first_seen_at from sessions
          where project_id = ${projectId} and first_seen_at >= now() - ${DAYS} * interval '1 day'
          order by first_seen_at desc limit 20000) newest
        group by agent) seen
      order by last desc limit ${MAX_AGENTS}
    )
    select a.agent, s.status = 'FAILED' as has_failed, e.model, e.error is not null as has_error, e.prompt_tokens,
      left(e.output, 10) as output, length(e.output) as output_length
    from agents a
    cross join lateral (
      select id, status, first_seen_at from sessions
      where project_id = ${projectId} and agent is not distinct from a.agent and llm_calls > 0 and status <> 'RUNNING'
        and first_seen_at >= now() - ${DAYS} * interval '1 day'
      order by first_seen_at desc limit ${RUNS_PER_AGENT}) s
    cross join lateral (
      select * from events
      where session_id = s.id and day = (s.first_seen_at at time zone 'UTC')::date and type = 'LLM_CALL' and model is not null
      order by order_us, sequence, place, event_key limit 20) e`
  const uses = new Map<string, AgentUse>()
  // A call that failed has no answer that would tell its work: it counts against all that its model does.
  const all = new Map<string, { calls: number; errors: number }>()
  for (const row of rows) {
    const { agent, model } = row
    const agentAndModel = JSON.stringify([agent, model])
    const ofModel = all.get(agentAndModel) ?? { calls: 0, errors: 0 }
    ofModel.calls += 1
    ofModel.errors += Number(row.has_error)
    all.set(agentAndModel, ofModel)
    const promptTokens = row.prompt_tokens === null ? null : Number(row.prompt_tokens)
    const work = row.has_error ? null : workOf({ output: row.output, outputLength: row.output_length, promptTokens })
    if (work === null) continue
    const key = `${work} ${agentAndModel}`
    const use = uses.get(key) ?? { agent, work, model, calls: 0, good: 0 }
    use.calls += 1
    use.good += Number(!row.has_failed)
    uses.set(key, use)
  }
  for (const use of uses.values()) {
    const { calls, errors } = all.get(JSON.stringify([use.agent, use.model]))!
    use.good *= 1 - errors / calls
  }
  return [...uses.values()]
}
