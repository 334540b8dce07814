// Owns the flat rows of a JSON tree: which values are in sight given what is folded. The root itself is no row.
export interface JsonRow {
  path: string
  depth: number
  key: string | null
  /** The value as text, or for an object or array what it holds. */
  text: string
  kind: 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array'
  open: boolean | null
}

export function jsonRows(value: unknown, isOpen: (path: string, depth: number) => boolean, most: number): JsonRow[] {
  const rows: JsonRow[] = []
  const entriesOf = (each: object): [string, unknown][] =>
    Array.isArray(each) ? each.map((item, index) => [String(index), item]) : Object.entries(each)
  const add = (each: unknown, key: string | null, path: string, depth: number) => {
    if (rows.length >= most) return
    if (typeof each !== 'object' || each === null) {
      rows.push({ path, depth, key, text: scalarText(each), kind: scalarKind(each), open: null })
      return
    }
    const entries = entriesOf(each)
    const open = entries.length > 0 && isOpen(path, depth)
    const isArray = Array.isArray(each)
    const words = isArray ? `[${entries.length}]` : `{${entries.length}}`
    rows.push({
      path,
      depth,
      key,
      text: words,
      kind: isArray ? 'array' : 'object',
      open: entries.length > 0 ? open : null,
    })
    if (open) for (const [name, item] of entries) add(item, name, `${path}/${name}`, depth + 1)
  }
  if (typeof value === 'object' && value !== null)
    for (const [name, item] of entriesOf(value)) add(item, name, `/${name}`, 0)
  else add(value, null, '', 0)
  return rows
}

const scalarText = (value: unknown) => (typeof value === 'string' ? value : String(value))
const scalarKind = (value: unknown): JsonRow['kind'] =>
  value === null ? 'null' : typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'string'
