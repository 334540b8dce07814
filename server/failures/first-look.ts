// A look at an execution while it is still in memory: where the rules find nothing, it is written as classified.
import { hash } from 'node:crypto'
import type { EventDraft, SessionWrite } from '../sessions/session.ts'
import { classify, type Classification } from './classify.ts'
import type { Rule, RunEvent, RunSession } from './failure.ts'
import type { FixedThresholdSettings } from './fixed-thresholds.ts'
import type { History } from './history.ts'
import { DIGEST_FROM_RUN } from './due.ts'
import { thresholdsOf } from './thresholds.ts'

/** of one request; the rules take some microseconds for each */
const MAX_STEPS = 2_000
const MAX_SESSIONS = 20

/**
 * Most runs have no failure, and reading them back only to find that would cost as much as writing them. Whatever it
 * finds, or cannot tell, it leaves to the classifier, which sees what was committed.
 */
export class FirstLook {
  constructor(
    private readonly history: History,
    private readonly fixed: FixedThresholdSettings,
    private readonly rules?: Rule[],
  ) {}

  /** Sets what later runs are compared with where the classifier need not look. It never throws. */
  at(sessions: { execution: SessionWrite | null; events: EventDraft[] }[]): void {
    let steps = 0
    for (const { execution, events } of sessions) {
      // A large request is answered first.
      steps += events.length
      if (steps > MAX_STEPS || sessions.length > MAX_SESSIONS) return
      if (execution) execution.measures = this.measuresOf(execution, events)
    }
  }

  private measuresOf(execution: SessionWrite, events: EventDraft[]): SessionWrite['measures'] {
    if (execution.status !== 'COMPLETED' || execution.errorCount > 0 || events.length === 0) return null
    const session = runSessionOf(execution)
    const past = this.history.known(session)
    if (!past) return null
    const thresholds = thresholdsOf(past, this.fixed.settingsFor(session.projectId, session.agent))
    const found = classify({ session, events: runEventsOf(events), thresholds }, this.rules)
    if (found.failures.length > 0 || found.notRun.length > 0 || found.loopRounds === null) return null
    return { activeMs: found.activeMs, loopRounds: found.loopRounds, equalRounds: found.equalRounds ?? 0 }
  }

  /** It is committed as it was looked at: the agent's next run is compared with it. */
  committed(execution: SessionWrite | null): void {
    if (!execution?.measures) return
    const { measures } = execution
    const nothing: Classification = { failures: [], notRun: [], ...measures }
    this.history.note(runSessionOf(execution), nothing)
  }
}

function runSessionOf(session: SessionWrite): RunSession {
  const { promptTokens: prompt, completionTokens: completion } = session
  return {
    id: session.id,
    projectId: session.projectId,
    platform: session.platform,
    agent: session.agent,
    status: session.status,
    reportedStatus: session.reportedStatus,
    mode: session.mode,
    errorMessage: session.errorMessage,
    startedAt: session.startedAt,
    firstSeenAt: session.firstSeenAt,
    durationMs: session.durationMs,
    llmCalls: session.llmCalls,
    unpricedCalls: session.unpricedCalls,
    tokensEstimated: session.tokensEstimated,
    tokens: prompt === null && completion === null ? null : Number(prompt ?? 0) + Number(completion ?? 0),
    costUsd: session.costUsd === null ? null : Number(session.costUsd),
    coverage: session.coverage.map(({ code }) => code),
  }
}

/** As the store reads them: in timeline order, with digests where a node ran so often that it may be a loop. */
export function runEventsOf(drafts: EventDraft[]): RunEvent[] {
  const mayLoop = drafts.some(({ runIndex }) => (runIndex ?? 0) >= DIGEST_FROM_RUN)
  const sorted = drafts.toSorted(
    (a, b) => a.orderUs - b.orderUs || a.sequence - b.sequence || a.place - b.place || (a.key < b.key ? -1 : 1),
  )
  return sorted.map((draft) => {
    const attributes = draft.attributes ?? {}
    const digest = (text: string | null) =>
      mayLoop && text !== null && !attributes.redacted ? hash('md5', text, 'hex') : null
    return {
      key: draft.key,
      type: draft.type,
      kind: draft.kind,
      name: draft.name,
      model: draft.model,
      runIndex: draft.runIndex,
      parentKey: draft.parentKey,
      status: draft.status,
      error: draft.error,
      durationMs: draft.durationMs,
      occurredAt: draft.occurredAt,
      nodeType: (attributes.nodeType as string | undefined) ?? null,
      source: (attributes.source as RunEvent['source'] | undefined) ?? [],
      firstItem: (attributes.pairedItem as number | undefined) ?? null,
      isNextBatch: 'nextBatch' in attributes,
      wasResumed: 'nodeWasResumed' in attributes,
      itemCount: (attributes.items as number | undefined) ?? null,
      inputDigest: digest(draft.input),
      outputDigest: digest(draft.output),
    }
  })
}
