// Owns rows and events for the dashboard's tests: complete, with what a test is about given by it.
import type { EventRow } from '../../dashboard/queries-session.ts'
import type { SessionRow } from '../../dashboard/queries.ts'
import type { ListRow } from '../../dashboard/rules/list-merge.ts'

export const sessionRow = (id: string, over: Partial<SessionRow> = {}): SessionRow => ({
  id,
  platform: 'PLATFORM_A',
  externalId: `run-${id}`,
  agent: 'Support triage',
  status: 'RUNNING',
  errorMessage: null,
  firstSeenAt: '2026-11-20T10:00:00.000Z',
  startedAt: null,
  closedAt: null,
  durationMs: null,
  errorCount: 0,
  totalTokens: null,
  tokensEstimated: false,
  costUsd: null,
  unpricedCalls: 0,
  quietAt: null,
  failureCategories: [],
  severity: null,
  revision: 1,
  ...over,
})

export const listRow = (
  id: string,
  over: Partial<SessionRow> = {},
  cursor: string | null = `after-${id}`,
): ListRow => ({
  session: sessionRow(id, over),
  cursor,
  matches: true,
  isGone: false,
})

/** 10:00:00 and as many seconds. */
export const second = (seconds: number) => new Date(Date.UTC(2026, 10, 20, 10, 0, seconds)).toISOString()

export const eventRow = (id: string, over: Partial<EventRow> = {}): EventRow => ({
  id,
  type: 'TOOL_CALL',
  kind: null,
  name: id,
  runIndex: null,
  parentId: null,
  model: null,
  promptTokens: null,
  completionTokens: null,
  costUsd: null,
  durationMs: null,
  error: null,
  occurredAt: '2026-11-20T10:00:00.000Z',
  receivedAt: '2026-11-20T10:00:05.000Z',
  late: false,
  skewed: false,
  possibleDuplicate: false,
  inputBytes: null,
  outputBytes: null,
  orderKey: id,
  revision: 1,
  ...over,
})
