// Owns the entries of a live log on screen: pages, what comes live, and closing the gaps of what was not sent.
import { sentenceOf, type RequestError } from '../client.ts'
import { plural } from '../rules/format.ts'
import {
  appendLog,
  logEntry,
  markLogGone,
  mergeLog,
  revealLog,
  type LogEntry,
  type Logged,
  type LogState,
} from '../rules/log-merge.ts'
import { arrivalRate, mayRevealAtOnce } from '../rules/reveal.ts'
import type { FurtherPages, LiveList } from '../ui/live-list.ts'
import { announcer } from './announcer.svelte.ts'
import { connection, type Subscription } from './connection.svelte.ts'
import {
  readBackTo,
  readLogPage,
  readUnsettled,
  type HeadRead,
  type LogSource,
  type UnsettledRead,
} from './log-source.ts'
import { pause } from './pause.svelte.ts'

const flushMs = 100
const mostRows = 2000
const mostFresh = 500
const readAgainEveryMs = 1000
const compareEveryMs = 30_000

export class LogList<Item extends Logged, Filter> implements LiveList, FurtherPages {
  rows = $state.raw<LogEntry<Item>[]>([])
  fresh = $state.raw<LogEntry<Item>[]>([])
  hasMore = $state(false)
  isFirstLoad = $state(true)
  isLoading = $state(false)
  isLoadingMore = $state(false)
  problem = $state.raw<RequestError | null>(null)
  moreProblem = $state('')
  /** Between what waits and what is shown more was missed than is read: a reveal starts the list anew. */
  hasGap = $state(false)
  scrollTop = 0
  engagement: LiveList['engagement'] = () => ({
    isAtTop: true,
    hasActiveRow: false,
    hasFocus: false,
    hasPointer: false,
    isTabVisible: document.visibilityState === 'visible',
  })
  private filter: Filter | null = null
  /** What the rows were read with; after a failed reading still the filter before. */
  private shownFilter: Filter | null = null
  private subscription: Subscription | null = null
  private queue = new Map<string, LogEntry<Item>>()
  private endCursor: string | null = null
  private gapCursor: string | null = null
  /** Some later ones than this were not sent one by one and must be read; null where nothing is missing. */
  private heldUntil: string | null = null
  private isReadingHead = false
  private headReadAtMs = -Infinity
  private headTimer: ReturnType<typeof setTimeout> | undefined
  private flushTimer: ReturnType<typeof setTimeout> | undefined
  private compareTimer: ReturnType<typeof setInterval> | undefined
  private forgetPause = () => {}
  private arrivedAtMs: number[] = []
  private turn = 0

  constructor(private readonly source: LogSource<Item, Filter>) {}

  /** What waits to be shown, in words; null where nothing does. */
  get pill(): string | null {
    const { length } = this.fresh
    if (length === 0) return null
    return this.hasGap ? `${length}+ new ${this.source.words[1]}` : this.countNew(length)
  }

  /** Starts, or goes on where it was left, or turns to another filter. */
  start(filter: Filter) {
    const isSame = (other: Filter | null) => other !== null && this.source.keyOf(filter) === this.source.keyOf(other)
    if (isSame(this.filter)) return
    if (this.filter === null) this.listen()
    const isResumed = this.filter === null && !this.problem && isSame(this.shownFilter)
    this.filter = filter
    if (isResumed) this.shownFilter = filter
    else void this.load()
    this.subscription?.stop()
    this.subscription = this.source.subscribe(filter, {
      receive: (item) => this.receive([logEntry(item)]),
      missed: () => this.missed(),
    })
  }

  /** The rows stay; what comes about meanwhile is caught up with at the next start. */
  stop() {
    this.turn += 1
    this.filter = null
    this.isLoading = false
    this.subscription?.stop()
    this.forgetPause()
    clearInterval(this.compareTimer)
    clearTimeout(this.headTimer)
    clearTimeout(this.flushTimer)
    this.headTimer = this.flushTimer = undefined
  }

  private listen() {
    this.forgetPause = pause.whenOver(() => this.flush())
    this.compareTimer = setInterval(() => {
      if (document.visibilityState === 'visible' && !pause.isOn && connection.phase === 'live') this.missed()
    }, compareEveryMs)
  }

  async load() {
    const { filter } = this
    if (!filter) return
    const turn = (this.turn += 1)
    this.isLoading = true
    this.problem = null
    this.queue.clear()
    try {
      const page = await readLogPage(this.source, filter, null)
      if (turn !== this.turn) return
      this.take({ rows: page.entries, fresh: [], hasMore: page.hasMore })
      this.endCursor = page.endCursor
      this.hasGap = false
      this.heldUntil = null
      this.moreProblem = ''
      this.isFirstLoad = false
      this.shownFilter = filter
      // What was logged between the reading and the subscription.
      this.missed()
    } catch (error) {
      if (turn === this.turn) this.problem = error as RequestError
    } finally {
      if (turn === this.turn) this.isLoading = false
    }
  }

  async loadMore() {
    const { filter, turn } = this
    if (!filter || this.isLoadingMore || this.isLoading || !this.hasMore) return
    this.isLoadingMore = true
    this.moreProblem = ''
    try {
      const page = await readLogPage(this.source, filter, this.endCursor)
      if (turn !== this.turn) return
      this.take(appendLog(this.state, page.entries, page.hasMore))
      this.endCursor = page.endCursor
    } catch (error) {
      if (turn === this.turn) this.moreProblem = sentenceOf(error)
    } finally {
      this.isLoadingMore = false
    }
  }

  reveal() {
    if (this.hasGap) {
      this.take({ rows: this.fresh, fresh: [], hasMore: true })
      this.endCursor = this.gapCursor
      this.hasGap = false
      return
    }
    const { isCut, ...state } = revealLog(this.state, mostRows)
    this.take(state)
    if (isCut) this.endCursor = this.rows.at(-1)!.cursor
    // All that was listed has left, and what is older was never read.
    if (this.rows.length === 0 && this.hasMore) void this.load()
  }

  /** One as it was read by itself. */
  renew(item: Item) {
    const inPlace = (entry: LogEntry<Item>) => (entry.item.id === item.id ? { ...entry, item } : entry)
    this.rows = this.rows.map(inPlace)
    this.fresh = this.fresh.map(inPlace)
  }

  private receive(entries: readonly LogEntry<Item>[]) {
    for (const entry of entries) this.queue.set(entry.item.id, entry)
    // A long pause keeps no heap of entries: what is dropped is read when it is over.
    if (this.queue.size > mostFresh) {
      this.queue.clear()
      this.heldUntil ??= this.newestAt()
    }
    if (pause.isOn) pause.waiting = this.countWaiting()
    else this.flushTimer ??= setTimeout(() => this.flush(), flushMs)
  }

  private flush() {
    clearTimeout(this.flushTimer)
    this.flushTimer = undefined
    if (pause.isOn || this.isReadingHead || this.shownFilter !== this.filter) return
    if (this.heldUntil !== null) this.readHeadSoon()
    this.takeQueue()
  }

  private takeQueue() {
    if (this.queue.size === 0) return
    const { source, shownFilter } = this
    const arrived = [...this.queue.values()]
    this.queue.clear()
    const before = this.fresh.length
    this.take(
      mergeLog(this.state, arrived, {
        renewed: source.renewed,
        matches: (item) => source.matches?.(item, shownFilter!) ?? true,
      }),
    )
    if (this.fresh.length > before) this.arrived(this.fresh.length - before)
  }

  private arrived(added: number) {
    const nowMs = Date.now()
    this.arrivedAtMs = [...this.arrivedAtMs.filter((at) => nowMs - at < 3000), ...Array<number>(added).fill(nowMs)]
    announcer.say(this.countNew(this.fresh.length))
    const reader = { ...this.engagement(), newPerSecond: arrivalRate(this.arrivedAtMs, nowMs) }
    if (this.rows.length === 0 || mayRevealAtOnce(reader)) this.reveal()
    else if (this.fresh.length > mostFresh) this.missed('')
  }

  /** Entries may be missing after this time: the first page is read again, at most once a second. */
  private missed(after = this.newestAt()) {
    if (this.problem) return void this.load()
    if (this.shownFilter !== this.filter) return
    if (this.heldUntil === null || after < this.heldUntil) this.heldUntil = after
    if (!pause.isOn) this.readHeadSoon()
  }

  private readHeadSoon() {
    const waitMs = Math.max(250, this.headReadAtMs + readAgainEveryMs - performance.now())
    this.headTimer ??= setTimeout(() => void this.readHead(), waitMs)
  }

  private async readHead() {
    const { filter, turn, heldUntil } = this
    this.headTimer = undefined
    if (!filter || heldUntil === null || pause.isOn || this.isReadingHead || this.shownFilter !== filter) return
    this.headReadAtMs = performance.now()
    this.heldUntil = null
    // What was pushed before the reading is older than it; what is pushed meanwhile waits, and is taken in after it.
    this.takeQueue()
    this.isReadingHead = true
    try {
      const held = this.rows.concat(this.fresh)
      const [head, again] = await Promise.all([
        readBackTo(this.source, filter, heldUntil),
        readUnsettled(this.source, held),
      ])
      this.isReadingHead = false
      if (turn === this.turn) this.takeRead(head, again)
      this.flush()
    } catch {
      this.isReadingHead = false
      // The comparison half a minute later tries again.
      if (turn === this.turn) this.heldUntil ??= heldUntil
      else this.flush()
    }
  }

  private takeRead(head: HeadRead<Item>, again: UnsettledRead<Item>) {
    this.take(markLogGone(this.state, again.goneIds))
    if (!head.hasMet) {
      this.fresh = head.entries
      this.gapCursor = head.endCursor
      this.hasGap = true
      this.arrived(head.entries.length)
    }
    // What was pushed while this was read is newer, or one more push of it is on its way.
    const read = new Map(
      [...again.entries, ...(head.hasMet ? head.entries : [])].map((entry) => [entry.item.id, entry]),
    )
    for (const { item } of this.queue.values()) read.set(item.id, logEntry(item, read.get(item.id)?.cursor))
    this.queue = read
    if (pause.isOn) pause.waiting = this.countWaiting()
    else this.takeQueue()
  }

  private newestAt(): string {
    const held = [this.rows[0], this.fresh[0], ...this.queue.values()]
    return held.reduce((newest, entry) => (entry && entry.item.at > newest ? entry.item.at : newest), '')
  }

  /** New ones, and those on screen that have changed. */
  private countWaiting(): number {
    const known = new Set(this.rows.concat(this.fresh).map((row) => row.item.id))
    let count = 0
    for (const { item, cursor } of this.queue.values()) if (cursor === null || !known.has(item.id)) count += 1
    return count
  }

  private countNew(count: number): string {
    const [one, many] = this.source.words
    return plural(count, `new ${one}`, `new ${many}`)
  }

  private get state(): LogState<Item> {
    return { rows: this.rows, fresh: this.fresh, hasMore: this.hasMore }
  }

  private take(state: LogState<Item>) {
    this.rows = state.rows
    this.fresh = state.fresh
    this.hasMore = state.hasMore
  }
}
