// Global ids: what they hold, and reading them back from what a caller gives.
import { decodeGlobalID, encodeGlobalID } from '@pothos/plugin-relay'
import type { EventRef } from '../sessions/read-events.ts'
import { failure } from './builder.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** @param id a global id of a session, or the uuid inside one */
export function sessionUuid(id: string | number): string {
  const uuid = UUID.test(String(id)) ? String(id) : partOf(String(id), 'Session')
  if (!UUID.test(uuid)) throw notAnId(id, 'session')
  return uuid
}

export function keyUuid(id: string | number): string {
  const uuid = UUID.test(String(id)) ? String(id) : partOf(String(id), 'ApiKey')
  if (!UUID.test(uuid)) throw notAnId(id, 'key')
  return uuid
}

export function requestUuid(id: string | number): string {
  const uuid = UUID.test(String(id)) ? String(id) : partOf(String(id), 'IngestRequest')
  if (!UUID.test(uuid)) throw notAnId(id, 'request')
  return uuid
}

export function patternUuid(id: string | number): string {
  const uuid = UUID.test(String(id)) ? String(id) : partOf(String(id), 'FailurePattern')
  if (!UUID.test(uuid)) throw notAnId(id, 'pattern')
  return uuid
}

/** An event's id holds its session, the day that its session was first seen, and its key. */
export const eventIdText = (ref: EventRef) => `${ref.sessionId}/${ref.day}/${ref.eventKey}`

export function eventRef(id: string | number): EventRef {
  const text = String(id).includes('/') ? String(id) : partOf(String(id), 'Event')
  const [sessionId = '', day = '', eventKey = ''] = text.split('/')
  if (!UUID.test(sessionId) || !UUID.test(eventKey) || !isDay(day)) throw notAnId(id, 'event')
  return { sessionId, day, eventKey }
}

export const isUuid = (text: string) => UUID.test(text)

const isDay = (day: string) => /^[12]\d{3}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day))

export const eventGlobalId = (ref: EventRef) => encodeGlobalID('Event', eventIdText(ref))

function partOf(id: string, typename: string): string {
  try {
    const decoded = decodeGlobalID(id)
    return decoded.typename === typename ? decoded.id : ''
  } catch {
    return ''
  }
}

const notAnId = (id: string | number, what: string) =>
  failure('BAD_USER_INPUT', `"${String(id).slice(0, 80)}" is not the id of a ${what}.`)
