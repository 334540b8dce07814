// What is said of an attempt: a receiver's own words without secrets, and why it failed, for people. Pure.
import type { Target } from './channels.ts'
import type { AttemptResult } from './send.ts'

/** An address that is not posted to. */
export class RefusedAddress extends Error {}

export const clean = (text: string) => text.replaceAll('\0', '\uFFFD').trim().toWellFormed()

export function redirectProblem(status: number, location: string, from: URL): string {
  const to = URL.canParse(location, from) ? new URL(location, from).host : 'another address'
  return `It answered ${status}, a redirect to ${to}: redirects are not followed. Set the address that it leads to.`
}

/** Of a mail server's refusal: what it said, and whether it is for good (RFC 5321: 5yz). A password can be put right. */
export function refusalOf(error: unknown): Partial<AttemptResult> {
  const { responseCode, response, code } = error as { responseCode?: number; response?: string; code?: string }
  if (responseCode === undefined) return { isFinal: isRefusedAddress(error) }
  const answer = response === undefined ? null : clean(response)
  return { status: responseCode, answer, isFinal: responseCode >= 500 && code !== 'EAUTH' }
}

const isRefusedAddress = (error: unknown) =>
  error instanceof RefusedAddress || /is not allowed\. Because/.test((error as Error).message)

const SILENT = 'It did not answer within 10 s.'
const CLOSED = 'It closed the connection without an answer.'
const PROBLEMS: Record<string, string> = {
  ECONNREFUSED: 'Nothing listens at its address.',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ENOTFOUND: 'The name of its host is not known.',
  EDNS: 'The name of its host is not known.',
  EAI_AGAIN: 'The name of its host could not be looked up.',
  EHOSTUNREACH: 'Its address cannot be reached.',
  ENETUNREACH: 'Its address cannot be reached.',
  ETIMEDOUT: SILENT,
  EAUTH: 'The mail server refused the user or password of SMTP_URL.',
  ETLS: 'No secure connection to the mail server could be made.',
  ECONNECTION: CLOSED,
  ESOCKET: 'The connection to the mail server failed.',
}

export function problemOf(error: unknown, isLate: boolean): string {
  const { code = '', responseCode, message } = error as { code?: string; responseCode?: number; message?: string }
  if (isLate) return SILENT
  if (isRefusedAddress(error)) {
    return 'Its address is private or reserved, and such are not posted to. The operator can allow its host with ALLOWED_PRIVATE_HOSTS.'
  }
  if (/certificate/i.test(message ?? '')) return clean(`Its certificate is not trusted: ${message}`)
  // Of nodemailer's own words the cause is only in the text.
  const cause = /\bE[A-Z_]{4,}\b/.exec(message ?? '')?.[0] ?? ''
  const known = PROBLEMS[code === 'ESOCKET' ? (PROBLEMS[cause] ? cause : code) : code]
  if (known) return known
  if (responseCode !== undefined) return `The mail server answered ${responseCode}.`
  return clean(message ?? '') || 'The attempt failed.'
}

/** Receivers like to repeat where and how they were asked: whoever reads their answer need not learn it. */
export function hidden(text: string, target: Target): string {
  if (target.kind === 'EMAIL') return text
  const url = new URL(target.url)
  const { pathname, search, username, password } = url
  const rawValues = search.slice(1).split(/[&=]/)
  const parts = [...pathname.split('/'), ...rawValues, ...url.searchParams.values(), ...url.searchParams.keys()]
  const secrets = [
    target.url,
    url.href,
    pathname + search,
    pathname,
    search,
    ...parts.filter((part) => part.length >= 4),
    username,
    password,
    username || password ? btoa(`${decoded(username)}:${decoded(password)}`) : '',
    ...(target.kind === 'WEBHOOK' ? [target.secret, target.secret.slice('whsec_'.length)] : []),
  ]
  return secrets
    .filter((secret) => secret.length >= 2)
    .sort((a, b) => b.length - a.length)
    .reduce((clear, secret) => clear.replaceAll(secret, '…').replaceAll(decoded(secret), '…'), text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
