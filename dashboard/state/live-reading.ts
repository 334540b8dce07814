// Owns reading something again whenever a push says that it changed: soon, not often, and not while paused.
import type { TadaDocumentNode } from '../graphql.ts'
import { connection, type Subscription } from './connection.svelte.ts'
import { pause } from './pause.svelte.ts'

const readAgainAfterMs = 200
const readAgainEveryMs = 1000
const compareEveryMs = 30_000
const settledAfterMs = 4000

export class LiveReading<Vars> {
  private readonly subscription: Subscription
  private readonly forgetPause: () => void
  private readonly compareTimer: ReturnType<typeof setInterval>
  private timer: ReturnType<typeof setTimeout> | undefined
  private settleTimer: ReturnType<typeof setTimeout> | undefined
  private readAtMs = -Infinity
  private current: Promise<void> | null = null
  private next: Promise<void> | null = null
  private isStale = false
  private isStopped = false

  /** @param read never throws; what is pushed while it goes on makes it go once more */
  constructor(
    pushes: TadaDocumentNode<unknown, Vars>,
    variables: () => Vars,
    private readonly read: () => Promise<void>,
  ) {
    this.subscription = connection.subscribe({
      document: pushes,
      variables,
      next: () => this.changed(),
      // Once subscribed, what changed before is read; and once more, for a server that took its time to subscribe.
      started: () => {
        this.changed(false)
        clearTimeout(this.settleTimer)
        this.settleTimer = setTimeout(() => this.changed(false), settledAfterMs)
      },
    })
    this.forgetPause = pause.whenOver(() => this.isStale && this.soon())
    // Counts move with every run, which nobody pushes here.
    this.compareTimer = setInterval(() => {
      if (document.visibilityState === 'visible' && connection.phase === 'live') this.changed(false)
    }, compareEveryMs)
    void this.readNow()
  }

  stop() {
    this.isStopped = true
    this.subscription.stop()
    this.forgetPause()
    clearInterval(this.compareTimer)
    clearTimeout(this.timer)
    clearTimeout(this.settleTimer)
  }

  /** Now, also while paused: a person did something and wants to see it. Ends when what stood at the call is read. */
  readNow(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.current) this.next ??= this.current.then(() => this.readNow())
    else this.current = this.readOnce()
    return this.next ?? this.current!
  }

  private async readOnce(): Promise<void> {
    this.isStale = false
    this.readAtMs = performance.now()
    await this.read()
    this.current = this.next = null
    if (this.isStale && !pause.isOn) this.soon()
  }

  private changed(isPushed = true) {
    if (pause.isOn) {
      this.isStale = true
      if (isPushed) pause.waiting += 1
    } else this.soon()
  }

  private soon() {
    this.isStale = true
    if (this.isStopped || this.current) return
    const waitMs = Math.max(readAgainAfterMs, this.readAtMs + readAgainEveryMs - performance.now())
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      if (!pause.isOn && !this.isStopped) void this.readNow()
    }, waitMs)
  }
}
