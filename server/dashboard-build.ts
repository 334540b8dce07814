// Builds the dashboard when there is no build or its sources are newer.
import { spawn } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const DASHBOARD_FOLDER = join(ROOT, 'dist', 'dashboard')

/** @throws with the output of the build if it fails */
export async function buildDashboardIfStale(onBuild: () => void): Promise<void> {
  const built = await stat(join(DASHBOARD_FOLDER, 'index.html')).catch(() => null)
  const newest = Math.max(await newestIn(join(ROOT, 'dashboard')), (await stat(join(ROOT, 'package.json'))).mtimeMs)
  if (built && built.mtimeMs >= newest) return
  onBuild()
  const require = createRequire(import.meta.url)
  const vite = join(dirname(require.resolve('vite/package.json')), 'bin', 'vite.js')
  await run(process.execPath, [vite, 'build', '--config', 'dashboard/vite.config.ts', '--logLevel', 'warn'])
}

async function newestIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const times = entries.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name)))
  return Math.max(0, ...(await Promise.all(times)).map((found) => found.mtimeMs))
}

function run(command: string, parameters: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (text: Buffer) => (output += text))
    child.stderr.on('data', (text: Buffer) => (output += text))
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`The dashboard could not be built.\n${output}`)),
    )
  })
}
