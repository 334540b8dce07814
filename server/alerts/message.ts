// What is told of an alert, read as it stands before the first attempt.
import type { Sql } from '../database/connect.ts'
import { severityOf, type FailureCategory, type MeasureUnit } from '../failures/failure.ts'
import { seconds } from '../failures/words.ts'
import { CATEGORY_WORDS, nameOfAgent, utc, type AlertMessage, type RuleKind } from './alert.ts'
import { rateTitle, type RateFacts } from './rates.ts'
import { percent } from './rule-sentence.ts'

/** A row of alerts with the name of its rule and project. */
export interface AlertRow {
  id: string
  kind: RuleKind
  project: string
  rule: string
  projectId: number
  sessionId: string | null
  failureKey: string | null
  subject: string
  agent: string | null
  severity: number | null
  facts: RateFacts | null
  createdAt: Date
}

const LINE = 300
const MAX_COUNTED = 10_000

/** @returns null where there is nothing to tell any more: the failure was not found again, or its session is gone */
export async function composeMessage(sql: Sql, alert: AlertRow, baseUrl: string): Promise<AlertMessage | null> {
  return alert.kind === 'FAILURE_RATE' ? rateMessage(sql, alert, baseUrl) : failureMessage(sql, alert, baseUrl)
}

async function failureMessage(sql: Sql, alert: AlertRow, baseUrl: string): Promise<AlertMessage | null> {
  const [row] = await sql`
    select s.external_id, s.external_url, s.platform, s.agent, s.event_count, s.failure_count,
      coalesce(s.closed_at, s.last_event_at) as at, f.*, o.first_seen_at, c.sessions as seen,
      e.name as step, e.occurred_at as step_at, e.error->>'httpStatus' as http_status
    from sessions s join failures f on f.session_id = s.id and f.failure_key = ${alert.failureKey}
    left join lateral (select seen_at as first_seen_at from failures where pattern_id = f.pattern_id order by seen_at limit 1) o on true
    left join lateral (select count(*)::int as sessions from (select from failures where pattern_id = f.pattern_id
      and seen_at > now() - interval '7 days' limit ${MAX_COUNTED}) counted) c on true
    left join events e on e.session_id = s.id and e.day = (s.first_seen_at at time zone 'UTC')::date and e.event_key = f.evidence[1]
    where s.id = ${alert.sessionId}`
  if (!row) return null
  return {
    ...basics(alert),
    agent: row.agent,
    platform: row.platform,
    severity: severityOf(row.severity),
    category: row.category,
    cause: row.cause,
    subject: row.subject,
    title: titleOf(alert, row),
    sentence: row.sentence,
    advice: row.advice,
    evidence: evidenceOf(row),
    since: { at: (row.first_seen_at as Date).toISOString(), what: 'first seen' },
    session: {
      id: row.session_id,
      externalId: row.external_id,
      externalUrl: row.external_url,
      at: (row.at as Date).toISOString(),
    },
    otherFailures: row.failure_count - 1,
    seenInLast7Days: row.seen,
    url: `${baseUrl}/sessions/${row.session_id}`,
  }
}

/** Who and what kind; the error itself stands in the sentence. */
function titleOf({ kind, subject }: AlertRow, row: Record<string, any>): string {
  const what =
    CATEGORY_WORDS[row.category as FailureCategory] + (row.subject === null ? '' : ` at "${oneLine(row.subject)}"`)
  const isBack = subject.split('/').length > 2
  const news = kind === 'FAILURE' ? '' : isBack ? 'seen again after it was resolved: ' : 'new: '
  return `${nameOfAgent(row.agent)}: ${news}${what}`
}

/** What was measured or said, and where in the run. */
function evidenceOf(row: Record<string, any>): string[] {
  const measured =
    row.measured !== null && row.unit !== null
      ? `Measured ${inUnit(row.measured, row.unit)}${row.threshold === null ? '' : `, the limit is ${inUnit(row.threshold, row.unit)}`}`
      : null
  const status = row.http_status === null ? '' : ` (HTTP ${row.http_status})`
  const said = row.error_text === null ? null : `Error${status}: ${oneLine(row.error_text)}`
  const steps = row.evidence_count as number
  const first = [row.step && `"${oneLine(row.step)}"`, row.step_at && `at ${utc((row.step_at as Date).toISOString())}`]
    .filter(Boolean)
    .join(' ')
  const did = said === null ? 'show it' : 'failed'
  const which = row.event_count === 1 ? 'Its only step' : `${steps} of ${row.event_count} steps`
  const where = steps === 0 ? null : `${which} ${steps === 1 && said === null ? 'shows it' : did}`
  return [measured ?? said, where && where + (first && `${steps === 1 ? ': ' : ', the first '}${first}`)].filter(
    (line) => line !== null,
  )
}

async function rateMessage(sql: Sql, alert: AlertRow, baseUrl: string): Promise<AlertMessage> {
  const facts = alert.facts!
  const since = new Date(alert.createdAt.getTime() - facts.minutes * 60_000)
  const most = await sql`
    select f.title, count(distinct f.session_id)::int as sessions
    from sessions s join failures f on f.session_id = s.id and f.place = 0
    left join failure_patterns p on p.id = f.pattern_id
    where coalesce(p.muted_until <= now(), true) and s.project_id = ${alert.projectId} and s.agent is not distinct from ${alert.agent}
      and s.last_event_at > ${since} and s.last_event_at <= ${alert.createdAt}
    group by f.title order by sessions desc, f.title limit 2`
  const share = `${percent(facts.failed / facts.runs)} of its runs`
  const query = new URLSearchParams({ agent: alert.agent ?? '', from: since.toISOString() })
  return {
    ...basics(alert),
    title: rateTitle(alert.agent, facts),
    sentence: `${rateTitle(alert.agent, facts)} in the last ${facts.minutes} minutes: ${share}, the limit is ${percent(facts.share)}.`,
    evidence: most.map(({ title, sessions }) => `${sessions} × ${oneLine(title)}`),
    since: { at: since.toISOString(), what: 'counted since' },
    rate: { runs: facts.runs, failed: facts.failed, minutes: facts.minutes },
    url: `${baseUrl}/sessions?${query}`,
  }
}

const basics = (alert: AlertRow): AlertMessage => ({
  kind: alert.kind,
  alertId: alert.id,
  at: alert.createdAt.toISOString(),
  project: alert.project,
  rule: alert.rule,
  agent: alert.agent,
  platform: null,
  severity: alert.severity === null ? null : severityOf(alert.severity),
  category: null,
  cause: null,
  subject: null,
  title: '',
  sentence: '',
  advice: null,
  evidence: [],
  since: { at: alert.createdAt.toISOString(), what: 'since' },
  session: null,
  otherFailures: 0,
  seenInLast7Days: null,
  rate: null,
  url: '',
})

/** Of a channel alone: it says of itself that it is a test. */
export const testMessage = (project: string, channel: string, baseUrl: string, id: string, at: Date): AlertMessage => ({
  ...basics({
    id,
    kind: 'FAILURE',
    project,
    rule: 'Test',
    projectId: 0,
    sessionId: null,
    failureKey: null,
    subject: '',
    agent: 'Test agent',
    severity: 1,
    facts: null,
    createdAt: at,
  }),
  kind: 'TEST',
  title: `Test of the channel ${channel}`,
  sentence: 'This is a test. Nothing has failed.',
  advice: 'If you can read this, alerts arrive here.',
  evidence: ['A first line of evidence stands here.', 'And a second one.'],
  since: { at: at.toISOString(), what: 'sent' },
  url: `${baseUrl}/alerts`,
})

/** Errors of web servers are pages: their words count. */
function oneLine(text: string): string {
  const line = text
    .replace(/<\/?[a-z][^<>]{0,300}>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > LINE ? `${line.slice(0, LINE - 1).toWellFormed()}…` : line
}

function inUnit(value: number, unit: MeasureUnit): string {
  if (unit === 'MS') return seconds(value)
  if (unit === 'USD') return `${value < 1 ? value.toFixed(4) : value.toFixed(2)} USD`
  return `${value.toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit === 'TOKENS' ? 'tokens' : 'rounds'}`
}
