// People beside the admin of the tests: invited, signed in, and what they may still do.
import { ADMIN, type TestServer } from './server.ts'

/** What everybody here signs in with. */
export const PASSWORD = ADMIN.password

export interface Reply {
  status: number
  body: any
  cookie: string
}

export function peopleStand(serverOf: () => TestServer) {
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
    const response = await fetch(`${serverOf().url}/api/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    return { status: response.status, body: text ? JSON.parse(text) : null, cookie }
  }
  const signIn = async (email: string, password = PASSWORD, headers = {}) =>
    (await post('sign-in', { email, password }, headers)).cookie
  /** Asks in somebody's name; answers the data, or the code and sentence of the refusal. */
  const ask = async (cookie: string, query: string, variables: object = {}) => {
    const { body } = await serverOf().graphql(query, variables, { cookie })
    const [error] = body.errors ?? []
    return error ? { code: error.extensions.code, message: error.message } : body.data
  }
  const invite = async (admin: string, email: string, role = 'VIEWER') =>
    ask(
      admin,
      `mutation ($email: String!, $role: Role!) {
        createInvitation(input: { email: $email, role: $role }) { link invitation { id email role madeBy expiresAt } } }`,
      { email, role },
    )
  const tokenOf = (link: string) => new URL(link).hash.slice('#token='.length)
  const people = async (admin: string) =>
    (await ask(admin, '{ people { id email role browsers isYou isLastAdmin lastSeenAt newPasswordUntil } }')).people
  const idOf = async (admin: string, email: string): Promise<string> =>
    (await people(admin)).find((one: { email: string }) => one.email === email).id
  return {
    post,
    signIn,
    ask,
    invite,
    tokenOf,
    people,
    idOf,
    /** @returns the cookie of somebody who joined by an invitation */
    join: async (admin: string, email: string, role = 'VIEWER') => {
      const { createInvitation } = await invite(admin, email, role)
      const { cookie } = await post('use-link', { token: tokenOf(createInvitation.link), password: PASSWORD })
      return cookie
    },
    setRole: async (admin: string, email: string, role: string) =>
      ask(admin, 'mutation ($id: ID!, $role: Role!) { setPersonRole(id: $id, role: $role) { email role } }', {
        id: await idOf(admin, email),
        role,
      }),
    remove: async (admin: string, email: string) =>
      ask(admin, 'mutation ($id: ID!) { removePerson(id: $id) }', { id: await idOf(admin, email) }),
    /** Whether a cookie opens anything. */
    mayAsk: async (cookie: string) => (await serverOf().graphql('{ viewer { email } }', {}, { cookie })).status === 200,
  }
}

/** A person, one who may go, and an invitation, whose e-mails are secret; with the arguments of what changes them. */
export async function secretPeople({ database, query }: TestServer, cookie: string) {
  await database.sql`
    insert into people (id, email, password_hash, role)
    select gen_random_uuid(), who || '@secret.example.com', 'none', 'VIEWER' from unnest(array['stays', 'goes']) who`
  const { people } = await query('{ people { id email } }', {}, { cookie })
  const idOf = (name: string): string => people.find(({ email }: { email: string }) => email.startsWith(name)).id
  const { createInvitation } = await query(
    'mutation { createInvitation(input: { email: "invited@secret.example.com", role: ADMIN }) { invitation { id } } }',
    {},
    { cookie },
  )
  const [person, invitation] = [idOf('stays'), createInvitation.invitation.id as string]
  const values = {
    'createInvitation.input': '{ email: "new@secret.example.com", role: VIEWER }',
    'withdrawInvitation.id': `"${invitation}"`,
    'setPersonRole.id': `"${person}"`,
    'setPersonRole.role': 'VIEWER',
    'signOutPerson.id': `"${person}"`,
    'createNewPasswordLink.id': `"${person}"`,
    'removePerson.id': `"${idOf('goes')}"`,
  }
  return { person, invitation, values }
}
