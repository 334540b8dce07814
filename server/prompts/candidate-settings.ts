// How often a failure must repeat until a candidate is made: fixed by people for a project or an agent, kept in memory.
import type { Sql } from '../database/connect.ts'
import { DEFAULT_CANDIDATE_RULE, type CandidateRule } from './prompt.ts'

export interface CandidateSettingsRow extends CandidateRule {
  projectId: number
  /** null stands for the project */
  agent: string | null
  updatedAt: Date
  updatedBy: string
}

export class CandidateSettings {
  private rows = new Map<string, CandidateSettingsRow>()
  private loads = 0
  private newestLoad = 0

  constructor(
    private readonly sql: Sql,
    private readonly onChanged: () => void,
  ) {}

  async load(): Promise<void> {
    const turn = ++this.loads
    const rows = await this.sql`
      select project_id as "projectId", agent, is_enabled as "isEnabled", sessions, days, updated_at as "updatedAt", updated_by as "updatedBy"
      from candidate_settings order by project_id, agent nulls first`
    if (turn < this.newestLoad) return
    this.newestLoad = turn
    this.rows = new Map(
      (rows as unknown as CandidateSettingsRow[]).map((row) => [keyOf(row.projectId, row.agent), row]),
    )
  }

  list(projectIds: number[]): CandidateSettingsRow[] {
    return [...this.rows.values()].filter(({ projectId }) => projectIds.includes(projectId))
  }

  ruleFor(projectId: number, agent: string): CandidateRule {
    return this.rows.get(keyOf(projectId, agent)) ?? this.rows.get(keyOf(projectId, null)) ?? DEFAULT_CANDIDATE_RULE
  }

  /** The longest time that anybody looks back, in days. */
  get mostDays(): number {
    return Math.max(DEFAULT_CANDIDATE_RULE.days, ...[...this.rows.values()].map(({ days }) => days))
  }

  /** The fewest sessions that anybody asks for. */
  get leastSessions(): number {
    return Math.min(DEFAULT_CANDIDATE_RULE.sessions, ...[...this.rows.values()].map(({ sessions }) => sessions))
  }

  /** @param rule null takes the row away: what is above it holds again */
  async set(projectId: number, agent: string | null, rule: CandidateRule | null, updatedBy: string): Promise<void> {
    if (rule === null) {
      await this
        .sql`delete from candidate_settings where project_id = ${projectId} and agent is not distinct from ${agent}`
    } else {
      const { isEnabled, sessions, days } = rule
      await this.sql`
        insert into candidate_settings (project_id, agent, is_enabled, sessions, days, updated_by)
        values (${projectId}, ${agent}, ${isEnabled}, ${sessions}, ${days}, ${updatedBy})
        on conflict (project_id, agent) do update set is_enabled = excluded.is_enabled, sessions = excluded.sessions,
          days = excluded.days, updated_by = excluded.updated_by, updated_at = now()`
    }
    await this.load()
    this.onChanged()
  }
}

const keyOf = (projectId: number, agent: string | null) => `${projectId} ${agent === null ? '' : `agent ${agent}`}`
