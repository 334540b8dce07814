-- Where people are told. Address and signing secret are sealed with SECRET_KEY; shown is what may be read of them.
create table channels (
  id uuid primary key,
  project_id smallint not null references projects (id) on delete cascade,
  name text not null,
  kind text not null check (kind in ('WEBHOOK', 'SLACK', 'EMAIL')),
  shown text not null,
  secret_suffix text,
  sealed text not null,
  is_enabled boolean not null default true,
  -- the receiver asked for a pause
  paused_until timestamptz,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  -- what was told through it is kept
  deleted_at timestamptz
);
create unique index channels_name on channels (project_id, lower(name)) where deleted_at is null;

-- When people are told. Empty lists and null mean any.
create table alert_rules (
  id uuid primary key default gen_random_uuid(),
  project_id smallint not null references projects (id) on delete cascade,
  name text not null,
  kind text not null check (kind in ('FAILURE', 'NEW_PATTERN', 'FAILURE_RATE')),
  is_enabled boolean not null default false,
  -- what was seen before is told to nobody
  enabled_at timestamptz,
  min_severity smallint not null default 1,
  categories text[] not null default '{}',
  agents text[] not null default '{}',
  platform text,
  channel_ids uuid[] not null default '{}',
  -- FAILURE: one pattern is told of at most once in this time
  cooldown_minutes int not null default 0,
  -- FAILURE_RATE
  failure_share double precision,
  min_runs int,
  window_minutes int,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by text,
  deleted_at timestamptz,
  check (kind <> 'FAILURE_RATE' or (failure_share is not null and min_runs is not null and window_minutes is not null))
);
create index alert_rules_enabled on alert_rules (project_id) where is_enabled;

-- Ready to be switched on, in every project that is there or is made.
create function add_default_alert_rules(project smallint) returns void language sql as $$
  insert into alert_rules (project_id, name, kind, min_severity, failure_share, min_runs, window_minutes, created_at)
  select project, d.name, d.kind, d.least, d.share, d.runs, d.minutes, now() + d.place * interval '1 millisecond' from (values
    (1, 'High and critical failures', 'FAILURE', 3, null::float8, null::int, null::int),
    (2, 'New failure pattern', 'NEW_PATTERN', 1, null, null, null),
    (3, 'Failure rate', 'FAILURE_RATE', 1, 0.5, 10, 60)) d (place, name, kind, least, share, runs, minutes);
$$;
create function add_default_alert_rules_of_new() returns trigger language plpgsql as $$
begin
  perform add_default_alert_rules(new.id);
  return null;
end
$$;
create trigger projects_alert_rules after insert on projects for each row execute function add_default_alert_rules_of_new();
select add_default_alert_rules(id) from projects;

create table muted_agents (
  project_id smallint not null references projects (id) on delete cascade,
  agent text not null,
  muted_until timestamptz not null,
  muted_by text not null,
  primary key (project_id, agent)
);

-- One occasion. Its subject makes it happen once: session/<id>, pattern/<id>, or agent/<name>/<start of the window>.
create table alerts (
  id uuid primary key,
  project_id smallint not null,
  rule_id uuid not null,
  subject text not null,
  kind text not null,
  session_id uuid,
  failure_key uuid,
  pattern_id uuid,
  agent text,
  severity smallint,
  category text,
  -- FAILURE_RATE: runs, failed, share, minutes
  facts jsonb,
  -- when the failure was first seen in the run
  seen_at timestamptz,
  -- why nobody was told
  suppressed_by text,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  -- what is told, as it was before the first attempt: every receiver and every attempt says the same
  message json,
  told_at timestamptz,
  unique (rule_id, subject)
);
create index alerts_of_session on alerts (session_id) where session_id is not null;
create index alerts_of_pattern on alerts (pattern_id, rule_id, created_at desc) where pattern_id is not null;
create index alerts_by_time on alerts (created_at);

-- One alert to one channel.
create table deliveries (
  id uuid primary key,
  alert_id uuid not null references alerts (id) on delete cascade,
  channel_id uuid not null,
  project_id smallint not null,
  state text not null check (state in ('QUEUED', 'SENT', 'FAILED', 'SUPPRESSED')),
  suppressed_by text,
  attempt_count int not null default 0,
  -- since it was last queued: what the next pause depends on
  retries int not null default 0,
  -- in milliseconds, as pages of the log are cut
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  queued_at timestamptz not null default now(),
  -- while an attempt runs, when another may be made because nothing was heard of it
  next_attempt_at timestamptz,
  settled_at timestamptz,
  unique (alert_id, channel_id)
);
create index deliveries_due on deliveries (channel_id, next_attempt_at) where state = 'QUEUED';
create index deliveries_by_time on deliveries (project_id, created_at desc, id desc);

-- One try. Without a duration it runs, or its server ended in it.
create table delivery_attempts (
  delivery_id uuid not null references deliveries (id) on delete cascade,
  number int not null,
  started_at timestamptz not null default now(),
  duration_ms double precision,
  is_delivered boolean,
  -- of the answer: HTTP or SMTP
  status int,
  -- its first 500 characters
  answer text,
  -- why it failed, for people
  problem text,
  primary key (delivery_id, number)
);
