// Owns what is said of an agent's sums: parts without a gap, changes in words, what is shown of cost, and the order.
import type { BigIntValue } from '../graphql.ts'
import type { AgentModel } from '../queries-agent.ts'
import type { AgentRow } from '../queries-agents.ts'
import { formatCost } from './format.ts'

const hourMs = 3_600_000

/** A part of the span on screen; sums are null where nothing ran in it. */
export interface Part<Sums> {
  fromMs: number
  toMs: number
  sums: Sums | null
}

/** All parts of the span, also those in which nothing ran, from the one in which it begins to the one of now. */
export function wholeSpan<Sums extends { startsAt: string }>(
  parts: readonly Sums[],
  { since, partHours, nowMs }: { since: string; partHours: number; nowMs: number },
): Part<Sums>[] {
  const length = partHours * hourMs
  const byStart = new Map(parts.map((part) => [Date.parse(part.startsAt), part]))
  const whole: Part<Sums>[] = []
  for (let fromMs = Math.floor(Date.parse(since) / length) * length; fromMs <= nowMs; fromMs += length)
    whole.push({ fromMs, toMs: fromMs + length, sums: byStart.get(fromMs) ?? null })
  return whole
}

/** "up 4 points", "down 12 points", "as before"; null where one of both rates is not known. */
export function rateChange(now: number | null, before: number | null | undefined): string | null {
  if (now === null || before === null || before === undefined) return null
  const points = Math.round(now * 100) - Math.round(before * 100)
  if (points === 0) return 'as before'
  return `${points > 0 ? 'up' : 'down'} ${Math.abs(points)} ${Math.abs(points) === 1 ? 'point' : 'points'}`
}

/** For bars and shares, which need no more digits than a number has. */
export const numberOf = (value: BigIntValue | null): number | null => (value === null ? null : Number(value))

/** "up 40%", "down 12%", "as before"; null where it cannot be said. */
export function costChange(now: string | null, before: string | null | undefined): string | null {
  if (now === null || !Number(before)) return null
  const percent = Math.round((Number(now) / Number(before) - 1) * 100)
  if (percent === 0) return 'as before'
  return percent > 999 ? 'up tenfold or more' : `${percent > 0 ? 'up' : 'down'} ${Math.abs(percent)}%`
}

/** Cost of a day on average over the span, in USD. */
export function costPerDay(costUsd: string | null, since: string | null, nowMs: number): string | null {
  if (costUsd === null || since === null) return null
  return String((Number(costUsd) * 24 * hourMs) / Math.max(hourMs, nowMs - Date.parse(since)))
}

/** With "at least" in a sign where calls without a price are left out of it. */
export const costWords = (costUsd: string | null, unpricedRuns: number): string | null =>
  costUsd === null ? null : `${unpricedRuns > 0 ? '≥' : ''}${formatCost(costUsd)}`

/** What of a cost is of models that were told apart, and what is not; null where there is nothing left. */
export function costWithoutModel(
  costUsd: string | null,
  models: readonly Pick<AgentModel, 'costUsd'>[],
): string | null {
  if (costUsd === null) return null
  const left = models.reduce((rest, model) => rest - Number(model.costUsd ?? 0), Number(costUsd))
  return left > Number(costUsd) / 1000 ? String(left) : null
}

/** "1,204 runs, 37 failed; most 61 at once" for a picture of them. */
export function runWords(parts: readonly Part<{ runs: number; failed: number }>[]): string {
  const sum = (field: 'runs' | 'failed') => parts.reduce((total, { sums }) => total + (sums?.[field] ?? 0), 0)
  const most = Math.max(0, ...parts.map(({ sums }) => sums?.runs ?? 0))
  const hours = parts.length > 0 ? (parts[0]!.toMs - parts[0]!.fromMs) / hourMs : 0
  const within = hours === 24 ? 'a day' : hours === 1 ? 'an hour' : `${hours} hours`
  return sum('runs') === 0
    ? 'No runs'
    : `${sum('runs')} runs, ${sum('failed')} failed; at most ${most} within ${within}`
}

type Sorting = { word: string; of: (agent: AgentRow) => string | number | null; isDescending: boolean }

/** By what agents are put in order: what is worst or most comes first, names begin with A; unknown comes last. */
export const sortings = [
  { word: 'seen', of: ({ lastSeenAt }) => lastSeenAt, isDescending: true },
  { word: 'name', of: ({ name }) => name?.toLowerCase() ?? null, isDescending: false },
  { word: 'runs', of: ({ runs }) => runs, isDescending: true },
  { word: 'failures', of: ({ failureRate }) => failureRate, isDescending: true },
  { word: 'p50', of: ({ p50DurationMs }) => p50DurationMs, isDescending: true },
  { word: 'p95', of: ({ p95DurationMs }) => p95DurationMs, isDescending: true },
  { word: 'cost', of: ({ costUsd }) => numberOf(costUsd), isDescending: true },
] as const satisfies readonly Sorting[]
export type SortWord = (typeof sortings)[number]['word']

export interface AgentOrder {
  by: SortWord
  isReversed: boolean
}

/** `sort=cost`, or `sort=-cost` the other way round. */
export function readOrder(query: URLSearchParams): AgentOrder {
  const text = query.get('sort') ?? ''
  const by = sortings.find(({ word }) => word === text.replace(/^-/, ''))?.word
  return { by: by ?? 'seen', isReversed: by !== undefined && text.startsWith('-') }
}

export const orderWord = ({ by, isReversed }: AgentOrder): string | null =>
  by === 'seen' && !isReversed ? null : `${isReversed ? '-' : ''}${by}`

export function inOrder(agents: readonly AgentRow[], { by, isReversed }: AgentOrder): AgentRow[] {
  const { of, isDescending } = sortings.find(({ word }) => word === by)!
  const direction = isDescending === isReversed ? 1 : -1
  return [...agents].sort((one, other) => {
    const [a, b] = [of(one), of(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return (a < b ? -1 : a > b ? 1 : 0) * direction
  })
}
