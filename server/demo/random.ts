// Chance that can be repeated: the same seed gives the same demo.

export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** 0 up to, but not including, 1 (mulberry32) */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** a whole number, both ends included */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** text like the ids that platforms make */
  id(length: number): string {
    const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
    return Array.from({ length }, () => this.pick([...alphabet])).join('')
  }
}
