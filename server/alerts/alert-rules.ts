// Alert rules and mutes: what people decide about when to be told. What they bring about is written with classifications.
import { randomUUID } from 'node:crypto'
import type { Sql } from '../database/connect.ts'
import { rankOfSeverity, severityOf } from '../failures/failure.ts'
import type { RuleConditions } from './alert.ts'

export interface RuleSettings extends RuleConditions {
  name: string
  isEnabled: boolean
  channelIds: string[]
}

export interface AlertRule extends RuleSettings {
  id: string
  projectId: number
  updatedAt: Date
  /** null where nobody has changed it yet */
  updatedBy: string | null
}

export interface MutedAgent {
  projectId: number
  agent: string
  mutedUntil: Date
  mutedBy: string
}

const LIMITS = { name: 100, agents: 50, channels: 20, cooldownMinutes: 10_080, minRuns: 100_000, windowMinutes: 10_080 }

/** A sentence that says what is wrong, else null. */
export function ruleProblem(rule: RuleSettings): string | null {
  const { name, agents, channelIds, isEnabled, kind } = rule
  if (name.length < 1 || name.length > LIMITS.name)
    return `name must have 1 to ${LIMITS.name} characters, not ${name.length}.`
  if (agents.length > LIMITS.agents) return `agents takes at most ${LIMITS.agents} names, not ${agents.length}.`
  const wrong = agents.find((one) => one.trim().length < 1 || one.length > 500)
  if (wrong !== undefined)
    return `agents must be names of 1 to 500 characters, not ${wrong.trim().length && wrong.length} ("${wrong.slice(0, 80)}").`
  if (channelIds.length > LIMITS.channels) return `channels takes at most ${LIMITS.channels}, not ${channelIds.length}.`
  if (isEnabled && channelIds.length === 0) return 'A rule that is switched on needs at least one channel to tell.'
  const whole = (field: 'cooldownMinutes' | 'minRuns' | 'windowMinutes', least: number) =>
    numberProblem(field, rule[field], least, LIMITS[field], true)
  return kind === 'FAILURE_RATE'
    ? (whole('minRuns', 1) ??
        whole('windowMinutes', 1) ??
        numberProblem('failureShare', rule.failureShare, 0.001, 1, false))
    : whole('cooldownMinutes', 0)
}

function numberProblem(
  field: string,
  value: number | null,
  least: number,
  most: number,
  isWhole: boolean,
): string | null {
  if (value !== null && value >= least && value <= most && (!isWhole || Number.isInteger(value))) return null
  return `${field} must be ${isWhole ? 'a whole number' : 'a number'} from ${least} to ${most}, not ${value}.`
}

export class AlertRules {
  constructor(private readonly sql: Sql) {}

  async list(projectIds: number[]): Promise<AlertRule[]> {
    const rows = await this.sql`
      select * from alert_rules where project_id = any(${projectIds}::int2[]) and deleted_at is null order by created_at, id`
    return rows.map(ruleOf)
  }

  async find(id: string): Promise<AlertRule | null> {
    const [row] = await this.sql`select * from alert_rules where id = ${id} and deleted_at is null`
    return row ? ruleOf(row) : null
  }

  /**
   * Switched on, or about other runs than before, it holds for what is seen from then on; switched off it tells nobody, nor
   * later what it was to tell meanwhile. @returns null where it is gone
   */
  async save(id: string | null, projectId: number, rule: RuleSettings, who: string): Promise<AlertRule | null> {
    const isRate = rule.kind === 'FAILURE_RATE'
    const values = {
      name: rule.name,
      kind: rule.kind,
      is_enabled: rule.isEnabled,
      min_severity: rankOfSeverity(rule.minSeverity),
      categories: rule.categories,
      agents: rule.agents,
      platform: rule.platform,
      channel_ids: rule.channelIds,
      cooldown_minutes: rule.cooldownMinutes,
      failure_share: isRate ? rule.failureShare : null,
      min_runs: isRate ? rule.minRuns : null,
      window_minutes: isRate ? rule.windowMinutes : null,
      updated_by: who,
    }
    const { sql } = this
    if (id === null) {
      const enabledAt = rule.isEnabled ? new Date() : null
      const row = { id: randomUUID(), project_id: projectId, enabled_at: enabledAt, ...values }
      return ruleOf((await sql`insert into alert_rules ${sql(row)} returning *`)[0]!)
    }
    return await sql.begin(async (tx) => {
      const [before] = await tx`select * from alert_rules where id = ${id} and deleted_at is null for update`
      if (!before) return null
      const isOther = !before.is_enabled || CONDITIONS.some((name) => String(before[name]) !== String(values[name]))
      const [row] = await tx`
        update alert_rules set ${tx(values)}, updated_at = now(),
          enabled_at = ${rule.isEnabled && isOther ? tx`now()` : tx`enabled_at`}
        where id = ${id} returning *`
      if (!rule.isEnabled) await stopQueued(tx as unknown as Sql, id)
      return ruleOf(row!)
    })
  }

  async delete(id: string, who: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      await tx`
        update alert_rules set deleted_at = now(), is_enabled = false, updated_by = ${who}
        where id = ${id} and deleted_at is null`
      await stopQueued(tx as unknown as Sql, id)
    })
  }

  /** On how many occasions of the last days it would have told; null for rates. Mutes and cooldowns are left out. */
  async occasions(projectId: number, rule: RuleSettings, days: number): Promise<number | null> {
    if (rule.kind === 'FAILURE_RATE') return null
    const { sql } = this
    const since = new Date(Date.now() - days * 86_400_000)
    const [row] = await sql`
      select count(distinct f.session_id)::int as runs,
        (count(distinct f.pattern_id) filter (where not exists (select from failures o
          where o.pattern_id = f.pattern_id and o.seen_at < ${since}))
        + count(distinct f.pattern_id) filter (where p.resolved_at >= ${since} and f.seen_at > p.resolved_at))::int as patterns
      from failures f join sessions s on s.id = f.session_id left join failure_patterns p on p.id = f.pattern_id
      where f.project_id = ${projectId} and f.seen_at >= ${since} and f.severity >= ${rankOfSeverity(rule.minSeverity)}
        ${rule.categories.length > 0 ? sql`and f.category = any(${rule.categories})` : sql``}
        ${rule.agents.length > 0 ? sql`and s.agent = any(${rule.agents})` : sql``}
        ${rule.platform ? sql`and s.platform = ${rule.platform}` : sql``}`
    return rule.kind === 'NEW_PATTERN' ? row!.patterns : row!.runs
  }

  /** Names of agents that nobody is told of now. */
  async mutedAgents(projectIds: number[]): Promise<MutedAgent[]> {
    const rows = await this.sql`
      select * from muted_agents where project_id = any(${projectIds}::int2[]) and muted_until > now() order by agent`
    return rows.map((row) => ({
      projectId: row.project_id,
      agent: row.agent,
      mutedUntil: row.muted_until,
      mutedBy: row.muted_by,
    }))
  }

  /** @param until null ends the mute */
  async muteAgent(projectId: number, agent: string, until: Date | null, who: string): Promise<void> {
    if (until === null) {
      await this.sql`delete from muted_agents where project_id = ${projectId} and agent = ${agent}`
    } else {
      await this.sql`
        insert into muted_agents (project_id, agent, muted_until, muted_by) values (${projectId}, ${agent}, ${until}, ${who})
        on conflict (project_id, agent) do update set muted_until = excluded.muted_until, muted_by = excluded.muted_by`
    }
  }
}

/** What decides of which runs a rule tells. */
const CONDITIONS = [
  'kind',
  'min_severity',
  'categories',
  'agents',
  'platform',
  'failure_share',
  'min_runs',
  'window_minutes',
] as const

const stopQueued = (tx: Sql, ruleId: string) => tx`
  update deliveries d set state = 'SUPPRESSED', suppressed_by = 'RULE_OFF', next_attempt_at = null, settled_at = now()
  from alerts a where a.id = d.alert_id and a.rule_id = ${ruleId} and d.state = 'QUEUED'`

const ruleOf = (row: Record<string, any>): AlertRule => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  kind: row.kind,
  isEnabled: row.is_enabled,
  minSeverity: severityOf(row.min_severity),
  categories: row.categories,
  agents: row.agents,
  platform: row.platform,
  channelIds: row.channel_ids,
  cooldownMinutes: row.cooldown_minutes,
  failureShare: row.failure_share,
  minRuns: row.min_runs,
  windowMinutes: row.window_minutes,
  updatedAt: row.updated_at,
  updatedBy: row.updated_by,
})
