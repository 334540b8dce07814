// Owns what is particular to one log, and how a log is read: a page, back to what is known, and what may have changed.
import { logEntry, type LogEntry, type Logged } from '../rules/log-merge.ts'
import type { Subscription } from './connection.svelte.ts'

const pageSize = 50
const mostIdsAtOnce = 500
/** Read to close a gap; where more was missed, the list begins anew at the next reveal. */
const mostHeadPages = 4
/** Several servers log side by side: an entry may come this much later than one that is newer. */
const disorderMs = 2000

export interface LogSource<Item extends Logged, Filter> {
  /** One entry and several, in words. */
  words: [one: string, many: string]
  /** Equal for filters that list the same. */
  keyOf(filter: Filter): string
  readPage(
    filter: Filter,
    first: number,
    after: string | null,
  ): Promise<{ edges: { node: Item; cursor: string }[]; hasNextPage: boolean; endCursor: string | null }>
  subscribe(filter: Filter, reader: { receive(item: Item): void; missed(): void }): Subscription
  renewed?(held: Item, arrived: Item): Item
  matches?(item: Item, filter: Filter): boolean
  /** Where listed ones change. */
  unsettled?: { mayChange(item: Item): boolean; readByIds(ids: string[]): Promise<(Item | null)[]> }
}

interface LogPage<Item extends Logged> {
  entries: LogEntry<Item>[]
  hasMore: boolean
  endCursor: string | null
}

export async function readLogPage<Item extends Logged, Filter>(
  source: LogSource<Item, Filter>,
  filter: Filter,
  after: string | null,
): Promise<LogPage<Item>> {
  const { edges, hasNextPage, endCursor } = await source.readPage(filter, pageSize, after)
  return { entries: edges.map(({ node, cursor }) => logEntry(node, cursor)), hasMore: hasNextPage, endCursor }
}

export interface HeadRead<Item extends Logged> {
  entries: LogEntry<Item>[]
  endCursor: string | null
  /** It reaches what is known. */
  hasMet: boolean
}

/** @param heldUntil nothing that came about before is missing; empty where nothing is known */
export async function readBackTo<Item extends Logged, Filter>(
  source: LogSource<Item, Filter>,
  filter: Filter,
  heldUntil: string,
): Promise<HeadRead<Item>> {
  const entries: LogEntry<Item>[] = []
  const untilMs = heldUntil === '' ? -Infinity : Date.parse(heldUntil) - disorderMs
  let endCursor: string | null = null
  for (let read = 0; read < mostHeadPages; read += 1) {
    const page: LogPage<Item> = await readLogPage(source, filter, endCursor)
    entries.push(...page.entries)
    endCursor = page.endCursor
    const last = entries.at(-1)
    if (!page.hasMore || !last || Date.parse(last.item.at) < untilMs) return { entries, endCursor, hasMet: true }
  }
  return { entries, endCursor, hasMet: false }
}

export interface UnsettledRead<Item extends Logged> {
  entries: LogEntry<Item>[]
  goneIds: Set<string>
}

/** Those of the held ones that may have changed, as they stand now. */
export async function readUnsettled<Item extends Logged, Filter>(
  { unsettled }: LogSource<Item, Filter>,
  held: readonly LogEntry<Item>[],
): Promise<UnsettledRead<Item>> {
  if (!unsettled) return { entries: [], goneIds: new Set() }
  const ids = held.filter((row) => !row.isGone && unsettled.mayChange(row.item)).map((row) => row.item.id)
  const items: (Item | null)[] = []
  while (items.length < ids.length)
    items.push(...(await unsettled.readByIds(ids.slice(items.length, items.length + mostIdsAtOnce))))
  return {
    entries: items.flatMap((item) => (item === null ? [] : [logEntry(item)])),
    goneIds: new Set(ids.filter((_, index) => items[index] === null)),
  }
}
