// All tests: one embedded Postgres for the run, one database per test file.
import { createRequire } from 'node:module'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They start first, the longest at the top: one that began last would run on alone while a core has nothing to do. */
const LONGEST = [
  'operations/faults',
  'browser/accessibility',
  'operations/start-and-stop',
  'alerts/stopped-server',
  'browser/states',
  'failures/after-a-crash',
  'graphql/socket-abuse',
  'operations/faults-of-the-connection',
  'browser/failures',
  'sessions/repricing',
  'browser/findings',
  'browser/live-honesty',
  'browser/ingest-log',
  'alerts/database-lost',
  'database/embedded',
  'failures/pattern-changes',
  'prompts/month',
  'findings/many-runs',
  'prompts/after-a-crash',
  'browser/prompts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return place < 0 ? LONGEST.length : place
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

/** What measures memory, sets the clock, or breaks connections and processes has a process of its own. */
const ALONE = [
  'test/operations/*.test.ts',
  'test/database/*.test.ts',
  'test/access/{keys,sign-in-limits}.test.ts',
  'test/alerts/{database-lost,lookups-that-hang,stopped-server,killed-server,killed-under-load}.test.ts',
  'test/failures/{after-a-crash,rules-that-throw}.test.ts',
  'test/findings/{after-a-kill,many-runs}.test.ts',
  'test/graphql/{abuse,socket-abuse}.test.ts',
  'test/ingest/{fuzz,hostile,hostile-bytes,hostile-connections,log-writing,write-queue}.test.ts',
  'test/live/catch-up.test.ts',
  'test/prompts/{after-a-crash,fetching-without-database}.test.ts',
]

const project = (name: string, test: { include: string[]; exclude?: string[]; isolate: boolean }) => ({
  plugins: [svelte({ configFile: false })],
  // Node and Vite would each load a copy of graphql of their own, whose errors do not know each other.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: { name, testTimeout: 30_000, hookTimeout: 60_000, ...test },
})

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // One more than there are cores here: many tests wait for what they have broken to come back.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // The driver's own question on a new connection: where a test cuts that off, nobody can wait for its answer.
    onUnhandledError: (error) => !String((error as { query?: unknown }).query).includes('pg_catalog.pg_type'),
    reporters: ['default'],
    projects: [
      project('alone', { include: ALONE, isolate: true }),
      // One after the other in the same processes, each with a server and a database of its own: to load all modules anew
      // takes as long as many of these files run.
      project('together', { include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false }),
    ],
  },
})
