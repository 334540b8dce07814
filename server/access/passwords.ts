// Passwords: how long they must be, how they are kept, and how one is compared.
import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Problem } from '../errors.ts'

export const MIN_PASSWORD_LENGTH = 12
const SCRYPT = { N: 16_384, r: 8, p: 1, keyLength: 32 }

const scrypt = promisify(scryptCallback) as (
  password: string,
  salt: Buffer,
  length: number,
  options: object,
) => Promise<Buffer>

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await scrypt(password.normalize('NFKC'), salt, SCRYPT.keyLength, SCRYPT)
  return `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`
}

/** @param stored null where there is no such person: the answer takes the same time then */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, salt, hash] = (stored ?? NOBODY).split('$')
  const expected = Buffer.from(hash!, 'base64')
  const actual = await scrypt(password.normalize('NFKC'), Buffer.from(salt!, 'base64'), expected.length, SCRYPT)
  return timingSafeEqual(actual, expected)
}

const NOBODY = `scrypt$${Buffer.alloc(16).toString('base64')}$${Buffer.alloc(SCRYPT.keyLength).toString('base64')}`

/** @throws Problem invalid_payload where it is too short */
export function checkPassword(password: string, field = 'password'): void {
  if (password.length >= MIN_PASSWORD_LENGTH) return
  throw fieldProblem(
    field,
    'too_short',
    `${field} must have at least ${MIN_PASSWORD_LENGTH} characters, not ${password.length}.`,
  )
}

export const fieldProblem = (field: string, code: string, detail: string) =>
  new Problem('invalid_payload', detail, [{ pointer: `/${field}`, field, code, detail }])
