// Who a session and an event are: keys that every server computes alike without asking the database.
import { createHash, randomFillSync } from 'node:crypto'
import type { Platform } from './session.ts'

/**
 * A session's id: the first 16 bytes of SHA-256 over its length-prefixed parts. `workflowId` is part of it because
 * execution ids are small counters that restart on every instance of platform B.
 */
export function sessionId(
  projectId: number,
  platform: Platform,
  workflowId: string | null,
  externalId: string,
): string {
  return uuidOf(String(projectId), platform, workflowId ?? '', externalId)
}

/** The key of an event that can come again under the same name: a node's run, or the sender's own event id. */
export function namedEventKey(kind: 'node' | 'event', name: string, index = 0): string {
  // As JSON, halves of pairs stay different; as UTF-8 they would all become one character.
  return uuidOf(kind, JSON.stringify(name), String(index))
}

const pool = Buffer.alloc(16 * 256)
let used = pool.length

/** The key of an event without a name of its own; made before the first try to write it. */
export function randomEventKey(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return formatUuid(pool.toString('hex', used, (used += 16)))
}

function uuidOf(...parts: string[]): string {
  let text = ''
  for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`
  return formatUuid(createHash('sha256').update(text).digest('hex'))
}

function formatUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

let lastArrivalUs = 0

/** Microseconds since 1970, never the same twice in one process: the order in which requests arrived. */
export function nextArrivalUs(nowMs = Date.now()): number {
  lastArrivalUs = Math.max(lastArrivalUs + 1, nowMs * 1000)
  return lastArrivalUs
}
