// Owns how the embedded Postgres' programs are run, and how its running process is recognised.
import { spawn } from 'node:child_process'
import { chown, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Thrown where the embedded Postgres cannot be started or stopped; the message is a sentence for people. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError'
}

/** The operating system's user that Postgres runs as where the server itself is root. */
export interface Account {
  uid: number
  gid: number
  name: string
  home: string
}

export interface RunResult {
  code: number | null
  output: string
  timedOut: boolean
}

function environment(account: Account | undefined): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(process.env)) {
    // PGDATA, PGPORT, PGOPTIONS and their like, set for another Postgres, would change this one.
    if (!/^PG/i.test(name)) env[name] = value
  }
  // Messages are matched in English.
  env.LC_ALL = 'C'
  delete env.LANGUAGE
  if (account) Object.assign(env, { HOME: account.home, USER: account.name, LOGNAME: account.name })
  return env
}

/** Runs a program to its end, or kills it after `timeoutMs`. Rejects only with an EmbeddedPostgresError. */
export function run(
  file: string,
  args: string[],
  options: { account?: Account | undefined; timeoutMs: number; ownSession?: boolean },
): Promise<RunResult> {
  const { account, timeoutMs, ownSession } = options
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      const as = account ? ` as user ${account.name}` : ''
      reject(
        new EmbeddedPostgresError(
          `The Postgres program ${file} could not be run${as}: ${error.message}. ` +
            'It needs a system with the GNU C library, and a disk that programs may be run from; ' +
            'where that is not to be had, point Runwatch at a Postgres server of your own.',
        ),
      )
    }
    let child
    try {
      child = spawn(file, args, {
        // Node drops the supplementary groups when a uid is given.
        ...(account ? { uid: account.uid, gid: account.gid } : {}),
        cwd: process.platform === 'win32' ? undefined : '/',
        env: environment(account),
        detached: ownSession === true && process.platform !== 'win32',
        windowsHide: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    } catch (error) {
      failed(error as Error)
      return
    }
    let output = ''
    let timedOut = false
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-20_000)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, timeoutMs)
    child.on('error', (error) => {
      clearTimeout(timer)
      failed(error)
    })
    child.on('exit', (code) => {
      clearTimeout(timer)
      const finish = () => {
        clearTimeout(drained)
        child.stdout.destroy()
        child.stderr.destroy()
        resolve({ code, output, timedOut })
      }
      // A grandchild may have inherited the pipes, and then 'close' comes only when it ends.
      const drained = setTimeout(finish, 300)
      child.on('close', finish)
    })
  })
}

async function linuxStat(pid: number): Promise<{ command: string; state: string; startTime: string } | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return {
      command: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
      state: fields[0] ?? '',
      startTime: fields[19] ?? '',
    }
  } catch {
    return undefined
  }
}

/** Whether a process of this number runs. A zombie does not: where nothing reaps it, it would stay for ever. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  if (process.platform !== 'linux') return true
  const found = await linuxStat(pid)
  return found === undefined || !['Z', 'X'].includes(found.state)
}

/** Tells a process from a later one of the same number; empty where the system does not say. */
export async function processBirth(pid: number): Promise<string> {
  return process.platform === 'linux' ? ((await linuxStat(pid))?.startTime ?? '') : ''
}

async function isPostmasterOf(pid: number, folder: string): Promise<boolean> {
  if (!(await isAlive(pid))) return false
  if (process.platform === 'linux') {
    const found = await linuxStat(pid)
    if (found === undefined) return true
    if (!found.command.startsWith('postgres')) return false
    try {
      return (await readlink(`/proc/${pid}/cwd`)) === folder
    } catch {
      // In a container even root may be kept from reading cwd; the command line is open to all.
      const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
      const given = args[args.indexOf('-D') + 1]
      if (!args.includes('-D') || given === undefined) return true
      return (await realpath(given).catch(() => given)) === folder
    }
  }
  const [file, args] =
    process.platform === 'win32'
      ? ['tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH']]
      : ['ps', ['-o', 'command=', '-p', String(pid)]]
  const listed = await run(file as string, args as string[], { timeoutMs: 5_000 }).catch(() => undefined)
  if (!listed || listed.timedOut) return true
  if (process.platform === 'win32') return /postgres\.exe/i.test(listed.output)
  return listed.output.includes('postgres') && (!listed.output.includes(' -D ') || listed.output.includes(folder))
}

export interface Postmaster {
  pid: number
  /** missing while it has only begun to start */
  port?: number
  status: string
}

/** The postmaster that runs on this folder, 'stale' where a pid file was left behind, undefined where there is none. */
export async function findPostmaster(folder: string): Promise<Postmaster | 'stale' | undefined> {
  const file = path.join(folder, 'postmaster.pid')
  let text: string
  try {
    text = await readFile(file, 'utf8')
    // Postgres makes the file first and fills it a moment later.
    for (let i = 0; i < 20 && text.trim() === ''; i++) {
      await sleep(50)
      text = await readFile(file, 'utf8')
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new EmbeddedPostgresError(`Runwatch cannot read ${file}: ${(error as Error).message}.`)
  }
  const lines = text.split('\n')
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10))
  if (!pid || !(await isPostmasterOf(pid, folder))) return 'stale'
  const port = Number.parseInt(lines[3] ?? '', 10)
  return { pid, ...(port ? { port } : {}), status: (lines[7] ?? '').trim() }
}

/**
 * Postgres believes any live process of its own user that has the number in a left-behind postmaster.pid, zombies
 * included, and would refuse to start for ever. The file must not be deleted though: it holds the key by which
 * Postgres notices that children of the dead postmaster still use the shared memory. So only the number goes.
 */
export async function disarmStalePidFile(folder: string): Promise<void> {
  const file = path.join(folder, 'postmaster.pid')
  const next = `${file}.runwatch`
  try {
    const lines = (await readFile(file, 'utf8')).split('\n')
    if (lines.join('').trim() === '') {
      await rm(file, { force: true })
      return
    }
    lines[0] = '2147483647' // larger than any system's process numbers
    const { uid, gid } = await stat(file)
    await rm(next, { force: true })
    await writeFile(next, lines.join('\n'), { flag: 'wx', mode: 0o600 })
    if (process.getuid?.() === 0) await chown(next, uid, gid)
    await rename(next, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw new EmbeddedPostgresError(`Runwatch cannot rewrite ${file}: ${(error as Error).message}.`)
  }
}
