// How prompt versions are read for people: with their makers' proposals, decisions, and what came of activating them.
import type { Sql } from '../database/connect.ts'
import type { Cause, FailureCategory } from '../failures/failure.ts'
import type { DecisionAction, PromptMaker, PromptState } from './prompt.ts'

export interface PromptRow {
  id: string
  projectId: number
  agent: string
  version: number
  state: PromptState
  prompt: string
  maker: PromptMaker
  patternId: string | null
  category: FailureCategory | null
  cause: Cause | null
  subject: string | null
  title: string | null
  caution: string | null
  instructionSeen: string | null
  evidence: string[]
  evidenceCount: number
  evidenceDays: number | null
  revision: number
  createdBy: string | null
  createdAt: Date
  decidedAt: Date | null
  activatedAt: Date | null
  retiredAt: Date | null
  fetchCount: string
  lastFetchedAt: Date | null
}

export interface PromptFilter {
  agents?: string[] | null
  states?: PromptState[] | null
  patternId?: string | null
}

const COLUMNS = `v.id, v.project_id, v.agent, v.version, v.state, v.prompt, v.maker, v.pattern_id, v.category, v.cause, v.subject,
  v.title, v.caution, v.instruction_seen, v.evidence, v.evidence_count, v.evidence_days, v.revision, v.created_by,
  date_trunc('milliseconds', v.created_at) as created_at, v.decided_at, v.activated_at, v.retired_at, v.fetch_count, v.last_fetched_at`

/** Newest first; `after` is the last of the page before. */
export async function readPrompts(
  sql: Sql,
  projectIds: number[],
  { agents, states, patternId }: PromptFilter,
  page: { limit: number; after: { at: string; id: string } | null },
): Promise<PromptRow[]> {
  return (await sql`
    select ${sql.unsafe(COLUMNS)} from prompt_versions v
    where v.project_id = any(${projectIds}::int2[])
      ${agents?.length ? sql`and v.agent = any(${agents})` : sql``}
      ${states?.length ? sql`and v.state = any(${states})` : sql``}
      ${patternId ? sql`and v.pattern_id = ${patternId}` : sql``}
      ${page.after ? sql`and (date_trunc('milliseconds', v.created_at), v.id) < (${page.after.at}::timestamptz, ${page.after.id}::uuid)` : sql``}
    order by date_trunc('milliseconds', v.created_at) desc, v.id desc limit ${page.limit}`) as unknown as PromptRow[]
}

/** Of all projects: who may see them is for the caller to ask. */
export async function readPromptsById(sql: Sql, ids: readonly string[]): Promise<PromptRow[]> {
  return (await sql`
    select ${sql.unsafe(COLUMNS)} from prompt_versions v where v.id = any(${ids as string[]}::uuid[])`) as unknown as PromptRow[]
}

/** An agent with versions: which is active, and how many wait to be read. */
export interface PromptAgentRow {
  projectId: number
  agent: string
  activeId: string | null
  candidates: number
  versions: number
  changedAt: Date
}

/** Those with candidates first, then the last changed. */
export async function readPromptAgents(sql: Sql, projectIds: number[]): Promise<PromptAgentRow[]> {
  return (await sql`
    select project_id, agent, (array_agg(id) filter (where state = 'ACTIVE'))[1] as active_id,
      (count(*) filter (where state = 'SHADOW'))::int as candidates, count(*)::int as versions,
      max(greatest(created_at, decided_at)) as changed_at
    from prompt_versions where project_id = any(${projectIds}::int2[])
    group by project_id, agent order by (count(*) filter (where state = 'SHADOW')) = 0, changed_at desc limit 500`) as unknown as PromptAgentRow[]
}

export interface ProposalRow {
  promptId: string
  maker: 'RULES' | 'MODEL'
  prompt: string | null
  rewrite: string | null
  reason: string | null
  model: string | null
  problem: string | null
  attempts: number
  nextAttemptAt: Date | null
  promptTokens: string | null
  completionTokens: string | null
  costUsd: string | null
  createdAt: Date
}

export async function readProposals(sql: Sql, promptIds: readonly string[]): Promise<ProposalRow[][]> {
  const rows = (await sql`
    select * from prompt_proposals where prompt_id = any(${promptIds as string[]}::uuid[]) order by prompt_id, maker desc`) as unknown as ProposalRow[]
  return promptIds.map((id) => rows.filter(({ promptId }) => promptId === id))
}

export interface DecisionRow {
  promptId: string
  action: DecisionAction
  decidedBy: string | null
  reason: string | null
  prompt: string | null
  decidedAt: Date
}

/** The newest first. */
export async function readDecisions(sql: Sql, promptIds: readonly string[]): Promise<DecisionRow[][]> {
  const rows = (await sql`
    select prompt_id, action, decided_by, reason, prompt, decided_at from prompt_decisions
    where prompt_id = any(${promptIds as string[]}::uuid[]) order by prompt_id, id desc`) as unknown as DecisionRow[]
  return promptIds.map((id) => rows.filter(({ promptId }) => promptId === id))
}

/** Closed runs of the agent in a span of time, and how many of them carry the pattern. */
export interface PatternRate {
  since: Date
  until: Date
  runs: number
  sessions: number
}

const DAY_MS = 86_400_000

/**
 * Before and after a version was made active: as long before as after, a week at least and 30 days at most. Runs count
 * where they were first seen. Null where it was never active, or is about no pattern.
 */
export async function readEffect(
  sql: Sql,
  prompt: PromptRow,
  now = new Date(),
): Promise<{ before: PatternRate; after: PatternRate } | null> {
  const { activatedAt, retiredAt, patternId } = prompt
  if (activatedAt === null || patternId === null) return null
  const until = retiredAt !== null && retiredAt > activatedAt ? retiredAt : now
  const days = Math.min(30, Math.max(7, (until.getTime() - activatedAt.getTime()) / DAY_MS))
  const since = new Date(activatedAt.getTime() - days * DAY_MS)
  const [before, after] = await Promise.all([
    readRate(sql, prompt, since, activatedAt),
    readRate(sql, prompt, activatedAt, until),
  ])
  return { before, after }
}

async function readRate(
  sql: Sql,
  { projectId, agent, patternId }: PromptRow,
  since: Date,
  until: Date,
): Promise<PatternRate> {
  const [row] = await sql`
    select (
      select count(*)::int from sessions
      where project_id = ${projectId} and agent = ${agent} and status <> 'RUNNING' and first_seen_at >= ${since} and first_seen_at < ${until}
    ) as runs, (
      select count(*)::int from failures f join sessions s on s.id = f.session_id
      where f.pattern_id = ${patternId} and f.seen_at >= ${since} and s.first_seen_at >= ${since} and s.first_seen_at < ${until}
    ) as sessions`
  return { since, until, runs: row!.runs, sessions: row!.sessions }
}
