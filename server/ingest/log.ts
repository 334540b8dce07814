// The ingest log: every request with a valid key, kept in memory for a moment and written in batches, so that the
// ingest path pays next to nothing for it. A refused one is kept with its body.
import { arrayLiterals, columnNames, timestampText, unnestArguments, type Column } from '../database/columns.ts'
import { withDeadline, type Sql } from '../database/connect.ts'
import type { FieldProblem } from '../errors.ts'
import type { Platform } from '../sessions/session.ts'
import { MAX_REFUSED_BYTES } from './body.ts'
import { cleanText } from './clean-text.ts'
import { maskSecrets } from './mask.ts'

const WRITE_AFTER_MS = 200
const TRY_AGAIN_MS = 1_000
const ROWS_PER_WRITE = 5_000
/** A write that has not come back in this time is tried again. */
const WRITE_WITHIN_MS = 5_000
const PROBE_WITHIN_MS = 2_000
/** While the database is away: more than this is forgotten, oldest first. */
const MAX_WAITING = 200_000
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** Of all bodies together; the oldest go first. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024
/** What a refusal takes beside its body. */
const ROW_BYTES = 600
const KEEP_REFUSED_DAYS = 7

interface Logged {
  id: string
  /** epoch milliseconds */
  at: number
  projectId: number
  /** null where an admin sent it again */
  keyId: string | null
  platform: Platform
  /** of the body, after inflation */
  bytes: number
  durationMs: number
}

export interface AcceptedRequest extends Logged {
  events: number
  duplicate: boolean
  sessionId: string | null
  sessionCount: number
}

export interface RefusedRequest extends Logged {
  status: number
  code: string
  detail: string
  problems: FieldProblem[]
  idempotencyKey: string | null
  /** what arrived of it, as it came */
  body: Buffer
}

interface KeptRefusal extends Omit<RefusedRequest, 'body'> {
  body: string | null
  bodyBytes: number
  isBodyCut: boolean
}

const LOGGED: Column<Logged>[] = [
  { name: 'id', type: 'uuid', value: (row) => row.id },
  { name: 'at', type: 'timestamptz', value: (row) => timestampText(row.at) },
  { name: 'project_id', type: 'int2', value: (row) => row.projectId },
  { name: 'key_id', type: 'uuid', value: (row) => row.keyId },
  { name: 'endpoint', type: 'text', value: (row) => row.platform },
  { name: 'bytes', type: 'int4', value: (row) => row.bytes },
  { name: 'duration_ms', type: 'float4', value: (row) => row.durationMs },
]
const ACCEPTED: Column<AcceptedRequest>[] = [
  ...LOGGED,
  { name: 'events', type: 'int4', value: (row) => row.events },
  { name: 'duplicate', type: 'bool', value: (row) => row.duplicate },
  { name: 'session_id', type: 'uuid', value: (row) => row.sessionId },
  { name: 'sessions', type: 'int4', value: (row) => row.sessionCount },
]
const REFUSED: Column<KeptRefusal>[] = [
  ...LOGGED,
  { name: 'status', type: 'int2', value: (row) => row.status },
  { name: 'code', type: 'text', value: (row) => row.code },
  { name: 'detail', type: 'text', value: (row) => row.detail },
  { name: 'problems', type: 'jsonb', value: (row) => JSON.stringify(row.problems) },
  { name: 'idempotency_key', type: 'text', value: (row) => row.idempotencyKey },
  { name: 'body', type: 'text', value: (row) => row.body },
  { name: 'body_bytes', type: 'int4', value: (row) => row.bodyBytes },
  { name: 'is_body_cut', type: 'bool', value: (row) => row.isBodyCut },
]

const INSERT_ACCEPTED = `
  insert into ingest_accepted (${columnNames(ACCEPTED)}) select * from unnest(${unnestArguments(ACCEPTED, 1)})`
/** After a write whose end is not known: without those that it wrote. */
const INSERT_ACCEPTED_AGAIN = `
  insert into ingest_accepted (${columnNames(ACCEPTED)})
  select * from unnest(${unnestArguments(ACCEPTED, 1)}) as w (${columnNames(ACCEPTED)})
  where not exists (select from ingest_accepted l where l.at = w.at and l.id = w.id)`
const INSERT_REFUSED = `
  insert into ingest_refused (${columnNames(REFUSED)})
  select * from unnest(${unnestArguments(REFUSED, 1)}) on conflict do nothing`

export interface IngestLogOptions {
  sql: Sql
  /** of all refused requests together */
  maxKeptBytes?: number
  /** tells this server's counts from those of others */
  server: string
  /** called when entries can be read: their ids, or null where there are too many to name */
  onWritten(ids: string[] | null): void
  onError(error: unknown, what: string): void
}

const MAX_NAMED = 100

export class IngestLog {
  private accepted: AcceptedRequest[] = []
  private refused: KeptRefusal[] = []
  private refusedBytes = 0
  private unauthenticated = new Map<string, { hour: number; reason: string; count: number; lastAt: number }>()
  private timer: NodeJS.Timeout | null = null
  private writing: Promise<void> | null = null
  /** Something was refused since old refusals were last looked for. */
  private mayBeFull = true
  private isFailing = false
  private isClosed = false
  readonly counters = { refused: 0, unauthenticated: 0, forgotten: 0 }

  constructor(private readonly options: IngestLogOptions) {}

  accept(request: AcceptedRequest): void {
    this.accepted.push(request)
    this.wake()
  }

  refuse({ body, ...request }: RefusedRequest): void {
    this.counters.refused += 1
    const isBodyCut = body.length > MAX_REFUSED_BYTES
    const text = body.length === 0 ? null : maskSecrets(cleanText(body.toString('utf8', 0, MAX_REFUSED_BYTES))).text
    const bodyBytes = text === null ? 0 : Buffer.byteLength(text)
    const problems = request.problems.slice(0, 50)
    this.refused.push({ ...request, problems, detail: cleanText(request.detail), body: text, bodyBytes, isBodyCut })
    this.refusedBytes += bodyBytes
    while (this.refusedBytes > MAX_WAITING_BYTES) this.counters.forgotten += this.forgetRefusals(1).length
    this.wake()
  }

  /** A post whose key was missing or wrong: counted, and nothing else of it is kept. */
  countUnauthenticated(reason: string): void {
    this.counters.unauthenticated += 1
    const lastAt = Date.now()
    const hour = lastAt - (lastAt % 3_600_000)
    const counted = this.unauthenticated.get(`${hour} ${reason}`)
    if (counted) Object.assign(counted, { count: counted.count + 1, lastAt })
    else this.unauthenticated.set(`${hour} ${reason}`, { hour, reason, count: 1, lastAt })
    this.wake()
  }

  /** Writes what waits. Call it before the database is closed. */
  async close(): Promise<void> {
    this.isClosed = true
    if (this.timer) clearTimeout(this.timer)
    await this.writing
    while (this.accepted.length + this.refused.length + this.unauthenticated.size > 0 && !this.isFailing)
      await this.write()
  }

  /** Drops refusals that are too old, or too many. */
  async prune(): Promise<void> {
    const { sql, maxKeptBytes = MAX_KEPT_BYTES } = this.options
    await sql`delete from ingest_unauthenticated where hour < now() - make_interval(days => ${KEEP_REFUSED_DAYS})`
    await sql`delete from ingest_refused where at < now() - make_interval(days => ${KEEP_REFUSED_DAYS})`
    if (!this.mayBeFull) return
    this.mayBeFull = false
    await sql`
      delete from ingest_refused where (at, id) <= (
        select at, id from (
          select at, id, sum(body_bytes + ${ROW_BYTES}) over (order by at desc, id desc) as bytes from ingest_refused) all_of_them
        where bytes > ${maxKeptBytes} order by at desc, id desc limit 1)`
  }

  private wake(): void {
    while (this.accepted.length + this.refused.length > MAX_WAITING) {
      if (this.accepted.length > 0) this.accepted.splice(0, ROWS_PER_WRITE)
      else this.forgetRefusals(ROWS_PER_WRITE)
      this.counters.forgotten += ROWS_PER_WRITE
    }
    if (!this.isClosed)
      this.timer ??= setTimeout(() => void this.writeNow(), this.isFailing ? TRY_AGAIN_MS : WRITE_AFTER_MS)
  }

  private forgetRefusals(count: number): KeptRefusal[] {
    const gone = this.refused.splice(0, count)
    for (const { bodyBytes } of gone) this.refusedBytes -= bodyBytes
    return gone
  }

  private async writeNow(): Promise<void> {
    this.writing = this.write()
    await this.writing
    this.writing = null
    this.timer = null
    if (this.accepted.length + this.refused.length + this.unauthenticated.size > 0) this.wake()
  }

  private async write(): Promise<void> {
    const { sql, onWritten, onError } = this.options
    const accepted = this.accepted.splice(0, ROWS_PER_WRITE)
    const refused = this.forgetRefusals(ROWS_PER_WRITE)
    try {
      // While the database is away only small questions pile up, never bodies.
      if (this.isFailing) await withDeadline(sql`select 1`, PROBE_WITHIN_MS)
      if (accepted.length > 0) {
        const insert = this.isFailing ? INSERT_ACCEPTED_AGAIN : INSERT_ACCEPTED
        await withDeadline(sql.unsafe(insert, arrayLiterals(ACCEPTED, accepted), { prepare: true }), WRITE_WITHIN_MS)
      }
      const ids = accepted.splice(0).map(({ id }) => id)
      if (refused.length > 0) {
        await withDeadline(
          sql.unsafe(INSERT_REFUSED, arrayLiterals(REFUSED, refused), { prepare: true }),
          WRITE_WITHIN_MS,
        )
        this.mayBeFull = true
      }
      ids.push(...refused.splice(0).map(({ id }) => id))
      if (ids.length > 0) onWritten(ids.length > MAX_NAMED ? null : ids)
      await this.writeCounts()
      this.isFailing = false
    } catch (error) {
      this.isFailing = true
      this.accepted.unshift(...accepted)
      this.refused.unshift(...refused)
      for (const { bodyBytes } of refused) this.refusedBytes += bodyBytes
      onError(error, 'the ingest log could not be written and is tried again')
    }
  }

  private async writeCounts(): Promise<void> {
    for (const [name, { hour, reason, count, lastAt }] of [...this.unauthenticated]) {
      await this.options.sql`
        insert into ingest_unauthenticated (server, hour, reason, count, last_at)
        values (${this.options.server}, ${new Date(hour)}, ${reason}, ${count}, ${new Date(lastAt)})
        on conflict (server, hour, reason) do update set count = ingest_unauthenticated.count + excluded.count,
          last_at = greatest(ingest_unauthenticated.last_at, excluded.last_at)`
      const counted = this.unauthenticated.get(name)!
      // More may have come while it was written.
      if (counted.count === count) this.unauthenticated.delete(name)
      else counted.count -= count
    }
  }
}
