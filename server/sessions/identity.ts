// Who a session and an event are: keys that every server computes alike without asking the database.
import { hash, randomFillSync } from 'node:crypto'
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

/**
 * The key of an event that can come again under the same name: a node's run, the sender's own event id, or a place in a
 * request with an Idempotency-Key.
 */
export function namedEventKey(kind: 'node' | 'event' | 'request', name: string, index = 0): string {
  // As JSON, halves of pairs stay different; as UTF-8 they would all become one character.
  return uuidOf(kind, JSON.stringify(name), String(index))
}

const pool = Buffer.alloc(8 * 512)
let used = pool.length
const EQUAL_IN_CONTENT = '0'.repeat(16)

/**
 * The key of an event without a name of its own, made before the first try to write it. Its first half is what the
 * event says, so that equal ones stand side by side; its second is random, or nothing where equal ones are to be one.
 */
export function contentEventKey(content: string, mergesEqual: boolean): string {
  const half = hash('sha256', content, 'hex').slice(0, 16)
  if (mergesEqual) return formatUuid(half + EQUAL_IN_CONTENT)
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return formatUuid(half + pool.toString('hex', used, (used += 8)))
}

/** Whether the key says that equal events are one. */
export const isContentKey = (key: string) => key.endsWith('-0000-000000000000')

/** A request with an Idempotency-Key: the same for all that repeat it, also on other servers. */
export const requestKeyId = (projectId: number, endpoint: string, key: string) =>
  uuidOf('request', String(projectId), endpoint, key)

/** Names the same failure in every session, or with an agent's project and name before it, its pattern. */
export const fingerprintId = (...parts: string[]) => uuidOf('failure', ...parts)

export const fingerprintOf = (bytes: Uint8Array) => formatUuid(hash('sha256', bytes, 'hex'))

function uuidOf(...parts: string[]): string {
  let text = ''
  for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`
  return formatUuid(hash('sha256', text, 'hex'))
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
