// The answer to an accepted request: what was recorded and what was changed on the way.
import type { WrittenSession } from '../sessions/store.ts'
import type { ParsedRequest, Warning } from './parsed.ts'

const MAX_LISTED = 100

export interface Receipt {
  /** events (A) or executions (B) in the request; all of them are committed */
  accepted: number
  duplicate: boolean
  sessions: { session_id: string; status: string; url: string }[]
  warnings: Warning[]
}

export function receiptOf(parsed: ParsedRequest, written: WrittenSession[], baseUrl: string): Receipt {
  return {
    accepted: parsed.accepted,
    duplicate: false,
    sessions: parsed.sessions.slice(0, MAX_LISTED).map(({ identity }, i) => ({
      session_id: identity.externalId,
      status: written[i]!.status.toLowerCase(),
      url: `${baseUrl}/sessions/${identity.id}`,
    })),
    warnings: parsed.warnings.slice(0, MAX_LISTED),
  }
}
