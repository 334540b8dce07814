// What is known of a repeated failure: how often, in which sessions, with which errors, and under which instruction.
import type { Sql } from '../database/connect.ts'
import { readNotice, type PatternNotice } from '../failures/failure.ts'
import { instructionSeen } from './instruction.ts'
import type { CandidateRule, Evidence, Role } from './prompt.ts'

const MAX_SESSIONS = 50
const MAX_ERRORS = 10
const MAX_PROMPTS = 10
const LOOKED_AT = 5

/** As the recipe calls the step that fetches the active prompt: no prompt keeps that from failing. */
const FETCH_STEP = 'Active prompt'

/** A pattern of an agent that has a name and that nobody muted. */
export interface RepeatedPattern {
  id: string
  projectId: number
  agent: string
  category: Evidence['category']
  cause: Evidence['cause']
  subject: string | null
}

/** Of these, or of all that were seen lately, those of which there is no open candidate. */
export async function readPatternsWithoutCandidate(
  sql: Sql,
  which: PatternNotice[] | { projectIds: number[]; days: number; sessions: number },
): Promise<RepeatedPattern[]> {
  const ids = Array.isArray(which)
    ? sql`select unnest(${which.map((notice) => readNotice(notice).id)}::uuid[]) as id`
    : sql`
      select pattern_id as id from failures
      where project_id = any(${which.projectIds}::int2[]) and seen_at >= now() - ${which.days} * interval '1 day'
      group by pattern_id having count(*) >= ${which.sessions}`
  const rows = await sql`
    select p.id, p.project_id, p.agent, p.category, p.cause, p.subject from (${ids}) w join failure_patterns p on p.id = w.id
    where p.agent is not null and coalesce(p.muted_until < now(), true) and p.subject is distinct from ${FETCH_STEP}
      and not exists (select from prompt_versions v where v.pattern_id = p.id and v.state = 'SHADOW')`
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    agent: row.agent,
    category: row.category,
    cause: row.cause,
    subject: row.subject,
  }))
}

/**
 * New are sessions seen since the pattern was last resolved, and since the last decision about a version that was made for
 * it: whatever came of that, these are what it did not prevent. A run that ends with the error of its step is that step's.
 * @returns null where there are not enough of them
 */
export async function readEvidence(
  sql: Sql,
  pattern: RepeatedPattern,
  { sessions: least, days }: CandidateRule,
): Promise<{ evidence: Evidence; sessionIds: string[]; hasModel: boolean; readAt: string } | null> {
  const rows = await sql`
    select f.session_id, f.title, f.error_text, f.evidence, count(*) over ()::int as sessions, s.first_seen_at, s.llm_calls,
      now()::text as read_at
    from failures f join sessions s on s.id = f.session_id
    where f.pattern_id = ${pattern.id} and f.seen_at >= now() - ${days} * interval '1 day' and f.seen_at > coalesce(greatest(
      (select resolved_at from failure_patterns where id = ${pattern.id}),
      (select max(coalesce(decided_at, created_at)) from prompt_versions where pattern_id = ${pattern.id})), '-infinity')
      and not (f.category = 'RUN_FAILURE' and exists (
        select from failures o where o.session_id = f.session_id and o.category <> f.category and o.error_text = f.error_text))
    order by f.seen_at desc, f.session_id limit ${MAX_SESSIONS}`
  const sessions = (rows[0]?.sessions as number | undefined) ?? 0
  if (sessions < least) return null
  const sessionIds = rows.map((row) => row.session_id as string)
  const errorTexts = [...new Set(rows.map((row) => row.error_text as string | null).filter((text) => text !== null))]
  const looked = rows.slice(0, LOOKED_AT)
  return {
    sessionIds,
    hasModel: rows.some((row) => row.llm_calls > 0),
    readAt: rows[0]!.read_at,
    evidence: {
      agent: pattern.agent,
      category: pattern.category,
      cause: pattern.cause,
      subject: pattern.subject,
      title: rows[0]!.title,
      role: await readRole(sql, looked as unknown as FailedSession[]),
      sessions,
      days,
      errorTexts: errorTexts.slice(0, MAX_ERRORS),
      instructionSeen: instructionSeen(
        await readPrompts(sql, sessionIds.slice(0, MAX_PROMPTS)),
        await readServed(sql, pattern),
      ),
    },
  }
}

interface FailedSession {
  session_id: string
  first_seen_at: Date
  evidence: string[]
}

/** How the steps that failed and the models of their runs stand to each other. */
async function readRole(sql: Sql, sessions: FailedSession[]): Promise<Role> {
  const rows = await sql`
    select e.type, e.kind, exists (
      select from events m where m.session_id = e.session_id and m.day = e.day and m.type = 'LLM_CALL'
        and (m.order_us, m.sequence, m.place) < (e.order_us, e.sequence, e.place)) as is_after_model
    from unnest(${sessions.map((one) => one.session_id)}::uuid[], ${sessions.map((one) => one.first_seen_at.toISOString().slice(0, 10))}::date[],
      ${sessions.map((one) => one.evidence[0] ?? null)}::uuid[]) as w (id, day, event_key)
    join events e on e.session_id = w.id and e.day = w.day and e.event_key = w.event_key`
  if (rows.some(({ type }) => type === 'TOOL_CALL' || type === 'RETRIEVAL')) return 'TOOL'
  if (rows.some(({ type, kind }) => type === 'LLM_CALL' || kind === 'AGENT')) return 'MODEL'
  return rows.some((row) => row.is_after_model) ? 'AFTER_MODEL' : 'NO_MODEL'
}

/** What workflows of this agent fetched, now or before. */
async function readServed(sql: Sql, { projectId, agent }: RepeatedPattern): Promise<string[]> {
  const rows = await sql`
    select prompt from prompt_versions
    where project_id = ${projectId} and agent = ${agent} and state in ('ACTIVE', 'RETIRED')`
  return rows.map(({ prompt }) => prompt as string)
}

/** The first prompt of each session that has one, the newest session first; all of the same step. */
async function readPrompts(sql: Sql, sessionIds: string[]): Promise<string[]> {
  const rows = await sql`
    select e.name, e.input from unnest(${sessionIds}::uuid[]) with ordinality as w (id, place)
    join sessions s on s.id = w.id
    cross join lateral (
      select name, left(input, 16384) as input from events
      where session_id = s.id and day = (s.first_seen_at at time zone 'UTC')::date and type = 'LLM_CALL' and input is not null
      order by order_us, sequence, place, event_key limit 1) e
    order by w.place`
  return rows.filter(({ name }) => name === rows[0]!.name).map(({ input }) => input as string)
}
