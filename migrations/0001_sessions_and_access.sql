-- Configuration: few rows, cached by every server, never written on the ingest path.
create table projects (
  id smallint generated always as identity primary key,
  name text not null unique,
  created_at timestamptz not null default now()
);
insert into projects (name) values ('default');

create table api_keys (
  id uuid primary key,
  project_id smallint not null references projects (id),
  name text not null,
  prefix text not null,
  hash bytea not null unique,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);

create table people (
  id uuid primary key,
  email text not null,
  password_hash text not null,
  role text not null check (role in ('ADMIN', 'VIEWER')),
  created_at timestamptz not null default now()
);
create unique index people_email on people (lower(email));

-- A signed-in browser. (The word session is taken.)
create table sign_ins (
  token_hash bytea primary key,
  person_id uuid not null references people (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- The one-time link that makes the first admin.
create table set_up_links (
  token_hash bytea primary key,
  created_at timestamptz not null default now()
);

-- A project's own prices; they go before the price table that is shipped.
create table model_prices (
  project_id smallint not null references projects (id),
  model text not null,
  input_usd_per_million numeric not null,
  output_usd_per_million numeric not null,
  updated_at timestamptz not null default now(),
  primary key (project_id, model)
);

-- No foreign keys from here on: checking them would lock configuration rows on every event.
create table sessions (
  id uuid primary key,
  project_id smallint not null,
  platform text not null,
  external_id text not null,
  workflow_id text,
  agent text,
  mode text,
  status text not null,
  reported_status text,
  error_message text,
  last_node text,
  external_url text,
  retry_of text,
  first_seen_at timestamptz not null,
  started_at timestamptz,
  last_event_at timestamptz not null,
  closed_at timestamptz,
  duration_ms double precision,
  duration_source text,
  event_count int not null,
  error_count int not null,
  llm_calls int not null,
  tool_calls int not null,
  unpriced_calls int not null,
  tokens_estimated boolean not null,
  models text[] not null,
  prompt_tokens numeric,
  completion_tokens numeric,
  cost_usd numeric,
  coverage jsonb not null,
  revision bigint not null,
  content_revision bigint not null,
  classified_content bigint not null default 0,
  -- Platform A: what the fold needs. Of reported outcomes, {order, sequence, place, outcome}, the greatest decides; of
  -- bare ends, {sequence, place, order, outcome}, the least.
  reported bigint[],
  ended bigint[],
  error_position bigint[],
  closed_sequence bigint,
  span_start timestamptz,
  span_end timestamptz,
  steps_ms double precision,
  -- Platform B: what decides between two posts of one execution.
  rank smallint,
  stopped_at timestamptz
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

create index sessions_by_time on sessions (project_id, first_seen_at desc, id desc);
create index sessions_by_agent on sessions (project_id, agent, first_seen_at desc, id desc) include (status, platform);
create index sessions_by_external_id on sessions (project_id, external_id text_pattern_ops, first_seen_at desc);
create index sessions_not_completed on sessions (project_id, first_seen_at desc, id desc) where status <> 'COMPLETED';
create index sessions_failed on sessions (project_id, first_seen_at desc, id desc) where status = 'FAILED';
create index sessions_with_error on sessions (project_id, first_seen_at desc, id desc) where error_message is not null;

-- Part of an error text is found by its trigrams. Where the extension may not be made, such searches are slower.
do $$
begin
  create extension if not exists pg_trgm;
  create index sessions_error_text on sessions using gin (error_message gin_trgm_ops) where error_message is not null;
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise notice 'pg_trgm is not available';
end
$$;

-- One partition per day on which the event's session was first seen, so that a timeline lies in one partition.
create table events (
  session_id uuid not null,
  day date not null,
  event_key uuid not null,
  revision bigint not null,
  order_us bigint not null,
  sequence bigint not null,
  place int not null,
  type text not null,
  kind text,
  kind_source text,
  name text,
  run_index int,
  parent_key uuid,
  parent_name text,
  model text,
  input text,
  output text,
  prompt_tokens bigint,
  completion_tokens bigint,
  tokens_estimated boolean not null,
  cost_usd numeric,
  cost_source text,
  duration_ms double precision,
  status text,
  error jsonb,
  occurred_at timestamptz,
  received_at timestamptz not null,
  skewed boolean not null,
  masked boolean not null,
  attributes jsonb,
  primary key (session_id, day, event_key)
) partition by range (day);
