// Owns the rows of the sessions page. Changes queue and are taken in together; the feed brings them.
import type { SessionRow } from '../queries.ts'
import { appendPage, markGone, mergeSessions, revealFresh, type ListRow, type ListState } from '../rules/list-merge.ts'
import { arrivalRate, mayRevealAtOnce, type Engagement } from '../rules/reveal.ts'
import { emptyFilter, stillMatches, type ListFilter } from '../rules/session-filter.ts'
import { isNewer } from '../rules/revision.ts'
import { announcer } from './announcer.svelte.ts'
import { pause } from './pause.svelte.ts'
import { plural } from '../rules/format.ts'

const flushMs = 100
const busyFlushMs = 250
const mostRows = 2000
export const mostFresh = 500

export class SessionList {
  rows = $state.raw<ListRow[]>([])
  fresh = $state.raw<ListRow[]>([])
  hasMore = $state(false)
  /** Before anything was read; then always ready, with a problem beside the rows if there is one. */
  isFirstLoad = $state(true)
  filter = $state.raw<ListFilter>(emptyFilter)
  endCursor: string | null = null
  /** Between what waits and what is shown more was missed than is kept: a reveal starts the list anew. */
  hasGap = false
  scrollTop = 0
  /** Tells how engaged the reader is; the page sets it. */
  engagement: () => Omit<Engagement, 'newPerSecond'> = () => ({
    isAtTop: false,
    hasActiveRow: false,
    hasFocus: false,
    hasPointer: false,
    isTabVisible: false,
  })

  private queue = new Map<string, SessionRow>()
  private goneIds = new Set<string>()
  private cursors = new Map<string, string>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private arrivedAtMs: number[] = []

  constructor() {
    pause.whenOver(() => this.flush())
  }

  /** The first page of a filter. */
  show(filter: ListFilter, page: ListRow[], hasMore: boolean, endCursor: string | null) {
    this.filter = filter
    this.queue.clear()
    this.goneIds.clear()
    this.fresh = []
    this.hasGap = false
    this.rows = page
    this.hasMore = hasMore
    this.endCursor = endCursor
    this.isFirstLoad = false
  }

  append(page: ListRow[], hasMore: boolean, endCursor: string | null) {
    this.take(appendPage(this.state, page, hasMore))
    this.endCursor = endCursor
  }

  receive(sessions: readonly SessionRow[], cursors?: ReadonlyMap<string, string>) {
    for (const session of sessions) {
      const queued = this.queue.get(session.id)
      if (!queued || isNewer(session.revision, queued.revision)) this.queue.set(session.id, session)
    }
    if (cursors) for (const [id, cursor] of cursors) this.cursors.set(id, cursor)
    if (pause.isOn) pause.waiting = this.countWaiting()
    if (this.queue.size > 0 && !pause.isOn)
      this.timer ??= setTimeout(() => this.flush(), this.queue.size > 20 ? busyFlushMs : flushMs)
  }

  /** They were deleted. What is posted to one of them later comes as a change and brings it back. */
  markGone(ids: readonly string[]) {
    const known = ids.filter((id) => this.queue.delete(id) || this.has(id))
    for (const id of known) this.goneIds.add(id)
    if (this.goneIds.size > 0 && !pause.isOn) this.timer ??= setTimeout(() => this.flush(), flushMs)
  }

  reveal() {
    if (this.hasGap) {
      this.rows = this.fresh
      this.hasMore = true
      this.endCursor = this.rows.findLast((row) => row.cursor !== null)?.cursor ?? null
      this.fresh = []
      this.hasGap = false
      return
    }
    const before = this.rows.length + this.fresh.length
    this.take(revealFresh(this.state, mostRows))
    if (this.rows.length < before && this.hasMore) {
      const last = this.rows.at(-1)
      if (last?.cursor) this.endCursor = last.cursor
    }
  }

  has = (id: string) =>
    this.rows.some((row) => row.session.id === id) || this.fresh.some((row) => row.session.id === id)

  private flush() {
    clearTimeout(this.timer)
    this.timer = undefined
    if (pause.isOn || this.queue.size + this.goneIds.size === 0) return
    if (this.goneIds.size > 0) this.take(markGone(this.state, this.goneIds))
    this.goneIds.clear()
    const freshBefore = new Set(this.fresh.map((row) => row.session.id))
    const changed = [...this.queue.values()]
    this.queue.clear()
    this.take(mergeSessions(this.state, changed, this.filter, this.cursors))
    this.cursors.clear()
    const added = this.fresh.filter((row) => !freshBefore.has(row.session.id)).length
    if (added > 0) this.arrived(added)
  }

  private arrived(added: number) {
    const nowMs = Date.now()
    this.arrivedAtMs = [...this.arrivedAtMs.filter((at) => nowMs - at < 3000), ...Array<number>(added).fill(nowMs)]
    announcer.say(plural(this.fresh.length, 'new session'))
    const newPerSecond = arrivalRate(this.arrivedAtMs, nowMs)
    if (this.rows.length === 0 || mayRevealAtOnce({ ...this.engagement(), newPerSecond })) this.reveal()
    else if (this.fresh.length > mostFresh) this.dropOldestFresh()
  }

  // What waits is capped too: beyond it the list begins anew at the next reveal, and older rows come back by page.
  private dropOldestFresh() {
    const end = this.fresh.slice(0, mostFresh).findLastIndex((row) => row.cursor !== null) + 1
    if (end === 0) return
    this.fresh = this.fresh.slice(0, end)
    this.hasGap = true
  }

  private countWaiting() {
    return [...this.queue.values()].filter((session) => this.has(session.id) || stillMatches(session, this.filter))
      .length
  }

  private get state(): ListState {
    return { rows: this.rows, fresh: this.fresh, hasMore: this.hasMore }
  }

  private take(state: ListState) {
    this.rows = state.rows
    this.fresh = state.fresh
    this.hasMore = state.hasMore
  }
}
