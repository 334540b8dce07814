// Good posts, one after the other while something else goes on: each must be taken, and none may be lost.
import { expect } from 'vitest'
import type { TestServer } from './server.ts'

let started = 0

/** Sends until it is stopped; stopping fails if one was refused or is not stored. */
export function goodTraffic(server: TestServer): { stop(): Promise<void> } {
  const prefix = `good-${started++}-`
  let isRunning = true
  let sent = 0
  const running = (async () => {
    while (isRunning) {
      const answer = await server.ingestA({ session_id: `${prefix}${sent++}`, type: 'span', status: 'success' })
      expect(answer).toMatchObject({ status: 200, body: { accepted: 1 } })
    }
  })()
  // It may fail long before it is stopped.
  running.catch(() => {})
  return {
    async stop() {
      isRunning = false
      await running
      const [row] = await server.database.sql`
        select count(*)::int as count from sessions where external_id like ${`${prefix}%`}`
      expect(row!.count).toBe(sent)
    },
  }
}
