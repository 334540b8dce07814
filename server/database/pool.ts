// A pool of connections that another takes the place of as soon as one of its connections is lost or falls silent.
import postgres from 'postgres'
import { DeadlineError, withDeadline } from './deadline.ts'

export type Sql = postgres.Sql
type Options = postgres.Options<Record<string, postgres.PostgresType>>

/** What still runs on the other connections of a pool that was replaced may take this long. */
const FINISH_WITHIN_S = 30
const ANSWER_WITHIN_MS = 2_000

const pools = new WeakMap<Sql, Pool>()

/** After these nothing more may be asked of the connection; see Pool. */
const BROKEN = new Set(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/**
 * postgres.js (3.4.9) opens a lost connection again as it was left: with half a message that is sent before the next one,
 * an error of the old connection that the first query of the new one hears, rows of the old result counted to the new
 * one's, queries that are answered with what others asked for. And a rollback is written to a socket that is gone, which
 * ends the process, or into the transaction of somebody else. So no connection is used a second time here, and a
 * transaction asks nothing of one that was lost.
 */
export class Pool {
  /** the same over all replacements */
  readonly sql: Sql
  private current: Sql
  private listener: Sql | null = null
  private isClosed = false

  constructor(url: string, options: Options) {
    this.current = this.open((onclose) => postgres(url, { ...options, onclose }))
    const own: Record<PropertyKey, unknown> = {
      begin: (...args: unknown[]) => this.begin(args),
      reserve: () => this.reserve(),
      // It finds its way back by itself, and what listens stays where it is.
      listen: (...args: Parameters<Sql['listen']>) => (this.listener ??= this.again({})).listen(...args),
    }
    this.sql = new Proxy((() => {}) as unknown as Sql, {
      apply: (_target, _this, args: Parameters<Sql>) => this.current(...args),
      get: (_target, name) => own[name as string] ?? Reflect.get(this.current, name),
    })
    pools.set(this.sql, this)
  }

  /** @param atOnce gives up what runs there, too */
  replace(atOnce: boolean, which = this.current): void {
    if (which !== this.current || this.isClosed) return
    this.current = this.open((onclose) => this.again({ onclose }))
    void which.end({ timeout: atOnce ? 0 : FINISH_WITHIN_S }).catch(() => {})
  }

  async ask(): Promise<'yes' | 'no' | 'silence'> {
    const asked = this.current
    const answer = await askOnce(asked)
    if (answer === 'silence') this.replace(true, asked)
    return answer
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([this.current.end({ timeout: 5 }), this.listener?.end({ timeout: 5 })])
  }

  private open(make: (onclose: () => void) => Sql): Sql {
    const opened: Sql = make(() => this.replace(false, opened))
    return opened
  }

  /** Connections like those there are. What is known of the database's types need not be asked once more. */
  private again(options: Options): Sql {
    const before = this.current.options as unknown as Options & { shared: { typeArrayMap: object } }
    const knowsTypes = Object.keys(before.shared.typeArrayMap).length > 0
    return postgres({ ...before, onclose: () => {}, ...(knowsTypes ? { fetch_types: false } : {}), ...options })
  }

  private begin(args: unknown[]): Promise<unknown> {
    const work = args.pop() as (tx: postgres.TransactionSql) => Promise<unknown>
    return this.current.begin((args[0] as string | undefined) ?? '', async (tx) => {
      try {
        return await work(tx)
      } catch (error) {
        // begin() fails by itself when the connection is closed; it must not come to its rollback.
        if (BROKEN.has((error as { code?: string }).code ?? '')) await new Promise(() => {})
        throw error
      }
    })
  }

  /** A connection outside of the pool, for locks that belong to one. When it is lost, all that is asked of it fails. */
  private async reserve(): Promise<postgres.ReservedSql> {
    const release = () => void own.end({ timeout: 5 }).catch(() => {})
    const own: Sql = this.again({ max: 1, idle_timeout: 0, max_lifetime: null, onclose: release })
    await own`select 1`
    return Object.assign(own, { release })
  }
}

/** Whether the database answers. Where nothing is heard at all, the connections that were asked are given up. */
export const ask = (sql: Sql) => pools.get(sql)?.ask() ?? askOnce(sql)

async function askOnce(sql: Sql): Promise<'yes' | 'no' | 'silence'> {
  try {
    await withDeadline(sql`select 1`, ANSWER_WITHIN_MS)
    return 'yes'
  } catch (error) {
    return error instanceof DeadlineError ? 'silence' : 'no'
  }
}

/** New connections beside those of which one is not waited for any longer. */
export const replaceConnections = (sql: Sql) => pools.get(sql)?.replace(false)
