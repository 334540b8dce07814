// How agents are read: sums of the hours and days of a span, whole or part by part, and their models.
import type { Sql } from '../database/connect.ts'
import type { Platform } from '../sessions/session.ts'
import { durationOfBucket, sumOfUse, SUMS } from './rollups.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAX_AGENTS = 1_000
const MAX_MODELS = 100
const MAX_PARTS = 100_000

/** From the beginning of an hour, or of all; up to the beginning of an hour, or now. */
export interface Span {
  from: Date | null
  to: Date | null
}

export interface AgentSums {
  projectId: number
  /** null gathers the sessions without a name */
  name: string | null
  platforms: Platform[]
  runs: number
  running: number
  completed: number
  failed: number
  lastSeenAt: Date
  /** null where none is known */
  costUsd: string | null
  promptTokens: string | null
  completionTokens: string | null
  unpricedRuns: number
  estimatedRuns: number
  span: Span
  /** how long the part of the span is that this adds up, and where it begins; null for the whole */
  partHours: number | null
  startsAt: Date | null
}

/** Of closed runs with a known duration, in milliseconds, within 1 %. */
export interface AgentDurations {
  p50: number
  p95: number
}

export interface ModelSums {
  projectId: number
  name: string | null
  model: string
  runs: number
  calls: string
  promptTokens: string | null
  completionTokens: string | null
  costUsd: string | null
}

/** The span in whole hours in which the last so many lie: what a list of that time shows is in it. */
export function spanOfLast(hours: number | null, now = Date.now()): Span {
  return { from: hours === null ? null : new Date(Math.floor(now / HOUR_MS - hours) * HOUR_MS), to: null }
}

/** As long as a span up to now, and just before it; null where that has no beginning. */
export function spanBefore({ from }: Span, now = Date.now()): Span | null {
  if (from === null) return null
  const hours = Math.floor((now - from.getTime()) / HOUR_MS)
  return { from: new Date(from.getTime() - hours * HOUR_MS), to: from }
}

/** How a span is shown in parts: by the hour for a day, by six hours for a week, by the day (UTC) for longer. */
export function partHoursOf({ from, to }: Span, now = Date.now()): number {
  if (from === null) return 24
  const hours = ((to?.getTime() ?? now) - from.getTime()) / HOUR_MS
  return hours <= 49 ? 1 : hours <= 8 * 24 ? 6 : 24
}

/** Whole days of the span by the day, what is left at both ends by the hour. */
function partsOf(sql: Sql, projectIds: number[], { from, to }: Span, names: string[] | null, hoursOnly: boolean) {
  const of = sql`project_id = any(${projectIds}::int2[]) ${names ? sql`and agent = any(${names})` : sql``}`
  const rows = (grain: 'HOUR' | 'DAY', since: Date | null, until: Date | null) => sql`
    select * from agent_rollups
    where ${of} and grain = ${grain} ${since ? sql`and starts_at >= ${since}` : sql``} ${until ? sql`and starts_at < ${until}` : sql``}`
  const firstDay = from && new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS)
  const lastDay = to && new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS)
  if (hoursOnly || (firstDay && lastDay && firstDay >= lastDay)) return rows('HOUR', from, to)
  return sql`
    ${rows('DAY', firstDay, lastDay)}
    ${from ? sql`union all ${rows('HOUR', from, firstDay)}` : sql``}
    ${to ? sql`union all ${rows('HOUR', lastDay, to)}` : sql``}`
}

interface Reading {
  projectIds: number[]
  span: Span
  /** '' stands for the sessions without a name; null for all */
  names: string[] | null
  /** how long the parts are, aligned to midnight in UTC; null for the whole span at once */
  partHours: number | null
}

/** The rows of a reading, with where the part of each begins. */
function rowsOf(sql: Sql, { projectIds, span, names, partHours }: Reading) {
  const startsAt = partHours
    ? sql`date_bin(${partHours} * interval '1 hour', starts_at, timestamptz '2000-01-01 00:00Z')`
    : sql`null::timestamptz`
  return sql`select r.*, ${startsAt} as part_at from (${partsOf(sql, projectIds, span, names, (partHours ?? 24) < 24)}) r`
}

async function readSums(sql: Sql, reading: Reading): Promise<AgentSums[]> {
  const rows = await sql`
    select project_id, agent, part_at, ${sql.unsafe(SUMS)} from (${rowsOf(sql, reading)}) r
    group by project_id, agent, part_at
    order by part_at, last_seen_at desc limit ${reading.partHours ? MAX_PARTS : MAX_AGENTS}`
  const { span, partHours } = reading
  return rows.map(({ agent, partAt, ...sums }) => ({
    ...(sums as unknown as AgentSums),
    name: agent || null,
    span,
    partHours,
    startsAt: partAt,
  }))
}

/** Of sums that were read, in their order; null where no duration is known. */
export async function readDurations(sql: Sql, all: readonly AgentSums[]): Promise<(AgentDurations | null)[]> {
  const readings = new Map(
    all.map((sums) => [`${sums.span.from?.getTime()} ${sums.span.to?.getTime()} ${sums.partHours}`, sums]),
  )
  const found = new Map<string, AgentDurations>()
  for (const [key, { span, partHours }] of readings) {
    const rows = await sql`
      with duration as (
        select project_id, agent, part_at, bucket, sum(count) as count
        from (${rowsOf(sql, { projectIds: idsOf(all), span, names: namesOf(all), partHours })}) r
        cross join lateral unnest(duration_buckets, duration_counts) d (bucket, count)
        group by project_id, agent, part_at, bucket
      ), ranked as (
        select *, sum(count) over (partition by project_id, agent, part_at order by bucket) as up_to,
          sum(count) over (partition by project_id, agent, part_at) as total
        from duration
      )
      select project_id, agent, part_at, min(bucket) filter (where up_to >= 0.5 * total) as p50,
        min(bucket) filter (where up_to >= 0.95 * total) as p95
      from ranked group by project_id, agent, part_at`
    for (const { projectId, agent, partAt, p50, p95 } of rows)
      found.set(`${key} ${projectId} ${partAt?.getTime()} ${agent}`, {
        p50: durationOfBucket(p50),
        p95: durationOfBucket(p95),
      })
  }
  return all.map(({ span, partHours, projectId, startsAt, name }) => {
    const key = `${span.from?.getTime()} ${span.to?.getTime()} ${partHours}`
    return found.get(`${key} ${projectId} ${startsAt?.getTime()} ${name ?? ''}`) ?? null
  })
}

const namesOf = (agents: readonly { name: string | null }[]) => [...new Set(agents.map(({ name }) => name ?? ''))]
const idsOf = (agents: readonly { projectId: number }[]) => [...new Set(agents.map(({ projectId }) => projectId))]
interface Named {
  projectId: number
  name: string | null
}
const keyOf = ({ projectId, name }: Named) => `${projectId} ${name ?? ''}`
const isOf = (one: Named) => (other: Named) => keyOf(one) === keyOf(other)

/** The last seen first; at most 1,000. */
export const readAgents = (sql: Sql, projectIds: number[], span: Span, name?: string): Promise<AgentSums[]> =>
  readSums(sql, { projectIds, span, names: name === undefined ? null : [name], partHours: null })

/** Agents of several lists may be asked for at once: each list has a span of its own. */
async function ofEachSpan<T>(
  agents: readonly AgentSums[],
  read: (agents: readonly AgentSums[]) => Promise<T[]>,
): Promise<T[]> {
  const answers = new Map<AgentSums, T>()
  for (const from of new Set(agents.map(({ span }) => span.from?.getTime()))) {
    const list = agents.filter(({ span }) => span.from?.getTime() === from)
    for (const [i, answer] of (await read(list)).entries()) answers.set(list[i]!, answer)
  }
  return agents.map((agent) => answers.get(agent)!)
}

/** What each added up to in the time before its span, in their order; null where that has no beginning or it did not run. */
export const readBefore = (sql: Sql, all: readonly AgentSums[]): Promise<(AgentSums | null)[]> =>
  ofEachSpan(all, async (agents) => {
    const span = spanBefore(agents[0]!.span)
    const sums = span
      ? await readSums(sql, { projectIds: idsOf(agents), span, names: namesOf(agents), partHours: null })
      : []
    return agents.map((agent) => sums.find(isOf(agent)) ?? null)
  })

/** Each part of their spans in which they ran, the oldest first. */
export const readParts = (sql: Sql, all: readonly AgentSums[]): Promise<AgentSums[][]> =>
  ofEachSpan(all, async (agents) => {
    const { span } = agents[0]!
    const reading = { projectIds: idsOf(agents), span, names: namesOf(agents), partHours: partHoursOf(span) }
    const byAgent = new Map<string, AgentSums[]>(agents.map((agent) => [keyOf(agent), []]))
    for (const part of await readSums(sql, reading)) byAgent.get(keyOf(part))?.push(part)
    return agents.map((agent) => byAgent.get(keyOf(agent))!)
  })

/** Models of analysed runs, the dearest first, then those of most calls. */
export const readModels = (sql: Sql, all: readonly AgentSums[]): Promise<ModelSums[][]> =>
  ofEachSpan(all, async (agents) => {
    const rows = (await sql`
      select project_id, nullif(agent, '') as name, model, runs::int, calls, prompt_tokens, completion_tokens, cost_usd
      from (
        select project_id, agent, u.key as model, ${sql.unsafe(sumOfUse('u.value'))}
        from (${partsOf(sql, idsOf(agents), agents[0]!.span, namesOf(agents), false)}) r cross join lateral jsonb_each(models) u
        group by project_id, agent, model) m
      order by cost_usd desc nulls last, calls desc, model`) as unknown as ModelSums[]
    return agents.map((agent) => rows.filter(isOf(agent)).slice(0, MAX_MODELS))
  })
