// Sums of agents follow the sessions within seconds: for tests that read them at once.
import type { TestServer } from './server.ts'
import { until } from './until.ts'

/** Until every session that is stored is in the sums of its agent. */
export async function rolled(server: Pick<TestServer, 'database' | 'query'>): Promise<void> {
  const [stored] = await server.database.sql`select count(*)::int as sessions from sessions where project_id = 1`
  const runs = async () =>
    (await server.query('{ agents { runs } }')).agents.reduce((sum: number, agent: any) => sum + agent.runs, 0)
  await until(runs, (count) => count >= stored!.sessions)
}
