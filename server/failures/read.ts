// How failures are read for people: those of a session, and the newest of a pattern.
import type { Sql } from '../database/connect.ts'
import type { Cause, FailureCategory, MeasureUnit, ThresholdSource } from './failure.ts'

export interface FailureRow {
  sessionId: string
  failureKey: string
  projectId: number
  patternId: string
  place: number
  category: FailureCategory
  severity: number
  cause: Cause | null
  subject: string | null
  sentence: string
  advice: string
  errorText: string | null
  measured: number | null
  threshold: number | null
  unit: MeasureUnit | null
  thresholdSource: ThresholdSource | null
  thresholdRuns: number | null
  evidence: string[]
  evidenceCount: number
  seenAt: Date
  /** of its session, which event ids hold */
  day: string
}

const columns = (sql: Sql) => sql`
  f.session_id, f.failure_key, f.project_id, f.pattern_id, f.place, f.category, f.severity, f.cause, f.subject, f.sentence,
  f.advice, f.error_text, f.measured, f.threshold, f.unit, f.threshold_source, f.threshold_runs, f.evidence, f.evidence_count,
  f.seen_at, (s.first_seen_at at time zone 'UTC')::date::text as day`

/** The failures of each session, the primary one first. */
export async function readFailures(sql: Sql, sessionIds: readonly string[]): Promise<FailureRow[][]> {
  const rows = (await sql`
    select ${columns(sql)} from failures f join sessions s on s.id = f.session_id
    where f.session_id = any(${sessionIds as string[]}::uuid[]) order by f.session_id, f.place`) as unknown as FailureRow[]
  return sessionIds.map((id) => rows.filter(({ sessionId }) => sessionId === id))
}

/** The primary failure of each session; null where it has none. */
export async function readPrimary(sql: Sql, sessionIds: readonly string[]): Promise<(FailureRow | null)[]> {
  const rows = (await sql`
    select ${columns(sql)} from failures f join sessions s on s.id = f.session_id
    where f.session_id = any(${sessionIds as string[]}::uuid[]) and f.place = 0`) as unknown as FailureRow[]
  return sessionIds.map((id) => rows.find(({ sessionId }) => sessionId === id) ?? null)
}

/** The newest failure of each pattern; null where none is kept any more. */
export async function readLatest(sql: Sql, patternIds: readonly string[]): Promise<(FailureRow | null)[]> {
  const rows = (await sql`
    select ${columns(sql)} from unnest(${patternIds as string[]}::uuid[]) as w (id)
    join lateral (select * from failures where pattern_id = w.id order by seen_at desc limit 1) f on true
    join sessions s on s.id = f.session_id`) as unknown as FailureRow[]
  return patternIds.map((id) => rows.find(({ patternId }) => patternId === id) ?? null)
}
