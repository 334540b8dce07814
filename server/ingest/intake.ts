// The way of a request that has arrived whole: parse, wait for a flush, and a receipt when it is committed.
import { OneAtATime } from './idempotency.ts'
import { maskLinks, maskSecrets } from './mask.ts'
import { parseJson } from './body.ts'
import type { ParseContext, ParsedRequest } from './parsed.ts'
import { parsePlatformA } from './platform-a.ts'
import { parsePlatformB } from './platform-b.ts'
import { draftReceipt, finishReceipt, listedSessions, type Receipt, type ReceiptDraft } from './receipt.ts'
import type { RequestKey } from './write-request.ts'
import type { WriteQueue } from './write-queue.ts'
import type { FirstLook } from '../failures/first-look.ts'
import type { Projects } from '../access/projects.ts'
import { fingerprintOf, nextArrivalUs, requestKeyId } from '../sessions/identity.ts'
import type { OwnPrices } from '../sessions/own-prices.ts'
import type { Platform } from '../sessions/session.ts'

const MIB = 1024 * 1024

export interface Endpoint {
  platform: Platform
  path: string
  /** of a body after inflation */
  maxBytes: number
  parse(body: unknown, context: ParseContext): ParsedRequest
  /** Another body under a known Idempotency-Key is a mistake; on platform B it is the same execution, later. */
  refusesReusedKey: boolean
}

export const ENDPOINTS: Endpoint[] = [
  {
    platform: 'PLATFORM_A',
    path: '/api/ingest/platform-a',
    maxBytes: 5 * MIB,
    parse: parsePlatformA,
    refusesReusedKey: true,
  },
  {
    platform: 'PLATFORM_B',
    path: '/api/ingest/platform-b',
    maxBytes: 16 * MIB,
    parse: parsePlatformB,
    refusesReusedKey: false,
  },
]

/** A request whose body has been read. */
export interface Arrival {
  projectId: number
  bytes: Buffer
  idempotencyKey: string | null
  /** where people reach this server, for links */
  baseUrl: string
}

/** What became of a request. */
export interface Taken {
  receipt: Receipt
  /** It is a receipt that was given before. */
  isReplayed: boolean
  /** the first of its sessions, and how many there are */
  sessionId: string | null
  sessionCount: number
}

export class Intake {
  private readonly oneAtATime = new OneAtATime()

  constructor(
    private readonly services: { queue: WriteQueue; prices: OwnPrices; projects: Projects; firstLook: FirstLook },
  ) {}

  /** @throws Problem, and then nothing of the request is recorded (but see outcome_unknown) */
  take(endpoint: Endpoint, arrival: Arrival): Promise<Taken> {
    const { idempotencyKey, projectId, bytes } = arrival
    if (idempotencyKey === null) return this.record(endpoint, arrival, null)
    const id = requestKeyId(projectId, endpoint.platform, idempotencyKey)
    return this.oneAtATime.run(id, () => this.record(endpoint, arrival, { id, fingerprint: fingerprintOf(bytes) }))
  }

  private async record(
    endpoint: Endpoint,
    { bytes, projectId, baseUrl }: Arrival,
    named: { id: string; fingerprint: string } | null,
  ): Promise<Taken> {
    const { queue, prices, projects, firstLook } = this.services
    const { masksCredentials, mergesEqualEvents } = projects.settingsOf(projectId)
    const receivedAt = Date.now()
    const parsed = endpoint.parse(parseJson(bytes), {
      projectId,
      receivedAt,
      arrivalUs: nextArrivalUs(receivedAt),
      price: prices.priceFor(projectId),
      // With the body in it: a key that has been forgotten may serve again for other events.
      requestKey: named && `${named.id}/${named.fingerprint}`,
      mask: masksCredentials ? maskSecrets : maskLinks,
      mergesEqualEvents,
    })
    firstLook.at(parsed.sessions)
    const key: RequestKey | null = named && {
      ...named,
      receivedAt,
      sessionIds: listedSessions(parsed).map(({ identity }) => identity.id),
      receipt: () => JSON.stringify(draftReceipt(parsed, baseUrl)),
      refusesReuse: endpoint.refusesReusedKey,
    }
    const { sessions, before } = await queue.write({ sessions: parsed.sessions, bytes: bytes.length, key })
    sessions.forEach(({ isDue }, i) => {
      if (!isDue) firstLook.committed(parsed.sessions[i]!.execution)
    })
    const receipt = before
      ? finishReceipt(before.receipt as ReceiptDraft, before.statuses)
      : finishReceipt(
          draftReceipt(parsed, baseUrl),
          sessions.map(({ status }) => status),
        )
    // A first try that was committed unseen is this very request, not a repeat of it.
    const isReplayed = before !== null && !parsed.sessions.some(({ isTriedBefore }) => isTriedBefore)
    if (isReplayed) receipt.duplicate = true
    const sessionId = parsed.sessions[0]?.identity.id ?? null
    return { receipt, isReplayed, sessionId, sessionCount: parsed.sessions.length }
  }
}
