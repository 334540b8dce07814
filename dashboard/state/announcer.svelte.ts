// Owns what is said to screen readers: one polite region, at most one message in ten seconds, never one per row.
class Announcer {
  message = $state('')
  private waiting: string | null = null
  private saidAtMs = 0
  private timer: ReturnType<typeof setTimeout> | undefined

  say(message: string) {
    this.waiting = message
    const waitMs = Math.max(0, this.saidAtMs + 10_000 - Date.now())
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.speak(), waitMs)
  }

  /** Answers to something a person just did are not held back. */
  sayNow(message: string) {
    this.waiting = message
    this.speak()
  }

  private speak() {
    if (this.waiting === null) return
    this.message = this.waiting
    this.waiting = null
    this.saidAtMs = Date.now()
  }
}

export const announcer = new Announcer()
