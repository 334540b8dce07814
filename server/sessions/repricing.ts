// Prices applied to what is stored already: on request, in the background, with progress.
import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout } from 'node:timers/promises'
import Big from 'big.js'
import { dueFrom } from '../agents/rollups.ts'
import { withDeadline, type Sql } from '../database/connect.ts'
import type { Price } from '../ingest/parsed.ts'
import type { OwnPrices } from './own-prices.ts'
import type { Transaction } from './store.ts'

const REPRICING_LOCK = 7_240_004
const CLOSE_WITHIN_MS = 5_000
const SESSIONS_PER_BATCH = 500
/** Few: whoever posts to one of the sessions waits for its row as long as the batch takes. */
const EVENTS_PER_BATCH = 1_000
const MAX_PARTS = 20
/** Prices are computed between the answers to requests. */
const CALLS_AT_ONCE = 250
const LEAST_ID = '00000000-0000-0000-0000-000000000000'

/** All sessions of a project that were first seen from then on and before it was asked for. */
export interface RepricingRow {
  id: string
  projectId: number
  requestedBy: string
  requestedAt: Date
  since: Date
  /** how many there were when it was asked for */
  sessions: number
  doneSessions: number
  changedSessions: number
  finishedAt: Date | null
}

export interface Repriced {
  id: string
  projectId: number
}

export interface RepricingOptions {
  sql: Sql
  prices: OwnPrices
  /** called after the commit */
  onChanged(changed: Repriced[]): void
  onError(error: unknown, what: string): void
}

export class Repricing {
  private isStopped = false
  private running: Promise<void> = Promise.resolve()

  constructor(private readonly options: RepricingOptions) {}

  /** Sessions first seen in the last so many days, or all; they are priced in batches, also after a restart. */
  async request(projectId: number, requestedBy: string, days: number | null): Promise<RepricingRow> {
    const [row] = await this.options.sql`
      insert into repricings (id, project_id, requested_by, since, sessions)
      select ${randomUUID()}, ${projectId}, ${requestedBy}, asked.since, (
        select count(*) from sessions
        where project_id = ${projectId} and first_seen_at >= asked.since and first_seen_at <= now())
      from (select coalesce(now() - ${days}::int * interval '24 hours', 'epoch') as since) asked
      returning *`
    void this.run()
    return repricingOf(row!)
  }

  /** Newest first. */
  async list(projectIds: number[]): Promise<RepricingRow[]> {
    const rows = await this.options.sql`
      select * from repricings where project_id = any(${projectIds}::int2[]) order by requested_at desc limit 100`
    return rows.map(repricingOf)
  }

  /** Works off what was asked for: one at a time over all servers. */
  run(): Promise<void> {
    this.running = this.running
      .then(() => this.workOff())
      .catch((error: unknown) => this.options.onError(error, 'prices could not be applied to history'))
    return this.running
  }

  async close(): Promise<void> {
    this.isStopped = true
    // A database that does not answer must not hold up the end.
    await withDeadline(this.running, CLOSE_WITHIN_MS).catch(() => {})
  }

  /** It looks for more after the lock was given back: whoever asked another server meanwhile found it taken. */
  private async workOff(): Promise<void> {
    const { sql } = this.options
    while (!this.isStopped) {
      const [open] = await sql`select id from repricings where finished_at is null order by requested_at, id limit 1`
      if (!open) return
      const reserved = await sql.reserve()
      try {
        const [lock] = await reserved`select pg_try_advisory_lock(${REPRICING_LOCK}) as taken`
        if (!lock!.taken) return
        try {
          await this.apply(open.id)
        } finally {
          await reserved`select pg_advisory_unlock(${REPRICING_LOCK})`
        }
      } finally {
        reserved.release()
      }
    }
  }

  /** Between two batches it rests for as long as the last one took. */
  private async apply(id: string): Promise<void> {
    // It may have been asked of another server, whose prices are not known here yet.
    await this.options.prices.load()
    let part: Part | null = null
    while (!this.isStopped) {
      const began = performance.now()
      const step: Step | null = await this.applyToNext(id, part)
      if (!step) return
      part = step.part
      if (step.changed.length > 0) this.options.onChanged(step.changed)
      await setTimeout(performance.now() - began)
    }
  }

  /** The next sessions and how far it came, in one transaction; null when there are no more. */
  private async applyToNext(id: string, before: Part | null): Promise<Step | null> {
    return (await this.options.sql.begin(async (tx) => {
      // Under its row lock: two servers take turns where one lost the other lock and does not know it yet.
      const [row] = await tx`
        select project_id, requested_at::text as until, coalesce(at_first_seen, since)::text as after_first_seen,
          coalesce(at_id, ${LEAST_ID}::uuid) as after_id
        from repricings where id = ${id} and finished_at is null for update`
      if (!row) return null
      const batch = await nextBatch(tx, row as unknown as Walk)
      const last = batch.at(-1)
      if (!last) {
        await tx`update repricings set finished_at = now() where id = ${id}`
        return null
      }
      const projectId: number = row.project_id
      const known = before?.sessionId === last.id ? before : null
      const prices = () => this.options.prices.priceFor(projectId)
      const { ids, reached } = await reprice(tx, batch, known?.afterKey ?? LEAST_ID, prices)
      const changed = ids.map((session) => ({ id: session, projectId }))
      const hasChanged = known?.hasChanged || ids.length > 0
      if (reached !== null) return { changed, part: { sessionId: last.id, afterKey: reached, hasChanged } }
      await tx`
        update repricings set done_sessions = done_sessions + ${batch.length},
          changed_sessions = changed_sessions + ${known ? Number(hasChanged) : ids.length},
          at_first_seen = ${last.seen_at}::text::timestamptz, at_id = ${last.id}
        where id = ${id}`
      return { changed, part: null }
    })) as Step | null
  }
}

/** How far it came in a session of more events than one transaction takes. After a restart it begins again. */
interface Part {
  sessionId: string
  afterKey: string
  hasChanged: boolean
}

interface Step {
  changed: Repriced[]
  part: Part | null
}

/** Times are text: as parameters of the driver they would lose their microseconds. */
interface Walk {
  project_id: number
  until: string
  after_first_seen: string
  after_id: string
}

interface Candidate {
  id: string
  seen_at: string
  day: string
  /** 0 where none can have a price */
  events: number
}

/** As many as one transaction takes, all of one day: their events lie in one partition. */
async function nextBatch(tx: Transaction, walk: Walk): Promise<Candidate[]> {
  const rows = (await tx`
    select id, first_seen_at::text as seen_at, (first_seen_at at time zone 'UTC')::date::text as day,
      case when prompt_tokens is null or completion_tokens is null then 0 else event_count end as events
    from sessions
    where project_id = ${walk.project_id} and first_seen_at <= ${walk.until}::text::timestamptz
      and (first_seen_at, id) > (${walk.after_first_seen}::text::timestamptz, ${walk.after_id}::uuid)
    order by first_seen_at, id limit ${SESSIONS_PER_BATCH}`) as unknown as Candidate[]
  let events = 0
  const end = rows.findIndex((row, i) => {
    events += row.events
    return i > 0 && (row.day !== rows[0]!.day || events > EVENTS_PER_BATCH)
  })
  return end < 0 ? rows : rows.slice(0, end)
}

/**
 * Prices the calls of these sessions anew, all but those whose cost was reported. The row locks of the sessions first, in
 * the order of all writers: what is posted meanwhile waits, and then adds to the new sum.
 * @returns the sessions in which something changed, and where one alone has more calls, the key of the last one done
 */
async function reprice(
  tx: Transaction,
  batch: Candidate[],
  afterKey: string,
  prices: () => Price,
): Promise<{ ids: string[]; reached: string | null }> {
  const [{ day, events }] = batch as [Candidate]
  const ids = batch.flatMap((session) => (session.events > 0 ? session.id : []))
  if (ids.length === 0) return { ids, reached: null }
  // One that was deleted and opened anew meanwhile has its events on another day.
  const locked = await tx`
    select id, revision + 1 as revision from sessions
    where id = any(${ids}::uuid[]) and (first_seen_at at time zone 'UTC')::date = ${day}::date
    order by id for update`
  const revisions = new Map(locked.map((row) => [row.id as string, row.revision as string]))
  // Each time all events are summed up, so very many go in larger parts.
  const limit = batch.length > 1 ? null : Math.max(EVENTS_PER_BATCH, Math.ceil(events / MAX_PARTS))
  const calls = await tx`
    select session_id, event_key, model, prompt_tokens, completion_tokens, cost_usd,
      extract(epoch from coalesce(occurred_at, received_at)) * 1000 as at_ms
    from events
    where day = ${day}::date and session_id = any(${[...revisions.keys()]}::uuid[]) and event_key > ${afterKey}
      and cost_source is distinct from 'REPORTED'
      and model is not null and prompt_tokens is not null and completion_tokens is not null
    order by session_id, event_key limit ${limit}`
  const reached: string | null = calls.length === limit ? calls.at(-1)!.event_key : null
  // Asked for now: what was posted before the locks were taken must not go back to an older price.
  const priceOf = prices()
  const changed: { sessionId: string; key: string; costUsd: string | null }[] = []
  for (const [i, call] of calls.entries()) {
    if (i % CALLS_AT_ONCE === CALLS_AT_ONCE - 1) await setImmediate()
    const costUsd = priceOf(call.model, Number(call.prompt_tokens), Number(call.completion_tokens), Number(call.at_ms))
    if (!isSame(costUsd, call.cost_usd)) changed.push({ sessionId: call.session_id, key: call.event_key, costUsd })
  }
  const changedIds = [...new Set(changed.map((one) => one.sessionId))]
  if (changed.length === 0) return { ids: changedIds, reached }
  // Without statistics of the day's table it would compare each of its events with each of these.
  await tx`set local enable_nestloop = off`
  await tx`
    update events e set cost_usd = w.cost_usd, cost_source = case when w.cost_usd is not null then 'PRICED' end,
      revision = w.revision
    from unnest(${changed.map((one) => one.sessionId)}::uuid[], ${changed.map((one) => one.key)}::uuid[],
      ${changed.map((one) => one.costUsd)}::numeric[], ${changed.map((one) => revisions.get(one.sessionId)!)}::int8[])
      as w (session_id, event_key, cost_usd, revision)
    where e.day = ${day}::date and e.session_id = any(${changedIds}::uuid[])
      and e.session_id = w.session_id and e.event_key = w.event_key`
  await tx`
    update sessions s set cost_usd = t.cost_usd, unpriced_calls = t.unpriced_calls, revision = s.revision + 1,
      content_revision = s.content_revision + 1
    from (
      select session_id, sum(cost_usd) as cost_usd, count(*) filter (
        where cost_usd is null and (prompt_tokens is not null or completion_tokens is not null)) as unpriced_calls
      from events where day = ${day}::date and session_id = any(${changedIds}::uuid[]) group by session_id) t
    where s.id = any(${changedIds}::uuid[]) and s.id = t.session_id`
  await tx.unsafe(dueFrom('sessions where id = any($1::uuid[])'), [changedIds])
  // Their failures may be others now. Should this server end before it has looked, that of whoever sweeps next begins there.
  await tx`
    update classified_until set turn = turn + 1, at = least(at, o.oldest), analysed_at = least(analysed_at, o.oldest)
    from (select min(last_event_at) as oldest from sessions where id = any(${changedIds}::uuid[])) o`
  return { ids: changedIds, reached }
}

const isSame = (a: string | null, b: string | null) => (a === null || b === null ? a === b : Big(a).eq(b))

const repricingOf = (row: Record<string, unknown>): RepricingRow => ({
  id: row.id as string,
  projectId: row.project_id as number,
  requestedBy: row.requested_by as string,
  requestedAt: row.requested_at as Date,
  since: row.since as Date,
  sessions: row.sessions as number,
  doneSessions: row.done_sessions as number,
  changedSessions: row.changed_sessions as number,
  finishedAt: row.finished_at as Date | null,
})
