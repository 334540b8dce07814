// When a running session counts as quiet: silent for longer than is usual for its agent. Its status stays as reported.
import type { Sql } from '../database/connect.ts'

export const MIN_QUIET_MS = 5 * 60_000
const MAX_QUIET_MS = 365 * 86_400_000
const QUIET_WHILE_UNKNOWN_MS = 30 * 60_000
const MIN_HISTORY = 20
const HISTORY = 200
const KEEP_MS = 60_000
const MAX_KEPT = 10_000

/** @param durationsMs of an agent's last closed sessions */
export function quietAfterMs(durationsMs: number[]): number {
  if (durationsMs.length < MIN_HISTORY) return QUIET_WHILE_UNKNOWN_MS
  const sorted = durationsMs.toSorted((a, b) => a - b)
  const p95 = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))]!
  return Math.min(Math.max(MIN_QUIET_MS, 3 * p95), MAX_QUIET_MS)
}

/** Remembers for a minute what is usual for each agent. */
export class QuietTimes {
  private kept = new Map<string, { until: number; afterMs: Promise<number> }>()

  constructor(private readonly sql: Sql) {}

  /** milliseconds of silence after which a running session of this agent is quiet */
  afterMs(projectId: number, agent: string | null): Promise<number> {
    const key = `${projectId} ${agent ?? ''}`
    const before = this.kept.get(key)
    if (before && before.until > Date.now()) return before.afterMs
    const afterMs = this.read(projectId, agent).catch(() => QUIET_WHILE_UNKNOWN_MS)
    if (this.kept.size >= MAX_KEPT) this.kept.clear()
    this.kept.set(key, { until: Date.now() + KEEP_MS, afterMs })
    return afterMs
  }

  private async read(projectId: number, agent: string | null): Promise<number> {
    const rows = await this.sql`
      select duration_ms from sessions
      where project_id = ${projectId} and ${agent === null ? this.sql`agent is null` : this.sql`agent = ${agent}`} and status <> 'RUNNING' and duration_ms is not null
      order by first_seen_at desc limit ${HISTORY}`
    return quietAfterMs(rows.map((row) => row.durationMs as number))
  }
}
