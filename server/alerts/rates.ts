// Failure rates of agents, counted over what was committed; an alert when one is over a rule's share.
import type { Sql } from '../database/connect.ts'
import type { NewDelivery } from './alert.ts'
import { deliver } from './raise.ts'

const EVERY_MS = 10_000
const SOON_MS = 1_000
/** times as long as the last count took, so that a long window does not keep the database busy */
const REST = 5
/** One server counts at a time: the window of an alert must not overlap that of the one before. */
const LOCK = 7_240_005

/**
 * A run counts as failed that carries a failure as the rule wants it and whose pattern is not muted, or that was reported
 * as failed without one. An agent is told of again when as much time has passed as is counted over; a mute that
 * is over takes no part in that.
 */
const RAISE_RATES = `
with counted as (
  select r.id as rule_id, r.project_id, r.window_minutes, r.failure_share, x.*
  from alert_rules r cross join lateral (
    select s.agent, count(*)::int as runs, count(*) filter (where w.is_failed)::int as failed,
      max(s.severity) filter (where w.is_failed) as severity
    from sessions s cross join lateral (
      select case when s.failure_count = 0
        then s.status = 'FAILED' and r.min_severity = 1 and cardinality(r.categories) = 0
        else exists (select from failures f left join failure_patterns p on p.id = f.pattern_id
          where f.session_id = s.id and f.severity >= r.min_severity
            and (cardinality(r.categories) = 0 or f.category = any(r.categories))
            and coalesce(p.muted_until <= now(), true)) end as is_failed) w
    where s.project_id = r.project_id and s.status <> 'RUNNING' and s.classified_content = s.content_revision
      and s.last_event_at > greatest(r.enabled_at, now() - make_interval(mins => r.window_minutes))
      and (r.platform is null or s.platform = r.platform)
      and (cardinality(r.agents) = 0 or s.agent = any(r.agents))
    group by s.agent
    having count(*) >= r.min_runs and count(*) filter (where w.is_failed)::float8 / count(*) >= r.failure_share
  ) x
  where r.is_enabled and r.kind = 'FAILURE_RATE'
), raised as (
  insert into alerts (id, project_id, rule_id, subject, kind, agent, severity, facts, suppressed_by)
  select gen_random_uuid(), c.project_id, c.rule_id,
    format('agent/%s/%s', c.agent, to_char((now() - make_interval(mins => c.window_minutes)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
    'FAILURE_RATE', c.agent, c.severity,
    jsonb_build_object('runs', c.runs, 'failed', c.failed, 'minutes', c.window_minutes, 'share', c.failure_share),
    case when m.agent is not null then 'AGENT_MUTED' end
  from counted c
  left join muted_agents m on m.project_id = c.project_id and m.agent = c.agent and m.muted_until > now()
  where not exists (select from alerts o where o.rule_id = c.rule_id and o.agent is not distinct from c.agent
    and o.created_at > now() - make_interval(mins => c.window_minutes) and (o.suppressed_by is null or m.agent is not null))
  on conflict (rule_id, subject) do nothing
  returning id, project_id, rule_id, suppressed_by
), delivered as (${deliver('raised')})
select * from delivered`

export class FailureRates {
  private timer: NodeJS.Timeout | null = null
  private working: Promise<void> = Promise.resolve()
  private isClosed = false
  private dueAt = 0
  private restedAt = 0

  constructor(
    private readonly options: {
      sql: Sql
      onRaised(deliveries: NewDelivery[]): void
      onError(error: unknown, what: string): void
    },
  ) {}

  /** Counts now and then every few seconds: shares change without a failure too, as older runs leave the window. */
  start(): void {
    this.countAt(0)
  }

  /** Failures were found: counts within a second, or as soon as it has rested from the last time. */
  soon(): void {
    this.countAt(Math.max(SOON_MS, this.restedAt - Date.now()))
  }

  async close(): Promise<void> {
    this.isClosed = true
    if (this.timer) clearTimeout(this.timer)
    await this.working
  }

  private countAt(inMs: number): void {
    const at = Date.now() + inMs
    if (this.isClosed || (this.timer && this.dueAt <= at)) return
    if (this.timer) clearTimeout(this.timer)
    this.dueAt = at
    this.timer = setTimeout(() => {
      this.timer = null
      this.working = this.count()
        .catch((error: unknown) => this.options.onError(error, 'failure rates could not be counted'))
        .then(() => this.countAt(Math.max(EVERY_MS, this.restedAt - Date.now())))
    }, inMs)
  }

  private async count(): Promise<void> {
    const { sql, onRaised } = this.options
    const began = Date.now()
    const raised = (await sql.begin(async (tx) => {
      const [lock] = await tx`select exists (select from alert_rules where is_enabled and kind = 'FAILURE_RATE')
        and pg_try_advisory_xact_lock(${LOCK}) as taken`
      return lock!.taken ? await tx.unsafe(RAISE_RATES) : []
    })) as Record<string, any>[]
    this.restedAt = Date.now() + REST * (Date.now() - began)
    if (raised.length > 0) {
      onRaised(raised.map((row) => ({ id: row.id, projectId: row.project_id, channelId: row.channel_id })))
    }
  }
}

/** What was counted, as it is kept with an alert. */
export interface RateFacts {
  runs: number
  failed: number
  minutes: number
  share: number
}

export const rateTitle = (agent: string | null, { runs, failed }: RateFacts) =>
  `${failed} of ${runs} runs ${agent === null ? 'without a name' : `of ${agent}`} failed`
