// Owns what the rules found in one session: read together with it, and anew whenever the session as shown has changed.
import { query } from '../client.ts'
import type { BigIntValue } from '../graphql.ts'
import { sessionFailuresQuery, type SessionFailure, type SessionHead } from '../queries-session.ts'
import { isNewer } from '../rules/revision.ts'

/** The rules answer within a blink of the close; nothing else is said of a failed run for so long at most. */
const holdBackMs = 1_500
const retryMs = 2_000

export class SessionFailures {
  found = $state.raw<readonly SessionFailure[]>([])
  /** The run has just closed, and what the rules say of it is on its way. */
  isComing = $state(false)
  /** Rises when other failures than before are shown while somebody looks. */
  changes = $state(0)
  private held: SessionHead | null = null
  private isReading = false
  private needsAnotherRound = false
  private isStopped = false
  private comingTimer: ReturnType<typeof setTimeout> | undefined
  private retryTimer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly id: string) {}

  /** What was read with the session itself. */
  take(session: SessionHead, failures: readonly SessionFailure[]) {
    this.held = session
    this.found = failures
    this.awaitRules(session)
  }

  /** The session as it is shown now. */
  follow(session: SessionHead) {
    const before: BigIntValue = this.held?.revision ?? 0
    if (!isNewer(session.revision, before)) return
    this.held = session
    if (session.failureCount > 0) void this.read()
    else this.found = []
    this.awaitRules(session)
  }

  stop() {
    this.isStopped = true
    clearTimeout(this.comingTimer)
    clearTimeout(this.retryTimer)
  }

  private awaitRules(session: SessionHead) {
    const isAwaited =
      session.status !== 'RUNNING' && this.found.length === 0 && (!session.classified || session.failureCount > 0)
    if (isAwaited === this.isComing) return
    this.isComing = isAwaited
    clearTimeout(this.comingTimer)
    if (isAwaited) this.comingTimer = setTimeout(() => (this.isComing = false), holdBackMs)
  }

  private async read() {
    this.needsAnotherRound = this.isReading
    if (this.isReading) return
    clearTimeout(this.retryTimer)
    this.isReading = true
    try {
      do {
        this.needsAnotherRound = false
        const { session } = await query(sessionFailuresQuery, { id: this.id })
        if (this.isStopped) return
        this.show(session?.failures ?? [])
      } while (this.needsAnotherRound)
    } catch {
      if (!this.isStopped) this.retryTimer = setTimeout(() => void this.read(), retryMs)
    } finally {
      this.isReading = false
    }
  }

  private show(failures: readonly SessionFailure[]) {
    // What was asked for earlier may answer after the session has lost its failures again.
    if (this.held?.failureCount === 0) return
    this.found = failures
    this.changes += 1
    if (failures.length > 0) this.isComing = false
  }
}
