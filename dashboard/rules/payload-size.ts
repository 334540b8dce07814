// Owns how much of a payload is read by itself, how much when somebody asks, and how much is shown at all.

/** Up to here it is read with its step. */
const readBytes = 256 * 1024
/** Above it is only saved as a file; of it the beginning is shown. */
const shownBytes = 2 * 1024 * 1024
/** Characters of a beginning. */
export const beginningLength = 64 * 1024

export const isTooLarge = (bytes: number | null | undefined) => (bytes ?? 0) > shownBytes

/** What is asked for with the step: all of the text, its beginning, or nothing. */
export function firstAsked(bytes: number | null | undefined): { isAsked: boolean; first: number | null } {
  if (isTooLarge(bytes)) return { isAsked: true, first: beginningLength }
  return { isAsked: (bytes ?? 0) <= readBytes, first: null }
}
