// Waiting for a condition, never for a time.

/** Asks until the answer is there, for at most `withinMs`; fails with the last answer. */
export async function until<T>(
  ask: () => T | Promise<T>,
  isThere: (answer: T) => boolean = Boolean,
  withinMs = 10_000,
): Promise<T> {
  const end = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (isThere(answer)) return answer
    if (performance.now() > end)
      throw new Error(`not within ${withinMs} ms; last: ${JSON.stringify(answer)?.slice(0, 300)}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
