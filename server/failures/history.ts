// What is known of an agent's earlier runs, kept in memory: each closed run is compared with those first seen before it.
import type { Sql } from '../database/connect.ts'
import type { Classification } from './classify.ts'
import type { RunSession } from './failure.ts'
import { HISTORY, pastRuns, type PastRun, type PastRuns } from './thresholds.ts'

/** Other servers' runs are known after this time at the latest. */
const KEEP_MS = 10_000
/** More than are compared, so that sessions which come in another order find theirs too. */
const KEPT_RUNS = 2 * HISTORY
const MAX_AGENTS = 2_000

interface Kept {
  until: number
  /** newest first */
  runs: PastRun[]
  /** older runs than these are stored */
  hasOlder: boolean
}

export class History {
  private agents = new Map<string, Kept>()

  constructor(private readonly sql: Sql) {}

  /** The same without asking the database, to be used at once; null where it would have to. */
  known({ projectId, agent, firstSeenAt }: RunSession): PastRuns | null {
    const kept = this.agents.get(keyOf(projectId, agent))
    if (!kept || kept.until <= Date.now()) return null
    const [newest] = kept.runs
    return !newest || newest.firstSeenAt < firstSeenAt ? pastRuns(kept.runs) : null
  }

  /** The agent's last closed runs that were first seen before this one; of platform B alone, which has these rules. */
  async before({ projectId, agent, firstSeenAt, id }: RunSession): Promise<PastRuns> {
    const { runs, hasOlder } = await this.keptOf(projectId, agent)
    // Mostly it is the newest of all.
    if (runs.length === 0 || runs[0]!.firstSeenAt < firstSeenAt) return pastRuns(runs.slice(0, HISTORY))
    const earlier = (all: PastRun[]) => all.filter((run) => run.firstSeenAt < firstSeenAt && run.id !== id)
    const known = earlier(runs)
    if (known.length >= HISTORY || !hasOlder) return pastRuns(known.slice(0, HISTORY))
    const read = await readRuns(this.sql, projectId, agent, new Date(firstSeenAt), HISTORY + 1)
    return pastRuns(earlier(read).slice(0, HISTORY))
  }

  /** A run that was classified just now: the next one is compared with it too. */
  note(session: RunSession, { failures, activeMs, loopRounds, equalRounds }: Classification): void {
    // Agents have their name on both platforms.
    if (session.platform !== 'PLATFORM_B' || !isOver(session)) return
    const kept = this.agents.get(keyOf(session.projectId, session.agent))
    if (!kept) return
    const { id, firstSeenAt } = session
    const isLoop = failures.some(({ category }) => category === 'INFINITE_LOOP')
    const spend = spendOf(session)
    const run: PastRun = { ...spend, id, firstSeenAt, latencyMs: activeMs, loopRounds, equalRounds, isLoop }
    const { runs } = kept
    // One that is classified anew is not the newest, or it is the first.
    if (runs.length > 0 && runs[0]!.firstSeenAt >= firstSeenAt) {
      const before = runs.findIndex((other) => other.id === id)
      if (before >= 0) runs.splice(before, 1)
      const place = runs.findIndex((other) => other.firstSeenAt <= firstSeenAt)
      runs.splice(place < 0 ? runs.length : place, 0, run)
    } else runs.unshift(run)
    if (runs.length > KEPT_RUNS) {
      runs.pop()
      kept.hasOlder = true
    }
  }

  private async keptOf(projectId: number, agent: string | null): Promise<Kept> {
    const key = keyOf(projectId, agent)
    const before = this.agents.get(key)
    if (before && before.until > Date.now()) return before
    const runs = await readRuns(this.sql, projectId, agent, null, KEPT_RUNS)
    const kept = { until: Date.now() + KEEP_MS, runs, hasOlder: runs.length === KEPT_RUNS }
    this.agents.delete(key)
    this.agents.set(key, kept)
    if (this.agents.size > MAX_AGENTS) this.agents.delete(this.agents.keys().next().value!)
    return kept
  }
}

const NOT_OVER = new Set(['running', 'waiting', 'new', 'unknown'])
/** A run that failed early, or was not over, says nothing of how long one takes. */
const isOver = ({ status, reportedStatus }: RunSession) =>
  status === 'COMPLETED' && !NOT_OVER.has(reportedStatus?.toLowerCase() ?? '')

/** The same as `before` without what is kept in memory; without a time, what the agent's next run is compared with. */
export async function pastOf(
  sql: Sql,
  { projectId, agent, firstSeenAt }: { projectId: number; agent: string | null; firstSeenAt: number | null },
): Promise<PastRuns> {
  const before = firstSeenAt === null ? null : new Date(firstSeenAt)
  return pastRuns(await readRuns(sql, projectId, agent, before, HISTORY))
}

const keyOf = (projectId: number, agent: string | null) => `${projectId}${agent === null ? '' : ` ${agent}`}`

/** What its models cost, where all of it is known, and the tokens, for comparing like with like. */
const spendOf = ({ llmCalls, unpricedCalls, costUsd, tokens }: RunSession) => ({
  costUsd: llmCalls > 0 && unpricedCalls === 0 ? costUsd : null,
  tokens: llmCalls > 0 ? tokens : null,
})

/** Newest first. */
export async function readRuns(
  sql: Sql,
  projectId: number,
  agent: string | null,
  before: Date | null,
  limit: number,
): Promise<PastRun[]> {
  const rows = await sql`
    select id, extract(epoch from first_seen_at) * 1000 as "firstSeenAt", coalesce(active_ms, duration_ms) as "latencyMs",
      case when llm_calls > 0 and unpriced_calls = 0 then cost_usd end as "costUsd",
      case when llm_calls > 0 and (prompt_tokens is not null or completion_tokens is not null)
        then coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) end as tokens,
      loop_rounds as "loopRounds", equal_rounds as "equalRounds",
      'INFINITE_LOOP' = any(failure_categories) as "isLoop"
    from sessions
    where project_id = ${projectId} and ${agent === null ? sql`agent is null` : sql`agent = ${agent}`}
      and platform = 'PLATFORM_B' and status = 'COMPLETED' and rank <> 1 ${before ? sql`and first_seen_at < ${before}` : sql``}
    order by first_seen_at desc, id desc limit ${limit}`
  const number = (value: unknown) => (value === null ? null : Number(value))
  return rows.map((row) => ({
    id: row.id as string,
    firstSeenAt: Number(row.firstSeenAt),
    latencyMs: row.latencyMs as number | null,
    costUsd: number(row.costUsd),
    tokens: number(row.tokens),
    loopRounds: row.loopRounds as number | null,
    equalRounds: row.equalRounds as number | null,
    isLoop: row.isLoop as boolean,
  }))
}
