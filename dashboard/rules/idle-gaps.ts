// Owns the long times in a session in which no step is known to run: finding them, and an axis that cuts them short.
import type { Step } from './steps.ts'
import { axisOf, type Axis } from './waterfall.ts'

export interface Gap {
  startMs: number
  endMs: number
}

/** Shorter ones would not be seen, and there are never more than this many. */
const leastShare = 1 / 200
/** From here on most of the axis would be empty. */
const worthShare = 0.6
/** What all gaps together take of what is not idle. */
const gapsRoom = 1 / 4

/** Null where they are too little of the session to be worth it. */
export function idleGapsOf(steps: readonly Step[]): Gap[] | null {
  const axis = axisOf(steps)
  const span = axis.endMs - axis.startMs
  const gaps: Gap[] = []
  let endMs = axis.startMs
  let idleMs = 0
  for (const step of [...steps].sort((one, other) => one.startMs - other.startMs)) {
    if (step.startMs - endMs >= span * leastShare && step.startMs > endMs) {
      gaps.push({ startMs: endMs, endMs: step.startMs })
      idleMs += step.startMs - endMs
    }
    endMs = Math.max(endMs, step.startMs + (step.durationMs ?? 0))
  }
  return idleMs > span * worthShare ? gaps : null
}

export const idleShare = (gaps: readonly Gap[], { startMs, endMs }: Axis) =>
  gaps.reduce((sum, gap) => sum + gap.endMs - gap.startMs, 0) / (endMs - startMs)

/** Where a time stands once the gaps are cut short; order stays, and outside of gaps so do distances. */
export function shortened(gaps: readonly Gap[], { startMs, endMs }: Axis): (ms: number) => number {
  const idleMs = gaps.reduce((sum, gap) => sum + gap.endMs - gap.startMs, 0)
  const roomMs = (Math.max(1, endMs - startMs - idleMs) * gapsRoom) / gaps.length
  let savedMs = 0
  const cuts = gaps.map((gap) => {
    const lengthMs = gap.endMs - gap.startMs
    const keptMs = Math.min(lengthMs, roomMs)
    const cut = { ...gap, savedMs, share: keptMs / lengthMs }
    savedMs += lengthMs - keptMs
    return cut
  })
  return (ms) => {
    let low = 0
    let high = cuts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (cuts[middle]!.startMs <= ms) low = middle + 1
      else high = middle
    }
    if (low === 0) return ms
    const cut = cuts[low - 1]!
    const inside = Math.min(ms, cut.endMs) - cut.startMs
    return ms - cut.savedMs - inside * (1 - cut.share)
  }
}

/** The same steps where they stand once the gaps are cut short. */
export function placedSteps(steps: readonly Step[], place: (ms: number) => number): Step[] {
  return steps.map((step) => {
    const startMs = place(step.startMs)
    return {
      ...step,
      startMs,
      durationMs: step.durationMs === null ? null : place(step.startMs + step.durationMs) - startMs,
    }
  })
}

export interface Cut {
  leftPercent: number
  widthPercent: number
  durationMs: number
}

/** The gaps on an axis that cuts them short. A bare edge on both sides keeps steps without a duration off the mark. */
export function cutsOn(axis: Axis, gaps: readonly Gap[], place: (ms: number) => number): Cut[] {
  const percent = (ms: number) => ((ms - axis.startMs) / (axis.endMs - axis.startMs)) * 100
  return gaps.flatMap((gap) => {
    const [left, right] = [percent(place(gap.startMs)), percent(place(gap.endMs))]
    if (right <= 0 || left >= 100) return []
    const bare = (right - left) / 5
    return [{ leftPercent: left + bare, widthPercent: right - left - 2 * bare, durationMs: gap.endMs - gap.startMs }]
  })
}

export interface CutLabel {
  leftPercent: number
  durationMs: number
}

/** How long the gaps are, behind each as far as there is room for so many. */
export function cutLabels(cuts: readonly Cut[], most: number): CutLabel[] {
  const labels: CutLabel[] = []
  let fromPercent = 0
  for (const { leftPercent, widthPercent, durationMs } of cuts) {
    const right = leftPercent + widthPercent
    if (right < fromPercent || right > 90) continue
    labels.push({ leftPercent: right, durationMs })
    fromPercent = right + 100 / (most + 1)
  }
  return labels
}
