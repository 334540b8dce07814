// How deliveries are read: the log that shows who was told of what, and when.
import type { Sql } from '../database/connect.ts'
import type { FailureCategory } from '../failures/failure.ts'
import type { ChannelKind, DeliveryState, RuleKind, SuppressedBy } from './alert.ts'
import type { RateFacts } from './rates.ts'

export interface DeliveryRow {
  id: string
  projectId: number
  alertId: string
  ruleId: string
  rule: string
  channelId: string
  channel: string
  channelKind: ChannelKind
  kind: RuleKind
  sessionId: string | null
  patternId: string | null
  agent: string | null
  severity: number | null
  category: FailureCategory | null
  facts: RateFacts | null
  /** of the message; null before it was made */
  told: string | null
  /** of the failure; null where it is not found any more */
  failure: string | null
  state: DeliveryState
  suppressedBy: SuppressedBy | null
  attemptCount: number
  /** while an attempt runs, null */
  nextAttemptAt: Date | null
  isTrying: boolean
  createdAt: Date
  alertedAt: Date
  settledAt: Date | null
  /** of the last attempt that ended */
  lastStatus: number | null
  lastProblem: string | null
}

export interface AttemptRow {
  number: number
  startedAt: Date
  durationMs: number | null
  isDelivered: boolean | null
  status: number | null
  answer: string | null
  problem: string | null
}

export interface DeliveryFilter {
  states?: DeliveryState[] | null
  ruleId?: string | null
  channelId?: string | null
  sessionId?: string | null
  agents?: (string | null)[] | null
}

/** An attempt without an end is running for this long at most; then its server ended in it. */
const RUNNING_FOR = `interval '15 seconds'`

const columns = (sql: Sql) => sql`
  d.id, d.project_id, d.alert_id, a.rule_id, r.name as rule, d.channel_id, c.name as channel, c.kind as channel_kind, a.kind,
  a.session_id, a.pattern_id, a.agent, a.severity, a.category, a.facts, a.message->>'title' as told, f.title as failure,
  d.state, d.suppressed_by, d.attempt_count, case when not coalesce(t.is_running, false) and d.next_attempt_at is not null
    then greatest(d.next_attempt_at, c.paused_until) end as next_attempt_at,
  d.state = 'QUEUED' and coalesce(t.is_running, false) as is_trying, d.created_at, a.created_at as alerted_at, d.settled_at,
  e.status as last_status, e.problem as last_problem`

const joins = (sql: Sql) => sql`
  join alerts a on a.id = d.alert_id join alert_rules r on r.id = a.rule_id join channels c on c.id = d.channel_id
  left join failures f on f.session_id = a.session_id and f.failure_key = a.failure_key
  left join lateral (select duration_ms is null and started_at > now() - ${sql.unsafe(RUNNING_FOR)} as is_running
    from delivery_attempts where delivery_id = d.id order by number desc limit 1) t on true
  left join lateral (select status, problem from delivery_attempts where delivery_id = d.id and duration_ms is not null
    order by number desc limit 1) e on true`

/** Newest first. */
export async function readDeliveries(
  sql: Sql,
  projectIds: number[],
  filter: DeliveryFilter,
  page: { limit: number; after: { at: string; id: string } | null },
): Promise<DeliveryRow[]> {
  const { states, ruleId, channelId, sessionId, agents } = filter
  const names = agents?.filter((name) => name !== null) ?? []
  return (await sql`
    select ${columns(sql)} from deliveries d ${joins(sql)}
    where d.project_id = any(${projectIds}::int2[])
      ${states?.length ? sql`and d.state = any(${states})` : sql``}
      ${ruleId ? sql`and a.rule_id = ${ruleId}` : sql``}
      ${channelId ? sql`and d.channel_id = ${channelId}` : sql``}
      ${sessionId ? sql`and a.session_id = ${sessionId}` : sql``}
      ${agents?.length ? sql`and (a.agent = any(${names}) or (a.agent is null and ${agents.includes(null)}))` : sql``}
      ${page.after ? sql`and (d.created_at, d.id) < (${page.after.at}::timestamptz, ${page.after.id}::uuid)` : sql``}
    order by d.created_at desc, d.id desc limit ${page.limit}`) as unknown as DeliveryRow[]
}

/** Of all projects: who may see them is for the caller to ask. */
export async function readDeliveriesById(sql: Sql, ids: readonly string[]): Promise<DeliveryRow[]> {
  return (await sql`
    select ${columns(sql)} from deliveries d ${joins(sql)}
    where d.id = any(${ids as string[]}::uuid[]) order by d.created_at, d.id`) as unknown as DeliveryRow[]
}

/** Of each session its deliveries, newest first; at most 100 each. */
export async function readDeliveriesOfSessions(sql: Sql, sessionIds: readonly string[]): Promise<DeliveryRow[][]> {
  const rows = (await sql`
    select ${columns(sql)} from unnest(${sessionIds as string[]}::uuid[]) as w (id)
    cross join lateral (select d.* from alerts o join deliveries d on d.alert_id = o.id where o.session_id = w.id
      order by d.created_at desc, d.id desc limit 100) d ${joins(sql)}
    order by d.created_at desc, d.id desc`) as unknown as DeliveryRow[]
  return sessionIds.map((id) => rows.filter(({ sessionId }) => sessionId === id))
}

/** Of each delivery its attempts, the first first. */
export async function readAttempts(sql: Sql, ids: readonly string[]): Promise<AttemptRow[][]> {
  const rows = (await sql`
    select delivery_id, number, started_at, duration_ms, is_delivered, status, answer, problem from delivery_attempts
    where delivery_id = any(${ids as string[]}::uuid[]) order by number`) as unknown as (AttemptRow & {
    deliveryId: string
  })[]
  return ids.map((id) => rows.filter(({ deliveryId }) => deliveryId === id))
}

/** What came of asking for one to be sent again; `channel-off` and `underway` changed nothing. */
export type SentAgain = { channelId: string; projectId: number } | 'not-there' | 'settled' | 'channel-off' | 'underway'

/**
 * Queues one again that was given up, from the start of its pauses; one that waits for its next attempt is due now, also
 * where its receiver asked for a pause: a person knows better.
 */
export async function sendAgain(sql: Sql, id: string, projectIds: number[]): Promise<SentAgain> {
  return await sql.begin(async (tx) => {
    // Locked first and looked at in a second statement, which sees an attempt that was begun meanwhile.
    await tx`select from deliveries where id = ${id} for update`
    const [row] = await tx`
      select d.channel_id, d.project_id, d.state, c.is_enabled, exists (select from delivery_attempts t
        where t.delivery_id = d.id and t.number = d.attempt_count and t.duration_ms is null
          and t.started_at > now() - ${sql.unsafe(RUNNING_FOR)}) as is_underway
      from deliveries d join channels c on c.id = d.channel_id
      where d.id = ${id} and d.project_id = any(${projectIds}::int2[])`
    if (!row) return 'not-there'
    if (row.state !== 'FAILED' && row.state !== 'QUEUED') return 'settled'
    if (!row.is_enabled) return 'channel-off'
    if (row.is_underway) return 'underway'
    await tx`
      update deliveries set state = 'QUEUED', retries = 0, queued_at = now(), next_attempt_at = now(), settled_at = null
      where id = ${id}`
    await tx`update channels set paused_until = null where id = ${row.channel_id} and paused_until is not null`
    return { channelId: row.channel_id as string, projectId: row.project_id as number }
  })
}

/** With the sessions that they are about. That a pattern was told of is kept, but no word of it. */
export async function forgetAlerts(sql: Sql, sessionIds: string[]): Promise<void> {
  await sql`delete from alerts where session_id = any(${sessionIds}::uuid[]) and kind = 'FAILURE'`
  await sql`
    update alerts set session_id = null, failure_key = null, message = null
    where session_id = any(${sessionIds}::uuid[])`
}

const KEPT = `interval '90 days'`

/** What was told long ago goes; sessions that go take theirs along. */
export async function pruneAlerts(sql: Sql): Promise<void> {
  await sql`delete from alerts where id in (
    select id from alerts where created_at < now() - ${sql.unsafe(KEPT)} order by created_at limit 10000)`
}
