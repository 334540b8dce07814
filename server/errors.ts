// The table of everything an HTTP caller can be refused with, and the one shape such a refusal has (RFC 9457).

/** code -> status and title. The README prints this table; a test holds the two together. */
export const ERROR_TABLE = {
  invalid_json: { status: 400, title: 'The body is not readable JSON' },
  missing_api_key: { status: 401, title: 'API key missing' },
  invalid_api_key: { status: 401, title: 'API key not valid' },
  not_signed_in: { status: 401, title: 'Not signed in' },
  revoked_api_key: { status: 403, title: 'API key revoked' },
  wrong_scope: { status: 403, title: 'API key may not do this' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The body took too long' },
  request_in_progress: { status: 409, title: 'Still being recorded' },
  body_too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'Content type not supported' },
  invalid_payload: { status: 422, title: 'A field is not as expected' },
  idempotency_key_reused: { status: 422, title: 'Idempotency-Key used for another body' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Not available right now' },
  outcome_unknown: { status: 503, title: 'Outcome unknown' },
} as const

export type ErrorCode = keyof typeof ERROR_TABLE

/** One thing that is wrong with a payload. `pointer` is a JSON pointer into the body (RFC 6901). */
export interface FieldProblem {
  pointer: string
  field: string
  code: string
  detail: string
}

const MAX_LISTED_PROBLEMS = 50

/** A refusal with a sentence for the person who will read it in their platform's run history. */
export class Problem extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly fields: FieldProblem[] = [],
    readonly headers: Record<string, string> = {},
    readonly fieldCount = fields.length,
  ) {
    super(detail)
    this.name = 'Problem'
  }

  get status(): number {
    return ERROR_TABLE[this.code].status
  }

  /** `message` repeats `detail`: n8n and Zapier show that member to their user. */
  body(requestId: string): Record<string, unknown> {
    const { status, title } = ERROR_TABLE[this.code]
    return {
      detail: this.detail,
      message: this.detail,
      title,
      status,
      type: `urn:runwatch:problem:${this.code}`,
      code: this.code,
      errors: this.fields.slice(0, MAX_LISTED_PROBLEMS),
      errorCount: this.fieldCount,
      requestId,
    }
  }
}

/** What came, cut so that a refusal never repeats a whole payload. */
export function quoted(value: unknown): string {
  // JSON has no word for a number that is too large for one: it would become null.
  const isNoJson = value === undefined || (typeof value === 'number' && !Number.isFinite(value))
  const text = isNoJson ? String(value) : JSON.stringify(value)
  // Half a pair at the cut would be no text: Postgres refuses it, and a reader sees a box.
  return text.length > 80 ? `${text.slice(0, 79).replace(/[\ud800-\udbff]$/, '')}…` : text
}
