// A data folder whose disk can be full: a file system in memory, or, where none may be mounted, files that may not grow.
import { execFile } from 'node:child_process'
import { open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { postmasterOf, query } from './fault-stand.ts'
import { openFolder } from './folder.ts'

const run = promisify(execFile)
const SIZE = '160m'
/** Files of Postgres' own log are this large from the beginning: only tables are to feel the limit. */
const FILE_LIMIT = 16 * 1024 * 1024

export interface SmallDisk {
  folder: string
  /** Postgres' own log cannot grow either, so that it goes down when it needs to. */
  isWhole: boolean
  fill(): Promise<void>
  free(): Promise<void>
  remove(): Promise<void>
}

/** Null where neither is possible. Call `remove` when nothing runs there any more. */
export async function openSmallDisk(): Promise<SmallDisk | null> {
  const folder = await openFolder()
  const isMounted = await succeeds('mount', '-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'runwatch-test', folder)
  if (isMounted) {
    const filler = join(folder, 'filler')
    return {
      folder,
      isWhole: true,
      fill: () => fill(filler),
      free: () => rm(filler),
      remove: async () => {
        // Lazily: a process that is just ending may still have its folder there.
        await run('umount', ['-l', folder])
        await rm(folder, { recursive: true })
      },
    }
  }
  if (await succeeds('prlimit', '--pid', String(process.pid))) {
    return {
      folder,
      isWhole: false,
      fill: () => limit(folder, String(FILE_LIMIT)),
      free: () => limit(folder, 'unlimited'),
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  }
  await rm(folder, { recursive: true })
  return null
}

const succeeds = (program: string, ...args: string[]) =>
  run(program, args).then(
    () => true,
    () => false,
  )

async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (const part = Buffer.alloc(1024 * 1024); ;) await handle.appendFile(part)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error
  } finally {
    await handle.close()
  }
}

/** The soft limit of Postgres and of all its processes; new ones inherit it. Its own user may set it. */
async function limit(folder: string, bytes: string): Promise<void> {
  const { pid } = await postmasterOf(folder)
  const { uid, gid } = await stat(join(folder, 'postgres'))
  const as = process.getuid?.() === 0 ? { uid, gid } : {}
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`], as)
  for (const child of await childrenOf(pid)) {
    // It may have ended meanwhile.
    await run('prlimit', ['--pid', String(child), `--fsize=${bytes}:`], as).catch(() => {})
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  const children: number[] = []
  for (const name of await readdir('/proc')) {
    const status = /^\d+$/.test(name) ? await readFile(`/proc/${name}/status`, 'utf8').catch(() => '') : ''
    if (Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]) === parent) children.push(Number(name))
  }
  return children
}

/** Makes the tables larger than a file may be under the limit. */
export async function outgrowLimit(databaseUrl: string): Promise<void> {
  await query(databaseUrl, async (sql) => {
    const [{ name }] = (await sql`
      select to_char(now() at time zone 'UTC', '"events_"YYYYMMDD') as name`) as unknown as [{ name: string }]
    await sql.unsafe(`alter table ${name} alter column input set storage plain`)
    await sql`
      insert into sessions (id, project_id, platform, external_id, status, first_seen_at, last_event_at, event_count,
        error_count, llm_calls, tool_calls, unpriced_calls, tokens_estimated, models, coverage, revision, content_revision)
      values (gen_random_uuid(), 1, 'PLATFORM_A', 'large', 'RUNNING', now(), now(), 2500, 0, 0, 0, 0, false, '{}', '[]', 1, 1)`
    await sql`
      insert into events (session_id, day, event_key, revision, order_us, sequence, place, type, input, tokens_estimated,
        received_at, skewed, masked)
      select s.id, (now() at time zone 'UTC')::date, gen_random_uuid(), 1, 1, 1, n, 'SPAN', repeat('x', 7800), false, now(),
        false, false
      from sessions s, generate_series(1, 2500) n where s.external_id = 'large'`
  })
}
