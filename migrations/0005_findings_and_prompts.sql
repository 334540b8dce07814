-- What of a session the analysis has looked at; without an index, so that an update stays within its page.
alter table sessions add column analysed_content bigint not null default 0;

-- Up to when all closed and classified sessions are known to be analysed. What is older at an upgrade is left alone.
alter table classified_until add column analysed_at timestamptz not null default now() - interval '7 days';

-- What could be better in a session. Unlike a failure nothing went wrong: it cost more than it had to, or is not known.
create table findings (
  session_id uuid not null,
  finding_key uuid not null,
  project_id smallint not null,
  agent text,
  place int not null,
  kind text not null,
  subject text,
  sentence text not null,
  advice text not null,
  -- estimates; null where it cannot be known
  saving_usd numeric,
  saving_tokens numeric,
  saving_ms double precision,
  evidence uuid[] not null,
  evidence_count int not null,
  -- when the session that carries it last got something, as it was when this was first found
  seen_at timestamptz not null,
  primary key (session_id, finding_key)
);
create index findings_by_agent on findings (project_id, agent, seen_at desc);

-- A text that a workflow puts before its own instruction. SHADOW serves nobody until a person activates it.
create table prompt_versions (
  id uuid primary key,
  project_id smallint not null references projects (id) on delete cascade,
  agent text not null,
  -- counts up within the agent
  version int not null,
  state text not null check (state in ('SHADOW', 'ACTIVE', 'REJECTED', 'RETIRED')),
  prompt text not null,
  -- whose text it is now
  maker text not null check (maker in ('RULES', 'MODEL', 'PERSON')),
  -- the failure it is about, as it was; null where a person wrote it
  pattern_id uuid,
  category text,
  cause text,
  subject text,
  title text,
  -- how the step that fails stands to the agent's models: TOOL, AFTER_MODEL, MODEL or NO_MODEL
  role text,
  -- what a prompt cannot do about this failure
  caution text,
  -- the workflow's own, as far as it was seen
  instruction_seen text,
  -- the newest sessions, and how many there were within how many days
  evidence uuid[] not null default '{}',
  evidence_count int not null default 0,
  evidence_days int,
  -- rises with every change that a person must have seen before they decide
  revision int not null default 1,
  -- null where Runwatch made it
  created_by text,
  created_at timestamptz not null default now(),
  -- of its last change of state
  decided_at timestamptz,
  activated_at timestamptz,
  retired_at timestamptz,
  fetch_count bigint not null default 0,
  last_fetched_at timestamptz,
  unique (project_id, agent, version)
);
create unique index prompt_versions_active on prompt_versions (project_id, agent) where state = 'ACTIVE';
create unique index prompt_versions_candidate on prompt_versions (pattern_id) where state = 'SHADOW';
create index prompt_versions_of_pattern on prompt_versions (pattern_id) where pattern_id is not null;

-- What the makers proposed, as they proposed it.
create table prompt_proposals (
  prompt_id uuid not null references prompt_versions (id) on delete cascade,
  maker text not null check (maker in ('RULES', 'MODEL')),
  -- null where the maker could not
  prompt text,
  -- a whole instruction to paste in place of the one that was seen
  rewrite text,
  -- why it proposes this, for people
  reason text,
  model text,
  -- why there is no text, for people
  problem text,
  attempts int not null default 1,
  -- when the model may be asked again; null where it is not
  next_attempt_at timestamptz,
  prompt_tokens bigint,
  completion_tokens bigint,
  cost_usd numeric,
  created_at timestamptz not null default now(),
  primary key (prompt_id, maker)
);
create index prompt_proposals_due on prompt_proposals (next_attempt_at) where next_attempt_at is not null;

-- Who decided what, when and why.
create table prompt_decisions (
  id bigint generated always as identity primary key,
  prompt_id uuid not null references prompt_versions (id) on delete cascade,
  action text not null check (action in ('CREATED', 'PROPOSED', 'EDITED', 'ACTIVATED', 'REJECTED', 'RETIRED', 'ROLLED_BACK')),
  -- null where Runwatch did
  decided_by text,
  reason text,
  -- as it stood after an edit
  prompt text,
  decided_at timestamptz not null default now()
);
create index prompt_decisions_of_prompt on prompt_decisions (prompt_id, id);

-- How often a failure must repeat until a candidate is made; without an agent for the whole project.
create table candidate_settings (
  project_id smallint not null references projects (id) on delete cascade,
  agent text,
  is_enabled boolean not null default true,
  sessions int not null check (sessions between 1 and 1000),
  days int not null check (days between 1 and 30),
  updated_at timestamptz not null default now(),
  updated_by text not null,
  unique nulls not distinct (project_id, agent)
);

-- What was spent on the model that proposes prompts, by day in UTC. Reserved before a call, corrected after it.
create table llm_usage (
  day date primary key,
  calls int not null default 0,
  tokens bigint not null default 0,
  cost_usd numeric not null default 0
);
