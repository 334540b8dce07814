// Thresholds tried on history: which sessions of the last 30 days would gain or lose a failure. Nothing is changed.
import type { Sql } from '../database/connect.ts'
import type { FailureCategory } from './failure.ts'
import { readRuns } from './history.ts'
import { isOverLimit } from './rules-of-measures.ts'
import { HISTORY, pastRuns, thresholdsOf, type PastRun, type Settings } from './thresholds.ts'

export const PREVIEW_DAYS = 30
const MAX_CHECKED = 20_000
const MAX_LISTED = 100
/** After so many sessions others get their turn. */
const PORTION = 200
const MEASURED: FailureCategory[] = ['LATENCY_SPIKE', 'COST_ANOMALY', 'INFINITE_LOOP']

export interface Preview {
  since: Date
  checked: number
  /** there were more; the newest were checked */
  isCut: boolean
  gained: number
  lost: number
  /** ids of sessions, the newest first, at most 100 each */
  gainedIds: string[]
  lostIds: string[]
}

/**
 * @param agent undefined for all of the project, null for sessions without a name
 * @param settingsFor what would hold for an agent
 */
export async function previewThresholds(
  sql: Sql,
  projectId: number,
  agent: string | null | undefined,
  settingsFor: (agent: string | null) => Settings,
  now = Date.now(),
): Promise<Preview> {
  const since = new Date(now - PREVIEW_DAYS * 86_400_000)
  const rows = (await sql`
    select id, agent, failure_categories from sessions
    where project_id = ${projectId} and platform = 'PLATFORM_B' and status <> 'RUNNING' and first_seen_at >= ${since}
      ${agent === undefined ? sql`` : agent === null ? sql`and agent is null` : sql`and agent = ${agent}`}
    order by first_seen_at desc limit ${MAX_CHECKED + 1}`) as unknown as {
    id: string
    agent: string | null
    failureCategories: FailureCategory[]
  }[]
  const isCut = rows.length > MAX_CHECKED
  const checked = rows.slice(0, MAX_CHECKED)
  const stored = new Map(checked.map((row) => [row.id, row.failureCategories]))
  const would = new Map<string, FailureCategory[]>()
  for (const name of new Set(checked.map((row) => row.agent))) {
    const settings = settingsFor(name)
    const count = checked.filter((row) => row.agent === name).length
    // With the runs before the first of them, which it is compared with.
    const runs = await readRuns(sql, projectId, name, null, count + HISTORY)
    for (let i = 0; i < runs.length; i++) {
      if (i % PORTION === 0) await new Promise((resolve) => setImmediate(resolve))
      if (stored.has(runs[i]!.id)) would.set(runs[i]!.id, measuredFailures(runs, i, settings))
    }
  }
  const gainedIds: string[] = []
  const lostIds: string[] = []
  for (const { id } of checked) {
    const before = stored.get(id)!.filter((category) => MEASURED.includes(category))
    const after = would.get(id) ?? before
    if (after.some((category) => !before.includes(category))) gainedIds.push(id)
    if (before.some((category) => !after.includes(category))) lostIds.push(id)
  }
  return {
    since,
    checked: checked.length,
    isCut,
    gained: gainedIds.length,
    lost: lostIds.length,
    gainedIds: gainedIds.slice(0, MAX_LISTED),
    lostIds: lostIds.slice(0, MAX_LISTED),
  }
}

/** @param runs newest first */
function measuredFailures(runs: PastRun[], place: number, settings: Settings): FailureCategory[] {
  const run = runs[place]!
  const earlier: PastRun[] = []
  for (let i = place + 1; i < runs.length && earlier.length < HISTORY; i++) {
    if (runs[i]!.firstSeenAt < run.firstSeenAt) earlier.push(runs[i]!)
  }
  const thresholds = thresholdsOf(pastRuns(earlier), settings)
  return MEASURED.filter((category) => isOverLimit(category, run, thresholds))
}
