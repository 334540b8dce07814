// Keeps the sums of agents up to date in the background: soon after sessions changed, and for what a crash left.
import { withDeadline, type Sql } from '../database/connect.ts'
import type { Bus } from '../live/bus.ts'
import { rollUp } from './rollups.ts'

const SOON_MS = 250
/** A long roll is followed by a rest of so many times its length. */
const REST = 20
const MOST_REST_MS = 60_000
const SWEEP_EVERY_MS = 60_000
/** What was received so long before may have been committed only now. */
const MARGIN_MS = 20_000
/** As long as anything may wait for its commit, and clocks of servers differ. */
const SWEEP_MARGIN_MS = 120_000
const TRY_AGAIN_MS = 2_000
const CLOSE_WITHIN_MS = 5_000

export interface RollerOptions {
  sql: Sql
  /** says that sessions changed, and is told whose sums did */
  bus: Bus
  onError(error: unknown, what: string): void
}

export class Roller {
  private timer: NodeJS.Timeout | null = null
  private working: Promise<void> | null = null
  private isDue = false
  private isClosed = false
  private restUntil = 0
  private sweptAt = -Infinity
  private sweeps: NodeJS.Timeout | null = null

  constructor(private readonly options: RollerOptions) {
    options.bus.subscribe({ changed: () => this.soon(), resync: () => this.soon() })
  }

  start(): void {
    this.sweeps = setInterval(() => this.soon(), SWEEP_EVERY_MS)
    this.soon()
  }

  /** Sessions changed, here or on another server; returns at once. */
  soon(): void {
    this.isDue = true
    if (this.timer || this.working || this.isClosed) return
    this.timer = setTimeout(
      () => {
        this.timer = null
        this.working = this.work().finally(() => {
          this.working = null
          if (this.isDue) this.soon()
        })
      },
      Math.max(SOON_MS, this.restUntil - performance.now()),
    )
  }

  async close(): Promise<void> {
    // What is left is found by the next start.
    this.isClosed = true
    if (this.timer) clearTimeout(this.timer)
    if (this.sweeps) clearInterval(this.sweeps)
    await withDeadline(Promise.resolve(this.working), CLOSE_WITHIN_MS).catch(() => {})
  }

  private rest(forMs: number): void {
    this.restUntil = performance.now() + Math.min(forMs, MOST_REST_MS)
  }

  private async work(): Promise<void> {
    const { sql, bus, onError } = this.options
    this.isDue = false
    const began = performance.now()
    const isSweep = began - this.sweptAt >= SWEEP_EVERY_MS
    try {
      const isDone = await rollUp(sql, isSweep ? SWEEP_MARGIN_MS : MARGIN_MS, (projectIds) =>
        bus.publishIds('agents', projectIds.map(String)),
      )
      if (!isDone) this.isDue = true
      else if (isSweep) this.sweptAt = began
      this.rest(REST * (performance.now() - began))
    } catch (error) {
      this.isDue = true
      this.rest(Math.max(TRY_AGAIN_MS, REST * (performance.now() - began)))
      if (!this.isClosed) onError(error, 'the sums of agents could not be worked out')
    }
  }
}
