// All tests: one embedded Postgres for the run, one database per test file.
import { createRequire } from 'node:module'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [svelte({ configFile: false })],
  // Node and Vite would each load a copy of graphql of their own, whose errors do not know each other.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // The driver's own question on a new connection: where a test cuts that off, nobody can wait for its answer.
    onUnhandledError: (error) => !String((error as { query?: unknown }).query).includes('pg_catalog.pg_type'),
    reporters: ['default'],
  },
})
