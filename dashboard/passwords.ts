// Owns the requests about one-time links, the own password, and signing out more than this browser.
import { request, type Person } from './auth.ts'

export const leastPasswordLength = 12

export interface OpenedLink {
  kind: 'INVITATION' | 'NEW_PASSWORD'
  email: string
  role: Person['role']
  expiresAt: string
}

/** What a link is for; it stays unused. */
export const openLink = (token: string) => request<OpenedLink>('POST', '/api/auth/link', { token })
export const joinWithLink = (token: string, password: string) =>
  request<{ person: Person }>('POST', '/api/auth/use-link', { token, password })
export const changePassword = (oldPassword: string, newPassword: string) =>
  request<{ signedOutBrowsers: number }>('POST', '/api/auth/password', { oldPassword, newPassword })
export const signOutElsewhere = () => request<{ signedOutBrowsers: number }>('POST', '/api/auth/sign-out-elsewhere', {})
export const signOutEverywhere = () => request<void>('POST', '/api/auth/sign-out-everywhere', {})
