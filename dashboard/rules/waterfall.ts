// Owns the geometry of the waterfall: the axis, where a bar lies on it, and what the lane shows if times are not known.
import type { Step } from './steps.ts'

export type Lane = 'time' | 'tokens' | 'cost'

export interface Axis {
  startMs: number
  endMs: number
}

/** Fewer than a fifth of the events with a duration: a waterfall would be a lie. */
export function isTimeKnown(steps: readonly Step[]): boolean {
  if (steps.length === 0) return true
  return steps.filter((step) => step.durationMs !== null).length >= steps.length / 5
}

export const tokensOf = (step: Step): number | null =>
  step.event.promptTokens === null && step.event.completionTokens === null
    ? null
    : Number(step.event.promptTokens ?? 0) + Number(step.event.completionTokens ?? 0)

export const costOf = (step: Step): number | null => (step.event.costUsd === null ? null : Number(step.event.costUsd))

export function axisOf(steps: readonly Step[]): Axis {
  let startMs = Infinity
  let endMs = -Infinity
  for (const step of steps) {
    if (step.startMs < startMs) startMs = step.startMs
    const end = step.startMs + (step.durationMs ?? 0)
    if (end > endMs) endMs = end
  }
  if (startMs === Infinity) return { startMs: 0, endMs: 1 }
  return { startMs, endMs: Math.max(endMs, startMs + 1) }
}

export interface Bar {
  leftPercent: number
  widthPercent: number
}

export function barOf(startMs: number, durationMs: number, axis: Axis): Bar {
  const span = axis.endMs - axis.startMs
  const percent = (ms: number) => Math.min(100, Math.max(0, ((ms - axis.startMs) / span) * 100))
  const left = percent(startMs)
  return { leftPercent: left, widthPercent: percent(startMs + durationMs) - left }
}

export const amountOf = (step: Step, lane: Lane): number | null =>
  lane === 'cost' ? costOf(step) : lane === 'tokens' ? tokensOf(step) : step.durationMs

/** What the bars show unless somebody chooses: time where it is known, else the first that is known of any step. */
export function usualLane(steps: readonly Step[], timeKnown: boolean): Lane {
  if (timeKnown) return 'time'
  const lanes = ['tokens', 'cost', 'time'] as const
  return lanes.find((lane) => steps.some((step) => amountOf(step, lane) !== null)) ?? 'tokens'
}

export const greatestAmount = (steps: readonly Step[], lane: Lane) =>
  steps.reduce((most, step) => Math.max(most, amountOf(step, lane) ?? 0), 0)

export interface Tick {
  /** Milliseconds since the session's start. */
  offsetMs: number
  leftPercent: number
}

/** Round ticks (1, 2, 5 times a power of ten; minutes and hours above) of the axis, counted from the session's start. */
export function ticksOf(axis: Axis, originMs: number, wanted = 5): Tick[] {
  const span = axis.endMs - axis.startMs
  const step = roundStep(span / wanted)
  const ticks: Tick[] = []
  const first = Math.ceil((axis.startMs - originMs) / step) * step
  for (let offsetMs = first; offsetMs + originMs <= axis.endMs && ticks.length < 20; offsetMs += step)
    ticks.push({ offsetMs, leftPercent: ((offsetMs + originMs - axis.startMs) / span) * 100 })
  return ticks
}

const longSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]

function roundStep(ms: number): number {
  if (ms >= 1000)
    return (longSteps.find((seconds) => seconds * 1000 >= ms) ?? Math.ceil(ms / 86_400_000) * 86_400) * 1000
  const power = 10 ** Math.floor(Math.log10(Math.max(ms, 1)))
  return Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= ms) ?? power * 10)
}

/** How many steps of each type ran at the same time, per pixel column of the minimap. */
export function concurrency(steps: readonly Step[], axis: Axis, columns: number) {
  const byType = new Map<Step['event']['type'], Uint16Array>()
  const span = axis.endMs - axis.startMs
  const column = (ms: number) => Math.min(columns - 1, Math.max(0, Math.floor(((ms - axis.startMs) / span) * columns)))
  for (const step of steps) {
    let counts = byType.get(step.event.type)
    if (!counts) byType.set(step.event.type, (counts = new Uint16Array(columns)))
    const first = column(step.startMs)
    // The column of the end is not part of the step: where one ends, the next may begin.
    const last = Math.floor(((step.startMs + (step.durationMs ?? 0) - axis.startMs) / span) * columns) - 1
    for (let each = first; each <= Math.max(first, Math.min(columns - 1, last)); each += 1) counts[each]! += 1
  }
  return byType
}
