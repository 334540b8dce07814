// Who asks: an API key or a signed-in person, from a request's headers or a socket's parameters.
import type { IncomingHttpHeaders } from 'node:http'
import { parse } from 'cookie'
import { Problem } from '../errors.ts'
import type { ApiKey, KeyRing } from './keys.ts'
import type { AccessLinks } from './links.ts'
import type { People, Person } from './people.ts'
import type { Roster } from './roster.ts'

export type Actor =
  | { kind: 'KEY'; key: ApiKey }
  /** with the token of the browser that asks */
  | { kind: 'PERSON'; person: Person; token: string }

export interface Access {
  keys: KeyRing
  people: People
  roster: Roster
  links: AccessLinks
  /** Call when rights may have ended or changed: somebody signed out, a key was revoked, a role is another. */
  rightsChanged(): void
  onRightsChanged(listener: () => void): void
}

/** Behind https the name itself binds the cookie to this host and to https. */
export const cookieName = (isSecure: boolean) => (isSecure ? '__Host-runwatch' : 'runwatch')

export function signInToken(headers: IncomingHttpHeaders): string | null {
  const cookies = parse(headers.cookie ?? '')
  return cookies[cookieName(true)] ?? cookies[cookieName(false)] ?? null
}

/**
 * @param parameters what a socket sent with connection_init; headers of the same names count
 * @throws Problem where a key came and is not valid; null where nothing came
 */
export async function actorOf(
  access: Access,
  headers: IncomingHttpHeaders,
  parameters: Record<string, unknown> = {},
): Promise<Actor | null> {
  const secret = keyFrom(headers) ?? keyFrom(lowerCased(parameters))
  if (secret !== null) return { kind: 'KEY', key: await access.keys.authenticate(secret, 'READ') }
  const token = signInToken(headers)
  if (token === null) return null
  const person = await access.people.find(token)
  return person && { kind: 'PERSON', person, token }
}

/** What was opened with another role ends, so that it is opened again with the rights of now. */
export const isSameRole = (before: Actor | undefined, now: Actor) =>
  before?.kind !== 'PERSON' || now.kind !== 'PERSON' || before.person.role === now.person.role

/** The key in X-API-Key, or in Authorization as a bearer. */
export function keyFrom(headers: Record<string, unknown>): string | null {
  const apiKey = headers['x-api-key'] ?? headers.apikey
  if (typeof apiKey === 'string') return apiKey
  const bearer = typeof headers.authorization === 'string' ? /^Bearer\s+(.+)$/i.exec(headers.authorization) : null
  return bearer?.[1]?.trim() ?? null
}

const lowerCased = (parameters: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]))

/**
 * A page of another site must not act with this browser's cookie: its requests and sockets carry its own Origin.
 * @throws Problem forbidden
 */
export function checkOrigin(headers: IncomingHttpHeaders, publicUrl: string | null): void {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isForeignSite = site === 'cross-site' || site === 'same-site'
  if (origin === undefined && !isForeignSite) return
  const host = origin && URL.canParse(origin) ? new URL(origin).host : null
  if (host !== null && (host === headers.host || (publicUrl !== null && host === new URL(publicUrl).host))) return
  throw new Problem('forbidden', 'Requests from pages of another site are not accepted.')
}
