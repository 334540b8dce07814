// Takes deliveries that are due to their receivers. What is due is a state of the database: a crash loses nothing of it.
import { withDeadline, type Sql } from '../database/connect.ts'
import { noticeOf, type AlertMessage, type DeliveryNotice, type NewDelivery } from './alert.ts'
import type { Channels } from './channels.ts'
import { composeMessage, type AlertRow } from './message.ts'
import { pauseAfter } from './retry.ts'
import { SealError } from './sealed.ts'
import { ATTEMPT_TIMEOUT_MS, NO_ANSWER, type AttemptResult, type Sender } from './send.ts'

/** Attempts at one channel at a time, by one server: a receiver that is slow or dead holds up nobody else. */
const ATTEMPTS_PER_CHANNEL = 4
const SWEEP_EVERY_MS = 1_000
/** After it an attempt of which nothing was heard is made again, by any server: its own ended. */
const LEASE_MS = ATTEMPT_TIMEOUT_MS + 5_000
const CLOSE_WITHIN_MS = 3_000
const FINISH_WITHIN_MS = 1_500
/** A restart of Postgres is over by then; so is the lease. */
const SETTLE_WITHIN_MS = 12_000
const SETTLE_AGAIN_MS = 500
/** A connection that fell silent must not hold up all channels. */
const ANSWER_WITHIN_MS = 3_000
/** A receiver that asks for a pause holds up its own channel, and no longer than this. */
const MAX_CHANNEL_PAUSE_MS = 3_600_000

/**
 * Of each channel as many as there are free places, the longest due first. Others that look at the same moment find the next
 * ones. The attempt is logged before it is made.
 */
const CLAIM = `
with picked as materialized (
  select q.id from unnest($1::uuid[], $2::int4[]) as w (channel_id, places)
  join channels c on c.id = w.channel_id and c.is_enabled and coalesce(c.paused_until <= now(), true)
  cross join lateral (
    select id from deliveries where channel_id = w.channel_id and state = 'QUEUED' and next_attempt_at <= now()
    order by next_attempt_at limit w.places for update skip locked) q
), taken as (
  update deliveries set attempt_count = attempt_count + 1, next_attempt_at = now() + $3 * interval '1 millisecond'
  where id = any(array(select id from picked)) returning *
), logged as (
  insert into delivery_attempts (delivery_id, number) select id, attempt_count from taken
)
select d.id, d.project_id, d.channel_id, d.attempt_count, d.retries,
  extract(epoch from now() - d.queued_at) * 1000 as queued_for_ms, c.sealed, a.message, a.id as alert_id, a.kind,
  a.session_id, a.failure_key, a.subject, a.agent, a.severity, a.facts, a.created_at, r.name as rule, p.name as project
from taken d join alerts a on a.id = d.alert_id join channels c on c.id = d.channel_id
join alert_rules r on r.id = a.rule_id join projects p on p.id = d.project_id`

const FIND_DUE = `
select c.id from channels c where c.is_enabled and coalesce(c.paused_until <= now(), true) and exists (
  select from deliveries where channel_id = c.id and state = 'QUEUED' and next_attempt_at <= now())`

interface Taken {
  id: string
  projectId: number
  channelId: string
  number: number
  retries: number
  queuedForMs: number
  sealed: string
  message: AlertMessage | null
  alert: AlertRow
}

export interface CourierOptions {
  sql: Sql
  channels: Channels
  sender: Sender
  baseUrl(): string
  onChanged(deliveries: DeliveryNotice[]): void
  onError(error: unknown, what: string): void
}

export class Courier {
  private woken = new Set<string>()
  private underway = new Map<string, number>()
  /** channels of which as many were taken as there were places for */
  private mayHaveMore = new Set<string>()
  private claiming: Promise<void> | null = null
  private attempts = new Set<Promise<void>>()
  private timer: NodeJS.Timeout | null = null
  private isClosed = false
  /** attempts that run are cut off */
  private isStopped = false
  private sending = new Set<AbortController>()
  readonly counters = { delivered: 0, failedAttempts: 0, givenUp: 0 }

  constructor(private readonly options: CourierOptions) {}

  get underwayCount(): number {
    return this.attempts.size
  }

  /** Begins to look for what is due: retries, and what a crash or another server left. */
  start(): void {
    const sweep = () => {
      void withDeadline(this.options.sql.unsafe(FIND_DUE), ANSWER_WITHIN_MS)
        .then((rows) => this.wake(rows.map((row) => row.id as string)))
        .catch((error: unknown) => this.options.onError(error, 'due deliveries could not be looked for'))
        .then(() => {
          if (!this.isClosed) this.timer = setTimeout(sweep, SWEEP_EVERY_MS)
        })
    }
    sweep()
  }

  /** Something is due at these channels; returns at once. */
  wake(channelIds: Iterable<string>): void {
    if (this.isClosed) return
    for (const id of channelIds) this.woken.add(id)
    if (this.woken.size > 0) this.claiming ??= this.claim().finally(() => (this.claiming = null))
  }

  /** What was written just now. */
  due(deliveries: NewDelivery[]): void {
    this.wake(new Set(deliveries.map(({ channelId }) => channelId)))
  }

  async close(): Promise<void> {
    this.isClosed = true
    if (this.timer) clearTimeout(this.timer)
    const all = async () => {
      await this.claiming
      await Promise.all(this.attempts)
    }
    await withDeadline(all(), FINISH_WITHIN_MS).catch(() => {
      this.isStopped = true
      for (const attempt of this.sending) attempt.abort()
    })
    await withDeadline(all(), CLOSE_WITHIN_MS).catch(() => {})
  }

  private async claim(): Promise<void> {
    while (this.woken.size > 0 && !this.isClosed) {
      const free = [...this.woken].flatMap((id) => {
        const places = ATTEMPTS_PER_CHANNEL - (this.underway.get(id) ?? 0)
        return places > 0 ? [{ id, places }] : []
      })
      // Those without a free place are woken when one gets free.
      this.woken.clear()
      if (free.length === 0) return
      try {
        const channelIds = free.map(({ id }) => id)
        const places = free.map((one) => one.places)
        const claim = this.options.sql.unsafe(CLAIM, [channelIds, places, LEASE_MS], { prepare: true })
        const rows = await withDeadline(claim, ANSWER_WITHIN_MS)
        const taken = rows.map(takenOf)
        if (taken.length > 0) this.options.onChanged(taken.map(noticeOf))
        for (const one of taken) this.begin(one)
        for (const { id, places } of free) {
          if (taken.filter(({ channelId }) => channelId === id).length === places) this.mayHaveMore.add(id)
          else this.mayHaveMore.delete(id)
        }
      } catch (error) {
        // The next look for what is due finds them.
        this.options.onError(error, 'due deliveries could not be taken')
      }
    }
  }

  private begin(taken: Taken): void {
    const { channelId } = taken
    this.underway.set(channelId, (this.underway.get(channelId) ?? 0) + 1)
    const attempt = this.attempt(taken)
      .catch((error: unknown) => this.options.onError(error, 'a delivery could not be made'))
      .finally(() => {
        this.attempts.delete(attempt)
        const left = this.underway.get(channelId)! - 1
        if (left > 0) this.underway.set(channelId, left)
        else this.underway.delete(channelId)
        if (this.mayHaveMore.has(channelId)) this.wake([channelId])
      })
    this.attempts.add(attempt)
  }

  private async attempt(taken: Taken): Promise<void> {
    const { channels, sender, onError, onChanged } = this.options
    const { id, channelId, sealed, alert } = taken
    const stop = new AbortController()
    this.sending.add(stop)
    let result: AttemptResult | null
    try {
      const message = taken.message ?? (await this.compose(alert))
      const target = channels.open(channelId, sealed)
      result = message && (await sender.send(target, message, `msg_${id}`, stop.signal))
    } catch (error) {
      const isSealed = error instanceof SealError
      if (!isSealed) onError(error, 'the message of an alert could not be made')
      result = {
        ...NO_ANSWER,
        durationMs: 0,
        problem: isSealed ? error.message : 'A fault of the server kept it from being sent.',
      }
    } finally {
      this.sending.delete(stop)
    }
    if (result) await this.settle(taken, result)
    else await this.nothingLeft(taken)
    onChanged([noticeOf(taken)])
  }

  /** The first attempt of an alert settles what all of them say. */
  private async compose(alert: AlertRow): Promise<AlertMessage | null> {
    const { sql, baseUrl } = this.options
    const composed = await composeMessage(sql, alert, baseUrl())
    if (composed === null) return null
    const [row] = await sql`
      update alerts set message = coalesce(message, ${JSON.stringify(composed)}::text::json), told_at = coalesce(told_at, now())
      where id = ${alert.id} returning message`
    return (row?.message as AlertMessage | undefined) ?? null
  }

  /** The run was classified anew since, and it is not found any more; unless another took its place just now. */
  private async nothingLeft({ id, number, alert }: Taken): Promise<void> {
    await this.options.sql.begin(async (tx) => {
      const [now] = await tx`select failure_key from alerts where id = ${alert.id} for update`
      const isGone = now?.failure_key === alert.failureKey
      await tx`
        update deliveries set attempt_count = attempt_count - 1, ${
          isGone
            ? tx`state = 'SUPPRESSED', suppressed_by = 'FAILURE_GONE', next_attempt_at = null, settled_at = now()`
            : tx`next_attempt_at = now()`
        }
        where id = ${id} and state = 'QUEUED'`
      await tx`delete from delivery_attempts where delivery_id = ${id} and number = ${number}`
    })
  }

  /** A receiver that has taken it must not get it again only because the database was away for a moment. */
  private async settle(taken: Taken, result: AttemptResult): Promise<void> {
    const began = performance.now()
    for (;;) {
      try {
        return await withDeadline(this.write(taken, result), ANSWER_WITHIN_MS)
      } catch (error) {
        if (this.isStopped || performance.now() - began > SETTLE_WITHIN_MS) throw error
        await new Promise((resolve) => setTimeout(resolve, SETTLE_AGAIN_MS))
      }
    }
  }

  private async write(taken: Taken, result: AttemptResult): Promise<void> {
    const { sql } = this.options
    const { id, number, retries, queuedForMs, channelId } = taken
    const isCutOff = this.isStopped && !result.isDelivered
    const pauseMs = isCutOff
      ? 0
      : pauseAfter({ ...result, retries, queuedForMs: queuedForMs + result.durationMs }, Math.random())
    await sql.begin(async (tx) => {
      // The delivery before its attempts: whoever deletes them locks them in this order.
      if (result.isDelivered) {
        await tx`
          update deliveries set state = 'SENT', next_attempt_at = null, settled_at = now() where id = ${id} and state <> 'SENT'`
      } else if (pauseMs === null) {
        await tx`
          update deliveries set state = 'FAILED', next_attempt_at = null, settled_at = now()
          where id = ${id} and state = 'QUEUED' and attempt_count = ${number}`
      } else {
        // Only the last attempt decides: another may have begun when nothing was heard of this one.
        await tx`
          update deliveries set next_attempt_at = now() + ${pauseMs} * interval '1 millisecond',
            retries = ${retries + (isCutOff ? 0 : 1)}
          where id = ${id} and state = 'QUEUED' and attempt_count = ${number}`
      }
      await tx`
        update delivery_attempts set duration_ms = ${result.durationMs}, is_delivered = ${result.isDelivered},
          status = ${result.status}, answer = ${result.answer}, problem = ${result.problem}
        where delivery_id = ${id} and number = ${number}`
      if (result.retryAfterMs !== null) {
        const ms = Math.min(result.retryAfterMs, MAX_CHANNEL_PAUSE_MS)
        await tx`
          update channels set paused_until = greatest(paused_until, now() + ${ms} * interval '1 millisecond') where id = ${channelId}`
      }
    })
    if (result.isDelivered) this.counters.delivered += 1
    else this.counters.failedAttempts += 1
    if (!result.isDelivered && pauseMs === null) this.counters.givenUp += 1
  }
}

const takenOf = (row: Record<string, any>): Taken => ({
  id: row.id,
  projectId: row.project_id,
  channelId: row.channel_id,
  number: row.attempt_count,
  retries: row.retries,
  queuedForMs: Number(row.queued_for_ms),
  sealed: row.sealed,
  message: row.message,
  alert: {
    id: row.alert_id,
    kind: row.kind,
    project: row.project,
    rule: row.rule,
    projectId: row.project_id,
    sessionId: row.session_id,
    failureKey: row.failure_key,
    subject: row.subject,
    agent: row.agent,
    severity: row.severity,
    facts: row.facts,
    createdAt: row.created_at,
  },
})
