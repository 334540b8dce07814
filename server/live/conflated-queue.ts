// What waits for one subscriber: the newest of each key, at most ten a second of each, and never more than it can hold.

export const CONFLATE_MS = 100
export const MAX_WAITING = 1_000

export type Delivery<T> = { value: T } | { resync: true }

/**
 * An async iterator that keeps only the latest value per key until it is pulled, so a slow reader holds up nothing.
 * When too many keys wait, they are dropped and the reader is told to resync. The last value of a key always arrives.
 */
export class ConflatedQueue<T> implements AsyncIterableIterator<Delivery<T>> {
  private waiting = new Map<string, T>()
  private sentAt = new Map<string, number>()
  private mustResync = false
  private isDone = false
  private reader: ((result: IteratorResult<Delivery<T>>) => void) | null = null
  private timer: NodeJS.Timeout | null = null

  constructor(private readonly onReturn: () => void) {}

  push(key: string, value: T): void {
    if (this.isDone || this.mustResync) return
    this.waiting.set(key, value)
    if (this.waiting.size > MAX_WAITING) this.resync()
    else this.wake()
  }

  resync(): void {
    if (this.isDone) return
    this.waiting.clear()
    this.mustResync = true
    this.wake()
  }

  next(): Promise<IteratorResult<Delivery<T>>> {
    if (this.isDone) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.reader = resolve
      this.wake()
    })
  }

  return(): Promise<IteratorResult<Delivery<T>>> {
    if (!this.isDone) {
      this.isDone = true
      this.waiting.clear()
      if (this.timer) clearTimeout(this.timer)
      this.onReturn()
      this.reader?.({ done: true, value: undefined })
      this.reader = null
    }
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  private wake(): void {
    if (!this.reader) return
    if (this.mustResync) {
      this.mustResync = false
      return this.give({ resync: true })
    }
    const now = performance.now()
    let soonest = Infinity
    for (const [key, value] of this.waiting) {
      const dueAt = (this.sentAt.get(key) ?? -Infinity) + CONFLATE_MS
      if (dueAt <= now) {
        this.waiting.delete(key)
        this.remember(key, now)
        return this.give({ value })
      }
      soonest = Math.min(soonest, dueAt)
    }
    if (soonest !== Infinity && !this.timer) {
      this.timer = setTimeout(() => {
        this.timer = null
        this.wake()
      }, soonest - now)
    }
  }

  private remember(key: string, now: number): void {
    this.sentAt.delete(key)
    this.sentAt.set(key, now)
    // Oldest first: what was sent longer ago than the pause needs no memory.
    for (const [old, at] of this.sentAt) {
      if (now - at < CONFLATE_MS) break
      this.sentAt.delete(old)
    }
  }

  private give(delivery: Delivery<T>): void {
    const reader = this.reader!
    this.reader = null
    reader({ done: false, value: delivery })
  }
}
