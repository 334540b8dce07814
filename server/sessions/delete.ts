// How sessions are deleted: with their events, failures and alerts in one transaction, in batches small enough that nobody waits for them.
import { dueFrom } from '../agents/rollups.ts'
import { forgetAlerts } from '../alerts/read.ts'
import type { Sql } from '../database/connect.ts'
import { patternNotice, type PatternNotice } from '../failures/failure.ts'
import { dropEmptyPatterns } from '../failures/patterns.ts'

export interface Gone {
  id: string
  projectId: number
}

/** What is to be deleted next, in batches. */
export interface Condition {
  projectId: number
  /** first seen before */
  before: Date
  /** of one agent alone; null stands for sessions without a name */
  agent?: string | null
}

const SESSIONS_PER_BATCH = 200
const EVENTS_PER_BATCH = 5_000

/** Deletes these sessions; what is posted to one of them afterwards opens it anew. */
export async function deleteSessions(
  sql: Sql,
  ids: string[],
  { withEvents = true } = {},
): Promise<{ sessions: Gone[]; patterns: PatternNotice[] }> {
  const gone = (await sql.begin(async (tx) => {
    // The locks of the rows first, in the order of all writers: no event of theirs can come in between.
    const rows = await tx`
      delete from sessions where id in (select id from sessions where id = any(${ids}::uuid[]) order by id for update)
      returning id, project_id, (first_seen_at at time zone 'UTC')::date::text as day, agent, first_seen_at::text as seen_at`
    await tx.unsafe(
      dueFrom('unnest($1::int2[], $2::text[], $3::text[]::timestamptz[]) as gone (project_id, agent, first_seen_at)'),
      [rows.map((row) => row.project_id), rows.map((row) => row.agent), rows.map((row) => row.seen_at)],
    )
    const failures = await tx`
      delete from failures where session_id = any(${rows.map((row) => row.id as string)}::uuid[]) returning project_id, pattern_id`
    await tx`delete from findings where session_id = any(${rows.map((row) => row.id as string)}::uuid[])`
    await forgetAlerts(
      tx as unknown as Sql,
      rows.map((row) => row.id as string),
    )
    const patterns = [...new Set(failures.map(patternNotice))]
    if (withEvents) {
      for (const day of new Set(rows.map((row) => row.day as string))) {
        const ofDay = rows.filter((row) => row.day === day).map((row) => row.id as string)
        await tx`delete from events where day = ${day}::date and session_id = any(${ofDay}::uuid[])`
      }
    }
    return { sessions: rows.map((row) => ({ id: row.id, projectId: row.project_id })), patterns }
  })) as { sessions: Gone[]; patterns: PatternNotice[] }
  await dropEmptyPatterns(sql, gone.patterns)
  return gone
}

/** Deletes all that the condition names. Between two batches it rests for as long as the last one took. */
export async function deleteInBatches(
  sql: Sql,
  condition: Condition,
  options: {
    withEvents: boolean
    onGone(gone: Gone[], patterns: PatternNotice[]): void | Promise<void>
    mustStop(): boolean
  },
): Promise<number> {
  const { projectId, before, agent } = condition
  let count = 0
  while (!options.mustStop()) {
    const began = performance.now()
    const rows = await sql`
      select id, event_count from sessions
      where project_id = ${projectId} and first_seen_at < ${before}
        ${agent === undefined ? sql`` : agent === null ? sql`and agent is null` : sql`and agent = ${agent}`}
      order by first_seen_at limit ${SESSIONS_PER_BATCH}`
    if (rows.length === 0) break
    const ids: string[] = []
    let events = 0
    for (const row of rows) {
      if (ids.length > 0 && options.withEvents && events + row.event_count > EVENTS_PER_BATCH) break
      ids.push(row.id)
      events += row.event_count
    }
    const { sessions, patterns } = await deleteSessions(sql, ids, options)
    count += sessions.length
    await options.onGone(sessions, patterns)
    await new Promise((resolve) => setTimeout(resolve, performance.now() - began))
  }
  return count
}
