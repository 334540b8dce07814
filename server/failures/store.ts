// How a classification is read and written: closed sessions with their events, and what was found in them.
import type { Sql } from '../database/connect.ts'
import { arrayLiterals, columnNames, nestedArray, unnestArguments, type Column } from '../database/columns.ts'
import { fingerprintId } from '../sessions/identity.ts'
import type { Classification } from './classify.ts'
import { rankOfSeverity, type Found, type RunEvent, type RunSession } from './failure.ts'

/*
 * Plans are made once, while the tables may be empty, and then look good that read a table through for each row that is
 * asked for. So what is looked up is given first: by a lateral join that cannot be turned around, or as the places of rows.
 */

/** A closed session as it was read; `contentRevision` says of which state the classification speaks. */
export interface DueSession extends RunSession {
  contentRevision: string
  day: string
  eventCount: number
}

const dueColumns = (sql: Sql) => sql`
  s.id, s.project_id, s.platform, s.agent, s.status, s.reported_status, s.mode, s.error_message, extract(epoch from s.started_at) * 1000 as started_ms,
  extract(epoch from s.first_seen_at) * 1000 as first_seen_ms, s.duration_ms, s.llm_calls, s.unpriced_calls, s.tokens_estimated,
  s.prompt_tokens, s.completion_tokens, s.cost_usd, s.coverage, s.content_revision, s.event_count,
  (s.first_seen_at at time zone 'UTC')::date::text as day`

/** Of these sessions, those that are closed and have changed since they were classified. */
export async function readDue(sql: Sql, ids: string[]): Promise<DueSession[]> {
  const rows = await sql`
    select ${dueColumns(sql)} from unnest(${ids}::uuid[]) as w (id)
    cross join lateral (select * from sessions where id = w.id offset 0) s
    where s.status <> 'RUNNING' and s.classified_content < s.content_revision`
  return rows.map(dueSession)
}

/** One session to be explained, closed or not; null where there is none. */
export async function readForExplaining(
  sql: Sql,
  id: string,
): Promise<(DueSession & { isClassified: boolean }) | null> {
  const [row] = await sql`
    select ${dueColumns(sql)}, s.classified_content >= s.content_revision as is_classified from sessions s where s.id = ${id}`
  return row ? { ...dueSession(row), isClassified: row.is_classified } : null
}

/** Ids of closed, unclassified sessions that last got something in this time; the newest first. */
export async function findUnclassified(sql: Sql, from: Date, limit: number): Promise<string[]> {
  const rows = await sql`
    select id from sessions
    where last_event_at >= ${from} and last_event_at < now() - interval '2 seconds'
      and status <> 'RUNNING' and classified_content < content_revision
    order by last_event_at desc limit ${limit}`
  return rows.map(({ id }) => id as string)
}

/** of an error's text; more of it tells nothing more */
const MAX_ERROR = 2_000
/** of one session, the newest: steps of platform B, which come in one request, and errors of platform A */
const MAX_EVENTS = 20_000
const MAX_ERRORS = 2_000

export const DIGEST_FROM_RUN = 4

/**
 * The events of sessions in timeline order, by session. Of platform A only those with an error are read: its rules look
 * at nothing else. Digests of texts are made where a node ran so often that it may be a loop.
 */
export async function readEventsOf(sql: Sql, sessions: DueSession[]): Promise<Map<string, RunEvent[]>> {
  const bySession = new Map<string, RunEvent[]>(sessions.map(({ id }) => [id, []]))
  if (sessions.length === 0) return bySession
  const rows = await sql`
    select e.session_id, e.event_key, e.type, e.kind, e.name, e.model, e.run_index, e.parent_key, e.status, e.duration_ms,
      case when e.error is not null then jsonb_build_object('message', left(e.error->>'message', ${MAX_ERROR}),
        'name', left(e.error->>'name', 200), 'cause', null, 'httpStatus', left(e.error->>'httpStatus', 100)) end as error,
      extract(epoch from e.occurred_at) * 1000 as occurred_ms, 
      case when w.platform = 'PLATFORM_B' then jsonb_build_object('nodeType', e.attributes->'nodeType',
        'source', e.attributes->'source', 'pairedItem', e.attributes->'pairedItem', 'nextBatch', e.attributes->'nextBatch',
        'nodeWasResumed', e.attributes->'nodeWasResumed', 'items', e.attributes->'items') end as attributes
    from unnest(${sessions.map(({ id }) => id)}::uuid[], ${sessions.map(({ day }) => day)}::date[],
      ${sessions.map(({ platform }) => platform)}::text[]) as w (id, day, platform)
    cross join lateral (
      select * from events
      where session_id = w.id and day = w.day and (w.platform = 'PLATFORM_B' or error is not null)
      order by order_us desc, sequence desc, place desc, event_key desc
      limit case w.platform when 'PLATFORM_A' then ${MAX_ERRORS}::int else ${MAX_EVENTS}::int end) e
    order by e.session_id, e.order_us, e.sequence, e.place, e.event_key`
  const mayLoop = new Set<string>()
  for (const row of rows) {
    bySession.get(row.session_id as string)!.push(runEvent(row))
    if (row.run_index >= DIGEST_FROM_RUN) mayLoop.add(row.session_id as string)
  }
  const looping = sessions.filter(({ id }) => mayLoop.has(id))
  if (looping.length > 0) await addDigests(sql, looping, bySession)
  return bySession
}

async function addDigests(sql: Sql, sessions: DueSession[], bySession: Map<string, RunEvent[]>): Promise<void> {
  const rows = await sql`
    select e.session_id, e.event_key, md5(e.input) as input_digest, md5(e.output) as output_digest
    from unnest(${sessions.map(({ id }) => id)}::uuid[], ${sessions.map(({ day }) => day)}::date[]) as w (id, day)
    cross join lateral (
      select * from events
      where session_id = w.id and day = w.day and run_index is not null and not attributes ? 'redacted' offset 0) e`
  const digests = new Map(rows.map((row) => [`${row.session_id}/${row.event_key}`, row]))
  for (const { id } of sessions) {
    for (const event of bySession.get(id)!) {
      const row = digests.get(`${id}/${event.key}`)
      event.inputDigest = row?.input_digest ?? null
      event.outputDigest = row?.output_digest ?? null
    }
  }
}

type Row = Record<string, any>
const number = (value: unknown) => (value === null ? null : Number(value))

function dueSession(row: Row): DueSession {
  const { prompt_tokens: prompt, completion_tokens: completion } = row
  return {
    id: row.id,
    projectId: row.project_id,
    platform: row.platform,
    agent: row.agent,
    status: row.status,
    reportedStatus: row.reported_status,
    mode: row.mode,
    errorMessage: row.error_message,
    startedAt: number(row.started_ms),
    firstSeenAt: Number(row.first_seen_ms),
    durationMs: row.duration_ms,
    llmCalls: row.llm_calls,
    unpricedCalls: row.unpriced_calls,
    tokensEstimated: row.tokens_estimated,
    tokens: prompt === null && completion === null ? null : Number(prompt ?? 0) + Number(completion ?? 0),
    costUsd: number(row.cost_usd),
    coverage: (row.coverage as { code: string }[]).map(({ code }) => code),
    contentRevision: row.content_revision,
    day: row.day,
    eventCount: row.event_count,
  }
}

function runEvent(row: Row): RunEvent {
  // Of platform A these would be fields of the sender's own.
  const attributes: Row = row.attributes ?? {}
  return {
    key: row.event_key,
    type: row.type,
    kind: row.kind,
    name: row.name,
    model: row.model,
    runIndex: row.run_index,
    parentKey: row.parent_key,
    status: row.status,
    error: row.error,
    durationMs: row.duration_ms,
    occurredAt: number(row.occurred_ms),
    nodeType: attributes.nodeType ?? null,
    source: attributes.source ?? [],
    firstItem: attributes.pairedItem ?? null,
    isNextBatch: attributes.nextBatch === true,
    wasResumed: (attributes.nodeWasResumed ?? null) !== null,
    itemCount: attributes.items ?? null,
    inputDigest: null,
    outputDigest: null,
  }
}

export interface Classified {
  session: DueSession
  classification: Classification
}

const MAX_EVIDENCE = 100

// prettier-ignore
const RESULT_COLUMNS: Column<Classified>[] = [
  { name: 'id', type: 'uuid', value: ({ session }) => session.id },
  { name: 'content_revision', type: 'int8', value: ({ session }) => session.contentRevision },
  { name: 'failure_count', type: 'int4', value: ({ classification: { failures } }) => failures.length },
  { name: 'failure_categories', type: 'text[]', value: ({ classification: { failures } }) => nestedArray([...new Set(failures.map(({ category }) => category))]) },
  { name: 'severity', type: 'int2', value: ({ classification: { failures } }) => (failures[0] ? rankOfSeverity(failures[0].severity) : null) },
  { name: 'rules_not_run', type: 'text[]', value: ({ classification: { notRun } }) => nestedArray(notRun.map(({ category }) => category)) },
  { name: 'active_ms', type: 'float8', value: ({ classification }) => classification.activeMs },
  { name: 'loop_rounds', type: 'int4', value: ({ classification }) => classification.loopRounds },
  { name: 'equal_rounds', type: 'int4', value: ({ classification }) => classification.equalRounds },
]

interface FailureWrite {
  session: DueSession
  failure: Found & { key: string }
  place: number
}

export const patternIdOf = (projectId: number, agent: string | null, failureKey: string) =>
  fingerprintId(String(projectId), agent === null ? 'no agent' : `agent ${agent}`, failureKey)

// prettier-ignore
const FAILURE_COLUMNS: Column<FailureWrite>[] = [
  { name: 'session_id', type: 'uuid', value: ({ session }) => session.id },
  { name: 'failure_key', type: 'uuid', value: ({ failure }) => failure.key },
  { name: 'project_id', type: 'int2', value: ({ session }) => session.projectId },
  { name: 'pattern_id', type: 'uuid', value: ({ session, failure }) => patternIdOf(session.projectId, session.agent, failure.key) },
  { name: 'place', type: 'int2', value: ({ place }) => place },
  { name: 'category', type: 'text', value: ({ failure }) => failure.category },
  { name: 'severity', type: 'int2', value: ({ failure }) => rankOfSeverity(failure.severity) },
  { name: 'cause', type: 'text', value: ({ failure }) => failure.cause },
  { name: 'subject', type: 'text', value: ({ failure }) => failure.subject },
  { name: 'title', type: 'text', value: ({ failure }) => titleOf(failure) },
  { name: 'sentence', type: 'text', value: ({ failure }) => failure.sentence },
  { name: 'advice', type: 'text', value: ({ failure }) => failure.advice },
  { name: 'error_text', type: 'text', value: ({ failure }) => failure.errorText && failure.errorText.slice(0, 2_000).toWellFormed() },
  { name: 'measured', type: 'float8', value: ({ failure }) => failure.measured },
  { name: 'threshold', type: 'float8', value: ({ failure }) => failure.threshold && failure.threshold.value },
  { name: 'unit', type: 'text', value: ({ failure }) => failure.unit },
  { name: 'threshold_source', type: 'text', value: ({ failure }) => failure.threshold && failure.threshold.source },
  { name: 'threshold_runs', type: 'int4', value: ({ failure }) => failure.threshold && failure.threshold.runs },
  { name: 'evidence', type: 'uuid[]', value: ({ failure }) => nestedArray(failure.evidence.slice(0, MAX_EVIDENCE)) },
  { name: 'evidence_count', type: 'int4', value: ({ failure }) => failure.evidence.length },
]
const FAILURES_FROM = RESULT_COLUMNS.length + 1
const AGENTS_AT = FAILURES_FROM + FAILURE_COLUMNS.length

const cast = ({ name, type }: { name: string; type: string }, alias: string) =>
  `${alias}.${name}${type.endsWith('[]') ? `::${type}` : ''}`

/**
 * One statement for many sessions. A session that is being written to at this moment is left out (it will be due again),
 * so nobody waits for anybody; one that changed since it was read is left out too. What is found is upserted by its
 * deterministic key and what is not found again goes, so to classify twice, or on two servers, changes nothing.
 */
const WRITE = `
with w as materialized (
  select * from unnest(${unnestArguments(RESULT_COLUMNS, 1)}) as w (${columnNames(RESULT_COLUMNS)})
), f as materialized (
  select * from unnest(${unnestArguments(FAILURE_COLUMNS, FAILURES_FROM)}, $${AGENTS_AT}::text::text[])
    as f (${columnNames(FAILURE_COLUMNS)}, agent)
), locked as materialized (
  select s.place, w.* from w cross join lateral (
    select ctid as place from sessions
    where id = w.id and content_revision = w.content_revision and classified_content < content_revision
      and status <> 'RUNNING'
    for update skip locked) s
), done as (
  update sessions s set classified_content = s.content_revision, revision = s.revision + 1,
    ${RESULT_COLUMNS.slice(2)
      .map((column) => `${column.name} = ${cast(column, 'l')}`)
      .join(', ')}
  from locked l where s.ctid = l.place
  returning s.id, s.project_id, s.last_event_at, s.rules_not_run
), gone as (
  delete from failures where ctid = any(array(
    select o.ctid from done d cross join lateral (
      select ctid, failure_key, category from failures where session_id = d.id offset 0) o
    -- What a rule found before stays while it cannot run.
    where o.category <> all(d.rules_not_run) and not exists (select from f where f.session_id = d.id and f.failure_key = o.failure_key)))
  returning pattern_id
), held as materialized (
  -- Whoever takes away empty patterns waits, and then sees that these are not.
  select id from failure_patterns where id = any(array(select f.pattern_id from f)) order by id for key share
), patterns as (
  insert into failure_patterns (id, project_id, agent, category, cause, subject)
  select distinct on (f.pattern_id) f.pattern_id, f.project_id, f.agent, f.category, f.cause, f.subject
  from f join done d on d.id = f.session_id where (select count(*) from held) >= 0 order by f.pattern_id
  on conflict (id) do nothing
), kept as (
  insert into failures (${columnNames(FAILURE_COLUMNS)}, seen_at)
  select ${FAILURE_COLUMNS.map((column) => cast(column, 'f')).join(', ')}, d.last_event_at
  from f join done d on d.id = f.session_id order by f.session_id, f.failure_key
  on conflict (session_id, failure_key) do update set
    ${FAILURE_COLUMNS.slice(2)
      .map(({ name }) => `${name} = excluded.${name}`)
      .join(', ')}
  returning pattern_id
)
select d.id, d.project_id, null::uuid as pattern_id, false as is_gone from done d
union all select null, null, pattern_id, true from gone
union all select null, null, pattern_id, false from kept`

/** @returns which sessions were written, the patterns whose failures changed, and of these those that lost one */
export async function writeClassified(
  sql: Sql,
  classified: Classified[],
): Promise<{ sessions: { id: string; projectId: number }[]; patternIds: string[]; lostIds: string[] }> {
  const failures = classified.flatMap(({ session, classification }) =>
    classification.failures.map((failure, place) => ({ session, failure, place })),
  )
  const agents = { name: 'agent', type: 'text', value: ({ session }: FailureWrite) => session.agent }
  const rows = await sql.unsafe(
    WRITE,
    [...arrayLiterals(RESULT_COLUMNS, classified), ...arrayLiterals([...FAILURE_COLUMNS, agents], failures)],
    { prepare: true },
  )
  return {
    sessions: rows.flatMap((row) =>
      row.id === null ? [] : { id: row.id as string, projectId: row.project_id as number },
    ),
    patternIds: patternIdsOf(rows),
    lostIds: patternIdsOf(rows.filter((row) => row.is_gone)),
  }
}

const patternIdsOf = (rows: Row[]): string[] => [...new Set(rows.flatMap((row) => row.pattern_id ?? []))]

const MAX_TITLE = 200

/** What a pattern is called in lists: the error's first line as it first came, else what its category says. */
function titleOf({ category, errorText, evidence, subject }: Found): string {
  if (errorText !== null) return errorText.trim().split('\n')[0]!.slice(0, MAX_TITLE).toWellFormed()
  if (category === 'LATENCY_SPIKE') return 'Took longer than usual'
  if (category === 'COST_ANOMALY') return 'Cost more than usual'
  if (category === 'INFINITE_LOOP') return `Endless loop at "${subject ?? ''}"`.slice(0, MAX_TITLE)
  return evidence.length > 0 ? 'Failed without a text' : 'Reported as failed without a text'
}
