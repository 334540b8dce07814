// How many requests somebody may send in a minute: fixed windows in memory, one counter for each.
// (@fastify/rate-limit did the same for 25 us a request, a sixth of all that an event cost.)

export interface Allowance {
  limit: number
  remaining: number
  /** seconds until the window ends */
  resetSeconds: number
  /** by how many the limit was exceeded, this one counted; 0 within it */
  excess: number
}

const WINDOW_MS = 60_000
const MAX_KEPT = 100_000

export class RateLimit {
  private counts = new Map<string, number>()
  private windowEndsAt = 0

  constructor(private readonly limit: number) {}

  /** Counts one request. */
  take(who: string, now = Date.now()): Allowance {
    if (now >= this.windowEndsAt || this.counts.size > MAX_KEPT) {
      this.counts.clear()
      this.windowEndsAt = now + WINDOW_MS
    }
    const count = (this.counts.get(who) ?? 0) + 1
    this.counts.set(who, count)
    return {
      limit: this.limit,
      remaining: Math.max(0, this.limit - count),
      resetSeconds: Math.max(1, Math.ceil((this.windowEndsAt - now) / 1000)),
      excess: Math.max(0, count - this.limit),
    }
  }

  /** Takes one back that turned out not to count. */
  giveBack(who: string): void {
    const count = this.counts.get(who)
    if (count !== undefined) this.counts.set(who, count - 1)
  }
}
