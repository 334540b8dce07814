// Owns ranked rows that are read again while somebody looks: each keeps its place, what is new comes below.
export interface Kept<Row> {
  row: Row
  /** It was not among those that were read last. */
  isGone: boolean
}

export function keptInPlace<Row extends { id: string }>(
  before: readonly Kept<Row>[],
  now: readonly Row[],
): Kept<Row>[] {
  const byId = new Map(now.map((row) => [row.id, row]))
  const known = new Set(before.map(({ row }) => row.id))
  return [
    ...before.map(({ row }) => ({ row: byId.get(row.id) ?? row, isGone: !byId.has(row.id) })),
    ...now.filter(({ id }) => !known.has(id)).map((row) => ({ row, isGone: false })),
  ]
}
