// Owns the patterns of failures on screen: pages, what comes live, and reading again what was not sent.
import { query, sentenceOf, type RequestError } from '../client.ts'
import {
  failurePatternsQuery,
  patternChangedSubscription,
  type PatternDecision,
  type PatternRow,
} from '../queries-failures.ts'
import { plural } from '../rules/format.ts'
import {
  patternFilterToInput,
  patternFilterToQuery,
  patternMatches,
  type PatternFilter,
} from '../rules/pattern-filter.ts'
import {
  appendPatterns,
  decidePattern,
  dimPatternsBut,
  markPatternGone,
  mergePatterns,
  type PatternEntry,
  type PatternsState,
} from '../rules/pattern-merge.ts'
import type { FurtherPages, LiveList } from '../ui/live-list.ts'
import { announcer } from './announcer.svelte.ts'
import { clock } from './clock.svelte.ts'
import { connection, type Subscription } from './connection.svelte.ts'
import { pause } from './pause.svelte.ts'

const pageSize = 50
const largestPage = 100
const flushMs = 200
const readAgainEveryMs = 1000
const mostQueued = 500

export class PatternList implements LiveList, FurtherPages {
  rows = $state.raw<PatternEntry[]>([])
  fresh = $state.raw<PatternRow[]>([])
  hasMore = $state(false)
  isFirstLoad = $state(true)
  isLoading = $state(false)
  isLoadingMore = $state(false)
  problem = $state.raw<RequestError | null>(null)
  moreProblem = $state('')
  /** Rises with everything that may change counts by day. */
  changes = $state(0)
  /** The one that is open beside the list. */
  selectedId: string | null = null
  /** The last push of it where it is not in the list: it was opened by its address. */
  outside = $state.raw<PatternRow | null>(null)
  scrollTop = 0
  engagement: LiveList['engagement'] = () => ({
    isAtTop: true,
    hasActiveRow: false,
    hasFocus: false,
    hasPointer: false,
    isTabVisible: true,
  })

  private filter: PatternFilter | null = null
  /** What the rows were read with; after a failed reading still the filter before. */
  private shownFilter: PatternFilter | null = null
  private subscription: Subscription | null = null
  /** By id, the newest only; null is a pattern that is gone. */
  private queue = new Map<string, PatternRow | null>()
  private cursors: string[] = []
  private mustReadAgain = false
  private readAtMs = -Infinity
  private readTimer: ReturnType<typeof setTimeout> | undefined
  private flushTimer: ReturnType<typeof setTimeout> | undefined
  private forgetPause = () => {}
  private turn = 0

  /** Starts, or goes on where it was left, or turns to another filter. */
  start(filter: PatternFilter) {
    const isSame = (other: PatternFilter | null) =>
      other !== null && String(patternFilterToQuery(filter)) === String(patternFilterToQuery(other))
    if (isSame(this.filter)) return
    const isOtherRange = this.filter?.range !== filter.range
    if (this.filter === null) this.forgetPause = pause.whenOver(() => this.flush())
    const isResumed = this.filter === null && !this.problem && isSame(this.shownFilter)
    this.filter = filter
    if (isResumed) this.shownFilter = filter
    else void this.load()
    if (!isOtherRange) return
    this.outside = null
    this.subscription?.stop()
    this.subscription = connection.subscribe({
      document: patternChangedSubscription,
      variables: () => ({ range: filter.range }),
      next: ({ failurePatternChanged: { pattern, goneId, resync } }) => {
        if (resync) this.missed()
        if (goneId) this.receive(goneId, null)
        else if (pattern) this.receive(pattern.id, pattern)
      },
      started: () => this.missed(),
    })
  }

  /** The rows stay; what changes meanwhile is caught up with at the next start. */
  stop() {
    this.turn += 1
    this.filter = null
    this.isLoading = false
    this.subscription?.stop()
    this.forgetPause()
    clearTimeout(this.readTimer)
    clearTimeout(this.flushTimer)
    this.readTimer = this.flushTimer = undefined
  }

  async load() {
    const { filter } = this
    if (!filter) return
    const turn = (this.turn += 1)
    this.isLoading = true
    this.problem = null
    try {
      const page = await this.readPage(filter, null, pageSize)
      if (turn !== this.turn) return
      this.take(appendPatterns({ rows: [], fresh: [], hasMore: false }, page.patterns, page.hasMore))
      this.cursors = page.cursors
      this.moreProblem = ''
      this.isFirstLoad = false
      this.shownFilter = filter
      this.changes += 1
    } catch (error) {
      if (turn === this.turn) this.problem = error as RequestError
    } finally {
      if (turn === this.turn) {
        this.isLoading = false
        this.flush()
      }
    }
  }

  async loadMore() {
    const { filter, turn } = this
    if (!filter || this.isLoadingMore || this.isLoading || !this.hasMore) return
    this.isLoadingMore = true
    this.moreProblem = ''
    // Pages are counted from the top: what left the list above moved the others up, so it goes on that much earlier.
    const left = this.rows.filter((row) => !row.matches).length
    try {
      const page = await this.readPage(filter, this.cursors[this.cursors.length - 1 - left] ?? null, pageSize)
      if (turn !== this.turn) return
      this.take(appendPatterns(this.state, page.patterns, page.hasMore))
      this.cursors = [...this.cursors.slice(0, Math.max(0, this.cursors.length - left)), ...page.cursors]
    } catch (error) {
      if (turn === this.turn) this.moreProblem = sentenceOf(error)
    } finally {
      this.isLoadingMore = false
    }
  }

  /** The list is ranked: what is new has its place in it only when it is read anew. */
  reveal() {
    void this.load()
  }

  decided(decision: PatternDecision) {
    this.take(decidePattern(this.state, decision, this.matches))
  }

  private receive(id: string, pattern: PatternRow | null) {
    this.queue.set(id, pattern)
    if (this.queue.size > mostQueued) {
      this.queue.clear()
      this.mustReadAgain = true
    }
    if (pause.isOn) pause.waiting = this.queue.size
    else this.flushTimer ??= setTimeout(() => this.flush(), flushMs)
  }

  private flush() {
    clearTimeout(this.flushTimer)
    this.flushTimer = undefined
    // What came while the list is read may be older or newer than the reading: the last of each always arrives after.
    if (pause.isOn || this.isLoading || this.shownFilter !== this.filter) return
    if (this.mustReadAgain) this.readAgainSoon()
    if (this.queue.size === 0) return
    const changed = [...this.queue.values()].filter((pattern) => pattern !== null)
    const goneIds = [...this.queue].flatMap(([id, pattern]) => (pattern === null ? [id] : []))
    this.queue.clear()
    this.changes += 1
    this.outside = changed.find(({ id }) => id === this.selectedId) ?? this.outside
    this.arrived(goneIds.reduce(markPatternGone, mergePatterns(this.state, changed, this.matches)))
  }

  private arrived(state: PatternsState) {
    const added = state.fresh.length - this.fresh.length
    this.take(state)
    if (this.rows.length === 0 && state.fresh.length > 0) this.reveal()
    else if (added > 0) announcer.say(plural(state.fresh.length, 'new failure pattern'))
  }

  /** Something may not have been sent: all that is loaded is read again, at most once a second. */
  private missed() {
    if (this.problem) return void this.load()
    this.mustReadAgain = true
    if (!pause.isOn) this.readAgainSoon()
  }

  private readAgainSoon() {
    const waitMs = Math.max(250, this.readAtMs + readAgainEveryMs - performance.now())
    this.readTimer ??= setTimeout(() => void this.readAgain(), waitMs)
  }

  private async readAgain() {
    this.readTimer = undefined
    const { filter, turn } = this
    // A reading that goes on may have begun too early: what it ends with calls again.
    if (!filter || !this.mustReadAgain || pause.isOn || this.isLoading || this.shownFilter !== filter) return
    this.readAtMs = performance.now()
    this.mustReadAgain = false
    try {
      const read: PatternRow[] = []
      const cursors: string[] = []
      let hasMore = true
      while (hasMore && read.length <= this.rows.length) {
        const page = await this.readPage(filter, cursors.at(-1) ?? null, largestPage)
        if (turn !== this.turn) return
        read.push(...page.patterns)
        cursors.push(...page.cursors)
        hasMore = page.hasMore && page.patterns.length > 0
      }
      this.changes += 1
      const merged = mergePatterns(this.state, read, this.matches)
      this.arrived(hasMore ? merged : dimPatternsBut(merged, new Set(read.map(({ id }) => id))))
    } catch {
      // The next connection, or the next push, tries again.
      if (turn === this.turn) this.mustReadAgain = true
    }
  }

  private async readPage(filter: PatternFilter, after: string | null, first: number) {
    const variables = { range: filter.range, filter: patternFilterToInput(filter), first, after }
    const { edges, pageInfo } = (await query(failurePatternsQuery, variables)).failurePatterns
    return {
      patterns: edges.map(({ node }) => node),
      cursors: edges.map(({ cursor }) => cursor),
      hasMore: pageInfo.hasNextPage,
    }
  }

  private readonly matches = (pattern: PatternRow) => patternMatches(pattern, this.shownFilter!, clock.nowMs)

  private get state(): PatternsState {
    return { rows: this.rows, fresh: this.fresh, hasMore: this.hasMore }
  }

  private take(state: PatternsState) {
    this.rows = state.rows
    this.fresh = state.fresh
    this.hasMore = state.hasMore
  }
}
