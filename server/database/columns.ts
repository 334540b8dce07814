// Rows as Postgres arrays: one text literal per column, unnested on the server. The fastest form that was measured.

type Cell = string | number | boolean | null

/** One column of a bulk write: its Postgres type and how its value is read from a row. */
export interface Column<Row> {
  name: string
  type: string
  value: (row: Row) => Cell
}

/** `$1::text::uuid[], $2::text::int4[], ..` starting at parameter `from`; array columns travel as text literals. */
export function unnestArguments<Row>(columns: Column<Row>[], from: number): string {
  return columns
    .map((column, i) => `$${from + i}::text::${column.type.endsWith('[]') ? 'text' : column.type}[]`)
    .join(', ')
}

/** Column list of the unnested rows, array columns cast back. */
export function unnestedColumns<Row>(columns: Column<Row>[], alias: string): string {
  return columns
    .map((column) => `${alias}.${column.name}${column.type.endsWith('[]') ? `::${column.type}` : ''}`)
    .join(', ')
}

export function columnNames<Row>(columns: Column<Row>[]): string {
  return columns.map((column) => column.name).join(', ')
}

/** One array literal per column. */
export function arrayLiterals<Row>(columns: Column<Row>[], rows: Row[]): string[] {
  return columns.map(({ value }) => {
    let literal = '{'
    for (let i = 0; i < rows.length; i++) {
      if (i > 0) literal += ','
      literal += cellLiteral(value(rows[i]!))
    }
    return literal + '}'
  })
}

/** A nested array (text[] or bigint[]) as the text of its own literal. */
export function nestedArray(values: readonly Cell[] | null): string | null {
  return values && `{${values.map(cellLiteral).join(',')}}`
}

const needsEscape = /["\\]/
function cellLiteral(cell: Cell): string {
  if (cell === null) return 'NULL'
  if (typeof cell !== 'string') return String(cell)
  return needsEscape.test(cell) ? `"${cell.replace(/["\\]/g, '\\$&')}"` : `"${cell}"`
}

let lastMs = NaN
let lastText = ''

/** Epoch milliseconds as the text of a timestamptz. Rows of one flush arrived together: the last text often serves. */
export function timestampText(ms: number | null): string | null {
  if (ms === null) return null
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString()
    lastMs = ms
  }
  return lastText
}
