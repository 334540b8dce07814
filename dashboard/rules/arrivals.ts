// Owns what is said of a platform's newest posts: waiting, received, refused.
import type { ArrivedSession } from '../queries-connect.ts'
import { formatAgo, plural } from './format.ts'

export interface AcceptedPost {
  at: string
  /** Events or executions in it. */
  events: number | null
  /** Null where it is not stored any more. */
  session: ArrivedSession | null
}

export interface RefusedPost {
  id: string
  at: string
  status: number
  code: string | null
  detail: string | null
  sentAgainAt: string | null
}

export interface Received {
  at: string
  session: ArrivedSession | null
  events: number | null
}

/** Null where nothing ever came, or nothing of it is left. */
export function newestReceived(accepted: AcceptedPost | null, newest: ArrivedSession | null): Received | null {
  if (accepted?.session) return accepted
  if (newest && !(accepted && accepted.at > newest.lastEventAt && accepted.events !== 0))
    return { at: newest.lastEventAt, session: newest, events: null }
  return accepted && accepted.events !== 0 ? accepted : null
}

const refusedLatelyMs = 15 * 60_000

/** An old refusal before a post that went well is not worth a line, nor is one that was put right. */
export const isTold = (refused: RefusedPost | null, received: Received | null, nowMs: number): boolean =>
  refused !== null &&
  refused.sentAgainAt === null &&
  (received === null || refused.at > received.at || nowMs - Date.parse(refused.at) < refusedLatelyMs)

/** "4 s ago", "just now": within a sentence. */
export function agoWords(at: string, nowMs: number): string {
  const ago = formatAgo(at, nowMs)
  return ago === 'now' ? 'just now' : ago.endsWith('ago') ? ago : `on ${ago}`
}

const typeNames: Record<string, string> = {
  LLM_CALL: 'llm.call',
  TOOL_CALL: 'tool.call',
  RETRIEVAL: 'retrieval',
  SPAN: 'span',
  SESSION_END: 'session.end',
}

/** "run-abc, llm.call, Support triage"; of several events or steps how many there are. */
export function arrivedWords({ platform, externalId, agent, eventCount, events }: ArrivedSession): string {
  const type = events.nodes[0]?.type
  const ofA = eventCount === 1 && type ? (typeNames[type] ?? type) : plural(eventCount, 'event')
  const ofB = eventCount === 0 ? 'without its steps' : plural(eventCount, 'step')
  return [externalId, platform === 'PLATFORM_A' ? ofA : ofB, agent].filter((part) => part !== null).join(', ')
}
