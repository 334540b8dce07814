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
  'failures/after-a-crash',
  'graphql/socket-abuse',
  'operations/faults-of-the-connection',
  'browser/failures',
  'browser/ingest-log',
  'alerts/database-lost',
  'database/embedded',
  'failures/pattern-changes',
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

export default defineConfig({
  plugins: [svelte({ configFile: false })],
  // Node and Vite would each load a copy of graphql of their own, whose errors do not know each other.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // One more than there are cores here: many tests wait for what they have broken to come back.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // The driver's own question on a new connection: where a test cuts that off, nobody can wait for its answer.
    onUnhandledError: (error) => !String((error as { query?: unknown }).query).includes('pg_catalog.pg_type'),
    reporters: ['default'],
  },
})
