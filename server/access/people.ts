// People who sign in: signed-in browsers, own passwords, and the one-time link that makes the first admin.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Sql } from '../database/connect.ts'
import { Problem } from '../errors.ts'
import { checkPassword, fieldProblem, hashPassword, isPassword } from './passwords.ts'

export type Role = 'ADMIN' | 'VIEWER'
export interface Person {
  id: string
  email: string
  role: Role
}

/** One browser in which somebody is signed in. */
export interface SignIn {
  signedInAt: Date
  /** within a minute */
  lastUsedAt: Date
  /** what it calls itself; null where that says nothing */
  browser: string | null
  isThis: boolean
}

const SIGN_IN_DAYS = 30
const EMAIL = /^[^\s\p{C}]+@[^\s\p{C}]+$/u
export const MAX_EMAIL = 200

export const hashOf = (token: string) => createHash('sha256').update(token).digest()
/** 256 bits of chance. */
export const newToken = () => randomBytes(32).toString('base64url')
export const isEmail = (text: string) => text.length >= 3 && text.length <= MAX_EMAIL && EMAIL.test(text)
export const wrongCredentials = () => new Problem('not_signed_in', 'E-mail or password is not right.')

export class People {
  /** hex of the token's hash -> when it was used, until that is written */
  private used = new Map<string, number>()

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
    if (found) await endAccess(this.sql, found.id)
    // Of two servers that start at once one makes it.
    else {
      await this.sql`
        insert into people (id, email, password_hash, role) values (${randomUUID()}, ${email}, ${hash}, 'ADMIN') on conflict do nothing`
    }
    await this.sql`delete from set_up_links`
  }

  /**
   * @param browser what it is called in the list of signed-in browsers
   * @throws Problem not_signed_in where e-mail or password are wrong; which of them is not said
   */
  async signIn(email: string, password: string, browser: string | null): Promise<{ person: Person; token: string }> {
    const [row] = await this.sql`select id, email, role, password_hash from people where lower(email) = lower(${email})`
    const isRight = await isPassword(password, row?.password_hash ?? null)
    if (!row || !isRight) throw wrongCredentials()
    const person = { id: row.id, email: row.email, role: row.role }
    return { person, token: await this.newSignIn(person.id, browser, row.password_hash) }
  }

  /**
   * @param passwordHash what was compared: it may have been changed, or the person removed, while that went on
   * @throws Problem not_signed_in
   */
  async newSignIn(personId: string, browser: string | null, passwordHash: string | null = null): Promise<string> {
    const token = newToken()
    await this.sql`delete from sign_ins where expires_at < now()`
    // Whoever changes the password holds this row, and ends the sign-ins that are there afterwards.
    const [made] = await this.sql`
      with person as (
        select id from people
        where id = ${personId} and (${passwordHash}::text is null or password_hash = ${passwordHash}) for share)
      insert into sign_ins (token_hash, person_id, browser, expires_at)
      select ${hashOf(token)}, id, ${browser}, now() + make_interval(days => ${SIGN_IN_DAYS}) from person returning 1 as made`
    if (!made) throw wrongCredentials()
    await this.sql`update people set last_seen_at = now() where id = ${personId}`
    return token
  }

  async signOut(token: string): Promise<void> {
    await this.sql`delete from sign_ins where token_hash = ${hashOf(token)}`
  }

  /** @returns how many browsers that were */
  async signOutElsewhere(token: string): Promise<number> {
    const hash = hashOf(token)
    const ended = await this.sql`
      delete from sign_ins where token_hash <> ${hash} and person_id = (select person_id from sign_ins where token_hash = ${hash})
      returning expires_at > now() as was_open`
    return ended.filter((row) => row.was_open).length
  }

  async find(token: string): Promise<Person | null> {
    const hash = hashOf(token)
    const [row] = await this.sql`
      select p.id, p.email, p.role from sign_ins s join people p on p.id = s.person_id
      where s.token_hash = ${hash} and s.expires_at > now()`
    if (!row) return null
    this.used.set(hash.toString('hex'), Date.now())
    return { id: row.id, email: row.email, role: row.role }
  }

  /** The browsers in which somebody is signed in, this one first, then the last used. */
  async signIns(personId: string, token: string): Promise<SignIn[]> {
    await this.flushLastSeen()
    const rows = await this.sql`
      select created_at, last_used_at, browser, token_hash = ${hashOf(token)} as is_this from sign_ins
      where person_id = ${personId} and expires_at > now() order by is_this desc, last_used_at desc, created_at desc`
    return rows.map((row) => ({
      signedInAt: row.created_at,
      lastUsedAt: row.last_used_at,
      browser: row.browser,
      isThis: row.is_this,
    }))
  }

  /**
   * Changes somebody's own password and signs them out in all other browsers.
   * @returns how many browsers that were
   * @throws Problem invalid_payload where the old one is wrong or the new one cannot be taken
   */
  async changePassword(token: string, oldPassword: string, newPassword: string): Promise<number> {
    checkPassword(newPassword, 'newPassword')
    const [row] = await this.sql`
      select p.id, p.password_hash from sign_ins s join people p on p.id = s.person_id
      where s.token_hash = ${hashOf(token)} and s.expires_at > now()`
    if (!row) throw new Problem('not_signed_in', 'You are signed out.')
    if (!(await isPassword(oldPassword, row.password_hash)))
      throw fieldProblem('oldPassword', 'wrong', 'oldPassword is not your current password.')
    if (await isPassword(newPassword, row.password_hash))
      throw fieldProblem('newPassword', 'same', 'newPassword must differ from the old one.')
    const hash = await hashPassword(newPassword)
    return await this.sql.begin(async (tx) => {
      const [changed] = await tx`
        update people set password_hash = ${hash} where id = ${row.id} and password_hash = ${row.password_hash} returning id`
      if (!changed) throw new Problem('not_signed_in', 'Your password was changed elsewhere meanwhile. Sign in again.')
      return endAccess(tx as unknown as Sql, row.id, token)
    })
  }

  /**
   * Writes when people were last seen; who asks does not wait for it. Somebody whose row is held at this moment is left for
   * the next time: to wait for it with their sign-ins locked would keep them from being removed.
   */
  async flushLastSeen(): Promise<void> {
    const used = [...this.used]
    this.used.clear()
    if (used.length === 0) return
    const left = await this.sql`
      with asked as materialized (
        select s.token_hash, s.person_id, u.hash, u.at
        from unnest(${used.map(([hash]) => hash)}::text[], ${used.map(([, at]) => new Date(at).toISOString())}::timestamptz[]) as u (hash, at)
        join sign_ins s on s.token_hash = decode(u.hash, 'hex')
      ), free as materialized (
        select id from people where id in (select person_id from asked) for no key update skip locked
      ), used as (
        update sign_ins s set last_used_at = greatest(s.last_used_at, a.at)
        from asked a where s.token_hash = a.token_hash and a.person_id in (select id from free)
        returning s.person_id, s.last_used_at
      ), seen as (
        update people p set last_seen_at = greatest(p.last_seen_at, u.at)
        from (select person_id, max(last_used_at) as at from used group by person_id) u where p.id = u.person_id)
      select hash, at from asked where person_id not in (select id from free)`
    for (const { hash, at } of left) this.used.set(hash, Math.max(at.getTime(), this.used.get(hash) ?? 0))
  }
}

/**
 * What a new password ends: the browsers that are signed in with the old one, and links to set another.
 * @param exceptToken of the browser that stays
 * @returns how many browsers were signed out
 */
export async function endAccess(sql: Sql, personId: string, exceptToken?: string): Promise<number> {
  const except = exceptToken === undefined ? Buffer.alloc(0) : hashOf(exceptToken)
  const ended = await sql`
    delete from sign_ins where person_id = ${personId} and token_hash <> ${except} returning expires_at > now() as was_open`
  await sql`update access_links set ended_as = 'WITHDRAWN' where person_id = ${personId} and ended_as is null`
  return ended.filter((row) => row.was_open).length
}

export async function insertPerson(sql: Sql, email: string, passwordHash: string, role: Role): Promise<Person> {
  const id = randomUUID()
  await sql`insert into people (id, email, password_hash, role) values (${id}, ${email}, ${passwordHash}, ${role})`
  return { id, email, role }
}
