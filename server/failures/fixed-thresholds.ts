// The limits that people fixed, for a project or one agent, kept in memory and read anew when they change.
import type { Sql } from '../database/connect.ts'
import { NOTHING_FIXED, type FixedThresholds, type Settings } from './thresholds.ts'

export interface FixedRow extends FixedThresholds {
  projectId: number
  /** null stands for the project */
  agent: string | null
  updatedAt: Date
  updatedBy: string
}

export class FixedThresholdSettings {
  private rows = new Map<string, FixedRow>()
  private loads = 0
  private newestLoad = 0

  constructor(
    private readonly sql: Sql,
    private readonly onChanged: () => void,
  ) {}

  async load(): Promise<void> {
    const turn = ++this.loads
    const rows = await this.sql`select * from thresholds order by project_id, agent nulls first`
    if (turn < this.newestLoad) return
    this.newestLoad = turn
    this.rows = new Map(rows.map((row) => [keyOf(row.project_id, row.agent), fixedRow(row)]))
  }

  list(projectIds: number[]): FixedRow[] {
    return [...this.rows.values()].filter(({ projectId }) => projectIds.includes(projectId))
  }

  settingsFor(projectId: number, agent: string | null): Settings {
    return {
      project: this.rows.get(keyOf(projectId, null)) ?? NOTHING_FIXED,
      agent: (agent !== null && this.rows.get(keyOf(projectId, agent))) || NOTHING_FIXED,
    }
  }

  /** @param agent null sets the project's own. Nothing fixed takes the row away. */
  async set(projectId: number, agent: string | null, fixed: FixedThresholds, updatedBy: string): Promise<void> {
    const { latencyMs, costUsd, tokens, loopRounds } = fixed
    if (Object.values({ latencyMs, costUsd, tokens, loopRounds }).every((value) => value === null)) {
      await this.sql`delete from thresholds where project_id = ${projectId} and agent is not distinct from ${agent}`
    } else {
      await this.sql`
        insert into thresholds (project_id, agent, latency_ms, cost_usd, tokens, loop_rounds, updated_by)
        values (${projectId}, ${agent}, ${latencyMs}, ${costUsd}, ${tokens}, ${loopRounds}, ${updatedBy})
        on conflict (project_id, agent) do update set latency_ms = excluded.latency_ms, cost_usd = excluded.cost_usd,
          tokens = excluded.tokens, loop_rounds = excluded.loop_rounds, updated_by = excluded.updated_by, updated_at = now()`
    }
    await this.load()
    this.onChanged()
  }
}

const keyOf = (projectId: number, agent: string | null) => `${projectId} ${agent === null ? '' : `agent ${agent}`}`
const number = (value: unknown) => (value === null ? null : Number(value))

const fixedRow = (row: Record<string, unknown>): FixedRow => ({
  projectId: row.project_id as number,
  agent: row.agent as string | null,
  latencyMs: number(row.latency_ms),
  costUsd: number(row.cost_usd),
  tokens: number(row.tokens),
  loopRounds: number(row.loop_rounds),
  updatedAt: row.updated_at as Date,
  updatedBy: row.updated_by as string,
})
