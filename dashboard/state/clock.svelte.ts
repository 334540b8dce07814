// Owns the one clock of the page: ticks once a second while the tab is in sight, in the server's time.
class Clock {
  /** Server time; it stands still while updates are paused. */
  nowMs = $state(Date.now())
  isStopped = false
  private offsetMs = 0

  constructor() {
    setInterval(() => this.tick(), 1000)
    document.addEventListener('visibilitychange', () => this.tick())
  }

  tick() {
    if (!this.isStopped && document.visibilityState === 'visible') this.nowMs = Date.now() + this.offsetMs
  }

  /** The Date header counts whole seconds, so only a clear difference is taken over. */
  learnServerTime(dateHeader: string | null) {
    if (!dateHeader) return
    const offsetMs = Date.parse(dateHeader) + 500 - Date.now()
    if (Number.isFinite(offsetMs)) this.offsetMs = Math.abs(offsetMs) > 2000 ? offsetMs : 0
  }
}

export const clock = new Clock()
