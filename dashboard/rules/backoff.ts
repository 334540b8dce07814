// Owns how long to wait before the next try to connect.

/** min(30 s, 0.5 s * 2^n), spread by 0.7 to 1.3 so that many dashboards do not come back at one instant. */
export function retryDelayMs(failedAttempts: number, random = Math.random()): number {
  return Math.min(30_000, 500 * 2 ** failedAttempts) * (0.7 + 0.6 * random)
}
