// Connections to Postgres: the pools, and telling a broken connection from a refused statement.
import postgres from 'postgres'
import { DeadlineError, withDeadline } from './deadline.ts'
import { Pool, type Sql } from './pool.ts'

export { DeadlineError, withDeadline, type Sql }

/** Ingest, reads and background work do not wait for each other's connections. */
export interface Database {
  ingest: Sql
  reads: Sql
  jobs: Sql
  /** reads what was committed and writes what was found in it; waits for no other background work */
  classify: Sql
  /** looks for what could be better, and hands out prompts; whatever else runs goes before it */
  analyse: Sql
  /** for telling people, which waits for no other work */
  alerts: Sql
  /** for what may be lost with a crash of Postgres: it does not wait for the disk */
  log: Sql
  /** whether the database answers */
  ping(): Promise<boolean>
  close(): Promise<void>
}

export interface DatabaseOptions {
  url: string
  /** false where a pooler between cannot keep prepared statements */
  prepare: boolean
}

/**
 * What classifies and analyses holds the rows of sessions for as long at most, also where a network falls silent before the
 * end of a statement: whoever posts to one of them waits for it.
 */
const STATEMENT_TIMEOUT_MS = {
  ingest: 20_000,
  reads: 10_000,
  jobs: 60_000,
  classify: 10_000,
  analyse: 8_000,
  alerts: 10_000,
  log: 20_000,
  health: 2_000,
}
const PULSE_EVERY_MS = 1_000

/** At most this many flushes run at once; more gain nothing (one or two measured as good as four). */
export const INGEST_CONNECTIONS = 2

export function connectDatabase({ url, prepare }: DatabaseOptions): Database {
  const open = (
    name: keyof typeof STATEMENT_TIMEOUT_MS,
    max: number,
    settings: Record<string, string | number | boolean> = {},
    camelCase = false,
  ) =>
    new Pool(url, {
      max,
      prepare,
      connect_timeout: 5,
      // The package's own pauses grow to 10 s after a restart of half a second.
      backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 1) * (0.7 + 0.6 * Math.random()),
      onnotice: () => {},
      ...(camelCase ? { transform: { column: { from: postgres.toCamel } } } : {}),
      connection: {
        application_name: `runwatch-${name}`,
        statement_timeout: STATEMENT_TIMEOUT_MS[name],
        lock_timeout: STATEMENT_TIMEOUT_MS[name],
        idle_in_transaction_session_timeout: 10_000,
        jit: false,
        ...settings,
      } as Record<string, string | number | boolean>,
    })
  const ingest = open('ingest', INGEST_CONNECTIONS, {
    // Plans made while the tables are empty would otherwise slow down with every row.
    enable_seqscan: false,
    plan_cache_mode: 'force_generic_plan',
    // A server that went silent in a transaction holds the locks of its sessions for no longer than this.
    idle_in_transaction_session_timeout: 3_000,
  })
  // A plan that fits any value reads a million rows where the value at hand needs one.
  const reads = open('reads', 8, { plan_cache_mode: 'force_custom_plan' }, true)
  const jobs = open('jobs', 3)
  const classify = open('classify', 2, {
    // It looks up what it is given the ids of, and never reads a table through, however small it was at the start.
    enable_seqscan: false,
    enable_hashjoin: false,
    enable_mergejoin: false,
    plan_cache_mode: 'force_generic_plan',
  })
  const analyse = open('analyse', 3, { enable_seqscan: false, plan_cache_mode: 'force_custom_plan' })
  const alerts = open('alerts', 3)
  const log = open('log', 1, { synchronous_commit: 'off' })
  const health = open('health', 1)
  let wasSilent = false
  const ping = async () => {
    const answer = await health.ask()
    if (answer === 'yes' && wasSilent) {
      // What was asked meanwhile may never be answered. A write is tried again, so it need not be waited for.
      // So is what a session is classified as, and who is told.
      for (const pool of [reads, jobs, log]) pool.replace(false)
      for (const pool of [ingest, classify, analyse, alerts]) pool.replace(true)
    }
    if (answer !== 'no') wasSilent = answer === 'silence'
    return answer === 'yes'
  }
  // A network that swallows what is sent closes no connection: without this they would be waited for without end.
  const pulse = setInterval(() => void ping(), PULSE_EVERY_MS).unref()
  return {
    ingest: ingest.sql,
    reads: reads.sql,
    jobs: jobs.sql,
    classify: classify.sql,
    analyse: analyse.sql,
    alerts: alerts.sql,
    log: log.sql,
    ping,
    close: async () => {
      clearInterval(pulse)
      await Promise.all([ingest, reads, jobs, classify, analyse, alerts, log, health].map((pool) => pool.close()))
    },
  }
}

const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN', 'CONNECT_TIMEOUT'])
const CONNECTION_LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
])

/**
 * What an error says about a statement: `refused` by the database (nothing of it happened), `unreachable` (it was
 * never sent), `failing` (the database answers but cannot write: its disk is full or broken; nothing of it happened),
 * or `lost` (the connection went while it ran: it may have been committed).
 */
export function kindOfError(error: unknown): 'refused' | 'unreachable' | 'failing' | 'lost' {
  const { code = '', severity, message = '' } = error as { code?: string; severity?: string; message?: string }
  if (error instanceof DeadlineError || CONNECTION_LOST.has(code)) return 'lost'
  if (NEVER_CONNECTED.has(code)) return 'unreachable'
  // 57P0x: the server shuts down or starts; 53300: no connection free; 08: connection exceptions; 25006: standby.
  // A deadlock or a lock that was not to be had: the same rows again, a moment later.
  if (code === '40P01' || code === '55P03' || code === '40001') return 'unreachable'
  if (code === '57P03' || code === '53300' || code === '25006') return 'unreachable'
  // 53100: disk full; 58: input and output errors. Postgres has no code of its own for a file too large.
  if (/^(53[01]00|58)/.test(code) || /could not (extend|write|fsync)/.test(message)) return 'failing'
  if (/^(57P0[124]|08)/.test(code) || severity === 'FATAL') return 'lost'
  return 'refused'
}
