// Waiting until sessions are analysed, and what is stored of their findings.
import type postgres from 'postgres'
import { until } from './until.ts'

/** Closed sessions that changed since they were analysed. */
export const unanalysedCount = async (sql: postgres.Sql): Promise<number> =>
  (
    await sql`
      select count(*)::int as count from sessions where status <> 'RUNNING' and analysed_content < content_revision`
  )[0]!.count

export const untilAllAnalysed = (sql: postgres.Sql) =>
  until(
    () => unanalysedCount(sql),
    (count) => count === 0,
    20_000,
  )

export interface StoredFinding {
  run: string
  project: string
  agent: string | null
  kind: string
  subject: string | null
  sentence: string
  usd: number | null
  tokens: number | null
  ms: number | null
  evidence: string[]
}

/** Of the sessions whose id begins so, in the order in which they are listed. */
export const storedFindings = (sql: postgres.Sql, prefix: string) =>
  sql<StoredFinding[]>`
    select s.external_id as run, p.name as project, f.agent, f.kind, f.subject, f.sentence, f.saving_usd::float8 as usd,
      f.saving_tokens::float8 as tokens, f.saving_ms as ms, f.evidence
    from findings f join sessions s on s.id = f.session_id join projects p on p.id = s.project_id
    where starts_with(s.external_id, ${prefix}) order by s.external_id, f.place` as unknown as Promise<StoredFinding[]>

export const kindsOf = async (sql: postgres.Sql, prefix: string) =>
  (await storedFindings(sql, prefix)).map(({ kind }) => kind)

/** What a reader of a session compares: rises where it would see something else. */
export const revisionsOf = async (sql: postgres.Sql, prefix: string) =>
  (
    await sql`select external_id, revision::text as revision from sessions where starts_with(external_id, ${prefix}) order by 1`
  ).map(({ external_id, revision }) => `${external_id} ${revision}`)

/** As long ago as that something last came: how silence looks to whoever reads the database. */
export const silentFor = (sql: postgres.Sql, externalId: string, minutes: number) =>
  sql`update sessions set last_event_at = now() - ${minutes} * interval '1 minute' where external_id = ${externalId}`
