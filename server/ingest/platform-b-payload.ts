// Platform B: what went into and came out of a node as text, without the credentials that travel in it.
import { cleanText } from './clean-text.ts'
import { isSecretName, MASK, type Mask, type Masked } from './mask.ts'
import { isObject } from './platform-b-errors.ts'

/** One item of a node's data. */
export type Item = Record<string, unknown>

/** All items of all outputs of a run's `data` or `inputOverride`. */
export function itemsOf(data: unknown): Item[] {
  if (!isObject(data)) return []
  const items: Item[] = []
  for (const outputs of Object.values(data)) {
    if (!Array.isArray(outputs)) continue
    for (const output of outputs)
      if (Array.isArray(output)) for (const item of output) if (isObject(item)) items.push(item)
  }
  return items
}

/** JSON of the items' `json`: the value itself for one item, a list for several, null for none. */
export function payloadText(items: Item[], mask: Mask): { text: string | null; masked: boolean } {
  const values = items.map((item) => item.json).filter((json) => json !== undefined)
  if (values.length === 0) return { text: null, masked: false }
  let masked = false
  const text = JSON.stringify(values.length === 1 ? values[0] : values, (key, value) => {
    if (isSecretName(key, value)) {
      masked = true
      return MASK
    }
    if (typeof value !== 'string') return value
    // Cleaned before it is quoted: afterwards a bad character is an escape that looks like any text.
    const found = mask(cleanText(value))
    masked ||= found.masked
    return found.text
  })
  return { text: text ?? null, masked }
}

export function maskedText(text: string | null, mask: Mask): Masked | { text: null; masked: false } {
  return text === null ? { text, masked: false } : mask(text)
}
