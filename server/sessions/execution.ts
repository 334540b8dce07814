// What becomes of an execution of platform B that is posted again: by rank, and never poorer than before. Pure.
import { totalsOf, type EventDraft, type SessionWrite } from './session.ts'

export interface Execution {
  session: SessionWrite
  events: EventDraft[]
}

const RANK_OF_NODE_STATUS = new Map(
  Object.entries({
    success: 2,
    error: 2,
    crashed: 2,
    canceled: 2,
    waiting: 1,
    running: 1,
  }),
)
const nodeRank = (event: EventDraft) => RANK_OF_NODE_STATUS.get(event.status ?? '') ?? 0

/** A lower rank never wins over a higher; of equals the later stoppedAt, else the later receipt. */
export function outranks(incoming: SessionWrite, stored: SessionWrite): boolean {
  const difference = (incoming.rank ?? 0) - (stored.rank ?? 0)
  if (difference !== 0) return difference > 0
  if (incoming.stoppedAt !== null && stored.stoppedAt !== null) return incoming.stoppedAt >= stored.stoppedAt
  return true
}

/** @returns the merged session with totals over all its events, and those of the incoming events that are to be written */
export function mergeExecution(stored: Execution, incoming: Execution): Execution & { changed: EventDraft[] } {
  const wins = outranks(incoming.session, stored.session)
  const [winner, loser] = wins ? [incoming.session, stored.session] : [stored.session, incoming.session]
  const events = new Map(stored.events.map((event) => [event.key, event]))
  const changed: EventDraft[] = []
  for (const event of incoming.events) {
    const before = events.get(event.key)
    const isBetter = !before || nodeRank(event) > nodeRank(before) || (wins && nodeRank(event) === nodeRank(before))
    if (!isBetter) continue
    events.set(event.key, event)
    changed.push(event)
  }
  const all = [...events.values()]
  const startedAt = winner.startedAt ?? loser.startedAt
  const stoppedAt = winner.stoppedAt ?? loser.stoppedAt
  const isReported = startedAt !== null && stoppedAt !== null && stoppedAt >= startedAt
  const richer = richerOf(stored, incoming)
  const hasNames = stored.session.agent !== null && stored.session.agent !== stored.session.workflowId
  const session: SessionWrite = {
    ...stored.session,
    ...totalsOf(all),
    agent: hasNames ? stored.session.agent : (incoming.session.agent ?? stored.session.agent),
    mode: winner.mode ?? loser.mode,
    status: winner.status,
    reportedStatus: winner.reportedStatus ?? loser.reportedStatus,
    // An error of the post that lost is kept only where both agree on the outcome.
    errorMessage: winner.errorMessage ?? (winner.status === loser.status ? loser.errorMessage : null),
    lastNode: winner.lastNode ?? loser.lastNode,
    externalUrl: winner.externalUrl ?? loser.externalUrl,
    retryOf: winner.retryOf ?? loser.retryOf,
    startedAt,
    lastEventAt: Math.max(stored.session.lastEventAt, incoming.session.lastEventAt),
    closedAt: winner.stoppedAt ?? loser.stoppedAt ?? winner.closedAt,
    durationMs: isReported ? stoppedAt - startedAt : (richer.durationMs ?? winner.durationMs ?? loser.durationMs),
    durationSource: isReported ? 'REPORTED' : (richer.durationSource ?? winner.durationSource ?? loser.durationSource),
    coverage: mergedCoverage(winner, richer),
    rank: winner.rank,
    stoppedAt,
  }
  return { session, events: all, changed }
}

/** Of two posts without steps, the one that says more than that none came. */
function richerOf(stored: Execution, incoming: Execution): SessionWrite {
  const difference = incoming.events.length - stored.events.length
  if (difference !== 0) return difference > 0 ? incoming.session : stored.session
  const saysNothing = incoming.session.coverage.some((note) => note.code === 'no_run_data')
  return saysNothing ? stored.session : incoming.session
}

/** Whether the run was over is the winner's word; what is known of its nodes is the richer post's. */
function mergedCoverage(winner: SessionWrite, richer: SessionWrite) {
  const aboutEnd = (code: string) => code === 'not_final'
  return [
    ...winner.coverage.filter((note) => aboutEnd(note.code)),
    ...richer.coverage.filter((note) => !aboutEnd(note.code)),
  ]
}
