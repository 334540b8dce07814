-- What the runs of an agent add up to, so that a page of agents need not read all sessions: by hour, and by day in UTC,
-- in which they were first seen. An hour is worked out anew from its sessions when one of them changed, a day from its hours.
create table agent_rollups (
  project_id smallint not null,
  -- '' gathers the sessions without a name
  agent text not null,
  grain text not null check (grain in ('HOUR', 'DAY')),
  starts_at timestamptz not null,
  platforms text[] not null,
  runs int not null,
  running int not null,
  completed int not null,
  failed int not null,
  -- null where none is known
  cost_usd numeric,
  prompt_tokens numeric,
  completion_tokens numeric,
  -- of these, with a call that has no price, or with counts of tokens that are estimates
  unpriced_runs int not null,
  estimated_runs int not null,
  -- how many closed runs took how long: a bucket b holds durations up to 1.02^b milliseconds
  duration_buckets smallint[] not null,
  duration_counts int[] not null,
  -- model: [runs, calls, prompt tokens, completion tokens, cost in USD]
  models jsonb not null,
  last_seen_at timestamptz not null,
  primary key (project_id, grain, starts_at, agent)
);
create index agent_rollups_by_agent on agent_rollups (project_id, agent, grain, starts_at);

-- Hours to be worked out anew although their sessions got nothing, or are gone. Only ever appended to, so nobody waits.
create table agent_rollups_due (
  project_id smallint not null,
  agent text not null,
  starts_at timestamptz not null
);
insert into agent_rollups_due
select distinct project_id, coalesce(agent, ''), date_trunc('hour', first_seen_at, 'UTC') from sessions;

-- Up to when what came is known to be in the rollups.
create table agent_rollups_until (
  only_row boolean primary key default true check (only_row),
  at timestamptz not null
);
insert into agent_rollups_until (at) values (now());

-- What the calls of a session add up to by model, from its analysis; null until then.
-- model: [calls, prompt tokens, completion tokens, cost in USD]
alter table sessions add column model_use jsonb;
