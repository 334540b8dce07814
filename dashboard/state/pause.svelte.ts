// Owns the pause: while it lasts nothing on screen changes by itself, and what waits is counted.
import { clock } from './clock.svelte.ts'

class Pause {
  isOn = $state(false)
  waiting = $state(0)
  private listeners = new Set<() => void>()

  toggle() {
    this.isOn = !this.isOn
    clock.isStopped = this.isOn
    if (this.isOn) return
    this.waiting = 0
    clock.tick()
    for (const listener of this.listeners) listener()
  }

  /** Called when updates go on. Answers how to stop listening. */
  whenOver(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

export const pause = new Pause()
