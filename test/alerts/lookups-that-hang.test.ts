// A receiver whose name cannot be looked up delays nobody else. Needs a Linux that lets a user have networks of his own.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const canIsolate = spawnSync('unshare', ['-rmn', 'ip', 'link', 'set', 'lo', 'up']).status === 0

test.skipIf(!canIsolate)(
  'while a name server is silent, a receiver that needs none is told',
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runwatch-lookups-'))
    const file = join(folder, 'resolv.conf')
    try {
      await writeFile(file, 'nameserver 127.0.0.1\n')
      const inside = `mount --bind ${file} /etc/resolv.conf && ip link set lo up && exec "$0" --import tsx test/support/hanging-lookups.ts`
      const { stdout } = await promisify(execFile)('unshare', ['-rmn', 'sh', '-c', inside, process.execPath], {
        cwd: ROOT,
      })
      expect(JSON.parse(stdout)).toMatchObject({ isDelivered: true, status: 200 })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
)
