// The one shape inside: what both parsers make of a request. Nothing past them sees a raw payload.
import type { EventDraft, SessionIdentity, SessionWrite } from '../sessions/session.ts'

export interface Warning {
  pointer: string
  field: string
  code: string
  detail: string
}

/** USD for a model's tokens as exact decimal text, or null where the price is not known. */
export type Price = (
  model: string,
  promptTokens: number | null,
  completionTokens: number | null,
  atMs: number,
) => string | null

export interface ParseContext {
  projectId: number
  /** epoch milliseconds */
  receivedAt: number
  arrivalUs: number
  price: Price
}

export interface ParsedSession {
  identity: SessionIdentity
  events: EventDraft[]
  /** Platform B: the whole execution as one write; null on platform A, where events are folded. */
  execution: SessionWrite | null
}

export interface ParsedRequest {
  sessions: ParsedSession[]
  /** Events (A) or executions (B) in the request. */
  accepted: number
  warnings: Warning[]
}
