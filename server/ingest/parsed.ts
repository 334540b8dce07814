// The one shape inside: what both parsers make of a request. Nothing past them sees a raw payload.
import type { EventDraft, SessionIdentity, SessionWrite } from '../sessions/session.ts'
import type { Mask } from './mask.ts'

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
  /** names the request where it came with an Idempotency-Key */
  requestKey: string | null
  /** what the project wants masked in texts */
  mask: Mask
  /** the project takes equal events with an equal time of their own as one */
  mergesEqualEvents: boolean
}

export interface ParsedSession {
  identity: SessionIdentity
  events: EventDraft[]
  /** Platform B: the whole execution as one write; null on platform A, where events are folded. */
  execution: SessionWrite | null
  /** Set by the write. */
  repeats: Repeats | null
  /** An earlier try to write it ended in a lost connection. */
  isTriedBefore?: boolean
}

/** What of a session had been recorded before it came with this request. */
export interface Repeats {
  /** Platform A: these were left out. */
  events: EventDraft[]
  /** Platform B: the execution was merged with what was there; `isNews` where that changed its outcome or its steps. */
  execution: { isNews: boolean } | null
}

export interface ParsedRequest {
  sessions: ParsedSession[]
  /** The body was a list: pointers begin with the place in it. */
  isList: boolean
  /** Events (A) or executions (B) in the request. */
  accepted: number
  warnings: Warning[]
}
