// One-time links that an admin hands over: an invitation, or one to set a new password. Runwatch sends no mail itself.
import { randomUUID } from 'node:crypto'
import type { Sql } from '../database/connect.ts'
import { Problem } from '../errors.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import { endAccess, hashOf, insertPerson, newToken, type Person, type Role } from './people.ts'
import { asAdmin } from './roster.ts'

export type LinkKind = 'INVITATION' | 'NEW_PASSWORD'

export interface Invitation {
  id: string
  email: string
  role: Role
  /** e-mail of who made it */
  madeBy: string
  createdAt: Date
  expiresAt: Date
}

/** What somebody sees of the link that they opened. */
export interface OpenedLink {
  kind: LinkKind
  email: string
  role: Role
  expiresAt: Date
}

/** hours; a link that opens an account with data in it is kept open for a shorter time */
export const LINK_HOURS: Record<LinkKind, number> = { INVITATION: 7 * 24, NEW_PASSWORD: 24 }
/** An ended or expired link is remembered for so long, to say why it does nothing. */
const REMEMBERED_DAYS = 30

type Row = Record<string, any>

export class AccessLinks {
  constructor(private readonly sql: Sql) {}

  /** Those that wait to be used, the newest first; also those that expired within the last 30 days. */
  async invitations(): Promise<Invitation[]> {
    const rows = await this.sql`
      select * from access_links where kind = 'INVITATION' and ended_as is null
        and expires_at > now() - make_interval(days => ${REMEMBERED_DAYS}) order by created_at desc, id`
    return rows.map(invitationOf)
  }

  async invitation(id: string): Promise<Invitation | null> {
    const [row] = await this.sql`
      select * from access_links where id = ${id} and kind = 'INVITATION' and ended_as is null`
    return row ? invitationOf(row) : null
  }

  /** @returns the invitation and, this once, its token; null where this e-mail has an account */
  invite(admin: Person, email: string, role: Role): Promise<{ invitation: Invitation; token: string } | null> {
    return asAdmin(this.sql, admin.id, async (tx) => {
      const [known] = await tx`select id from people where lower(email) = lower(${email})`
      if (known) return null
      const { row, token } = await makeLink(tx, { kind: 'INVITATION', email, role, personId: null, admin })
      return { invitation: invitationOf(row), token }
    })
  }

  /** @returns whether there was one to withdraw */
  withdraw(adminId: string, id: string): Promise<boolean> {
    return asAdmin(this.sql, adminId, async (tx) => {
      const [ended] = await tx`
        update access_links set ended_as = 'WITHDRAWN'
        where id = ${id} and kind = 'INVITATION' and ended_as is null returning id`
      return ended !== undefined
    })
  }

  /** @returns the token, this once; null where there is no such person */
  newPassword(admin: Person, personId: string): Promise<{ token: string; expiresAt: Date } | null> {
    return asAdmin(this.sql, admin.id, async (tx) => {
      const [person] = await tx`select email, role from people where id = ${personId}`
      if (!person) return null
      const { email, role } = person as { email: string; role: Role }
      const { row, token } = await makeLink(tx, { kind: 'NEW_PASSWORD', email, role, personId, admin })
      return { token, expiresAt: row.expires_at }
    })
  }

  /**
   * What a link is for. It stays unused.
   * @throws Problem forbidden, with why, where it does nothing any more
   */
  async open(token: string): Promise<OpenedLink> {
    const row = openOrThrow(await linkOf(this.sql, token))
    if (row.kind === 'INVITATION') await refuseKnown(this.sql, row.email)
    return { kind: row.kind, email: row.email, role: row.role, expiresAt: row.expires_at }
  }

  /**
   * Uses a link up: who was invited joins, or the new password holds and ends what the old one had opened.
   * @throws Problem forbidden, with why, where it does nothing any more; invalid_payload where the password is too short
   */
  async use(token: string, password: string): Promise<Person> {
    checkPassword(password)
    await this.open(token)
    const hash = await hashPassword(password)
    return (await this.sql.begin(async (begun) => {
      const tx = begun as unknown as Sql
      // Of two at once the second waits here, and hears that it was used. People first, as wherever both are locked.
      await tx`select from people where id = (select person_id from access_links where token_hash = ${hashOf(token)}) for update`
      const row = openOrThrow(await linkOf(tx, token, true))
      await tx`update access_links set ended_as = 'USED' where id = ${row.id}`
      if (row.kind === 'NEW_PASSWORD') return setPassword(tx, row.person_id, hash)
      return join(tx, row, hash)
    })) as Person
  }
}

async function join(tx: Sql, { email, role }: Row, hash: string): Promise<Person> {
  await refuseKnown(tx, email)
  try {
    return await insertPerson(tx, email, hash, role)
  } catch (error) {
    // Somebody else made the account a moment ago.
    throw (error as { code?: string }).code === '23505' ? isKnown(email) : error
  }
}

async function setPassword(tx: Sql, personId: string, hash: string): Promise<Person> {
  const [person] = await tx`
    update people set password_hash = ${hash} where id = ${personId} returning id, email, role`
  await endAccess(tx, personId)
  return { id: person!.id, email: person!.email, role: person!.role }
}

const isKnown = (email: string) =>
  new Problem('forbidden', `There is an account for ${email} already. Sign in with its password.`)

async function refuseKnown(sql: Sql, email: string): Promise<void> {
  const [known] = await sql`select id from people where lower(email) = lower(${email})`
  if (known) throw isKnown(email)
}

async function linkOf(sql: Sql, token: string, locked = false): Promise<Row | undefined> {
  const [row] = await sql`
    select *, expires_at < now() as is_expired from access_links where token_hash = ${hashOf(token)}
    ${locked ? sql`for update` : sql``}`
  return row
}

async function makeLink(
  tx: Sql,
  link: { kind: LinkKind; email: string; role: Role; personId: string | null; admin: Person },
): Promise<{ row: Row; token: string }> {
  const token = newToken()
  await tx`delete from access_links where expires_at < now() - make_interval(days => ${REMEMBERED_DAYS})`
  await tx`
    update access_links set ended_as = 'REPLACED'
    where kind = ${link.kind} and lower(email) = lower(${link.email}) and ended_as is null`
  const [row] = await tx`
    insert into access_links (id, token_hash, kind, email, role, person_id, made_by, made_by_email, expires_at)
    values (${randomUUID()}, ${hashOf(token)}, ${link.kind}, ${link.email}, ${link.role}, ${link.personId},
      ${link.admin.id}, ${link.admin.email}, now() + make_interval(hours => ${LINK_HOURS[link.kind]}))
    returning *`
  return { row: row!, token }
}

/** Why a link does nothing, as the person who opened it reads it. */
const ENDED: Record<LinkKind, Record<'USED' | 'REPLACED' | 'WITHDRAWN' | 'EXPIRED', string>> = {
  INVITATION: {
    USED: 'This invitation was used already. Sign in with the password that was chosen then.',
    REPLACED: 'This invitation was replaced by a newer one. Open the newest link that you were given.',
    WITHDRAWN: 'This invitation was withdrawn. Ask an admin for a new one.',
    EXPIRED: 'This invitation has expired: it held for 7 days. Ask an admin for a new one.',
  },
  NEW_PASSWORD: {
    USED: 'This link was used already. Sign in with the new password, or ask an admin for another link.',
    REPLACED: 'This link was replaced by a newer one. Open the newest link that you were given.',
    WITHDRAWN: 'This link does not hold any more: the password was changed, or access was withdrawn. Ask an admin.',
    EXPIRED: 'This link has expired: it held for 24 hours. Ask an admin for another one.',
  },
}

function openOrThrow(row: Row | undefined): Row {
  if (!row)
    throw new Problem(
      'forbidden',
      'This link is not known. Copy it whole, to its last character, or ask for a new one.',
    )
  const end = row.ended_as ?? (row.is_expired ? 'EXPIRED' : null)
  if (end) throw new Problem('forbidden', ENDED[row.kind as LinkKind][end as 'USED'])
  return row
}

const invitationOf = (row: Row): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role,
  madeBy: row.made_by_email,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})
