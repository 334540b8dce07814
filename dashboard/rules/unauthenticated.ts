// Owns the words for posts that came without a valid key.
import type { BigIntValue } from '../graphql.ts'
import { formatCount } from './format.ts'

export interface UnauthenticatedCount {
  server: string
  reason: string
  count: BigIntValue
  lastAt: string
}

const words: Record<string, string> = {
  missing_api_key: 'without a key',
  invalid_api_key: 'with an unknown key',
  revoked_api_key: 'with a revoked key',
  wrong_scope: 'with a key that may not post',
}

export interface UnauthenticatedLine {
  server: string
  /** "3 posts without a key, 12 with an unknown key" */
  sentence: string
  lastAt: string
}

/** One line for each server, the last post's first. */
export function unauthenticatedLines(counts: readonly UnauthenticatedCount[]): UnauthenticatedLine[] {
  const lines: UnauthenticatedLine[] = []
  for (const server of new Set(counts.map((count) => count.server))) {
    const own = counts.filter((count) => count.server === server)
    const parts = own.map(({ count, reason }, index) => {
      const unit = index > 0 ? '' : String(count) === '1' ? ' post' : ' posts'
      return `${formatCount(count)}${unit} ${words[reason] ?? `refused as ${reason}`}`
    })
    const lastAt = own.reduce((last, { lastAt: at }) => (at > last ? at : last), '')
    lines.push({ server, sentence: parts.join(', '), lastAt })
  }
  return lines.sort((one, other) => (one.lastAt < other.lastAt ? 1 : -1))
}
