// Global ids: what they hold, and reading them back from what a caller gives.
import { decodeGlobalID, encodeGlobalID } from '@pothos/plugin-relay'
import type { EventRef } from '../sessions/read-events.ts'
import { failure } from './builder.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Reads a global id of this type, or the uuid inside one. */
const uuidReader = (typename: string, what: string) => (id: string | number) => {
  const uuid = UUID.test(String(id)) ? String(id) : partOf(String(id), typename)
  if (!UUID.test(uuid)) throw notAnId(id, what)
  return uuid
}

export const sessionUuid = uuidReader('Session', 'session')
export const keyUuid = uuidReader('ApiKey', 'key')
export const requestUuid = uuidReader('IngestRequest', 'request')
export const patternUuid = uuidReader('FailurePattern', 'pattern')
export const channelUuid = uuidReader('Channel', 'channel')
export const alertRuleUuid = uuidReader('AlertRule', 'alert rule')
export const promptUuid = uuidReader('PromptVersion', 'prompt version')
export const deliveryUuid = uuidReader('Delivery', 'delivery')
export const personUuid = uuidReader('Person', 'person')
export const invitationUuid = uuidReader('Invitation', 'invitation')

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
