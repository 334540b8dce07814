// One-time links of admins: to join, and to set a new password; and why a link does nothing any more.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { PASSWORD, peopleStand } from '../support/people-stand.ts'

let server: TestServer
let admin: string
const stand = peopleStand(() => server)
const { post, ask, invite, tokenOf, people, idOf, join, mayAsk } = stand
beforeAll(async () => {
  server = await startServer({ env: { SIGN_IN_TRIES_PER_MINUTE: '1000', PUBLIC_URL: 'https://runwatch.example.com' } })
  admin = await server.signIn()
})
afterAll(() => server.stop())

const newLink = async (email: string) => tokenOf((await invite(admin, email)).createInvitation.link)
const newPasswordLink = async (email: string) => {
  const id = await idOf(admin, email)
  return tokenOf(
    (await ask(admin, 'mutation ($id: ID!) { createNewPasswordLink(id: $id) { link } }', { id })).createNewPasswordLink
      .link,
  )
}
const openInvitations = async () => (await ask(admin, '{ invitations { id email } }')).invitations
const withdraw = async (email: string) => {
  const { id } = (await openInvitations()).find((one: { email: string }) => one.email === email)
  return ask(admin, 'mutation ($id: ID!) { withdrawInvitation(id: $id) }', { id })
}
/** What whoever opens it hears. */
const refusalOf = async (token: string) => {
  const answers = [await post('link', { token }), await post('use-link', { token, password: PASSWORD })]
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(2).fill([403, 'forbidden']))
  expect(answers[0]!.body.detail).toBe(answers[1]!.body.detail)
  return answers[0]!.body.detail
}

test('an invitation says for whom it is, lets them choose a password, signs them in, and works once', async () => {
  const { createInvitation } = await invite(admin, ' New.Person@Example.com ')
  const { link, invitation } = createInvitation
  expect(link).toMatch(/^https:\/\/runwatch\.example\.com\/invitation#token=[\w-]{43}$/)
  expect(invitation).toMatchObject({ email: 'New.Person@Example.com', role: 'VIEWER', madeBy: ADMIN.email })
  const days = (Date.parse(invitation.expiresAt) - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(6.99)
  expect(days).toBeLessThanOrEqual(7)
  const token = tokenOf(link)
  const stored = JSON.stringify(await server.database.sql`select * from access_links`)
  expect(stored).not.toContain(token)
  expect((await openInvitations()).map((one: { email: string }) => one.email)).toEqual(['New.Person@Example.com'])

  const opened = await post('link', { token })
  expect(opened.body).toEqual({
    kind: 'INVITATION',
    email: 'New.Person@Example.com',
    role: 'VIEWER',
    expiresAt: invitation.expiresAt,
  })
  const weak = await post('use-link', { token, password: 'short' })
  expect([weak.status, weak.body.errors[0].field, weak.cookie]).toEqual([422, 'password', ''])
  const { body, cookie } = await post('use-link', { token, password: PASSWORD })
  expect(body).toEqual({ person: { email: 'New.Person@Example.com', role: 'VIEWER' } })
  expect(await mayAsk(cookie)).toBe(true)
  expect(await mayAsk(await stand.signIn('new.person@example.com'))).toBe(true)
  expect(await openInvitations()).toEqual([])
  expect(await refusalOf(token)).toMatch(/used already/)
})

test('of many who use one link at once, one joins', async () => {
  const token = await newLink('race@example.com')
  const answers = await Promise.all(Array.from({ length: 8 }, () => post('use-link', { token, password: PASSWORD })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(403)])
  expect((await people(admin)).filter((one: { email: string }) => one.email === 'race@example.com')).toHaveLength(1)
})

describe('a link does nothing and says why, when', () => {
  test('a newer one replaced it, whatever the case of the e-mail', async () => {
    const old = await newLink('twice@example.com')
    const fresh = await newLink('TWICE@example.com')
    expect(await refusalOf(old)).toMatch(/replaced by a newer one/)
    expect((await post('link', { token: fresh })).status).toBe(200)
  })

  test('several admins invite the same e-mail at once: one link is open', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => newLink('many@example.com')))
    const statuses = await Promise.all(made.map(async (token) => (await post('link', { token })).status))
    expect(statuses.toSorted()).toEqual([200, ...Array(5).fill(403)])
  })

  test('it was withdrawn', async () => {
    const token = await newLink('withdrawn@example.com')
    await withdraw('withdrawn@example.com')
    expect(await refusalOf(token)).toMatch(/was withdrawn/)
  })

  test('it expired', async () => {
    const token = await newLink('late@example.com')
    await server.database
      .sql`update access_links set expires_at = now() - interval '1 s' where email = 'late@example.com'`
    expect(await refusalOf(token)).toMatch(/has expired: it held for 7 days/)
    await withdraw('late@example.com')
  })

  test('the e-mail has an account meanwhile', async () => {
    const token = await newLink('meanwhile@example.com')
    await server.database.sql`
      insert into people (id, email, password_hash, role) select gen_random_uuid(), 'Meanwhile@example.com', password_hash, 'VIEWER'
      from people where email = ${ADMIN.email}`
    expect(await refusalOf(token)).toMatch(/There is an account for meanwhile@example\.com already/)
  })

  test('it is none', async () => {
    expect(await refusalOf('x'.repeat(43))).toMatch(/is not known/)
  })

  test('whoever made it is no admin any more', async () => {
    const other = await join(admin, 'other-admin@example.com', 'ADMIN')
    const token = tokenOf((await invite(other, 'friend@example.com', 'ADMIN')).createInvitation.link)
    await stand.setRole(admin, 'other-admin@example.com', 'VIEWER')
    expect(await refusalOf(token)).toMatch(/was withdrawn/)
  })
})

test.each([
  ['an e-mail that has an account', ADMIN.email.toUpperCase(), /has one/],
  ['no e-mail', 'nobody', /email must be an e-mail address of at most 200 characters, not "nobody"/],
  ['an e-mail with a sign that cannot be stored', 'a@b\u0000', /email must be/],
  ['a long e-mail', `${'a'.repeat(300)}@example.com`, /email must be/],
])('%s is not invited, and the field is named', async (_what, email, sentence) => {
  const { code, message } = await invite(admin, email)
  expect(code).toBe('BAD_USER_INPUT')
  expect(message).toMatch(sentence)
})

describe('a link for a new password', () => {
  test('sets it once, ends every browser of the old one, and other such links', async () => {
    const email = 'forgot@example.com'
    const before = await join(admin, email)
    const replaced = await newPasswordLink(email)
    const token = await newPasswordLink(email)
    expect(await refusalOf(replaced)).toMatch(/replaced by a newer one/)
    expect((await people(admin)).find((one: { email: string }) => one.email === email).newPasswordUntil).not.toBeNull()
    expect((await post('link', { token })).body).toMatchObject({ kind: 'NEW_PASSWORD', email })
    expect(await mayAsk(before)).toBe(true)
    const chosen = 'a password that was not there'
    const { cookie } = await post('use-link', { token, password: chosen })
    expect([await mayAsk(before), await mayAsk(cookie)]).toEqual([false, true])
    expect((await post('sign-in', { email, password: PASSWORD })).status).toBe(401)
    expect(await mayAsk(await stand.signIn(email, chosen))).toBe(true)
    expect(await refusalOf(token)).toMatch(/used already/)
  })

  test('ends when the password is changed with the old one, and with the person', async () => {
    const email = 'remembered@example.com'
    const cookie = await join(admin, email)
    const first = await newPasswordLink(email)
    const changed = { oldPassword: PASSWORD, newPassword: 'remembered after all' }
    expect((await post('password', changed, { cookie })).status).toBe(200)
    expect(await refusalOf(first)).toMatch(/does not hold any more/)
    const second = await newPasswordLink(email)
    await stand.remove(admin, email)
    expect(await refusalOf(second)).toMatch(/does not hold any more/)
  })

  test('is not made for oneself', async () => {
    const id = await idOf(admin, ADMIN.email)
    const answer = await ask(admin, 'mutation ($id: ID!) { createNewPasswordLink(id: $id) { link } }', { id })
    expect(answer.code).toBe('BAD_USER_INPUT')
  })
})

test('neither tokens nor passwords are repeated, and none is logged', async () => {
  const secret = 'z'.repeat(300)
  const answers = [
    await post('link', { token: secret }),
    await post('use-link', { token: secret, password: secret.repeat(2) }),
    await post('password', { oldPassword: secret.repeat(2), newPassword: secret }, { cookie: admin }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422])
  expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain('zzz')
  expect(server.log()).not.toContain('zzz')
})

test('a page of another site can use no link', async () => {
  const token = await newLink('csrf@example.com')
  const headers = { origin: 'https://evil.example' }
  expect((await post('link', { token }, headers)).status).toBe(403)
  expect((await post('use-link', { token, password: PASSWORD }, headers)).status).toBe(403)
  expect((await post('link', { token })).status).toBe(200)
})
