// Once per run: dashboard built, browser unpacked, Postgres in a folder of its own with a migrated template; after it,
// no secret in any log.
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { buildDashboardIfStale } from '../../server/dashboard-build.ts'
import { startEmbeddedPostgres } from '../../server/database/embedded.ts'
import { unpackChromium } from './chromium.ts'
import { openFolder } from './folder.ts'
import { checkLogs } from './log-secrecy.ts'
import { migrate } from '../../server/database/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
    /** every server of the run logs into a file of it */
    logFolder: string
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
  const logFolder = join(folder, 'logs')
  await mkdir(logFolder)
  project.provide('databaseUrl', embedded.url)
  project.provide('logFolder', logFolder)
  return async () => {
    await embedded.stop()
    try {
      await copyFile(join(embedded.dataFolder, 'postgres.log'), join(logFolder, 'postgres.log'))
      await checkLogs(logFolder)
    } catch (error) {
      // Vitest prints what a teardown throws, and calls the run a success.
      process.exitCode = 1
      throw error
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}
