-- What a project decides about its data. Without retention_days sessions are kept until somebody deletes them.
alter table projects
  add column mask_credentials boolean not null default true,
  add column merge_equal_events boolean not null default false,
  add column retention_days int check (retention_days between 1 and 3650);

-- Requests that came with an Idempotency-Key: what their body was and what they were answered. By day, so that old ones
-- go as a whole table and nobody waits for it.
create table idempotency_keys (
  id uuid not null,
  day date not null,
  fingerprint uuid not null,
  receipt json not null,
  statuses text[] not null,
  primary key (id, day)
) partition by range (day);

-- The ingest log: what was accepted, kept for a day or two, and what was refused to a valid key, kept longer and with
-- its body. Written in batches beside the ingest path.
create table ingest_accepted (
  id uuid not null,
  at timestamptz not null,
  project_id smallint not null,
  key_id uuid,
  endpoint text not null,
  events int not null,
  duplicate boolean not null,
  bytes int not null,
  duration_ms real not null,
  session_id uuid,
  sessions int not null
) partition by range (at);
create index ingest_accepted_by_time on ingest_accepted (at);

create table ingest_refused (
  id uuid primary key,
  at timestamptz not null,
  project_id smallint not null,
  key_id uuid,
  endpoint text not null,
  status smallint not null,
  code text not null,
  detail text not null,
  problems jsonb not null,
  bytes int not null,
  duration_ms real not null,
  idempotency_key text,
  body text,
  body_bytes int not null,
  is_body_cut boolean not null,
  sent_again_at timestamptz
);
create index ingest_refused_by_time on ingest_refused (at, id) include (body_bytes);

-- Posts without a valid key: counted by server, hour and reason, without anything of their content.
create table ingest_unauthenticated (
  server text not null,
  hour timestamptz not null,
  reason text not null,
  count bigint not null,
  last_at timestamptz not null,
  primary key (server, hour, reason)
);

-- Deletions of all sessions of an agent: worked off in batches, also after a restart.
create table deletions (
  id uuid primary key,
  project_id smallint not null,
  agent text,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  deleted_sessions int not null default 0,
  finished_at timestamptz
);
