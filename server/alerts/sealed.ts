// Secrets that must be used again and so cannot be hashed: sealed with SECRET_KEY before they are stored.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const MIN_LENGTH = 16

export class SealError extends Error {}

/** AES-256-GCM; what was sealed for one owner cannot be opened as another's. */
export class Seal {
  private readonly key: Buffer

  constructor(secretKey: string) {
    this.key = Buffer.from(hkdfSync('sha256', secretKey, 'runwatch', 'channels', 32))
  }

  seal(text: string, owner: string): string {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(owner))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  /** @throws SealError with a sentence where it was sealed with another key */
  open(sealed: string, owner: string): string {
    const bytes = Buffer.from(sealed, 'base64url')
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, 12))
      decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    } catch {
      throw new SealError(
        'Its address was sealed with another SECRET_KEY than this server has. Give all servers the same, or set the address again.',
      )
    }
  }
}

/**
 * The key of the setting, else the one in the data folder, made at the first start.
 * @throws SealError with a sentence where neither can be had
 */
export async function openSeal(secretKey: string | null, dataDir: string): Promise<Seal> {
  if (secretKey !== null) return new Seal(secretKey)
  const file = join(dataDir, 'secret-key')
  try {
    return new Seal((await readKey(file)) ?? (await makeKey(file)))
  } catch (error) {
    if (error instanceof SealError) throw error
    throw new SealError(
      `SECRET_KEY is not set, and a key cannot be kept in ${file} (${(error as Error).message}). Set SECRET_KEY to 32 random characters or more.`,
    )
  }
}

async function readKey(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null || text.trim().length >= MIN_LENGTH) return text && text.trim()
  throw new SealError(
    `${file} holds no whole key. Put it back from a copy; or delete it to have one made, and set the addresses of all channels again.`,
  )
}

async function makeKey(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true })
  const own = `${file}.${randomUUID()}`
  await writeFile(own, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  // Whole or not at all, and of two servers that start at once the first one's.
  await link(own, file)
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    .finally(() => unlink(own))
  return (await readKey(file))!
}
