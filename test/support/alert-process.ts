// A server process that tells: its database is prepared by a server in this process, which has stopped before it starts.
import { ALERT_ENV, alertStand } from './alert-stand.ts'
import { newDatabase, type TestDatabase } from './database.ts'
import { startServer } from './fault-stand.ts'
import type { ServerProcess } from './process.ts'
import { ADMIN, KEY } from './server.ts'
import { tellOf } from './told.ts'

const ENV = {
  ...ALERT_ENV,
  SECRET_KEY: 'a key for tests alone, 32 long',
  INIT_ADMIN_EMAIL: ADMIN.email,
  INIT_ADMIN_PASSWORD: ADMIN.password,
}

/** A database in which each channel is told of the agent's failed runs. */
export async function tellingDatabase(
  agent: string,
  urls: string[],
): Promise<{ database: TestDatabase; channels: string[] }> {
  const database = await newDatabase()
  const stand = await alertStand({ database })
  const channels = await tellOf(stand, agent, urls)
  await stand.server.stop()
  return { database, channels }
}

export const startTelling = ({ url }: TestDatabase, env: Record<string, string> = {}) =>
  startServer({ DATABASE_URL: url, ...ENV, ...env })

/** @returns the status; 0 where there was no answer */
export async function postRuns({ url }: ServerProcess, runs: object[]): Promise<number> {
  try {
    const response = await fetch(`${url}/api/ingest/platform-a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY },
      body: JSON.stringify(runs),
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

/** @returns the exit code and how long it took; a server that does not end is left running, and that is an error */
export async function terminate(server: ServerProcess): Promise<{ code: number | null; ms: number }> {
  const began = performance.now()
  server.child.kill('SIGTERM')
  const never = new Promise<'never'>((resolve) => setTimeout(() => resolve('never'), 25_000).unref())
  const code = await Promise.race([server.exited, never])
  if (code === 'never') throw new Error('it did not stop within 25 s')
  return { code, ms: performance.now() - began }
}
