// Owns what the analysis found in one session: read together with it, and anew whenever the session has changed.
import { query } from '../client.ts'
import type { BigIntValue } from '../graphql.ts'
import { sessionFindingsQuery, type SessionFinding, type SessionHead } from '../queries-session.ts'
import { isNewer } from '../rules/revision.ts'

/** Late events come in bursts, and the analysis rests between them. */
const restMs = 300
const retryMs = 2_000

export class SessionFindings {
  found = $state.raw<readonly SessionFinding[]>([])
  private held: BigIntValue = 0
  private isReading = false
  private timer: ReturnType<typeof setTimeout> | undefined
  private isStopped = false

  constructor(private readonly id: string) {}

  /** What was read with the session itself. */
  take({ revision }: SessionHead, found: readonly SessionFinding[]) {
    this.held = revision
    this.found = found
  }

  /** The session as it is shown now; one of which nothing is said need not follow. */
  follow({ revision }: SessionHead) {
    if (!isNewer(revision, this.held)) return
    this.held = revision
    this.readIn(restMs)
  }

  stop() {
    this.isStopped = true
    clearTimeout(this.timer)
  }

  private readIn(ms: number) {
    this.timer ??= setTimeout(() => void this.read(), ms)
  }

  private async read() {
    this.timer = undefined
    if (this.isReading) return this.readIn(restMs)
    this.isReading = true
    const { held } = this
    try {
      const { session } = await query(sessionFindingsQuery, { id: this.id })
      // One that was deleted and posted to again has taken its own meanwhile.
      if (!this.isStopped && !isNewer(held, this.held)) this.found = session?.findings ?? []
    } catch {
      if (!this.isStopped) this.readIn(retryMs)
    } finally {
      this.isReading = false
    }
  }
}
