// How an analysis is written: the findings of many sessions, in one statement.
import type { Sql } from '../database/connect.ts'
import { dueFrom } from '../agents/rollups.ts'
import { arrayLiterals, columnNames, nestedArray, unnestArguments, type Column } from '../database/columns.ts'
import { fingerprintId } from '../sessions/identity.ts'
import type { DueSession } from './due.ts'
import type { ModelUseSums } from './model-sums.ts'
import type { Finding } from './finding.ts'

export interface Analysed {
  session: DueSession
  findings: Finding[]
  /** what its calls add up to by model */
  modelUse: ModelUseSums
}

const MAX_EVIDENCE = 100
const MAX_SUBJECT = 200

const SESSION_COLUMNS: Column<Analysed>[] = [
  { name: 'id', type: 'uuid', value: ({ session }) => session.id },
  { name: 'content_revision', type: 'int8', value: ({ session }) => session.contentRevision },
  { name: 'model_use', type: 'text', value: ({ modelUse }) => JSON.stringify(modelUse).toWellFormed() },
]

interface FindingWrite {
  session: DueSession
  finding: Finding
  place: number
}

// prettier-ignore
const FINDING_COLUMNS: Column<FindingWrite>[] = [
  { name: 'session_id', type: 'uuid', value: ({ session }) => session.id },
  { name: 'finding_key', type: 'uuid', value: ({ finding }) => fingerprintId('finding', finding.kind, finding.subject === null ? 'run' : `step ${finding.subject}`) },
  { name: 'project_id', type: 'int2', value: ({ session }) => session.projectId },
  { name: 'agent', type: 'text', value: ({ session }) => session.agent },
  { name: 'place', type: 'int4', value: ({ place }) => place },
  { name: 'kind', type: 'text', value: ({ finding }) => finding.kind },
  { name: 'subject', type: 'text', value: ({ finding }) => finding.subject && finding.subject.slice(0, MAX_SUBJECT).toWellFormed() },
  { name: 'sentence', type: 'text', value: ({ finding }) => finding.sentence.toWellFormed() },
  { name: 'advice', type: 'text', value: ({ finding }) => finding.advice.toWellFormed() },
  { name: 'saving_usd', type: 'numeric', value: ({ finding: { saving } }) => saving.usd && Number(saving.usd.toFixed(9)) },
  { name: 'saving_tokens', type: 'numeric', value: ({ finding: { saving } }) => saving.tokens },
  { name: 'saving_ms', type: 'float8', value: ({ finding: { saving } }) => saving.ms },
  { name: 'evidence', type: 'uuid[]', value: ({ finding }) => nestedArray(finding.evidence.slice(0, MAX_EVIDENCE)) },
  { name: 'evidence_count', type: 'int4', value: ({ finding }) => finding.evidence.length },
]
const FINDINGS_FROM = SESSION_COLUMNS.length + 1
const SAID = FINDING_COLUMNS.slice(3).map(({ name }) => name)

const cast = ({ name, type }: { name: string; type: string }, alias: string) =>
  `${alias}.${name}${type.endsWith('[]') ? `::${type}` : ''}`

/**
 * A session that is being written to at this moment is left out, and so is one that changed since it was read: both will
 * be due again. Its revision rises only where a reader would see something else, so to analyse twice changes nothing.
 */
const WRITE = `
with w as materialized (
  select * from unnest(${unnestArguments(SESSION_COLUMNS, 1)}) as w (${columnNames(SESSION_COLUMNS)})
), f as materialized (
  select * from unnest(${unnestArguments(FINDING_COLUMNS, FINDINGS_FROM)}) as f (${columnNames(FINDING_COLUMNS)})
), locked as materialized (
  select s.*, w.id, w.model_use::jsonb as model_use from w cross join lateral (
    select ctid as place, project_id, agent, first_seen_at, last_event_at, model_use as model_use_before from sessions
    where id = w.id and content_revision = w.content_revision and analysed_content < content_revision
    for update skip locked) s
), gone as (
  delete from findings where ctid = any(array(
    select o.ctid from locked l cross join lateral (
      select ctid, finding_key from findings where session_id = l.id offset 0) o
    where not exists (select from f where f.session_id = l.id and f.finding_key = o.finding_key)))
  returning session_id
), kept as (
  insert into findings as k (${columnNames(FINDING_COLUMNS)}, seen_at)
  select ${FINDING_COLUMNS.map((column) => cast(column, 'f')).join(', ')}, l.last_event_at
  from f join locked l on l.id = f.session_id order by f.session_id, f.finding_key
  on conflict (session_id, finding_key) do update set ${SAID.map((name) => `${name} = excluded.${name}`).join(', ')}
  where (${SAID.map((name) => `k.${name}`).join(', ')}) is distinct from (${SAID.map((name) => `excluded.${name}`).join(', ')})
  returning session_id
), due as (
  ${dueFrom('locked where model_use is distinct from model_use_before')}
), changed as materialized (
  select session_id from gone union select session_id from kept
)
update sessions s set analysed_content = s.content_revision, model_use = l.model_use,
  revision = s.revision + (exists (select from changed c where c.session_id = s.id))::int
from locked l where s.ctid = l.place
returning s.id, s.project_id, exists (select from changed c where c.session_id = s.id) as has_changed`

export interface WrittenAnalysis {
  /** all that were written */
  ids: string[]
  /** of these, those whose findings are others now */
  changed: { id: string; projectId: number }[]
}

export async function writeAnalysed(sql: Sql, analysed: Analysed[]): Promise<WrittenAnalysis> {
  const findings = analysed.flatMap(({ session, findings: own }) =>
    own.map((finding, place) => ({ session, finding, place })),
  )
  const rows = await sql.unsafe(
    WRITE,
    [...arrayLiterals(SESSION_COLUMNS, analysed), ...arrayLiterals(FINDING_COLUMNS, findings)],
    { prepare: true },
  )
  return {
    ids: rows.map((row) => row.id as string),
    changed: rows.flatMap((row) =>
      row.has_changed ? { id: row.id as string, projectId: row.project_id as number } : [],
    ),
  }
}
