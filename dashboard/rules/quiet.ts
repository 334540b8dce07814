// Owns the label quiet: a running session that has sent nothing for a while. It is derived from time, never stored.
export const isQuiet = (session: { status: string; quietAt: string | null }, nowMs: number) =>
  session.status === 'RUNNING' && session.quietAt !== null && nowMs >= Date.parse(session.quietAt)

/** The time a running session has taken so far; of a closed one what is known, or null. */
export function durationSoFarMs(
  session: { status: string; durationMs: number | null; startedAt: string | null; firstSeenAt: string },
  nowMs: number,
): number | null {
  if (session.status !== 'RUNNING') return session.durationMs
  return Math.max(0, nowMs - Date.parse(session.startedAt ?? session.firstSeenAt))
}
