// How alerts come about with a classification: a part of the statement that writes it, so that both happen or neither.

/** A failure that was first seen longer ago is no news. */
const NEWS_FOR = `interval '24 hours'`
/** The same in a run that was classified before: new prices, say, find failures in runs that nothing happened to. */
const NEWS_AGAIN_FOR = `interval '15 minutes'`

/**
 * Steps of a statement that has written failures before: \`f\` (failures that were found, with \`agent\`), \`done\` (sessions
 * that were written: id, project_id, platform, was_classified), \`kept\` (failures that were written: session_id,
 * failure_key, seen_at) and \`moved\` (those of them that had another pattern before).
 *
 * Of the failures of one subject the worst that nothing keeps back stands for it. An alert that nobody was told of gives way
 * to one that people should hear of: of another failure while the first attempt is not made, and of one that is new in the
 * run, or worse, where a mute or cooldown kept it back. Any other stays as it is.
 */
export const RAISE = `
candidates as materialized (
  select r.id as rule_id, r.kind, r.cooldown_minutes, w.subject, f.project_id, f.session_id, f.failure_key, f.pattern_id,
    f.agent, f.severity, f.category, f.place, k.seen_at, m.suppressed_by
  from kept k
  join f on f.session_id = k.session_id and f.failure_key = k.failure_key
  join done d on d.id = f.session_id
  join alert_rules r on r.project_id = f.project_id and r.is_enabled and r.kind <> 'FAILURE_RATE'
  cross join lateral (select greatest(r.enabled_at,
    now() - case when d.was_classified then ${NEWS_AGAIN_FOR} else ${NEWS_FOR} end) as since) n
  left join failure_patterns p on p.id = f.pattern_id
  left join lateral (select seen_at from failures where r.kind = 'NEW_PATTERN' and pattern_id = f.pattern_id
    and seen_at > coalesce(p.resolved_at, '-infinity') order by seen_at limit 1) o on true
  cross join lateral (select case when r.kind = 'FAILURE' then 'session/' || f.session_id
    when least(o.seen_at, k.seen_at) < n.since then null
    when p.resolved_at is null then 'pattern/' || f.pattern_id
    when k.seen_at > p.resolved_at then 'pattern/' || f.pattern_id || '/' || extract(epoch from p.resolved_at)
    end as subject) w
  left join alerts x on x.rule_id = r.id and x.subject = w.subject
  left join muted_agents a on a.project_id = f.project_id and a.agent = f.agent and a.muted_until > now()
  cross join lateral (select case when a.agent is not null then 'AGENT_MUTED'
    when p.muted_until > now() then 'PATTERN_MUTED'
    when r.cooldown_minutes > 0 and exists (select from alerts c where c.rule_id = r.id and c.pattern_id = f.pattern_id
      and c.subject <> w.subject and c.suppressed_by is null and c.created_at > now() - make_interval(mins => r.cooldown_minutes)
      and exists (select from deliveries where alert_id = c.id and state <> 'SUPPRESSED')) then 'COOLDOWN' end as suppressed_by) m
  where w.subject is not null and k.seen_at >= n.since and f.severity >= r.min_severity
    and (cardinality(r.categories) = 0 or f.category = any(r.categories))
    and (cardinality(r.agents) = 0 or f.agent = any(r.agents))
    and (r.platform is null or r.platform = d.platform)
    -- What had another agent's pattern until now is not new.
    and not (r.kind = 'NEW_PATTERN' and exists (select from moved v where v.session_id = k.session_id and v.failure_key = k.failure_key))
    and (x.id is null or x.told_at is null and (x.suppressed_by is null or k.seen_at > x.seen_at or f.severity > x.severity))
), tellers as materialized (
  -- Of runs that are written together one tells of a pattern, and the others cool down.
  select rule_id, pattern_id, min(subject) as subject from (
    select distinct on (rule_id, subject) rule_id, subject, pattern_id from candidates
    where suppressed_by is null and cooldown_minutes > 0 order by rule_id, subject, place) first_choice
  group by rule_id, pattern_id
), raised as (
  insert into alerts (id, project_id, rule_id, subject, kind, session_id, failure_key, pattern_id, agent, severity, category, seen_at, suppressed_by)
  select distinct on (c.rule_id, c.subject) gen_random_uuid(), c.project_id, c.rule_id, c.subject, c.kind, c.session_id,
    c.failure_key, c.pattern_id, c.agent, c.severity, c.category, c.seen_at, w.suppressed_by
  from candidates c left join tellers t on t.rule_id = c.rule_id and t.pattern_id = c.pattern_id and t.subject <> c.subject
  cross join lateral (select coalesce(c.suppressed_by, case when t.subject is not null then 'COOLDOWN' end) as suppressed_by) w
  order by c.rule_id, c.subject, w.suppressed_by nulls first, c.place
  on conflict (rule_id, subject) do update set suppressed_by = null, session_id = excluded.session_id, failure_key = excluded.failure_key,
    pattern_id = excluded.pattern_id, severity = excluded.severity, category = excluded.category, seen_at = excluded.seen_at
    where alerts.told_at is null and excluded.suppressed_by is null
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
    where deliveries.state = 'SUPPRESSED' and deliveries.suppressed_by not in ('CHANNEL_OFF', 'RULE_OFF')
      and excluded.state = 'QUEUED'
  returning id, project_id, channel_id`
}
