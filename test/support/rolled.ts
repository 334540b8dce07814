// Sums of agents follow the sessions within seconds: for tests that read them at once, or that moved sessions themselves.
import { rollUp } from '../../server/agents/rollups.ts'
import type { TestServer } from './server.ts'
import { until } from './until.ts'

const MARGIN_MS = 600_000

/** Adds up at once what is stored, and what was named as due in the database itself. */
export const rolled = ({ database }: Pick<TestServer, 'database'>) =>
  until(() => rollUp(database.sql, MARGIN_MS, () => {}), Boolean)
