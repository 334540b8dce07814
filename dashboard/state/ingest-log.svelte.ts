// Owns the requests of the ingest log on screen: pages, what comes live, and closing the gaps of what was not sent.
import { query, sentenceOf, type RequestError } from '../client.ts'
import { ingestLoggedSubscription, ingestLogQuery, type LoggedRequest } from '../queries-ingest.ts'
import { plural } from '../rules/format.ts'
import { logFilterToInput, logFilterToQuery, type LogFilter } from '../rules/log-filter.ts'
import { appendLog, mergeLog, revealLog, type LogEntry, type LogState } from '../rules/log-merge.ts'
import { arrivalRate, mayRevealAtOnce } from '../rules/reveal.ts'
import type { FurtherPages, LiveList } from '../ui/live-list.ts'
import { announcer } from './announcer.svelte.ts'
import { connection, type Subscription } from './connection.svelte.ts'
import { pause } from './pause.svelte.ts'

const pageSize = 50
const flushMs = 100
const mostRows = 2000
const mostFresh = 500
/** Read to close a gap; where more was missed, the list begins anew at the next reveal. */
const mostHeadPages = 4
const readAgainEveryMs = 1000
const compareEveryMs = 30_000
/** Several servers log side by side: an entry may come this much later than one that is newer. */
const disorderMs = 2000

export class IngestLog implements LiveList, FurtherPages {
  rows = $state.raw<LogEntry[]>([])
  fresh = $state.raw<LogEntry[]>([])
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

  private filter: LogFilter | null = null
  /** What the rows were read with; after a failed reading still the filter before. */
  private shownFilter: LogFilter | null = null
  private subscription: Subscription | null = null
  private queue = new Map<string, LogEntry>()
  private endCursor: string | null = null
  private gapCursor: string | null = null
  /** Some later ones than this were not sent one by one and must be read; null where nothing is missing. */
  private heldUntil: string | null = null
  private headReadAtMs = -Infinity
  private headTimer: ReturnType<typeof setTimeout> | undefined
  private flushTimer: ReturnType<typeof setTimeout> | undefined
  private readonly compareTimer: ReturnType<typeof setInterval>
  private readonly forgetPause: () => void
  private arrivedAtMs: number[] = []
  private turn = 0

  constructor() {
    this.forgetPause = pause.whenOver(() => this.flush())
    this.compareTimer = setInterval(() => {
      if (document.visibilityState === 'visible' && !pause.isOn && connection.phase === 'live') this.missed()
    }, compareEveryMs)
  }

  /** Starts, or turns to another filter. */
  start(filter: LogFilter) {
    if (this.filter && String(logFilterToQuery(filter)) === String(logFilterToQuery(this.filter))) return
    this.filter = filter
    void this.load()
    this.subscription?.stop()
    this.subscription = connection.subscribe({
      document: ingestLoggedSubscription,
      variables: () => ({ filter: logFilterToInput(filter) }),
      next: ({ ingestLogged }) => {
        if (ingestLogged.resync) this.missed()
        if (ingestLogged.request) this.receive([{ request: ingestLogged.request, cursor: null }])
      },
      started: () => this.missed(),
    })
  }

  stop() {
    this.turn += 1
    this.subscription?.stop()
    this.forgetPause()
    clearInterval(this.compareTimer)
    clearTimeout(this.headTimer)
    clearTimeout(this.flushTimer)
  }

  async load() {
    const { filter } = this
    if (!filter) return
    const turn = (this.turn += 1)
    this.isLoading = true
    this.problem = null
    this.queue.clear()
    try {
      const page = await this.readPage(filter, null)
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
      const page = await this.readPage(filter, this.endCursor)
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
    const count = this.rows.length + this.fresh.length
    this.take(revealLog(this.state, mostRows))
    if (this.rows.length < count) this.endCursor = this.rows.at(-1)!.cursor
  }

  /** A request that was sent again, as it stands now. */
  renew(request: LoggedRequest) {
    const inPlace = (entry: LogEntry) => (entry.request.id === request.id ? { ...entry, request } : entry)
    this.rows = this.rows.map(inPlace)
    this.fresh = this.fresh.map(inPlace)
  }

  private receive(entries: readonly LogEntry[]) {
    for (const entry of entries) this.queue.set(entry.request.id, entry)
    // A long pause keeps no heap of entries: what is dropped is read when it is over.
    if (this.queue.size > mostFresh) {
      this.queue.clear()
      this.heldUntil ??= this.newestAt()
    }
    if (pause.isOn) pause.waiting = this.countUnknown()
    else this.flushTimer ??= setTimeout(() => this.flush(), flushMs)
  }

  private flush() {
    clearTimeout(this.flushTimer)
    this.flushTimer = undefined
    if (pause.isOn || this.shownFilter !== this.filter) return
    if (this.heldUntil !== null) this.readHeadSoon()
    if (this.queue.size === 0) return
    const added = this.countUnknown()
    const arrived = [...this.queue.values()]
    this.queue.clear()
    const before = this.fresh.length
    this.take(mergeLog(this.state, arrived))
    if (added > 0) this.arrived(this.fresh.length - before)
  }

  private arrived(added: number) {
    const nowMs = Date.now()
    this.arrivedAtMs = [...this.arrivedAtMs.filter((at) => nowMs - at < 3000), ...Array<number>(added).fill(nowMs)]
    announcer.say(plural(this.fresh.length, 'new request'))
    const reader = { ...this.engagement(), newPerSecond: arrivalRate(this.arrivedAtMs, nowMs) }
    if (this.rows.length === 0 || mayRevealAtOnce(reader)) this.reveal()
    else if (this.fresh.length > mostFresh) this.missed('')
  }

  /** Entries may be missing after this time: the first page is read again, at most once a second. */
  private missed(after = this.newestAt()) {
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
    this.headReadAtMs = performance.now()
    this.headTimer = undefined
    if (!filter || heldUntil === null || pause.isOn || this.shownFilter !== filter) return
    this.heldUntil = null
    try {
      const head = await this.readBackTo(filter, heldUntil)
      if (turn !== this.turn) return
      if (head.hasMet) return this.receive(head.entries)
      this.queue.clear()
      this.fresh = head.entries
      this.gapCursor = head.endCursor
      this.hasGap = true
      this.arrived(head.entries.length)
    } catch {
      // The comparison half a minute later tries again.
      if (turn === this.turn) this.heldUntil = heldUntil
    }
  }

  private async readBackTo(filter: LogFilter, heldUntil: string) {
    const entries: LogEntry[] = []
    const untilMs = heldUntil === '' ? -Infinity : Date.parse(heldUntil) - disorderMs
    let endCursor: string | null = null
    for (let read = 0; read < mostHeadPages; read += 1) {
      const page = await this.readPage(filter, endCursor)
      entries.push(...page.entries)
      endCursor = page.endCursor
      const last = entries.at(-1)
      if (!page.hasMore || !last || Date.parse(last.request.at) < untilMs) return { entries, endCursor, hasMet: true }
    }
    return { entries, endCursor, hasMet: false }
  }

  private async readPage(filter: LogFilter, after: string | null) {
    const { ingestLog } = await query(ingestLogQuery, { filter: logFilterToInput(filter), first: pageSize, after })
    const entries: LogEntry[] = ingestLog.edges.map(({ cursor, node }) => ({ request: node, cursor }))
    return { entries, hasMore: ingestLog.pageInfo.hasNextPage, endCursor: ingestLog.pageInfo.endCursor ?? null }
  }

  private newestAt(): string {
    const held = [this.rows[0], this.fresh[0], ...this.queue.values()]
    return held.reduce((newest, entry) => (entry && entry.request.at > newest ? entry.request.at : newest), '')
  }

  private countUnknown(): number {
    const known = new Set(this.rows.concat(this.fresh).map((row) => row.request.id))
    let count = 0
    for (const id of this.queue.keys()) if (!known.has(id)) count += 1
    return count
  }

  private get state(): LogState {
    return { rows: this.rows, fresh: this.fresh, hasMore: this.hasMore }
  }

  private take(state: LogState) {
    this.rows = state.rows
    this.fresh = state.fresh
    this.hasMore = state.hasMore
  }
}
