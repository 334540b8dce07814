// Who may sign in, and as what: what admins see of people and change about them. There is always an admin.
import type { Sql } from '../database/connect.ts'
import { Problem } from '../errors.ts'
import type { Person, Role } from './people.ts'

export interface ListedPerson extends Person {
  createdAt: Date
  /** within a minute; null where they never were */
  lastSeenAt: Date | null
  /** in how many they are signed in */
  browsers: number
  isLastAdmin: boolean
  /** until when a link to set a new password is open; null where there is none */
  newPasswordUntil: Date | null
}

/** Why a change about somebody was not made. */
export type RosterRefusal = 'not-there' | 'last-admin'

/** Changes about people happen one after the other, over all servers: two at once could leave no admin. */
const lockPeople = (tx: Sql) => tx`select pg_advisory_xact_lock(hashtextextended('changes about people', 0))`

/**
 * Runs changes about people alone, for somebody who is an admin at that moment.
 * @throws Problem forbidden where they are none any more
 */
export async function asAdmin<T>(sql: Sql, adminId: string, change: (tx: Sql) => Promise<T>): Promise<T> {
  return (await sql.begin(async (begun) => {
    const tx = begun as unknown as Sql
    await lockPeople(tx)
    const [admin] = await tx`select id from people where id = ${adminId} and role = 'ADMIN' for share`
    if (!admin) throw new Problem('forbidden', 'Only a signed-in admin may do this.')
    return await change(tx)
  })) as T
}

export class Roster {
  constructor(private readonly sql: Sql) {}

  /** All people, those who joined first at the top. */
  list(): Promise<ListedPerson[]> {
    return readPeople(this.sql, null)
  }

  async read(id: string): Promise<ListedPerson | null> {
    return (await readPeople(this.sql, id))[0] ?? null
  }

  setRole(adminId: string, id: string, role: Role): Promise<ListedPerson | RosterRefusal> {
    return asAdmin(this.sql, adminId, async (tx) => {
      const [person] = await readPeople(tx, id)
      if (!person) return 'not-there'
      if (person.isLastAdmin && role !== 'ADMIN') return 'last-admin'
      await tx`update people set role = ${role} where id = ${id}`
      if (role !== 'ADMIN') await withdrawLinksOf(tx, id)
      return (await readPeople(tx, id))[0]!
    })
  }

  /** Ends all of somebody's access for good. */
  remove(adminId: string, id: string): Promise<'removed' | RosterRefusal> {
    return asAdmin(this.sql, adminId, async (tx) => {
      const [person] = await readPeople(tx, id)
      if (!person) return 'not-there'
      if (person.isLastAdmin) return 'last-admin'
      await tx`select from people where id = ${id} for update`
      await withdrawLinksOf(tx, id)
      await tx`update access_links set ended_as = 'WITHDRAWN' where person_id = ${id} and ended_as is null`
      await tx`delete from people where id = ${id}`
      return 'removed'
    })
  }

  /** Signs somebody out in every browser; the password stays. */
  signOut(adminId: string, id: string): Promise<ListedPerson | RosterRefusal> {
    return asAdmin(this.sql, adminId, async (tx) => {
      await tx`delete from sign_ins where person_id = ${id}`
      return (await readPeople(tx, id))[0] ?? 'not-there'
    })
  }
}

/** What somebody handed out as an admin must not let anyone in after they are none. */
const withdrawLinksOf = (tx: Sql, adminId: string) =>
  tx`update access_links set ended_as = 'WITHDRAWN' where made_by = ${adminId} and ended_as is null`

async function readPeople(sql: Sql, id: string | null): Promise<ListedPerson[]> {
  const rows = await sql`
    select p.id, p.email, p.role, p.created_at, p.last_seen_at,
      (select count(*)::int from sign_ins s where s.person_id = p.id and s.expires_at > now()) as browsers,
      p.role = 'ADMIN' and not exists (select from people o where o.role = 'ADMIN' and o.id <> p.id) as is_last_admin,
      (select l.expires_at from access_links l
        where l.person_id = p.id and l.ended_as is null and l.expires_at > now()) as new_password_until
    from people p where ${id}::uuid is null or p.id = ${id}::uuid order by p.created_at, p.id`
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    role: row.role,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    browsers: row.browsers,
    isLastAdmin: row.is_last_admin,
    newPasswordUntil: row.new_password_until,
  }))
}
