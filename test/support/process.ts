// Runwatch as a process of its own, started as `npm start` starts it.
import { spawn, type ChildProcess } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { until } from './until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface ServerProcess {
  child: ChildProcess
  url: string
  /** everything it printed so far */
  output(): string
  /** resolves with its exit code (null after a signal) */
  exited: Promise<number | null>
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the process; with `isReady` it is waited for until /readyz answers. */
export async function startProcess(env: Record<string, string>, { isReady = true } = {}): Promise<ServerProcess> {
  const port = env.PORT ?? String(await freePort())
  const child = spawn(process.execPath, ['--import', 'tsx', 'server/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'trace', ...env, PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, as a terminal gives it: a signal to the group reaches all that it holds.
    detached: true,
  })
  const logFile = join(inject('logFolder'), `process-${child.pid}.log`)
  let text = ''
  const keep = (data: Buffer) => {
    text += data
    appendFileSync(logFile, data)
  }
  child.stdout!.on('data', keep)
  child.stderr!.on('data', keep)
  const exited = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)))
  const url = `http://127.0.0.1:${port}`
  const server = { child, url, output: () => text, exited }
  if (isReady) {
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`it ended: ${text}`)
        return (await fetch(`${url}/readyz`).catch(() => null))?.ok
      },
      Boolean,
      30_000,
    )
  }
  return server
}
