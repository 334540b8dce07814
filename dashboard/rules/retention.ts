// Owns what may be saved as a retention, and what must be seen before.
export const mostRetentionDays = 3650

/** Whole days from 1 to 3650, else null. */
export function readDays(typed: string): number | null {
  const days = /^\d{1,4}$/.test(typed.trim()) ? Number(typed) : 0
  return days >= 1 && days <= mostRetentionDays ? days : null
}

/** Whether sessions would go that are kept now; null keeps them all. */
export const isShorter = (days: number | null, than: number | null) => days !== null && (than === null || days < than)
