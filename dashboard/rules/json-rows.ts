// Owns the flat rows of a JSON tree: which values are in sight given what is folded, and finding in it.
// The root itself is no row.
export interface JsonRow {
  /** Its way from the root as a JSON pointer (RFC 6901): no two rows share one. */
  path: string
  /** The same way as it is written in expressions: items[0].name */
  expression: string
  depth: number
  key: string | null
  /** The value as text, or for an object or array what it holds. */
  text: string
  kind: 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array'
  open: boolean | null
  value: unknown
}

/** A number of more digits than JavaScript holds: shown as it came. */
export class LongNumber {
  constructor(readonly digits: string) {}
  toJSON() {
    return this.digits
  }
}

/** Undefined where the text is no JSON. Browsers that cannot tell the digits of a number round it. */
export function parseJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d{16,}$/.test(context?.source ?? '')
      ? new LongNumber(context!.source!)
      : value
  try {
    return JSON.parse(text, keepDigits)
  } catch {
    return undefined
  }
}

const isBranch = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof LongNumber)

const entriesOf = (each: object): [string, unknown][] =>
  Array.isArray(each) ? each.map((item, index) => [String(index), item]) : Object.entries(each)

const pathOf = (parent: string, name: string) => `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

function expressionOf(parent: string, isItem: boolean, name: string): string {
  if (isItem) return `${parent}[${name}]`
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${parent}[${JSON.stringify(name)}]`
  return parent === '' ? name : `${parent}.${name}`
}

export function jsonRows(value: unknown, isOpen: (path: string, depth: number) => boolean, most = Infinity): JsonRow[] {
  const rows: JsonRow[] = []
  const add = (each: unknown, key: string | null, path: string, expression: string, depth: number) => {
    if (rows.length >= most) return
    const row = { path, expression, depth, key, value: each }
    if (!isBranch(each)) {
      rows.push({ ...row, text: scalarText(each), kind: scalarKind(each), open: null })
      return
    }
    const entries = entriesOf(each)
    const isArray = Array.isArray(each)
    const open = entries.length > 0 ? isOpen(path, depth) : null
    const text = isArray ? `[${entries.length}]` : `{${entries.length}}`
    rows.push({ ...row, text, kind: isArray ? 'array' : 'object', open })
    if (open) addAll(each, entries, path, expression, depth + 1)
  }
  const addAll = (each: object, entries: [string, unknown][], path: string, expression: string, depth: number) => {
    for (const [name, item] of entries)
      add(item, name, pathOf(path, name), expressionOf(expression, Array.isArray(each), name), depth)
  }
  if (isBranch(value)) addAll(value, entriesOf(value), '', '', 0)
  else add(value, null, '', '', 0)
  return rows
}

/** Paths of the values whose key or text holds the words, in the order of the rows. */
export function findInJson(value: unknown, words: string, most = 10_000): string[] {
  const wanted = words.toLowerCase()
  const found: string[] = []
  if (wanted === '') return found
  const holds = (text: string) => text.toLowerCase().includes(wanted)
  const look = (each: unknown, key: string | null, path: string) => {
    if (found.length >= most) return
    const isFound = (key !== null && holds(key)) || (!isBranch(each) && holds(scalarText(each)))
    if (isFound && (path !== '' || !isBranch(each))) found.push(path)
    // The place of an item is no word of anybody.
    if (Array.isArray(each)) each.forEach((item, index) => look(item, null, pathOf(path, String(index))))
    else if (isBranch(each)) for (const [name, item] of Object.entries(each)) look(item, name, pathOf(path, name))
  }
  look(value, null, '')
  return found
}

/** What must be open for a row to be in sight. */
export function pathsAbove(path: string): string[] {
  const above: string[] = []
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) above.push(path.slice(0, end))
  return above
}

/** A value as it is copied: text without quotes, all else as JSON. */
export const copiedValue = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : value instanceof LongNumber
      ? value.digits
      : (JSON.stringify(value, null, 2) ?? String(value))

const scalarText = (value: unknown) =>
  typeof value === 'string' ? value : value instanceof LongNumber ? value.digits : String(value)
const scalarKind = (value: unknown): JsonRow['kind'] =>
  value === null
    ? 'null'
    : typeof value === 'number' || value instanceof LongNumber
      ? 'number'
      : typeof value === 'boolean'
        ? 'boolean'
        : 'string'
