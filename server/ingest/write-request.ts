// What is asked of the write queue, what it answers, and how it refuses.
import { Problem } from '../errors.ts'
import type { KeyWrite, StoredRequest } from '../sessions/request-keys.ts'
import type { WrittenSession } from '../sessions/store.ts'
import type { ParsedSession } from './parsed.ts'

export interface WriteRequest {
  sessions: ParsedSession[]
  /** size of the request, for the bound on what may wait */
  bytes: number
  /** for a request with an Idempotency-Key */
  key: RequestKey | null
}

export interface RequestKey extends Pick<KeyWrite, 'id' | 'fingerprint' | 'receivedAt' | 'sessionIds'> {
  /** the receipt as it is to be kept; asked for when it is known which of its events are repeats */
  receipt(): string
  /** Another body under the same key is refused; else it is a request like any other. */
  refusesReuse: boolean
}

/** What became of a request: its sessions as they stand, in the order given, or the receipt it was given before. */
export interface Written {
  sessions: WrittenSession[]
  before: StoredRequest | null
}

const RETRY = { 'retry-after': '3' }
export const unavailable = (why: string) =>
  new Problem('unavailable', `${why}. No event was recorded; send the request again in a few seconds.`, [], RETRY)
export const outcomeUnknown = () =>
  new Problem(
    'outcome_unknown',
    'The database did not confirm in time that this request was recorded, so it may have been. Send it again with the same Idempotency-Key or event_id to be sure that it counts once.',
    [],
    RETRY,
  )
