// Owns how the sessions page gets its rows: first page, further pages, the subscription and catching up.
import { query, sentenceOf, RequestError } from '../client.ts'
import {
  latestSessionQuery,
  sessionChangedSubscription,
  sessionPageQuery,
  sessionsByIdQuery,
  type SessionRow,
} from '../queries.ts'
import type { ListRow } from '../rules/list-merge.ts'
import { canStopMatching, filterToInput, filterToQuery, type ListFilter } from '../rules/session-filter.ts'
import { announcer } from './announcer.svelte.ts'
import { connection, type Subscription } from './connection.svelte.ts'
import { pause } from './pause.svelte.ts'
import { mostFresh, type SessionList } from './session-list.svelte.ts'

const pageSize = 50
const mostIdsAtOnce = 100
const mostWatchedIds = 500
const compareEveryMs = 30_000

export class SessionFeed {
  isLoading = $state(false)
  isLoadingMore = $state(false)
  problem = $state.raw<RequestError | null>(null)
  moreProblem = $state('')
  /** When nothing is found: the newest session of all, or null in an empty installation. */
  latest = $state.raw<{ firstSeenAt: string } | null | undefined>(undefined)
  private filter: ListFilter | null = null
  private subscription: Subscription | null = null
  private watched = new Set<string>()
  private compareTimer: ReturnType<typeof setInterval> | undefined
  private watchTimer: ReturnType<typeof setTimeout> | undefined
  private visible: readonly string[] = []
  private turn = 0
  private isRestarting = false

  constructor(private readonly list: SessionList) {}

  /** Starts, or goes on where it was left, or turns to another filter. */
  start(filter: ListFilter) {
    const isSame = this.filter !== null && String(filterToQuery(filter)) === String(filterToQuery(this.filter))
    if (isSame && this.subscription) return
    const isResumed = isSame && !this.list.isFirstLoad
    this.filter = filter
    this.turn += 1
    this.subscription?.stop()
    this.watched = isResumed ? this.idsToWatch() : new Set()
    if (isResumed) this.list.filter = filter
    else void this.load()
    this.subscription = connection.subscribe({
      document: sessionChangedSubscription,
      variables: () => ({
        filter: filterToInput(filter),
        ids: this.watched.size > 0 ? [...this.watched] : null,
      }),
      next: ({ sessionChanged }) => {
        if (sessionChanged.resync) void this.catchUp()
        if (sessionChanged.session) this.receive([sessionChanged.session])
        if (sessionChanged.goneId) this.list.markGone([sessionChanged.goneId])
      },
      // A restart for other ids reads what it needs by itself.
      started: () => this.isRestarting || void this.catchUpSoon(),
    })
    clearInterval(this.compareTimer)
    this.compareTimer = setInterval(() => void this.compare(), compareEveryMs)
  }

  /** The rows stay; what changes meanwhile is caught up with at the next start. */
  stop() {
    this.turn += 1
    this.subscription?.stop()
    this.subscription = null
    clearInterval(this.compareTimer)
    clearTimeout(this.watchTimer)
  }

  async load() {
    const { filter, turn } = this
    if (!filter) return
    this.isLoading = true
    this.problem = null
    try {
      const page = await this.readPage(filter, null)
      if (turn !== this.turn) return
      const latest = page.rows.length === 0 ? await readLatest() : undefined
      if (turn !== this.turn) return
      this.latest = latest
      this.list.show(filter, page.rows, page.hasMore, page.endCursor)
      this.watchSoon()
    } catch (error) {
      if (turn === this.turn) this.problem = error as RequestError
    } finally {
      if (turn === this.turn) this.isLoading = false
    }
  }

  async loadMore() {
    const { filter, turn } = this
    if (!filter || this.isLoadingMore || this.isLoading || !this.list.hasMore) return
    this.isLoadingMore = true
    this.moreProblem = ''
    try {
      const page = await this.readPage(filter, this.list.endCursor)
      if (turn !== this.turn) return
      this.list.append(page.rows, page.hasMore, page.endCursor)
      this.watchSoon()
    } catch (error) {
      if (turn === this.turn) this.moreProblem = sentenceOf(error)
    } finally {
      this.isLoadingMore = false
    }
  }

  /** Rows in sight: those are compared, and those around them are watched for leaving the filter. */
  setVisible(ids: readonly string[]) {
    this.visible = ids
    if (ids.some((id) => !this.watched.has(id))) this.watchSoon()
  }

  private receive(sessions: readonly SessionRow[], cursors?: ReadonlyMap<string, string>) {
    if (this.list.isFirstLoad || this.list.filter !== this.filter) return
    this.list.receive(sessions, cursors)
  }

  /** A moment later, so that the server has the subscription before it answers the reading. */
  private catchUpSoon() {
    setTimeout(() => void this.catchUp(), 250)
  }

  /** Reads the head of the list until it meets rows that are known, and all loaded rows by id. */
  private async catchUp() {
    if (this.problem) return this.load()
    const { turn } = this
    if (this.list.isFirstLoad || this.list.filter !== this.filter) return
    const wasInterrupted = connection.wasInterrupted
    const before = this.list.fresh.length
    try {
      await this.readHead(turn)
      await this.readByIds(
        this.list.rows.concat(this.list.fresh).map((row) => row.session.id),
        turn,
      )
    } catch {
      return // The comparison half a minute later tries again.
    }
    if (!wasInterrupted || turn !== this.turn) return
    connection.wasInterrupted = false
    setTimeout(() => {
      const missed = this.list.fresh.length - before
      announcer.sayNow(missed > 0 ? `Live updates resumed, ${missed} new sessions` : 'Live updates resumed')
    }, 300)
  }

  private async compare() {
    if (document.visibilityState !== 'visible' || pause.isOn || connection.phase !== 'live') return
    if (this.list.isFirstLoad) return
    await Promise.all([this.readHead(this.turn), this.readByIds([...this.visible], this.turn)]).catch(() => {})
  }

  private async readHead(turn: number) {
    const { filter } = this
    if (!filter) return
    let cursor: string | null = null
    for (let read = 0; read < mostFresh; read += pageSize) {
      const page = await this.readPage(filter, cursor)
      if (turn !== this.turn) return
      const meetsKnown = page.rows.some((row) => this.list.has(row.session.id))
      this.receive(
        page.rows.map((row) => row.session),
        new Map(page.rows.map((row) => [row.session.id, row.cursor!])),
      )
      if (meetsKnown || !page.hasMore || this.list.rows.length === 0) return
      cursor = page.endCursor
    }
    this.list.hasGap = true
  }

  private async readByIds(ids: readonly string[], turn: number) {
    for (let from = 0; from < ids.length; from += mostIdsAtOnce) {
      const part = ids.slice(from, from + mostIdsAtOnce)
      const { nodes } = await query(sessionsByIdQuery, { ids: part })
      if (turn !== this.turn) return
      this.receive(nodes.flatMap((node) => (node?.__typename === 'Session' ? [node] : [])))
      this.list.markGone(part.filter((_, index) => !nodes[index]))
    }
  }

  private async readPage(filter: ListFilter, after: string | null) {
    const { sessions } = await query(sessionPageQuery, { filter: filterToInput(filter), first: pageSize, after })
    const rows: ListRow[] = sessions.edges.map(({ cursor, node }) => ({
      session: node,
      cursor,
      matches: true,
      isGone: false,
    }))
    return { rows, hasMore: sessions.pageInfo.hasNextPage, endCursor: sessions.pageInfo.endCursor }
  }

  private watchSoon() {
    clearTimeout(this.watchTimer)
    this.watchTimer = setTimeout(() => void this.watch(), 500)
  }

  /** Without a filter that a session can leave, the server sends everything anyway. */
  private idsToWatch(): Set<string> {
    if (!this.filter || !canStopMatching(this.filter)) return new Set()
    const ids = this.list.rows.concat(this.list.fresh).map((row) => row.session.id)
    if (ids.length <= mostWatchedIds) return new Set(ids)
    const middle = ids.indexOf(this.visible[Math.floor(this.visible.length / 2)] ?? '')
    const from = Math.max(0, Math.min(ids.length - mostWatchedIds, middle - mostWatchedIds / 2))
    return new Set(ids.slice(from, from + mostWatchedIds))
  }

  private async watch() {
    const ids = this.idsToWatch()
    const added = [...ids].filter((id) => !this.watched.has(id))
    if (added.length === 0) return
    this.watched = ids
    this.isRestarting = true
    this.subscription?.restart()
    this.isRestarting = false
    // They may have changed between being read and being watched.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await this.readByIds(added, this.turn).catch(() => {})
  }
}

async function readLatest() {
  const { sessions } = await query(latestSessionQuery, {})
  return sessions.nodes[0] ?? null
}
