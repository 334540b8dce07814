// What is known of an agent's earlier runs, kept in memory: how long they took, what they cost, how their prompts began.
import type { Sql } from '../database/connect.ts'
import { sessionId } from '../sessions/identity.ts'
import type { DueSession } from './due.ts'
import type { AnalysedEvent, Beginning, Surroundings, UsualValue } from './finding.ts'
import { chainOf, firstCalls, usualOf } from './rules-of-usual.ts'

/** Runs of other servers are known after this time at the latest. */
const KEEP_MS = 60_000
const COMPARED_RUNS = 200
/** More than are compared, so that sessions which come in another order find theirs too. */
const KEPT_RUNS = 2 * COMPARED_RUNS
/** Runs whose prompts are compared, and how many are kept of them. */
const COMPARED_BEGINNINGS = 8
const KEPT_BEGINNINGS = 2 * COMPARED_BEGINNINGS
const MAX_AGENTS = 1_000
/** Many that come late come together: what was before one was before those that were seen shortly after it. */
const TOGETHER_MS = 5_000

interface PastRun {
  id: string
  firstSeenAt: number
  durationMs: number | null
  /** null where a call of it has no price */
  costUsd: number | null
}

/** A run that called a model, and how the first prompt of each step began. */
interface PastPrompts {
  id: string
  firstSeenAt: number
  steps: Map<string, Beginning>
}

interface Kept {
  until: number
  /** newest first */
  runs: PastRun[]
  hasOlderRuns: boolean
  /** newest first */
  prompts: PastPrompts[]
  hasOlderPrompts: boolean
  /** what was read for sessions from before all this */
  olderRuns: Older<PastRun[]> | null
  olderPrompts: Older<PastPrompts[]> | null
}

interface Older<T> {
  before: number
  found: T
}

type Earlier = Pick<Surroundings, 'durationMs' | 'costUsd' | 'beginnings'>

export class Past {
  private agents = new Map<string, Kept>()

  constructor(private readonly sql: Sql) {}

  /** What was usual before a session of its agent on its platform. */
  async before(session: DueSession): Promise<Earlier> {
    const kept = await this.keptOf(session)
    const isEarlier = (one: { id: string; firstSeenAt: number }) =>
      one.firstSeenAt < session.firstSeenAt && one.id !== session.id
    let runs = kept.runs.filter(isEarlier)
    if (runs.length < COMPARED_RUNS && kept.hasOlderRuns) {
      kept.olderRuns = await olderFor(session, kept.olderRuns, () =>
        readRuns(this.sql, session, session.firstSeenAt, COMPARED_RUNS),
      )
      runs = kept.olderRuns.found
    }
    runs = runs.slice(0, COMPARED_RUNS)
    let prompts = kept.prompts.filter(isEarlier)
    if (session.llmCalls > 0 && prompts.length < COMPARED_BEGINNINGS && kept.hasOlderPrompts) {
      kept.olderPrompts = await olderFor(session, kept.olderPrompts, () =>
        readPrompts(this.sql, session, session.firstSeenAt, COMPARED_BEGINNINGS),
      )
      prompts = kept.olderPrompts.found
    }
    return {
      durationMs: usualOfKnown(runs.map((run) => run.durationMs)),
      costUsd: usualOfKnown(runs.map((run) => run.costUsd)),
      beginnings: byStep(prompts.slice(0, COMPARED_BEGINNINGS)),
    }
  }

  /** A run that was analysed just now: the next one is compared with it too. */
  note(session: DueSession, events: AnalysedEvent[]): void {
    const kept = this.agents.get(keyOf(session))
    if (!kept) return
    const { id, firstSeenAt } = session
    const durationMs = session.activeMs ?? session.durationMs
    if (session.status === 'COMPLETED') {
      const run = { id, firstSeenAt, durationMs, costUsd: session.unpricedCalls > 0 ? null : session.costUsd }
      insert(kept.runs, run, KEPT_RUNS)
      kept.hasOlderRuns ||= kept.runs.length === KEPT_RUNS
    }
    if (session.llmCalls > 0) {
      insert(kept.prompts, { id, firstSeenAt, steps: beginningsOf(events, firstSeenAt) }, KEPT_BEGINNINGS)
      kept.hasOlderPrompts ||= kept.prompts.length === KEPT_BEGINNINGS
    }
  }

  private async keptOf(session: DueSession): Promise<Kept> {
    const key = keyOf(session)
    const before = this.agents.get(key)
    if (before && before.until > Date.now()) return before
    const runs = await readRuns(this.sql, session, null, KEPT_RUNS)
    const prompts = await readPrompts(this.sql, session, null, KEPT_BEGINNINGS)
    const kept: Kept = {
      until: Date.now() + KEEP_MS,
      runs,
      hasOlderRuns: runs.length === KEPT_RUNS,
      prompts,
      hasOlderPrompts: prompts.length === KEPT_BEGINNINGS,
      olderRuns: null,
      olderPrompts: null,
    }
    this.agents.delete(key)
    this.agents.set(key, kept)
    if (this.agents.size > MAX_AGENTS) this.agents.delete(this.agents.keys().next().value!)
    return kept
  }
}

/** The same again for a session that came shortly after the one for which it was read. */
async function olderFor<T>(
  { firstSeenAt }: DueSession,
  last: Older<T> | null,
  read: () => Promise<T>,
): Promise<Older<T>> {
  if (last && last.before <= firstSeenAt && firstSeenAt - last.before <= TOGETHER_MS) return last
  return { before: firstSeenAt, found: await read() }
}

const keyOf = ({ projectId, platform, agent }: DueSession) =>
  `${projectId} ${platform}${agent === null ? '' : ` ${agent}`}`

const usualOfKnown = (values: (number | null)[]): UsualValue | null => usualOf(values.filter((value) => value !== null))

/** Keeps the newest, newest first; one that was there before is replaced. */
function insert<T extends { id: string; firstSeenAt: number }>(all: T[], one: T, most: number): void {
  const before = all.findIndex(({ id }) => id === one.id)
  if (before >= 0) all.splice(before, 1)
  const place = all.findIndex(({ firstSeenAt }) => firstSeenAt <= one.firstSeenAt)
  all.splice(place < 0 ? all.length : place, 0, one)
  if (all.length > most) all.pop()
}

const ofAgent = (sql: Sql, { projectId, platform, agent }: DueSession, before: number | null) => sql`
  project_id = ${projectId} and ${agent === null ? sql`agent is null` : sql`agent = ${agent}`} and platform = ${platform}
  ${before === null ? sql`` : sql`and first_seen_at < ${new Date(before)}`}`

/** Completed runs, newest first: one that failed early says nothing of how long a run takes. */
async function readRuns(sql: Sql, session: DueSession, before: number | null, limit: number): Promise<PastRun[]> {
  const rows = await sql`
    select id, extract(epoch from first_seen_at) * 1000 as first_seen_ms, coalesce(active_ms, duration_ms) as duration_ms,
      case when unpriced_calls = 0 then cost_usd end as cost_usd
    from sessions where ${ofAgent(sql, session, before)} and status = 'COMPLETED'
    order by first_seen_at desc, id desc limit ${limit}`
  return rows.map((row) => ({
    id: row.id as string,
    firstSeenAt: Number(row.first_seen_ms),
    durationMs: row.duration_ms as number | null,
    costUsd: row.cost_usd === null ? null : Number(row.cost_usd),
  }))
}

/** Runs that called a model, newest first, and how their prompts began. */
async function readPrompts(
  sql: Sql,
  session: DueSession,
  before: number | null,
  limit: number,
): Promise<PastPrompts[]> {
  const rows = await sql`
    select s.id, extract(epoch from s.first_seen_at) * 1000 as first_seen_ms, e.type, e.name, e.model,
      extract(epoch from e.occurred_at) * 1000 as occurred_ms, left(e.input, 16384) as input, length(e.input) as input_length
    from (
      select id, first_seen_at from sessions where ${ofAgent(sql, session, before)} and llm_calls > 0
      order by first_seen_at desc, id desc limit ${limit}) s
    left join lateral (
      select * from events
      where session_id = s.id and day = (s.first_seen_at at time zone 'UTC')::date and type = 'LLM_CALL' and input is not null
      order by order_us, sequence, place, event_key limit 20) e on true
    order by s.first_seen_at desc, s.id desc, e.order_us, e.sequence, e.place, e.event_key`
  const runs = new Map<string, { firstSeenAt: number; events: AnalysedEvent[] }>()
  for (const row of rows) {
    const run = runs.get(row.id) ?? { firstSeenAt: Number(row.first_seen_ms), events: [] }
    runs.set(row.id, run)
    if (row.type === null) continue
    const occurredAt = row.occurred_ms === null ? null : Number(row.occurred_ms)
    const { type, name, model, input, input_length: inputLength } = row
    run.events.push({ type, name, model, input, inputLength, occurredAt } as AnalysedEvent)
  }
  return [...runs].map(([id, { firstSeenAt, events }]) => ({
    id,
    firstSeenAt,
    steps: beginningsOf(events, firstSeenAt),
  }))
}

const beginningsOf = (events: AnalysedEvent[], firstSeenAt: number): Map<string, Beginning> =>
  new Map(
    [...firstCalls(events)].map(([step, call]) => [
      step,
      { at: call.occurredAt ?? firstSeenAt, chain: chainOf(call.input!) },
    ]),
  )

/** By step, newest first. */
function byStep(runs: PastPrompts[]): Map<string, Beginning[]> {
  const all = new Map<string, Beginning[]>()
  for (const { steps } of runs) {
    for (const [step, beginning] of steps) {
      const known = all.get(step)
      if (known) known.push(beginning)
      else all.set(step, [beginning])
    }
  }
  return all
}

/** What the runs cost that these retry, by the session that retries. */
export async function readRetried(sql: Sql, sessions: DueSession[]): Promise<Map<string, Surroundings['retried']>> {
  const asked = sessions.filter(({ retryOf }) => retryOf !== null)
  const retried = new Map<string, Surroundings['retried']>()
  if (asked.length === 0) return retried
  const idOf = ({ projectId, platform, workflowId, retryOf }: DueSession) =>
    sessionId(projectId, platform, workflowId, retryOf!)
  const rows = await sql`
    select id, duration_ms, case when unpriced_calls = 0 then cost_usd end as cost_usd, coalesce(prompt_tokens + completion_tokens, prompt_tokens, completion_tokens) as tokens
    from sessions where id = any(${asked.map(idOf)}::uuid[])`
  for (const session of asked) {
    const row = rows.find(({ id }) => id === idOf(session))
    if (!row) continue
    const number = (value: unknown) => (value === null ? null : Number(value))
    retried.set(session.id, { durationMs: row.duration_ms, costUsd: number(row.cost_usd), tokens: number(row.tokens) })
  }
  return retried
}
