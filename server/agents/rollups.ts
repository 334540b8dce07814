// How the sums of agents are kept: hours from their sessions, days from their hours, in SQL.
import type { Sql } from '../database/connect.ts'

/** A duration is known within a hundredth: each bucket ends two hundredths above the one before. */
const GROWTH = 1.02
/** Below it all is 0. */
const LEAST_MS = 0.1
const ZERO_BUCKET = -1_000
const HOURS_AT_ONCE = 200
const HOURS_PER_STATEMENT = 50
/** Hours of an agent may hold a hundred thousand runs; what is worked out here locks nothing that others wait for. */
const WITHIN_MS = 120_000
const ROLLUP_LOCK = 7_240_011

/** The middle of a bucket, in milliseconds: no duration in it differs by more than 1 %. */
export const durationOfBucket = (bucket: number): number =>
  bucket === ZERO_BUCKET ? 0 : (2 * GROWTH ** bucket) / (GROWTH + 1)

/** What has to be selected from rows of agent_rollups, grouped by keys, to add them up. */
export const SUMS = `
  sum(runs)::int as runs, sum(running)::int as running, sum(completed)::int as completed, sum(failed)::int as failed,
  sum(cost_usd) as cost_usd, sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
  sum(unpriced_runs)::int as unpriced_runs, sum(estimated_runs)::int as estimated_runs, max(last_seen_at) as last_seen_at,
  (select array_agg(distinct p order by p) from unnest(string_to_array(string_agg(array_to_string(platforms, ' '), ' '), ' ')) p) as platforms`

const KEY = 'project_id, agent, starts_at'
const COLUMNS = `project_id, agent, starts_at, grain, platforms, runs, running, completed, failed, cost_usd, prompt_tokens,
  completion_tokens, unpriced_runs, estimated_runs, last_seen_at, duration_buckets, duration_counts, models`
const SAID = COLUMNS.split(',')
  .map((name) => name.trim())
  .slice(4)

/** Joins the three parts of a rollup and writes what is new in them. */
const write = (grain: 'HOUR' | 'DAY') => `
  insert into agent_rollups as r (${COLUMNS})
  select ${KEY}, '${grain}', platforms, runs, running, completed, failed, cost_usd, prompt_tokens, completion_tokens,
    unpriced_runs, estimated_runs, last_seen_at, coalesce(buckets, '{}'), coalesce(counts, '{}'), coalesce(models, '{}')
  from sums left join durations using (${KEY}) left join models using (${KEY})
  on conflict (project_id, grain, starts_at, agent) do update set ${SAID.map((name) => `${name} = excluded.${name}`).join(', ')}
  where (${SAID.map((name) => `r.${name}`).join(', ')}) is distinct from (${SAID.map((name) => `excluded.${name}`).join(', ')})
  returning project_id, agent, starts_at`

const KEYS = `k as materialized (
  select * from unnest($1::int2[], $2::text[], $3::timestamptz[]) as k (project_id, agent, starts_at))`

const gone = (grain: 'HOUR' | 'DAY') => `gone as (
  delete from agent_rollups r using k
  where r.project_id = k.project_id and r.grain = '${grain}' and r.starts_at = k.starts_at and r.agent = k.agent
    and not exists (select from sums s where s.project_id = k.project_id and s.agent = k.agent and s.starts_at = k.starts_at)
  returning r.project_id, r.agent, r.starts_at)`

const sessionsWhere = (agent: string) => `
  select k.project_id, k.agent, k.starts_at, o.* from k cross join lateral (
    select platform, status, duration_ms, cost_usd, prompt_tokens, completion_tokens, unpriced_calls, tokens_estimated,
      model_use, first_seen_at
    from sessions
    where project_id = k.project_id and ${agent}
      and first_seen_at >= k.starts_at and first_seen_at < k.starts_at + interval '1 hour' offset 0) o`

const ROLL_HOURS = `
with ${KEYS}, s as materialized (
  ${sessionsWhere('agent = k.agent')}
  union all
  ${sessionsWhere(`k.agent = '' and agent is null`)}
), sums as materialized (
  select ${KEY}, array_agg(distinct platform order by platform) as platforms, count(*)::int as runs,
    count(*) filter (where status = 'RUNNING')::int as running, count(*) filter (where status = 'COMPLETED')::int as completed,
    count(*) filter (where status = 'FAILED')::int as failed, sum(cost_usd) as cost_usd, sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens, count(*) filter (where unpriced_calls > 0)::int as unpriced_runs,
    count(*) filter (where tokens_estimated)::int as estimated_runs, max(first_seen_at) as last_seen_at
  from s group by ${KEY}
), durations as (
  select ${KEY}, array_agg(bucket order by bucket) as buckets, array_agg(count order by bucket) as counts
  from (
    select ${KEY}, case when duration_ms < ${LEAST_MS} then ${ZERO_BUCKET} else least(ceil(ln(duration_ms) / ln(${GROWTH})), 32000) end::int2 as bucket, count(*)::int as count
    from s where status <> 'RUNNING' and duration_ms is not null group by ${KEY}, bucket) b
  group by ${KEY}
), models as (
  select ${KEY}, jsonb_object_agg(model, jsonb_build_array(runs, calls, prompt_tokens, completion_tokens, cost_usd)) as models
  from (
    select ${KEY}, u.key as model, count(*) as runs, sum((u.value->>0)::numeric) as calls, sum((u.value->>1)::numeric) as prompt_tokens,
      sum((u.value->>2)::numeric) as completion_tokens, sum((u.value->>3)::numeric) as cost_usd
    from s cross join lateral jsonb_each(model_use) u group by ${KEY}, model) m
  group by ${KEY}
), ${gone('HOUR')}, kept as (${write('HOUR')})
select project_id, agent, starts_at from kept union all select project_id, agent, starts_at from gone`

const ROLL_DAYS = `
with ${KEYS}, h as materialized (
  select r.*, k.starts_at as day from k join agent_rollups r
    on r.project_id = k.project_id and r.agent = k.agent and r.grain = 'HOUR'
      and r.starts_at >= k.starts_at and r.starts_at < k.starts_at + interval '24 hours'
), sums as materialized (
  select project_id, agent, day as starts_at, ${SUMS} from h group by project_id, agent, day
), durations as (
  select ${KEY}, array_agg(bucket order by bucket) as buckets, array_agg(count order by bucket) as counts
  from (
    select project_id, agent, day as starts_at, d.bucket, sum(d.count)::int as count
    from h cross join lateral unnest(duration_buckets, duration_counts) d (bucket, count)
    group by project_id, agent, day, d.bucket) b
  group by ${KEY}
), models as (
  select ${KEY}, jsonb_object_agg(model, jsonb_build_array(runs, calls, prompt_tokens, completion_tokens, cost_usd)) as models
  from (
    select project_id, agent, day as starts_at, u.key as model, ${sumOfUse('u.value')}
    from h cross join lateral jsonb_each(models) u group by project_id, agent, day, model) m
  group by ${KEY}
), ${gone('DAY')}, kept as (${write('DAY')})
select project_id, agent, starts_at from kept union all select project_id, agent, starts_at from gone`

/** Adds up entries of the column models. */
export function sumOfUse(entry: string): string {
  const names = ['runs', 'calls', 'prompt_tokens', 'completion_tokens', 'cost_usd']
  return names.map((name, place) => `sum((${entry}->>${place})::numeric) as ${name}`).join(', ')
}

interface Slot {
  projectId: number
  agent: string
  startsAt: Date
}

/**
 * Works out anew the hours in which something changed since the last time, over all servers by one at a time.
 * @param marginMs how much earlier something may have come that was committed only now
 * @param onRolled called after each commit with the projects in which sums changed
 * @returns false where another server is at it
 */
export async function rollUp(sql: Sql, marginMs: number, onRolled: (projectIds: number[]) => void): Promise<boolean> {
  for (let isFirst = true, isMore = true; isMore; isFirst = false) {
    const part = await rollSome(sql, isFirst ? marginMs : null)
    if (part === null) return false
    if (part.projectIds.length > 0) onRolled(part.projectIds)
    isMore = part.isMore
  }
  return true
}

/** @param marginMs null where only what was named as due is left */
function rollSome(sql: Sql, marginMs: number | null): Promise<{ projectIds: number[]; isMore: boolean } | null> {
  return sql.begin(async (tx) => {
    const [lock] = await tx`select pg_try_advisory_xact_lock(${ROLLUP_LOCK}) as taken, now() as now`
    if (!lock!.taken) return null
    // A server says when something came by its own clock, which may be behind that of the database.
    const until = new Date(Math.min(lock!.now.getTime(), Date.now()))
    await tx.unsafe(`set local statement_timeout = ${WITHIN_MS}`)
    const due = await tx`
      delete from agent_rollups_due where ctid = any(array(select ctid from agent_rollups_due limit ${HOURS_AT_ONCE}))
      returning project_id, agent, starts_at`
    // A session gets its name once: it may have been counted among those without one, or by its workflow's id, until then.
    const came =
      marginMs === null
        ? []
        : await tx`
            select distinct project_id, unnest(array[coalesce(agent, ''), '', coalesce(workflow_id, '')]) as agent,
              date_trunc('hour', first_seen_at, 'UTC') as starts_at
            from sessions
            where last_event_at >= (select at from agent_rollups_until) - ${marginMs} * interval '1 millisecond'`
    const slots = new Map<string, Slot>()
    for (const { project_id, agent, starts_at } of [...due, ...came])
      slots.set(`${project_id} ${starts_at.getTime()} ${agent}`, { projectId: project_id, agent, startsAt: starts_at })
    const hours = [...slots.values()]
    const projectIds = new Set<number>()
    for (let i = 0; i < hours.length; i += HOURS_PER_STATEMENT) {
      const written = await tx.unsafe(ROLL_HOURS, listed(hours.slice(i, i + HOURS_PER_STATEMENT)), { prepare: true })
      const days = new Map<string, Slot>()
      for (const { project_id, agent, starts_at } of written) {
        projectIds.add(project_id)
        const day = new Date(starts_at)
        day.setUTCHours(0)
        days.set(`${project_id} ${day.getTime()} ${agent}`, { projectId: project_id, agent, startsAt: day })
      }
      if (days.size > 0) await tx.unsafe(ROLL_DAYS, listed([...days.values()]), { prepare: true })
    }
    if (marginMs !== null) await tx`update agent_rollups_until set at = ${until}`
    return { projectIds: [...projectIds], isMore: due.length === HOURS_AT_ONCE }
  }) as Promise<{ projectIds: number[]; isMore: boolean } | null>
}

const listed = (slots: Slot[]) => [
  slots.map(({ projectId }) => projectId),
  slots.map(({ agent }) => agent),
  slots.map(({ startsAt }) => startsAt.toISOString()),
]

/** Appended to a statement: the hours of these rows of sessions are due. `from` gives project_id, agent and first_seen_at. */
export const dueFrom = (from: string): string => `
  insert into agent_rollups_due (project_id, agent, starts_at)
  select distinct project_id, coalesce(agent, ''), date_trunc('hour', first_seen_at, 'UTC') from ${from}`
