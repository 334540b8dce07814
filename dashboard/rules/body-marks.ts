// Owns how a body is cut into plain and marked pieces, each mark with the numbers of the problems it stands for.
import type { TextPart } from './json-pointer.ts'

export interface BodyPiece {
  text: string
  /** Numbers of the problems from 1; empty for plain text. */
  numbers: number[]
  /** False: what is wrong is missing, and this is where it should be. */
  isThere: boolean
}

interface Mark extends TextPart {
  numbers: number[]
}

/** The smallest parts are marked; a problem whose part overlaps one of them shares its mark. */
export function bodyPieces(text: string, parts: readonly (TextPart | null)[]): BodyPiece[] {
  const numbered = parts.flatMap((part, index) => (part ? [{ ...part, number: index + 1 }] : []))
  const marks: Mark[] = []
  for (const { number, ...part } of numbered.sort((one, other) => one.end - one.start - (other.end - other.start))) {
    const overlapped = marks.find((mark) => part.start < mark.end && mark.start < part.end)
    if (overlapped) overlapped.numbers.push(number)
    else marks.push({ ...part, numbers: [number] })
  }
  const pieces: BodyPiece[] = []
  let at = 0
  for (const { start, end, numbers, isThere } of marks.sort((one, other) => one.start - other.start)) {
    if (start > at) pieces.push({ text: text.slice(at, start), numbers: [], isThere: true })
    pieces.push({ text: text.slice(start, end), numbers: numbers.sort((one, other) => one - other), isThere })
    at = end
  }
  if (at < text.length) pieces.push({ text: text.slice(at), numbers: [], isThere: true })
  return pieces
}

/** What is drawn of a long body: its beginning, or what is around its first mark. */
export function drawnWindow(length: number, parts: readonly (TextPart | null)[], most: number) {
  const first = Math.min(...parts.map((part) => part?.start ?? Infinity))
  const before = Math.floor(most / 8)
  const start = Number.isFinite(first) && first > most - before ? first - before : 0
  return { start, end: Math.min(length, start + most) }
}

/** The parts that lie in a window of the text, counted from its start. */
export const partsWithin = (parts: readonly (TextPart | null)[], window: { start: number; end: number }) =>
  parts.map((part) =>
    part && part.start >= window.start && part.end <= window.end
      ? { ...part, start: part.start - window.start, end: part.end - window.start }
      : null,
  )
