// A refused request taken once more by a person, as it was kept or corrected. Twice the same counts once.
import { Problem } from '../errors.ts'
import type { Sql } from '../database/connect.ts'
import { fingerprintOf } from '../sessions/identity.ts'
import { readIdempotencyKey } from './idempotency.ts'
import { ENDPOINTS, type Intake } from './intake.ts'
import type { IngestLog } from './log.ts'
import { readRefusedBody, type LoggedRequest } from './log-read.ts'
import type { Receipt } from './receipt.ts'

export type Answer = { receipt: Receipt; problem: null } | { receipt: null; problem: Problem }

export class SendAgain {
  constructor(private readonly services: { sql: Sql; intake: Intake; log: IngestLog }) {}

  /**
   * @param body the corrected body; null takes the one that was kept
   * @returns what the platform would have been answered, or null where there is no body to send
   */
  async send(refused: LoggedRequest, body: string | null, baseUrl: string): Promise<Answer | null> {
    const { sql, intake, log } = this.services
    const kept = await readRefusedBody(sql, refused.id)
    const text = body ?? (kept?.isBodyCut ? null : kept?.body) ?? null
    if (text === null) return null
    const endpoint = ENDPOINTS.find(({ platform }) => platform === refused.platform)!
    const bytes = Buffer.from(text)
    const since = performance.now()
    const logged = () => ({
      id: crypto.randomUUID(),
      at: Date.now(),
      projectId: refused.projectId,
      keyId: null,
      platform: refused.platform,
      bytes: bytes.length,
      durationMs: performance.now() - since,
    })
    try {
      if (bytes.length > endpoint.maxBytes) throw new Problem('body_too_large', 'The body is too large.')
      const own = body === null ? keyOrNull(kept!.idempotencyKey) : null
      const { receipt, sessionId, sessionCount } = await intake.take(endpoint, {
        projectId: refused.projectId,
        bytes,
        // A platform that repeats what is refused leaves several entries of one body.
        idempotencyKey: own ?? `sent again: ${fingerprintOf(bytes)}`,
        baseUrl,
      })
      log.accept({ ...logged(), events: receipt.accepted, duplicate: receipt.duplicate, sessionId, sessionCount })
      await sql`update ingest_refused set sent_again_at = now() where id = ${refused.id}`
      return { receipt, problem: null }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { status, code, detail, fields: problems } = error
      log.refuse({ ...logged(), status, code, detail, problems, idempotencyKey: null, body: bytes })
      return { receipt: null, problem: error }
    }
  }
}

/** The header itself may be what was wrong. */
function keyOrNull(header: string | null): string | null {
  try {
    return readIdempotencyKey(header === null ? [] : [header])
  } catch {
    return null
  }
}
