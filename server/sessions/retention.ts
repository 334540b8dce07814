// What goes by itself and what is asked to go: sessions older than their project keeps them, and all of an agent's.
import { randomUUID } from 'node:crypto'
import type { Projects } from '../access/projects.ts'
import { withDeadline, type Sql } from '../database/connect.ts'
import { dropPartition, isoDay, partitionDays } from '../database/partitions.ts'
import type { PatternNotice } from '../failures/failure.ts'
import { deleteInBatches, deleteSessions, type Gone } from './delete.ts'

const DAY_MS = 86_400_000
const RETENTION_LOCK = 7_240_003
const CLOSE_WITHIN_MS = 5_000

export interface RetentionPreview {
  /** sessions first seen before this go */
  before: Date
  sessions: number
  events: string
  oldestFirstSeenAt: Date | null
}

/** All sessions of an agent that were first seen before it was asked for. */
export interface Deletion {
  id: string
  projectId: number
  agent: string | null
  requestedBy: string
  requestedAt: Date
  deletedSessions: number
  finishedAt: Date | null
}

export interface RetentionOptions {
  sql: Sql
  projects: Projects
  /** with the patterns of failures that lost sessions */
  onGone(gone: Gone[], patterns: PatternNotice[]): void
  onError(error: unknown, what: string): void
}

/** Midnight in UTC, so that whole days go: a session is kept for at least so many days. */
export const cutoffOf = (days: number, now = Date.now()) => new Date(Math.floor(now / DAY_MS) * DAY_MS - days * DAY_MS)

export class Retention {
  private isStopped = false
  private running: Promise<void> = Promise.resolve()

  constructor(private readonly options: RetentionOptions) {}

  /** Works off what is due: one run at a time over all servers. */
  run(now = Date.now()): Promise<void> {
    this.running = this.running.then(async () => {
      if (this.isStopped) return
      const reserved = await this.options.sql.reserve()
      try {
        const [lock] = await reserved`select pg_try_advisory_lock(${RETENTION_LOCK}) as taken`
        if (!lock!.taken) return
        try {
          await this.workOffDeletions()
          await this.deleteOld(now)
        } finally {
          await reserved`select pg_advisory_unlock(${RETENTION_LOCK})`
        }
      } finally {
        reserved.release()
      }
    })
    const { running } = this
    this.running = running.catch((error: unknown) => this.options.onError(error, 'old sessions could not be deleted'))
    return this.running
  }

  async close(): Promise<void> {
    this.isStopped = true
    // A database that does not answer must not hold up the end.
    await withDeadline(this.running, CLOSE_WITHIN_MS).catch(() => {})
  }

  /** What a project would lose if it kept its sessions for so many days. Nothing is deleted. */
  async preview(projectId: number, days: number): Promise<RetentionPreview> {
    const before = cutoffOf(days)
    const [row] = await this.options.sql`
      select count(*)::int as sessions, coalesce(sum(event_count), 0)::text as events, min(first_seen_at) as oldest
      from sessions where project_id = ${projectId} and first_seen_at < ${before}`
    return { before, sessions: row!.sessions, events: row!.events, oldestFirstSeenAt: row!.oldest }
  }

  async deleteSession(id: string): Promise<boolean> {
    const { sessions, patterns } = await deleteSessions(this.options.sql, [id])
    this.options.onGone(sessions, patterns)
    return sessions.length > 0
  }

  /** Asks for all sessions of an agent to go; they do so in batches, also after a restart. */
  async requestDeletion(projectId: number, agent: string | null, requestedBy: string): Promise<Deletion> {
    const [row] = await this.options.sql`
      insert into deletions (id, project_id, agent, requested_by)
      values (${randomUUID()}, ${projectId}, ${agent}, ${requestedBy}) returning *`
    void this.run()
    return deletionOf(row!)
  }

  /** Newest first. */
  async deletions(projectIds: number[]): Promise<Deletion[]> {
    const rows = await this.options.sql`
      select * from deletions where project_id = any(${projectIds}::int2[]) order by requested_at desc limit 100`
    return rows.map(deletionOf)
  }

  private async workOffDeletions(): Promise<void> {
    const { sql, onGone } = this.options
    const open = (await sql`select * from deletions where finished_at is null order by requested_at`).map(deletionOf)
    for (const { id, projectId, agent, requestedAt } of open) {
      await deleteInBatches(
        sql,
        { projectId, agent, before: requestedAt },
        {
          withEvents: true,
          mustStop: () => this.isStopped,
          onGone: async (gone, patterns) => {
            await sql`update deletions set deleted_sessions = deleted_sessions + ${gone.length} where id = ${id}`
            onGone(gone, patterns)
          },
        },
      )
      // What was told of its rate belongs to no session.
      await sql`delete from alerts where project_id = ${projectId} and session_id is null
        and agent is not distinct from ${agent} and created_at < ${requestedAt}`
      if (!this.isStopped) await sql`update deletions set finished_at = now() where id = ${id}`
    }
  }

  /** Days that nobody keeps lose their sessions and then go as a whole partition; elsewhere events go row by row. */
  private async deleteOld(now: number): Promise<void> {
    const { sql, projects, onGone } = this.options
    const all = projects.list()
    const limited = all.flatMap(({ id, retentionDays }) =>
      retentionDays === null ? [] : { id, before: cutoffOf(retentionDays, now) },
    )
    if (limited.length === 0) return
    const wholeBefore = await this.keptByNobodyBefore(limited)
    for (const { id: projectId, before } of limited) {
      const options = { mustStop: () => this.isStopped, onGone }
      if (wholeBefore) await deleteInBatches(sql, { projectId, before: wholeBefore }, { ...options, withEvents: false })
      await deleteInBatches(sql, { projectId, before }, { ...options, withEvents: true })
    }
    if (this.isStopped) return
    const newest = isoDay(Math.max(...limited.map(({ before }) => before.getTime())))
    for (const day of await partitionDays(sql, 'events')) {
      if (day >= newest) break
      const [found] = await sql`
        select exists (select from sessions where first_seen_at >= ${`${day}T00:00:00Z`}::timestamptz
          and first_seen_at < ${`${day}T00:00:00Z`}::timestamptz + interval '1 day') as any`
      if (!found!.any) await dropPartition(sql, 'events', day)
    }
  }

  /** The longest retention, unless a project keeps sessions from before it for good. */
  private async keptByNobodyBefore(limited: { id: number; before: Date }[]): Promise<Date | null> {
    const { sql, projects } = this.options
    const before = new Date(Math.min(...limited.map((one) => one.before.getTime())))
    const unlimited = projects.list().flatMap(({ id, retentionDays }) => (retentionDays === null ? id : []))
    for (const id of unlimited) {
      const [found] = await sql`
        select exists (select from sessions where project_id = ${id} and first_seen_at < ${before}) as any`
      if (found!.any) return null
    }
    return before
  }
}

const deletionOf = (row: Record<string, unknown>): Deletion => ({
  id: row.id as string,
  projectId: row.project_id as number,
  agent: row.agent as string | null,
  requestedBy: row.requested_by as string,
  requestedAt: row.requested_at as Date,
  deletedSessions: row.deleted_sessions as number,
  finishedAt: row.finished_at as Date | null,
})
