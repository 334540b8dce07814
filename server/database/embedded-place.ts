// Owns where the embedded Postgres keeps its cluster, and which operating system user it runs as.
import { createHash } from 'node:crypto'
import {
  access,
  chmod,
  chown,
  constants,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rmdir,
  stat,
} from 'node:fs/promises'
import { statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Account, EmbeddedPostgresError } from './embedded-process.ts'

export interface Place {
  /** the cluster's folder, its real path where it exists already */
  folder: string
  /** where a symbolic link to the folder belongs, if it lies outside of the data folder */
  link?: string
  account?: Account
}

async function accounts(): Promise<Account[]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid, , home] = line.split(':')
    if (!name || line.startsWith('#') || !uid || !gid) return []
    return [{ name, uid: Number(uid), gid: Number(gid), home: home || '/' }]
  })
}

function allows(info: { mode: number; uid: number; gid: number }, account: Account, bits: number): boolean {
  const shift = info.uid === account.uid ? 6 : info.gid === account.gid ? 3 : 0
  return ((info.mode >> shift) & bits) === bits
}

/** The first folder (or the file itself) on the way to `target` that the account may not pass; undefined if none. */
export async function blockedAt(target: string, account: Account): Promise<string | undefined> {
  const whole = await realpath(target)
  let at = path.parse(whole).root
  for (const part of ['', ...whole.slice(at.length).split(path.sep)]) {
    at = path.join(at, part)
    const info = await stat(at)
    const bits = at !== whole ? 1 : info.isDirectory() || info.mode & 0o111 ? 5 : 4
    if (!allows(info, account, bits)) return at
  }
  return undefined
}

/** As blockedAt, for a folder that need only be passed through. */
async function impassableAt(folder: string, account: Account): Promise<string | undefined> {
  const closed = await blockedAt(folder, account)
  if (closed !== (await realpath(folder))) return closed
  return allows(await stat(folder), account, 1) ? undefined : closed
}

/** A folder of root's own, open to every user's reading, for what cannot stay in the project or the data folder. */
export async function systemFolder(): Promise<string> {
  const tried: string[] = []
  for (const folder of ['/var/lib/runwatch', path.join(os.tmpdir(), 'runwatch')]) {
    try {
      const made = await mkdir(folder, { recursive: true })
      if (made !== undefined) await chmod(folder, 0o755)
      await access(folder, constants.W_OK)
      const info = await lstat(folder)
      // A folder that someone else can change (or has put into the temporary folder) would let them swap programs.
      if (info.isDirectory() && info.uid === 0 && (info.mode & 0o022) === 0 && (info.mode & 0o005) === 0o005) {
        return folder
      }
      tried.push(`${folder} does not belong to root alone`)
    } catch (error) {
      tried.push((error as Error).message)
    }
  }
  throw new EmbeddedPostgresError(
    `There is no folder that both root and the user of Postgres can use (${tried.join('; ')}). ` +
      'Start Runwatch as an ordinary user, or point it at a Postgres server of your own.',
  )
}

async function chownTree(folder: string, account: Account): Promise<void> {
  await lchown(folder, account.uid, account.gid)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const child = path.join(folder, entry.name)
    if (entry.isDirectory()) await chownTree(child, account)
    else await lchown(child, account.uid, account.gid)
  }
}

/** What stands at `<dataDir>/postgres`; an empty folder counts as nothing. */
async function existingFolder(link: string): Promise<{ folder: string; uid: number; gid: number } | undefined> {
  const entry = await lstat(link).catch(() => undefined)
  if (!entry) return undefined
  const folder = await realpath(link).catch(() => undefined)
  if (folder === undefined) {
    throw new EmbeddedPostgresError(
      `${link} points to a folder that is gone, and with it the data. Put that folder back from a copy, ` +
        `or remove the link ${link} to begin with an empty database.`,
    )
  }
  const { uid, gid } = await stat(folder)
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new EmbeddedPostgresError(
      `The Postgres data folder ${folder} cannot be read (it belongs to user number ${uid}): ${error.message}. ` +
        'Start Runwatch as the user who started it first, or set DATA_DIR to another folder.',
    )
  })
  if (names.length > 0) return { folder, uid, gid }
  await rmdir(link).catch(() => undefined)
  return undefined
}

async function defaultAccount(all: Account[]): Promise<Account> {
  const found = ['postgres', '_postgres', 'nobody'].map((name) => all.find((one) => one.name === name))
  const account = found.find((one) => one !== undefined && one.uid !== 0)
  if (account) return account
  throw new EmbeddedPostgresError(
    'Postgres refuses to run as root, and this system has neither a user "postgres" nor a user "nobody". ' +
      'Start Runwatch as an ordinary user, or point it at a Postgres server of your own.',
  )
}

/** The owner of a cluster that is there already, so that it can be read; root's own is handed over by the caller. */
async function accountFor(cluster: { uid: number; gid: number } | undefined, all: Account[]): Promise<Account> {
  if (!cluster || cluster.uid === 0) return defaultAccount(all)
  const { uid, gid } = cluster
  return all.find((one) => one.uid === uid) ?? { uid, gid, name: String(uid), home: '/' }
}

function usableHome(account: Account): Account {
  const home = statSync(account.home, { throwIfNoEntry: false })
  return home?.isDirectory() && allows(home, account, 1) ? account : { ...account, home: '/' }
}

/** Decides on the folder and the user. `dataDir` must exist and be a real path. */
export async function choosePlace(dataDir: string, log: (line: string) => void): Promise<Place> {
  const link = path.join(dataDir, 'postgres')
  const existing = await existingFolder(link)
  if (process.getuid?.() !== 0) {
    if (existing && process.getuid && existing.uid !== process.getuid()) {
      throw new EmbeddedPostgresError(
        `The Postgres data folder ${existing.folder} belongs to another user (number ${existing.uid}). ` +
          'Start Runwatch as the user who started it first, or set DATA_DIR to another folder.',
      )
    }
    return { folder: existing?.folder ?? link }
  }

  const all = await accounts()
  const account = usableHome(await accountFor(existing, all))

  if (existing) {
    const closed = await impassableAt(path.dirname(existing.folder), account)
    if (closed) {
      throw new EmbeddedPostgresError(
        `The Postgres data in ${existing.folder} cannot be reached by the user ${account.name}, whom Postgres runs as ` +
          `because it refuses to run as root: ${closed} is closed to that user. ` +
          `Open it with "chmod o+x ${closed}", or set DATA_DIR to another folder.`,
      )
    }
    if (existing.uid === 0) {
      log(`The Postgres data in ${existing.folder} belonged to root; it is handed to the user ${account.name}`)
      await chownTree(existing.folder, account)
    }
    return { folder: existing.folder, account }
  }

  const closed = await impassableAt(dataDir, account)
  if (!closed) return { folder: link, account }
  const key = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  const parent = path.join(await systemFolder(), key)
  await mkdir(parent, { recursive: true })
  await chown(parent, 0, 0)
  await chmod(parent, 0o755)
  log(`Postgres keeps its files in ${parent}: ${closed} is closed to the user ${account.name}, whom it runs as`)
  if (!parent.startsWith('/var/lib/'))
    log(`${parent} is a temporary folder: the data may be lost when the machine restarts`)
  const folder = path.join(parent, 'postgres')
  const kept = await stat(folder).catch(() => undefined)
  return { folder, link, account: kept ? usableHome(await accountFor(kept, all)) : account }
}
