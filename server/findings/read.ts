// How findings are read for people: those of a session, and summed up per agent over a range of time.
import type { Sql } from '../database/connect.ts'
import type { FindingKind } from './finding.ts'

export interface FindingRow {
  sessionId: string
  findingKey: string
  kind: FindingKind
  subject: string | null
  sentence: string
  advice: string
  savingUsd: string | null
  savingTokens: string | null
  savingMs: number | null
  evidence: string[]
  evidenceCount: number
  seenAt: Date
  /** of its session, which event ids hold */
  day: string
}

/** The findings of each session, what saves most first. */
export async function readFindings(sql: Sql, sessionIds: readonly string[]): Promise<FindingRow[][]> {
  const rows = (await sql`
    select f.session_id, f.finding_key, f.kind, f.subject, f.sentence, f.advice, f.saving_usd, f.saving_tokens, f.saving_ms,
      f.evidence, f.evidence_count, f.seen_at, (s.first_seen_at at time zone 'UTC')::date::text as day
    from findings f join sessions s on s.id = f.session_id
    where f.session_id = any(${sessionIds as string[]}::uuid[]) order by f.session_id, f.place`) as unknown as FindingRow[]
  return sessionIds.map((id) => rows.filter(({ sessionId }) => sessionId === id))
}

/** One kind of finding about one step of an agent, over a range. */
export interface FindingSummaryRow {
  projectId: number
  agent: string | null
  kind: FindingKind
  subject: string | null
  findingKey: string
  /** sessions that carry it */
  sessions: number
  /** sums of what is known; null where nothing is */
  savingUsd: string | null
  savingTokens: string | null
  savingMs: number | null
  /** of how many of the sessions the saving in USD is known */
  pricedSessions: number
  /** of the newest */
  sentence: string
  advice: string
  lastSessionId: string
  lastSeenAt: Date
}

const MAX_SUMMARIES = 200
const BY_SAVING = `saving_usd desc nulls last, saving_tokens desc nulls last, saving_ms desc nulls last, sessions desc, kind, subject`

/** @param agent undefined for all agents, null for sessions without a name. What saves most first. */
export async function readFindingSummaries(
  sql: Sql,
  projectIds: number[],
  agent: string | null | undefined,
  since: Date,
): Promise<FindingSummaryRow[]> {
  return (await sql`
    select s.*, n.sentence, n.advice from (
      select project_id, agent, kind, subject, finding_key, count(*)::int as sessions, sum(saving_usd) as saving_usd,
        sum(saving_tokens) as saving_tokens, sum(saving_ms) as saving_ms, count(saving_usd)::int as priced_sessions,
        max(seen_at) as last_seen_at, (array_agg(session_id order by seen_at desc))[1] as last_session_id
      from findings
      where project_id = any(${projectIds}::int2[]) and seen_at >= ${since}
        ${agent === undefined ? sql`` : agent === null ? sql`and agent is null` : sql`and agent = ${agent}`}
      group by project_id, agent, kind, subject, finding_key
      order by ${sql.unsafe(BY_SAVING)} limit ${MAX_SUMMARIES}) s
    join findings n on n.session_id = s.last_session_id and n.finding_key = s.finding_key
    order by ${sql.unsafe(BY_SAVING.replace(/saving_|sessions|kind|subject/g, 's.$&'))}`) as unknown as FindingSummaryRow[]
}
