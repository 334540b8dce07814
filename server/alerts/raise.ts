// How alerts come about with a classification: a part of the statement that writes it, so that both happen or neither.

/** A failure that was first seen longer ago is no news: new prices, say, find some in old sessions. */
const NEWS_FOR = `interval '24 hours'`

/**
 * Steps of a statement that has written failures before: \`f\` (failures that were found, with \`agent\`), \`done\` (sessions
 * that were written: id, project_id, platform), \`kept\` (failures that were written: session_id, failure_key, seen_at) and
 * \`patterns\` (ids of new ones). Of a session's failures the worst that is not muted stands for it. An alert that nobody
 * was told of gives way to one that people should hear of; any other stays as it is.
 */
export const RAISE = `
candidates as (
  select distinct on (r.id, w.subject) r.id as rule_id, r.kind, r.channel_ids, r.cooldown_minutes, w.subject,
    f.project_id, f.session_id, f.failure_key, f.pattern_id, f.agent, f.severity, f.category, m.suppressed_by
  from kept k
  join f on f.session_id = k.session_id and f.failure_key = k.failure_key
  join done d on d.id = f.session_id
  join alert_rules r on r.project_id = f.project_id and r.is_enabled and r.kind <> 'FAILURE_RATE'
  left join failure_patterns p on p.id = f.pattern_id
  left join muted_agents a on a.project_id = f.project_id and a.agent = f.agent and a.muted_until > now()
  cross join lateral (select case when a.agent is not null then 'AGENT_MUTED'
    when p.muted_until > now() then 'PATTERN_MUTED' end as suppressed_by) m
  cross join lateral (select case when r.kind = 'FAILURE' then 'session/' || f.session_id
    when f.pattern_id = any(array(select id from patterns)) then 'pattern/' || f.pattern_id
    when p.resolved_at < k.seen_at then 'pattern/' || f.pattern_id || '/' || extract(epoch from p.resolved_at)
    end as subject) w
  where w.subject is not null and k.seen_at >= greatest(r.enabled_at, now() - ${NEWS_FOR})
    and f.severity >= r.min_severity
    and (cardinality(r.categories) = 0 or f.category = any(r.categories))
    and (cardinality(r.agents) = 0 or f.agent = any(r.agents))
    and (r.platform is null or r.platform = d.platform)
  order by r.id, w.subject, m.suppressed_by nulls first, f.place
), raised as (
  insert into alerts (id, project_id, rule_id, subject, kind, session_id, failure_key, pattern_id, agent, severity, category, suppressed_by)
  select gen_random_uuid(), c.project_id, c.rule_id, c.subject, c.kind, c.session_id, c.failure_key, c.pattern_id, c.agent,
    c.severity, c.category, coalesce(c.suppressed_by, case when c.cooldown_minutes > 0 and (
      row_number() over (partition by c.rule_id, c.pattern_id, c.suppressed_by order by c.session_id) > 1
      or exists (select from alerts o where o.rule_id = c.rule_id and o.pattern_id = c.pattern_id and o.suppressed_by is null
        and o.created_at > now() - make_interval(mins => c.cooldown_minutes))) then 'COOLDOWN' end)
  from candidates c order by c.rule_id, c.subject
  on conflict (rule_id, subject) do update set suppressed_by = null, failure_key = excluded.failure_key,
    pattern_id = excluded.pattern_id, severity = excluded.severity, category = excluded.category, created_at = now()
    where alerts.suppressed_by is not null and excluded.suppressed_by is null
  returning id, project_id, rule_id, suppressed_by
), delivered as (${deliver('raised')})`

/** Deliveries of the alerts that a step named \`from\` returned: id, project_id, rule_id, suppressed_by. */
export function deliver(from: string): string {
  return `
  insert into deliveries (id, alert_id, channel_id, project_id, state, suppressed_by, next_attempt_at, settled_at)
  select gen_random_uuid(), a.id, c.id, a.project_id, case when w.suppressed_by is null then 'QUEUED' else 'SUPPRESSED' end,
    w.suppressed_by, case when w.suppressed_by is null then now() end, case when w.suppressed_by is not null then now() end
  from ${from} a join alert_rules r on r.id = a.rule_id
  join channels c on c.id = any(r.channel_ids) and c.deleted_at is null
  cross join lateral (select coalesce(a.suppressed_by, case when not c.is_enabled then 'CHANNEL_OFF' end) as suppressed_by) w
  on conflict (alert_id, channel_id) do update set state = 'QUEUED', suppressed_by = null, queued_at = now(),
    next_attempt_at = now(), settled_at = null
    where deliveries.state = 'SUPPRESSED' and excluded.state = 'QUEUED'
  returning id, project_id, channel_id`
}
