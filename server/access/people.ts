// People who sign in: passwords, signed-in browsers, and the one-time link that makes the first admin.
import { createHash, randomBytes, randomUUID, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Sql } from '../database/connect.ts'
import { Problem } from '../errors.ts'

export type Role = 'ADMIN' | 'VIEWER'
export interface Person {
  id: string
  email: string
  role: Role
}

export const MIN_PASSWORD_LENGTH = 12
const SIGN_IN_DAYS = 30
const SCRYPT = { N: 16_384, r: 8, p: 1, keyLength: 32 }

const scrypt = promisify(scryptCallback) as (
  password: string,
  salt: Buffer,
  length: number,
  options: object,
) => Promise<Buffer>
const hashOf = (token: string) => createHash('sha256').update(token).digest()
const newToken = () => randomBytes(32).toString('base64url')

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await scrypt(password.normalize('NFKC'), salt, SCRYPT.keyLength, SCRYPT)
  return `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`
}

async function isPassword(password: string, stored: string): Promise<boolean> {
  const [, salt, hash] = stored.split('$')
  const expected = Buffer.from(hash!, 'base64')
  const actual = await scrypt(password.normalize('NFKC'), Buffer.from(salt!, 'base64'), expected.length, SCRYPT)
  return timingSafeEqual(actual, expected)
}

/** Compared against where no such person exists, so that both answers take the same time. */
const NOBODY = `scrypt$${Buffer.alloc(16).toString('base64')}$${Buffer.alloc(SCRYPT.keyLength).toString('base64')}`

export class People {
  constructor(private readonly sql: Sql) {}

  async hasAdmin(): Promise<boolean> {
    const [row] = await this.sql`select exists (select from people where role = 'ADMIN') as found`
    return row!.found
  }

  /** A new one-time token for the first admin; earlier ones stop working. Null where an admin exists. */
  async newSetUpToken(): Promise<string | null> {
    if (await this.hasAdmin()) return null
    const token = newToken()
    await this.sql.begin(async (tx) => {
      await tx`delete from set_up_links`
      await tx`insert into set_up_links (token_hash) values (${hashOf(token)})`
    })
    return token
  }

  /** @throws Problem forbidden where the link was used or replaced */
  async setUp(token: string, email: string, password: string): Promise<Person> {
    checkPassword(password)
    const hash = await hashPassword(password)
    return await this.sql.begin(async (tx) => {
      const [link] = await tx`delete from set_up_links where token_hash = ${hashOf(token)} returning 1 as used`
      if (!link)
        throw new Problem(
          'forbidden',
          'This link was used already or has been replaced. Start the server again to get a new one.',
        )
      return insertPerson(tx as unknown as Sql, email, hash, 'ADMIN')
    })
  }

  /** Makes or resets an admin without a link: at start from the environment, or from the command line. */
  async setAdmin(email: string, password: string, options: { onlyIfNone: boolean }): Promise<void> {
    checkPassword(password)
    if (options.onlyIfNone && (await this.hasAdmin())) return
    const hash = await hashPassword(password)
    const [found] = await this
      .sql`update people set password_hash = ${hash}, role = 'ADMIN' where lower(email) = lower(${email}) returning id`
    if (found) await this.sql`delete from sign_ins where person_id = ${found.id}`
    // Of two servers that start at once one makes it.
    else {
      await this.sql`
        insert into people (id, email, password_hash, role) values (${randomUUID()}, ${email}, ${hash}, 'ADMIN') on conflict do nothing`
    }
    await this.sql`delete from set_up_links`
  }

  /** @throws Problem not_signed_in where e-mail or password are wrong; which of them is not said */
  async signIn(email: string, password: string): Promise<{ person: Person; token: string }> {
    const [row] = await this.sql`select id, email, role, password_hash from people where lower(email) = lower(${email})`
    const isRight = await isPassword(password, row?.password_hash ?? NOBODY)
    if (!row || !isRight) throw new Problem('not_signed_in', 'E-mail or password is not right.')
    const person = { id: row.id, email: row.email, role: row.role }
    return { person, token: await this.newSignIn(person) }
  }

  async newSignIn(person: Person): Promise<string> {
    const token = newToken()
    await this.sql`delete from sign_ins where expires_at < now()`
    await this.sql`
      insert into sign_ins (token_hash, person_id, expires_at)
      values (${hashOf(token)}, ${person.id}, now() + make_interval(days => ${SIGN_IN_DAYS}))`
    return token
  }

  async signOut(token: string): Promise<void> {
    await this.sql`delete from sign_ins where token_hash = ${hashOf(token)}`
  }

  async find(token: string): Promise<Person | null> {
    const [row] = await this.sql`
      select p.id, p.email, p.role from sign_ins s join people p on p.id = s.person_id
      where s.token_hash = ${hashOf(token)} and s.expires_at > now()`
    return row ? { id: row.id, email: row.email, role: row.role } : null
  }
}

function checkPassword(password: string): void {
  if (password.length >= MIN_PASSWORD_LENGTH) return
  const detail = `password must have at least ${MIN_PASSWORD_LENGTH} characters, not ${password.length}.`
  throw new Problem('invalid_payload', detail, [{ pointer: '/password', field: 'password', code: 'too_short', detail }])
}

async function insertPerson(sql: Sql, email: string, passwordHash: string, role: Role): Promise<Person> {
  const id = randomUUID()
  await sql`insert into people (id, email, password_hash, role) values (${id}, ${email}, ${passwordHash}, ${role})`
  return { id, email, role }
}
