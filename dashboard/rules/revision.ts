// Owns the order of revisions, which come as numbers or, beyond 2^53-1, as text.
import type { BigIntValue } from '../graphql.ts'

export function isNewer(revision: BigIntValue, than: BigIntValue): boolean {
  if (typeof revision === 'number' && typeof than === 'number') return revision > than
  return BigInt(revision) > BigInt(than)
}

export const newerOf = (one: BigIntValue, other: BigIntValue): BigIntValue => (isNewer(other, one) ? other : one)
