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

/**
 * Posts of one execution in the order in which they came. Events are gathered and totals summed once for all of them:
 * once for each post, ten thousand posts would take half a minute.
 * @returns the merged session with totals over all its events, those of the later posts that are to be written, and for
 * each later post whether it changed the outcome or added steps
 */
export function mergeExecution(
  first: Execution,
  ...later: Execution[]
): Execution & { changed: EventDraft[]; news: boolean[] } {
  const events = new Map(first.events.map((event) => [event.key, event]))
  const changed = new Map<string, EventDraft>()
  const news: boolean[] = []
  let { session } = first
  for (const post of later) {
    const wins = outranks(post.session, session)
    const before = { session, steps: events.size }
    session = mergeSession(before, { session: post.session, steps: post.events.length }, wins)
    for (const event of post.events) {
      const known = events.get(event.key)
      const isBetter = !known || nodeRank(event) > nodeRank(known) || (wins && nodeRank(event) === nodeRank(known))
      if (!isBetter) continue
      events.set(event.key, event)
      changed.set(event.key, event)
    }
    const { status, reportedStatus } = before.session
    news.push(status !== session.status || reportedStatus !== session.reportedStatus || before.steps !== events.size)
  }
  const all = [...events.values()]
  return { session: { ...session, ...totalsOf(all) }, events: all, changed: [...changed.values()], news }
}

interface Post {
  session: SessionWrite
  /** how many steps are known with it */
  steps: number
}

/** Everything of the session but its totals. */
function mergeSession(stored: Post, incoming: Post, wins: boolean): SessionWrite {
  const [winner, loser] = wins ? [incoming.session, stored.session] : [stored.session, incoming.session]
  const startedAt = winner.startedAt ?? loser.startedAt
  const stoppedAt = winner.stoppedAt ?? loser.stoppedAt
  const isReported = startedAt !== null && stoppedAt !== null && stoppedAt >= startedAt
  const richer = richerOf(stored, incoming)
  const hasNames = stored.session.agent !== null && stored.session.agent !== stored.session.workflowId
  return {
    ...stored.session,
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
    measures: null,
  }
}

/** Of two posts without steps, the one that says more than that none came. */
function richerOf(stored: Post, incoming: Post): SessionWrite {
  const difference = incoming.steps - stored.steps
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
