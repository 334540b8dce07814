-- What classification says of a session, for lists and for what is usual for its agent. Primary category first;
-- severity 1 (low) to 4 (critical). A session without a failure changes no indexed column when it is classified.
alter table sessions
  add column failure_count int not null default 0,
  add column failure_categories text[] not null default '{}',
  add column severity smallint,
  add column rules_not_run text[] not null default '{}',
  add column active_ms double precision,
  add column loop_rounds int,
  add column equal_rounds int;

create index sessions_with_failure on sessions (project_id, first_seen_at desc, id desc) where failure_count > 0;

-- What is usual for an agent is asked of its runs of platform B alone.
create index sessions_of_platform_b on sessions (project_id, agent, first_seen_at desc, id desc) where platform = 'PLATFORM_B';

-- Finds what a crash left unclassified. A block range index takes part in no update of a row's own indexes.
create index sessions_by_last_event on sessions using brin (last_event_at) with (pages_per_range = 16, autosummarize = on);

-- Up to when all closed sessions are known to be classified.
create table classified_until (
  only_row boolean primary key default true check (only_row),
  at timestamptz not null,
  -- rises whenever it is set back, so that nobody moves it on meanwhile
  turn bigint not null default 0
);
insert into classified_until (at) values ('1970-01-01');

create table failures (
  session_id uuid not null,
  failure_key uuid not null,
  project_id smallint not null,
  pattern_id uuid not null,
  place int not null,
  category text not null,
  severity smallint not null,
  cause text,
  subject text,
  -- what its pattern is called while this is the newest of it
  title text not null,
  sentence text not null,
  advice text not null,
  error_text text,
  measured double precision,
  threshold double precision,
  unit text,
  threshold_source text,
  threshold_runs int,
  evidence uuid[] not null,
  evidence_count int not null,
  -- when the session that carries it last got something, as it was when the failure was first found
  seen_at timestamptz not null,
  primary key (session_id, failure_key)
);
create index failures_by_pattern on failures (pattern_id, seen_at desc);
create index failures_by_time on failures (project_id, seen_at desc);

-- The same failure of one agent seen again: what a person decided about it. Counts come from failures.
create table failure_patterns (
  id uuid primary key,
  project_id smallint not null,
  agent text,
  category text not null,
  cause text,
  subject text,
  resolved_at timestamptz,
  resolved_by text,
  muted_until timestamptz,
  muted_by text
);
create index failure_patterns_by_project on failure_patterns (project_id);

-- Limits that a person fixed, for a project (without agent) or for one agent; null leaves it to what is usual.
create table thresholds (
  project_id smallint not null references projects (id),
  agent text,
  latency_ms double precision,
  cost_usd double precision,
  tokens bigint,
  loop_rounds int,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  unique nulls not distinct (project_id, agent)
);

-- Prices applied to what is stored already: worked off in batches, also after a restart.
create table repricings (
  id uuid primary key,
  project_id smallint not null,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  since timestamptz not null,
  sessions int not null,
  done_sessions int not null default 0,
  changed_sessions int not null default 0,
  -- the last session that was looked at
  at_first_seen timestamptz,
  at_id uuid,
  finished_at timestamptz
);
