// Owns one session with all its events: reads them in pages, then follows what changes without a gap or a double.
import type { BigIntValue, ResultOf } from '../graphql.ts'
import { query, RequestError } from '../client.ts'
import {
  eventsAfterRevisionQuery,
  eventsChangedSubscription,
  sessionQuery,
  type EventRow,
  type SessionHead,
} from '../queries-session.ts'
import type { DeliveryRow } from '../queries-deliveries.ts'
import { mergeEvents, outOfOrder } from '../rules/event-merge.ts'
import { isNewer, newerOf } from '../rules/revision.ts'
import { connection, type Subscription } from './connection.svelte.ts'
import { deliveriesOfSession, FollowedDeliveries } from './followed-deliveries.svelte.ts'
import { pause } from './pause.svelte.ts'
import { SessionFailures } from './session-failures.svelte.ts'
import { SessionFindings } from './session-findings.svelte.ts'

const pageSize = 1000
const flushMs = 100
/** Longer than the mark is to be seen. */
const markedForMs = 2_000

export class SessionTimeline {
  session = $state.raw<SessionHead | null>(null)
  events = $state.raw<EventRow[]>([])
  /** Missing: it was not there when it was opened. Deleted: it went while it was looked at. */
  phase = $state<'first' | 'reading' | 'ready' | 'missing' | 'deleted' | 'problem'>('first')
  problem = $state.raw<RequestError | null>(null)
  /** Ids of events that came between others while somebody looked: marked for a moment. */
  inserted = $state.raw<ReadonlySet<string>>(new Set())
  readonly failures: SessionFailures
  readonly findings: SessionFindings
  readonly deliveries = new FollowedDeliveries<readonly DeliveryRow[]>()

  /** All changes up to here are held, on screen or queued. */
  private heldRevision: BigIntValue = 0
  /** While pages are read to catch up, where that will bring the reader. */
  private targetRevision: BigIntValue | null = null
  private subscription: Subscription | null = null
  private queue = new Map<string, EventRow>()
  private queuedSession: SessionHead | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private retryTimer: ReturnType<typeof setTimeout> | undefined
  private markTimer: ReturnType<typeof setTimeout> | undefined
  private needsAnotherRound = false
  private isStopped = false
  /** Counts the beginnings: what an earlier one still reads is of no use. */
  private turn = 0
  /** It was deleted and posted to again, and is read from its start. */
  private beginsAnew = false
  private readonly forgetPause: () => void

  constructor(private readonly id: string) {
    this.failures = new SessionFailures(id)
    this.findings = new SessionFindings(id)
    this.forgetPause = pause.whenOver(() => this.flush())
    void this.start()
  }

  async start() {
    const turn = (this.turn += 1)
    if (this.phase !== 'deleted') this.phase = 'first'
    this.problem = null
    try {
      let isFirst = true
      let page: Promise<PageOfSession> | null = this.readPage(null)
      while (page !== null) {
        const answer: PageOfSession = await page
        if (turn !== this.turn) return
        if (!answer) return this.lose(this.session === null ? 'missing' : 'deleted')
        const { events, failures, findings, deliveries, ...session }: NonNullable<PageOfSession> = answer
        // The next page is on its way while this one is drawn.
        page = events.pageInfo.hasNextPage ? this.readPage(events.pageInfo.endCursor) : null
        page?.catch(() => {})
        if (isFirst) {
          this.failures.take(session, failures ?? [])
          this.findings.take(session, findings ?? [])
          this.deliveries.turnTo(deliveriesOfSession(this.id), deliveries ?? [])
          this.begin(session)
        }
        isFirst = false
        this.receive(session, events.nodes)
        this.flush()
      }
      this.phase = 'ready'
    } catch (error) {
      if (turn !== this.turn) return
      this.beginsAnew = false
      this.problem = error as RequestError
      this.phase = 'problem'
    }
  }

  stop() {
    this.turn += 1
    this.isStopped = true
    this.subscription?.stop()
    this.failures.stop()
    this.findings.stop()
    this.deliveries.stop()
    clearTimeout(this.timer)
    clearTimeout(this.retryTimer)
    clearTimeout(this.markTimer)
    this.forgetPause()
  }

  private async readPage(after: string | null): Promise<PageOfSession> {
    const variables = { id: this.id, first: pageSize, after, withFailures: after === null }
    const { session } = await query(sessionQuery, variables)
    return session
  }

  private lose(phase: 'missing' | 'deleted') {
    this.subscription?.stop()
    this.subscription = null
    this.queue.clear()
    this.queuedSession = null
    this.phase = phase
  }

  /** Its updates ended: because it was deleted, or for a reason that passes. Deleted and posted to again it is another. */
  private async lookForIt() {
    const { turn } = this
    if (pause.isOn) return
    const variables = { id: this.id, first: 1, after: null, withFailures: false }
    const answer = await query(sessionQuery, variables).catch(() => null)
    if (turn !== this.turn || !answer) return
    if (!answer.session) {
      this.turn += 1
      this.lose('deleted')
    } else if (answer.session.firstSeenAt !== this.session?.firstSeenAt) void this.start()
  }

  /** The pages are read at this revision or later, so following from it misses nothing. */
  private begin(session: SessionHead) {
    if (this.session && this.session.firstSeenAt !== session.firstSeenAt) {
      this.events = []
      this.queue.clear()
      this.queuedSession = null
    }
    this.beginsAnew = false
    this.heldRevision = session.revision
    this.session = session
    this.phase = 'reading'
    this.subscription?.stop()
    this.subscription = connection.subscribe({
      document: eventsChangedSubscription,
      variables: () => ({ sessionId: this.id, after: this.heldRevision }),
      ended: () => void this.lookForIt(),
      next: ({ eventsChanged: change }) => {
        this.receive(change.session, change.events)
        if (change.more) void this.readMore(change.revision)
        else if (this.targetRevision !== null) this.targetRevision = newerOf(this.targetRevision, change.revision)
        else this.heldRevision = newerOf(this.heldRevision, change.revision)
      },
    })
  }

  /** Too much changed for one message: reads everything after the held revision, which moves only when all is here. */
  private async readMore(revision: BigIntValue) {
    const isReading = this.targetRevision !== null
    this.targetRevision = newerOf(this.targetRevision ?? revision, revision)
    if (isReading) this.needsAnotherRound = true
    else await this.readToTarget()
  }

  private async readToTarget() {
    try {
      do {
        this.needsAnotherRound = false
        await this.readChangedPages()
      } while (this.needsAnotherRound && !this.isStopped)
      this.heldRevision = newerOf(this.heldRevision, this.targetRevision!)
      this.targetRevision = null
    } catch {
      clearTimeout(this.retryTimer)
      this.retryTimer = setTimeout(() => void this.readToTarget(), 2000)
    }
  }

  private async readChangedPages() {
    let after: string | null = null
    do {
      const variables = { id: this.id, first: pageSize, after, changedAfter: this.heldRevision }
      const answer: { session: ({ events: Page } & SessionHead) | null } = await query(
        eventsAfterRevisionQuery,
        variables,
      )
      if (this.isStopped || !answer.session) return
      const { events, ...session } = answer.session
      this.receive(session, events.nodes)
      after = events.pageInfo.hasNextPage ? events.pageInfo.endCursor : null
    } while (after !== null)
  }

  private receive(session: SessionHead, events: readonly EventRow[]) {
    if (session.firstSeenAt !== this.session?.firstSeenAt) {
      if (!this.beginsAnew) void this.start()
      this.beginsAnew = true
      return
    }
    const held = this.queuedSession ?? this.session
    if (!held || !isNewer(held.revision, session.revision)) this.queuedSession = session
    for (const event of events) {
      const queued = this.queue.get(event.id)
      if (!queued || isNewer(event.revision, queued.revision)) this.queue.set(event.id, event)
    }
    if (pause.isOn && this.phase === 'ready') pause.waiting = this.queue.size
    else this.timer ??= setTimeout(() => this.flush(), flushMs)
  }

  private flush() {
    clearTimeout(this.timer)
    this.timer = undefined
    if ((pause.isOn && this.phase === 'ready') || this.isStopped) return
    if (this.queuedSession) {
      this.session = this.queuedSession
      this.failures.follow(this.session)
    }
    this.queuedSession = null
    if (this.queue.size === 0) return
    const changed = [...this.queue.values()]
    if (this.phase === 'ready') this.markInserted(outOfOrder(this.events, changed))
    this.events = mergeEvents(this.events, changed)
    this.queue.clear()
  }

  private markInserted(ids: readonly string[]) {
    if (ids.length === 0) return
    this.inserted = new Set([...this.inserted, ...ids])
    clearTimeout(this.markTimer)
    this.markTimer = setTimeout(() => (this.inserted = new Set()), markedForMs)
  }
}

type PageOfSession = ResultOf<typeof sessionQuery>['session']
interface Page {
  nodes: EventRow[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}
