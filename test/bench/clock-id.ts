// Session ids that say when they were made, on the monotonic clock that all processes of a machine share.

export const clockId = () => `live-${process.hrtime.bigint().toString(36)}`

const MADE_AT = /"live-([0-9a-z]+)"/

/** Milliseconds since the id in this text was made; null where there is none. */
export function msSince(text: string): number | null {
  const made = MADE_AT.exec(text)?.[1]
  if (made === undefined) return null
  const now = process.hrtime.bigint()
  let madeAt = 0n
  for (const digit of made) madeAt = madeAt * 36n + BigInt(parseInt(digit, 36))
  return Number(now - madeAt) / 1e6
}
