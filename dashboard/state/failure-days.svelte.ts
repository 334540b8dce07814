// Owns the counts of failures by day: read anew, at most every few seconds, while patterns change.
import { query } from '../client.ts'
import { failureDaysQuery, type FailureDay } from '../queries-failures.ts'
import type { FailureRange } from '../rules/pattern-filter.ts'
import { clock } from './clock.svelte.ts'
import { pause } from './pause.svelte.ts'

const readAgainEveryMs = 4000

export class FailureDays {
  /** With the range and the time of their reading; null until they were read. */
  read = $state.raw<{ days: FailureDay[]; range: FailureRange; atMs: number } | null>(null)
  private range: FailureRange | null = null
  private isStale = false
  private readonly timer = setInterval(() => {
    if (this.isStale && !pause.isOn && document.visibilityState === 'visible') void this.readNow()
  }, readAgainEveryMs)

  start(range: FailureRange) {
    if (range === this.range) return
    this.range = range
    void this.readNow()
  }

  changed() {
    this.isStale = true
  }

  stop() {
    clearInterval(this.timer)
  }

  private async readNow() {
    const { range } = this
    if (range === null) return
    this.isStale = false
    try {
      const { failureDays } = await query(failureDaysQuery, { range })
      if (range === this.range) this.read = { days: failureDays, range, atMs: clock.nowMs }
    } catch {
      // The list says what is wrong; the next turn tries again.
      this.isStale = true
    }
  }
}
