// How a classification is written: what was found in many sessions, in one statement.
import type { NewDelivery } from '../alerts/alert.ts'
import { RAISE } from '../alerts/raise.ts'
import type { Sql } from '../database/connect.ts'
import { arrayLiterals, columnNames, nestedArray, unnestArguments, type Column } from '../database/columns.ts'
import { fingerprintId } from '../sessions/identity.ts'
import type { Classification } from './classify.ts'
import type { DueSession } from './due.ts'
import { patternNotice, rankOfSeverity, type Found, type PatternNotice } from './failure.ts'

type Row = Record<string, any>

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
 * One statement for many sessions, their failures and the alerts about them. A session that is being written to at this moment is left out (it will be due again),
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
  select s.place, s.was_classified, w.* from w cross join lateral (
    select ctid as place, classified_content > 0 as was_classified from sessions
    where id = w.id and content_revision = w.content_revision and classified_content < content_revision
      and status <> 'RUNNING'
    for update skip locked) s
), done as (
  update sessions s set classified_content = s.content_revision, revision = s.revision + 1,
    ${RESULT_COLUMNS.slice(2)
      .map((column) => `${column.name} = ${cast(column, 'l')}`)
      .join(', ')}
  from locked l where s.ctid = l.place
  returning s.id, s.project_id, s.platform, s.last_event_at, s.rules_not_run, l.was_classified
), gone as (
  delete from failures where ctid = any(array(
    select o.ctid from done d cross join lateral (
      select ctid, failure_key, category from failures where session_id = d.id offset 0) o
    -- What a rule found before stays while it cannot run.
    where o.category <> all(d.rules_not_run) and not exists (select from f where f.session_id = d.id and f.failure_key = o.failure_key)))
  returning project_id, pattern_id
), moved as (
  -- Of an agent whose name came later the pattern is another.
  select f.session_id, f.failure_key, o.project_id, o.pattern_id from f join done d on d.id = f.session_id cross join lateral (
    select project_id, pattern_id from failures where session_id = f.session_id and failure_key = f.failure_key offset 0) o
  where o.pattern_id <> f.pattern_id
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
  returning session_id, failure_key, project_id, pattern_id, seen_at
), ${RAISE}
select d.id, d.project_id, null::uuid as pattern_id, false as is_gone, null::uuid as delivery_id, null::uuid as channel_id from done d
union all select null, project_id, pattern_id, false, null, null from kept
union all select null, project_id, pattern_id, true, null, null from gone
union all select null, project_id, pattern_id, true, null, null from moved
union all select null, project_id, null, false, id, channel_id from delivered`

export interface Written {
  sessions: { id: string; projectId: number }[]
  /** whose failures changed, and of these those that lost one */
  patterns: PatternNotice[]
  lost: PatternNotice[]
  /** people are to be told */
  deliveries: NewDelivery[]
}

export async function writeClassified(sql: Sql, classified: Classified[]): Promise<Written> {
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
    patterns: noticesOf(rows),
    lost: noticesOf(rows.filter((row) => row.is_gone)),
    deliveries: rows.flatMap((row) =>
      row.delivery_id === null ? [] : { id: row.delivery_id, projectId: row.project_id, channelId: row.channel_id },
    ),
  }
}

const noticesOf = (rows: Row[]): PatternNotice[] => [
  ...new Map(rows.flatMap((row) => (row.pattern_id ? [[row.pattern_id, patternNotice(row)] as const] : []))).values(),
]

const MAX_TITLE = 200

/** What a pattern is called in lists: the error's first line as it first came, else what its category says. */
function titleOf({ category, errorText, evidence, subject }: Found): string {
  if (errorText !== null) return errorText.trim().split('\n')[0]!.slice(0, MAX_TITLE).toWellFormed()
  if (category === 'LATENCY_SPIKE') return 'Took longer than usual'
  if (category === 'COST_ANOMALY') return 'Cost more than usual'
  if (category === 'INFINITE_LOOP') return `Endless loop at "${subject ?? ''}"`.slice(0, MAX_TITLE)
  return evidence.length > 0 ? 'Failed without a text' : 'Reported as failed without a text'
}
