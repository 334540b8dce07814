// Folders for data, as a project's usually are.
import { chmod, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder that every user may pass through: as root, Postgres runs as another one. */
export async function openFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'runwatch-test-')))
  await chmod(folder, 0o755)
  return folder
}
