// Owns the words about people: what a role may do, when somebody was seen, how long a link can be used.
import { formatAgo, formatRunning, plural } from './format.ts'

type Role = 'ADMIN' | 'VIEWER'

export const roleWord: Record<Role, string> = { ADMIN: 'Admin', VIEWER: 'Viewer' }
export const roleMay: Record<Role, string> = {
  ADMIN: 'you see and change everything.',
  VIEWER: 'you see everything but API keys and people, and change nothing.',
}

/** "seen 2 h ago" */
export const seenWord = (lastSeenAt: string | null, nowMs: number) =>
  lastSeenAt === null ? 'never signed in' : `seen ${formatAgo(lastSeenAt, nowMs)}`

export const browsersWord = (browsers: number) =>
  `${browsers === 0 ? 'no browser' : plural(browsers, 'browser')} signed in`

/** "for 6 d 23 h" or "expired 2 h ago" */
export function untilWord(expiresAt: string, nowMs: number): string {
  const leftMs = Date.parse(expiresAt) - nowMs
  return leftMs > 0 ? `for ${formatRunning(leftMs)}` : `expired ${formatAgo(expiresAt, nowMs)}`
}

export const otherBrowsersWord = (count: number) =>
  count === 0
    ? 'No other browser was signed in.'
    : `${plural(count, 'other browser')} ${count === 1 ? 'was' : 'were'} signed out.`

/** What is wrong with an e-mail address; '' where nothing is. */
export const emailProblem = (email: string) =>
  /^[^\s\p{C}]+@[^\s\p{C}]+$/u.test(email) && email.length <= 200 ? '' : 'Enter an e-mail address'
