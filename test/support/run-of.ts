// An execution as the rules see it, without a database: parsed, and its events as server/failures/store.ts reads them.
import { createHash } from 'node:crypto'
import type { Run, RunEvent, RunSession } from '../../server/failures/failure.ts'
import { NO_PAST, NO_SETTINGS, thresholdsOf, type PastRuns, type Settings } from '../../server/failures/thresholds.ts'
import { cleanJson } from '../../server/ingest/clean-text.ts'
import { parsePlatformB } from '../../server/ingest/platform-b.ts'
import type { EventDraft, SessionWrite } from '../../server/sessions/session.ts'
import { parseContext } from './parse-context.ts'

export function runOf(
  execution: object,
  { past = NO_PAST, settings = NO_SETTINGS }: { past?: PastRuns; settings?: Settings } = {},
): Run {
  const [parsed] = parsePlatformB({ execution }, parseContext()).sessions
  return {
    session: runSession(parsed!.execution!),
    events: runEvents(parsed!.events),
    thresholds: thresholdsOf(past, settings),
  }
}

/** The store makes digests only where some node ran a fifth time. */
const DIGEST_FROM_RUN = 4

function runEvents(drafts: EventDraft[]): RunEvent[] {
  const inOrder = drafts.toSorted(
    (a, b) => a.orderUs - b.orderUs || a.sequence - b.sequence || a.place - b.place || (a.key < b.key ? -1 : 1),
  )
  const mayLoop = drafts.some(({ runIndex }) => (runIndex ?? 0) >= DIGEST_FROM_RUN)
  return inOrder.map((draft) => {
    // As jsonb holds it.
    const attributes = JSON.parse(JSON.stringify(cleanJson(draft.attributes ?? {})))
    const digest = (text: string | null) =>
      mayLoop && text !== null && !('redacted' in attributes) ? createHash('md5').update(text).digest('hex') : null
    return {
      key: draft.key,
      type: draft.type,
      kind: draft.kind,
      name: draft.name,
      model: draft.model,
      runIndex: draft.runIndex,
      parentKey: draft.parentKey,
      status: draft.status,
      error: draft.error && { ...draft.error, cause: null },
      durationMs: draft.durationMs,
      occurredAt: draft.occurredAt,
      nodeType: attributes.nodeType ?? null,
      source: attributes.source ?? [],
      firstItem: attributes.pairedItem ?? null,
      isNextBatch: 'nextBatch' in attributes,
      wasResumed: 'nodeWasResumed' in attributes,
      itemCount: attributes.items ?? null,
      inputDigest: digest(draft.input),
      outputDigest: digest(draft.output),
    }
  })
}

function runSession(session: SessionWrite): RunSession {
  const { promptTokens, completionTokens, costUsd } = session
  const { id, projectId, platform, agent, status, reportedStatus, mode, errorMessage, startedAt, firstSeenAt } = session
  const { durationMs, llmCalls, unpricedCalls, tokensEstimated } = session
  return {
    ...{ id, projectId, platform, agent, status, reportedStatus, mode, errorMessage, startedAt, firstSeenAt },
    ...{ durationMs, llmCalls, unpricedCalls, tokensEstimated },
    tokens:
      promptTokens === null && completionTokens === null
        ? null
        : Number(promptTokens ?? 0) + Number(completionTokens ?? 0),
    costUsd: costUsd === null ? null : Number(costUsd),
    coverage: session.coverage.map(({ code }) => code),
  }
}
