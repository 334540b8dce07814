// The answer to an accepted request: what was recorded, what was changed on the way, and what had been recorded before.
import { isContentKey } from '../sessions/identity.ts'
import type { ParsedRequest, ParsedSession, Warning } from './parsed.ts'

const MAX_LISTED = 100

export interface Receipt {
  /** events (A) or executions (B) in the request; all of them are committed */
  accepted: number
  /** nothing in the request was new: its Idempotency-Key, all its events or all its executions were there before */
  duplicate: boolean
  sessions: { session_id: string; status: string; url: string }[]
  warnings: Warning[]
}

/** A receipt that lacks the status of its sessions: it can be written together with them. */
export type ReceiptDraft = Omit<Receipt, 'sessions'> & { sessions: { session_id: string; url: string }[] }

export function draftReceipt(parsed: ParsedRequest, baseUrl: string): ReceiptDraft {
  const warnings = parsed.warnings.slice(0, MAX_LISTED)
  for (const session of parsed.sessions) {
    if (warnings.length >= MAX_LISTED) break
    if (session.repeats) warnings.push(...repeatWarnings(session, parsed).slice(0, MAX_LISTED - warnings.length))
  }
  return {
    accepted: parsed.accepted,
    duplicate: parsed.sessions.length > 0 && parsed.sessions.every(isRepeat),
    sessions: listedSessions(parsed).map(({ identity }) => ({
      session_id: identity.externalId,
      url: `${baseUrl}/sessions/${identity.id}`,
    })),
    warnings,
  }
}

/** @param statuses of the listed sessions, as the database has them */
export function finishReceipt(draft: ReceiptDraft, statuses: string[]): Receipt {
  return {
    accepted: draft.accepted,
    duplicate: draft.duplicate,
    sessions: draft.sessions.map(({ session_id, url }, i) => ({ session_id, status: statuses[i]!.toLowerCase(), url })),
    warnings: draft.warnings,
  }
}

/** A receipt holds no more than a person would read. */
export const listedSessions = (parsed: ParsedRequest) => parsed.sessions.slice(0, MAX_LISTED)

const isRepeat = ({ repeats, events }: ParsedSession) =>
  repeats !== null && (repeats.execution ? !repeats.execution.isNews : repeats.events.length === events.length)

function repeatWarnings({ repeats, identity }: ParsedSession, { isList, accepted }: ParsedRequest): Warning[] {
  if (repeats!.execution) {
    const detail = `Execution ${JSON.stringify(identity.externalId)} was recorded before; this post was merged with it.`
    return [{ pointer: isList ? '' : '/execution', field: 'execution.id', code: 'already_recorded', detail }]
  }
  return repeats!.events.slice(0, MAX_LISTED).map(({ key, place }) => {
    const label = accepted > 1 ? `Event ${place + 1} of ${accepted}` : 'The event'
    const pointer = isList ? `/${place}` : ''
    return isContentKey(key)
      ? {
          pointer,
          field: 'timestamp',
          code: 'merged_equal',
          detail: `${label} is equal to one recorded before, with the same timestamp, and was merged with it: this project is set so.`,
        }
      : {
          pointer: `${pointer}/event_id`,
          field: 'event_id',
          code: 'already_recorded',
          detail: `${label}: its event_id was recorded before, so it is not counted again.`,
        }
  })
}
