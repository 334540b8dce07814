// Connections to Postgres: the pools, and telling a broken connection from a refused statement.
import postgres from 'postgres'

export type Sql = postgres.Sql

/** Ingest, reads and background work do not wait for each other's connections. */
export interface Database {
  ingest: Sql
  reads: Sql
  jobs: Sql
  /** resolves when the database answers */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface DatabaseOptions {
  url: string
  /** false where a pooler between cannot keep prepared statements */
  prepare: boolean
}

const STATEMENT_TIMEOUT_MS = { ingest: 20_000, reads: 10_000, jobs: 60_000 }

/** At most this many flushes run at once; more gain nothing (one or two measured as good as four). */
export const INGEST_CONNECTIONS = 2

export function connectDatabase({ url, prepare }: DatabaseOptions): Database {
  const open = (
    name: keyof typeof STATEMENT_TIMEOUT_MS,
    max: number,
    settings: Record<string, string | number | boolean> = {},
    camelCase = false,
  ) =>
    postgres(url, {
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
  })
  // A plan that fits any value reads a million rows where the value at hand needs one.
  const reads = open('reads', 8, { plan_cache_mode: 'force_custom_plan' }, true)
  const jobs = open('jobs', 3)
  return {
    ingest,
    reads,
    jobs,
    ping: async () => {
      await withDeadline(reads`select 1`, 2_000)
    },
    close: async () => {
      await Promise.all([ingest.end({ timeout: 5 }), reads.end({ timeout: 5 }), jobs.end({ timeout: 5 })])
    },
  }
}

export class DeadlineError extends Error {}

/** @throws DeadlineError when the promise has not settled in time; what it stands for goes on */
export async function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, deadline])
  } finally {
    clearTimeout(timer)
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
 * never sent), or `lost` (the connection went while it ran: it may have been committed).
 */
export function kindOfError(error: unknown): 'refused' | 'unreachable' | 'lost' {
  const { code = '', severity } = error as { code?: string; severity?: string }
  if (error instanceof DeadlineError || CONNECTION_LOST.has(code)) return 'lost'
  if (NEVER_CONNECTED.has(code)) return 'unreachable'
  // 57P0x: the server shuts down or starts; 53300: no connection free; 08: connection exceptions; 25006: standby.
  // A deadlock or a lock that was not to be had: the same rows again, a moment later.
  if (code === '40P01' || code === '55P03' || code === '40001') return 'unreachable'
  if (code === '57P03' || code === '53300' || code === '25006') return 'unreachable'
  if (/^(57P0[124]|08)/.test(code) || severity === 'FATAL') return 'lost'
  return 'refused'
}
