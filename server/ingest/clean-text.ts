// Text that Postgres cannot hold, made storable: U+0000 and lone surrogates become U+FFFD, all else stays as it came.

const MAYBE_BAD = /[\0\ud800-\udfff]/

export function cleanText(text: string): string {
  return MAYBE_BAD.test(text) ? text.toWellFormed().replaceAll('\0', '\ufffd') : text
}

/** The same for every key and string inside a JSON value. Keys such as __proto__ stay data. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(cleanJson)
  if (typeof value !== 'object' || value === null) return value
  const clean: Record<string, unknown> = Object.create(null)
  for (const [key, inner] of Object.entries(value)) clean[cleanText(key)] = cleanJson(inner)
  return clean
}
