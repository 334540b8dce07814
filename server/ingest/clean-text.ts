// Text that Postgres cannot hold, made storable: U+0000 and lone surrogates become U+FFFD, all else stays as it came.

const MAYBE_BAD = /[\0\ud800-\udfff]/

export function cleanText(text: string): string {
  return MAYBE_BAD.test(text) ? text.toWellFormed().replaceAll('\0', '\ufffd') : text
}

/** At most so many UTF-16 units, never half a pair. */
export function cutText(text: string, length: number): string {
  const cut = text.slice(0, length)
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}

/** The same as cleanText for every key and string inside a JSON value. Keys such as __proto__ stay data. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (Array.isArray(value)) return value.map(cleanJson)
  if (typeof value !== 'object' || value === null) return value
  const clean: Record<string, unknown> = Object.create(null)
  for (const [key, inner] of Object.entries(value)) clean[cleanText(key)] = cleanJson(inner)
  return clean
}
