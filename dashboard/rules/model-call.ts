// Owns what is said of a model call beside its texts: how fast it wrote, and what price its cost comes from.
import type { EventWhole } from '../queries-session.ts'
import { formatTime } from './format.ts'
import { formatPrice } from './model-price.ts'

/** Null where either is unknown or nothing was written. */
export function tokensPerSecond({ completionTokens, durationMs }: EventWhole): number | null {
  const tokens = Number(completionTokens ?? 0)
  return tokens > 0 && durationMs !== null && durationMs > 0 ? tokens / (durationMs / 1000) : null
}

export const speedWords = (perSecond: number) =>
  `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en-US')} tokens per second`

/** Where the cost comes from. Null where nothing is known of that. */
export function costWords({ costSource, price }: EventWhole): string | null {
  if (costSource === 'REPORTED') return 'reported by the platform'
  if (costSource === null) return null
  if (!price) return 'computed with a price that has changed since, or that has tiers'
  const whose = price.isOwn
    ? `your own price, set ${formatTime(price.at)}`
    : `price table${price.provider ? `, ${price.provider}` : ''}, as of ${formatTime(price.at)}`
  return `${formatPrice(price)} (${whose})`
}

/** Sent beside the known fields, else whom the price table names. */
export function providerOf({ attributes, price }: EventWhole): string | null {
  const sent = (attributes as Record<string, unknown> | null)?.provider
  return typeof sent === 'string' && sent !== '' ? sent.slice(0, 80) : (price?.provider ?? null)
}
