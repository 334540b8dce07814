// Once per run: dashboard built, browser unpacked, Postgres in a folder of its own with a migrated template.
import { rm } from 'node:fs/promises'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { buildDashboardIfStale } from '../../server/dashboard-build.ts'
import { startEmbeddedPostgres } from '../../server/database/embedded.ts'
import { unpackChromium } from './chromium.ts'
import { openFolder } from './folder.ts'
import { migrate } from '../../server/database/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}

export default async function setup(project: TestProject) {
  const [folder] = await Promise.all([openFolder(), buildDashboardIfStale(() => {}), unpackChromium()])
  const embedded = await startEmbeddedPostgres({ dataDir: folder })
  const admin = postgres(embedded.url, { max: 1, onnotice: () => {} })
  await admin`create database template_runwatch`
  const template = postgres(withDatabase(embedded.url, 'template_runwatch'), { max: 2, onnotice: () => {} })
  await migrate(template)
  await template.end()
  await admin.end()
  project.provide('databaseUrl', embedded.url)
  return async () => {
    await embedded.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}
