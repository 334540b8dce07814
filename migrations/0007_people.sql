-- When people and their browsers were last seen, within a minute.
alter table people add column last_seen_at timestamptz;
alter table sign_ins
  add column last_used_at timestamptz not null default now(),
  -- What its User-Agent says in short, "Firefox on Linux"; null where that says nothing.
  add column browser text;
update sign_ins set last_used_at = created_at;
update people p set last_seen_at = (select max(s.created_at) from sign_ins s where s.person_id = p.id);
create index sign_ins_of_person on sign_ins (person_id);

-- One-time links that an admin hands over: to join, or to set a new password. Those that ended stay a while, so that
-- whoever opens one hears why.
create table access_links (
  id uuid primary key,
  token_hash bytea not null unique,
  kind text not null check (kind in ('INVITATION', 'NEW_PASSWORD')),
  email text not null,
  role text not null check (role in ('ADMIN', 'VIEWER')),
  -- Whose password it sets; null for an invitation.
  person_id uuid references people (id) on delete set null,
  -- An admin's links end with their rights.
  made_by uuid references people (id) on delete set null,
  made_by_email text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_as text check (ended_as in ('USED', 'REPLACED', 'WITHDRAWN'))
);
create unique index access_links_open on access_links (kind, lower(email)) where ended_as is null;
