// Roles and removal: what changes at once for whoever it is about, and that there is always an admin.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { peopleStand } from '../support/people-stand.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { plainSocket } from '../support/socket.ts'

let server: TestServer
let second: TestServer
let admin: string
const stand = peopleStand(() => server)
const { ask, join, people, idOf, setRole, remove, mayAsk, signIn } = stand
beforeAll(async () => {
  server = await startServer({ env: { SIGN_IN_TRIES_PER_MINUTE: '1000' } })
  second = await startServer({ database: server.database })
  admin = await server.signIn()
})
afterAll(async () => {
  await second.stop()
  await server.stop()
})

/** A socket, on either server, that has been let in. */
async function socketOf(cookie: string, { url }: TestServer = server) {
  const socket = await plainSocket(url, { headers: { cookie } })
  const greeted = new Promise((resolve) => socket.socket.once('message', resolve))
  socket.send({ type: 'connection_init' })
  await greeted
  return socket
}

/** An open stream of server-sent events; `ended` resolves when the server ends it. */
async function streamOf(cookie: string): Promise<{ ended: Promise<void> }> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', cookie },
    body: JSON.stringify({ query: 'subscription { sessionChanged { resync } }' }),
  })
  const reader = response.body!.getReader()
  const read = async () => {
    while (!(await reader.read().catch(() => ({ done: true }))).done);
  }
  return { ended: read() }
}

const admins = async () =>
  (await server.database.sql`select email from people where role = 'ADMIN' order by email`).map((row) => row.email)
const onlyAdmin = () => server.database.sql`update people set role = 'VIEWER' where email <> ${ADMIN.email}`

describe('what changes at once', () => {
  test('a viewer who is made an admin, and back, connects again with the rights of then, on every server', async () => {
    const cookie = await join(admin, 'up-and-down@example.com')
    expect((await ask(cookie, '{ people { id } }')).code).toBe('FORBIDDEN')
    for (const role of ['ADMIN', 'VIEWER']) {
      const sockets = [await socketOf(cookie), await socketOf(cookie, second)]
      const others = await socketOf(admin)
      expect(await setRole(admin, 'up-and-down@example.com', role)).toEqual({
        setPersonRole: { email: 'up-and-down@example.com', role },
      })
      expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4423, 4423])
      expect(others.socket.readyState).toBe(others.socket.OPEN)
      others.socket.close()
      const answer = await ask(cookie, '{ people { id } }')
      expect(answer.code).toBe(role === 'ADMIN' ? undefined : 'FORBIDDEN')
    }
  })

  test('a stream ends with another role', async () => {
    const cookie = await join(admin, 'streaming@example.com')
    const { ended } = await streamOf(cookie)
    await setRole(admin, 'streaming@example.com', 'ADMIN')
    await ended
    await setRole(admin, 'streaming@example.com', 'VIEWER')
  })

  test('who is removed is signed out in every browser, on every server, and may be invited again', async () => {
    const email = 'removed@example.com'
    const cookies = [await join(admin, email), await signIn(email)]
    const sockets = [await socketOf(cookies[0]!), await socketOf(cookies[1]!, second)]
    const id = await idOf(admin, email)
    expect(await remove(admin, email)).toEqual({ removePerson: id })
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401])
    expect(await Promise.all(cookies.map(mayAsk))).toEqual([false, false])
    expect((await stand.post('sign-in', { email, password: ADMIN.password })).status).toBe(401)
    expect((await ask(admin, 'mutation ($id: ID!) { removePerson(id: $id) }', { id })).code).toBe('NOT_FOUND')
    expect(await mayAsk(await join(admin, email))).toBe(true)
  })

  test('who keeps asking where they are signed in cannot hold their removal up', async () => {
    const cookie = await join(admin, 'stays-on@example.com')
    // As a removal does: their row first, their sign-ins afterwards.
    await server.database.sql.begin(async (tx) => {
      const [person] = await tx`select id from people where email = 'stays-on@example.com' for update`
      expect((await ask(cookie, '{ signIns { isThis } }')).signIns).toEqual([{ isThis: true }])
      await tx`delete from people where id = ${person!.id}`
    })
    expect(await mayAsk(cookie)).toBe(false)
  })

  test('who is signed out everywhere by an admin may sign in again', async () => {
    const email = 'out@example.com'
    const cookie = await join(admin, email)
    const socket = await socketOf(cookie)
    const id = await idOf(admin, email)
    const { signOutPerson } = await ask(admin, 'mutation ($id: ID!) { signOutPerson(id: $id) { email browsers } }', {
      id,
    })
    expect(signOutPerson).toEqual({ email, browsers: 0 })
    expect(await socket.closed).toBe(4401)
    expect([await mayAsk(cookie), await mayAsk(await signIn(email))]).toEqual([false, true])
  })
})

test('the list says who is here, since when they were seen, in how many browsers, and which one is you', async () => {
  const email = 'listed@example.com'
  await join(admin, email)
  await signIn(email)
  const found = (await people(admin)).find((one: { email: string }) => one.email === email)
  expect(found).toMatchObject({ role: 'VIEWER', browsers: 2, isYou: false, isLastAdmin: false, newPasswordUntil: null })
  expect(Date.now() - Date.parse(found.lastSeenAt)).toBeLessThan(60_000)
  const [you] = (await people(admin)).filter((one: { isYou: boolean }) => one.isYou)
  expect(you.email).toBe(ADMIN.email)
})

describe('there is always an admin', () => {
  test('the last one is neither removed nor made a viewer, not by themself', async () => {
    await onlyAdmin()
    const [last] = (await people(admin)).filter((one: { isLastAdmin: boolean }) => one.isLastAdmin)
    expect(last.email).toBe(ADMIN.email)
    for (const answer of [await setRole(admin, ADMIN.email, 'VIEWER'), await remove(admin, ADMIN.email)])
      expect(answer).toEqual({
        code: 'CONFLICT',
        message: 'There is no other admin. Make somebody else an admin first.',
      })
    expect(await admins()).toEqual([ADMIN.email])
    expect(await setRole(admin, ADMIN.email, 'ADMIN')).toMatchObject({ setPersonRole: { role: 'ADMIN' } })
  })

  test.each(['removed', 'made viewers'])('of two who are %s by each other at once, one stays', async (what) => {
    for (let round = 0; round < 8; round++) {
      await onlyAdmin()
      const emails = [0, 1].map((n) => `pair-${what.length}-${round}-${n}@example.com`) as [string, string]
      const cookies = [await join(admin, emails[0], 'ADMIN'), await join(admin, emails[1], 'ADMIN')]
      const ids = await Promise.all(emails.map((email) => idOf(admin, email)))
      await server.database.sql`update people set role = 'VIEWER' where email = ${ADMIN.email}`
      const change = what === 'removed' ? 'removePerson(id: $id)' : 'setPersonRole(id: $id, role: VIEWER) { role }'
      const servers = [server, second]
      const answers = await Promise.all(
        cookies.map((cookie, n) =>
          servers[n]!.graphql(`mutation ($id: ID!) { ${change} }`, { id: ids[1 - n] }, { cookie }),
        ),
      )
      expect(answers.filter(({ body }) => !body.errors)).toHaveLength(1)
      expect(await admins()).toHaveLength(1)
      await server.database.sql`update people set role = 'ADMIN' where email = ${ADMIN.email}`
    }
  })

  test('of all who leave at once, one stays', async () => {
    await onlyAdmin()
    const emails = Array.from({ length: 5 }, (_, n) => `leaving-${n}@example.com`)
    const cookies: string[] = []
    for (const email of emails) cookies.push(await join(admin, email, 'ADMIN'))
    const ids = await Promise.all(emails.map((email) => idOf(admin, email)))
    await server.database.sql`update people set role = 'VIEWER' where email = ${ADMIN.email}`
    const answers = await Promise.all(
      cookies.map((cookie, n) => ask(cookie, 'mutation ($id: ID!) { removePerson(id: $id) }', { id: ids[n] })),
    )
    expect(answers.filter(({ code }) => code === 'CONFLICT')).toHaveLength(1)
    expect(await admins()).toHaveLength(1)
    await server.database.sql`update people set role = 'ADMIN' where email = ${ADMIN.email}`
  })
})

test('an admin who was made a viewer a moment ago changes nothing any more', async () => {
  const other = await join(admin, 'too-late@example.com', 'ADMIN')
  await stand.setRole(admin, 'too-late@example.com', 'VIEWER')
  for (const mutation of [
    'createInvitation(input: { email: "x@example.com", role: ADMIN }) { link }',
    `removePerson(id: "${await idOf(admin, ADMIN.email)}")`,
  ])
    expect((await ask(other, `mutation { ${mutation} }`)).code).toBe('FORBIDDEN')
})
