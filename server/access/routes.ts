// Passwords and one-time links over HTTP: signing in and out, joining, changing a password. The cookie is never readable
// by a page, and neither passwords nor tokens are ever repeated.
import { serialize } from 'cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Problem, quoted } from '../errors.ts'
import { readJsonBody } from '../ingest/body.ts'
import { actorOf, checkOrigin, cookieName, signInToken, type Access } from './actor.ts'
import { browserLabel } from './browser-label.ts'
import { isEmail, MAX_EMAIL, type Person } from './people.ts'
import { SignInLimit } from './sign-in-limit.ts'

const SIGN_IN_DAYS = 30
const MAX_BODY_BYTES = 16 * 1024
/** Fields whose values are never repeated. */
const SECRETS = new Set(['password', 'token', 'oldPassword', 'newPassword'])

const password = z.string().min(1).max(500)
const token = z.string().min(1).max(200)
const email = z.string().trim().refine(isEmail, `must be an e-mail address of at most ${MAX_EMAIL} characters`)
const credentials = z.object({ email, password })
const setUp = credentials.extend({ token })
const link = z.object({ token })
const useLink = z.object({ token, password })
const newPassword = z.object({ oldPassword: password, newPassword: password })

export async function accessRoutes(
  app: FastifyInstance,
  { access, publicUrl, triesPerMinute }: { access: Access; publicUrl: string | null; triesPerMinute: number },
): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onRequest', async (request) => checkOrigin(request.headers, publicUrl))
  const limit = new SignInLimit(triesPerMinute)
  const limited = { preHandler: async (request: FastifyRequest) => limit.fromAddress(request.ip) }
  const { people, links } = access

  /** A new sign-in of a browser ends the one it had: a token that was put there before is worth nothing after. */
  async function signedIn(request: FastifyRequest, reply: FastifyReply, token: string): Promise<void> {
    await endSignIn(request)
    setCookie(request, reply, token)
  }
  async function signInAs(person: Person, request: FastifyRequest, reply: FastifyReply) {
    await signedIn(request, reply, await people.newSignIn(person.id, browserOf(request)))
    return answerOf(person)
  }
  async function endSignIn(request: FastifyRequest): Promise<void> {
    const token = signInToken(request.headers)
    if (!token) return
    await people.signOut(token)
    access.rightsChanged()
  }
  /** @throws Problem not_signed_in */
  async function personOf(request: FastifyRequest): Promise<{ person: Person; token: string }> {
    const token = signInToken(request.headers)
    const person = token === null ? null : await people.find(token)
    if (!person) throw new Problem('not_signed_in', 'You are signed out. Sign in first.')
    return { person, token: token! }
  }

  app.get('/api/auth/state', async (request) => {
    const actor = await actorOf(access, { cookie: request.headers.cookie })
    const person = actor?.kind === 'PERSON' ? actor.person : null
    return {
      signedIn: person !== null,
      setUpNeeded: !(await people.hasAdmin()),
      person: person && { email: person.email, role: person.role },
    }
  })

  app.post('/api/auth/sign-in', limited, async (request, reply) => {
    const { email, password } = await readBody(request, credentials)
    limit.atAccount(email, request.ip)
    const { person, token } = await people.signIn(email, password, browserOf(request))
    limit.succeeded(email, request.ip)
    await signedIn(request, reply, token)
    return answerOf(person)
  })

  app.post('/api/auth/set-up', limited, async (request, reply) => {
    const { token, email, password } = await readBody(request, setUp)
    return signInAs(await people.setUp(token, email, password), request, reply)
  })

  /** What a one-time link is for; it stays unused. The token comes in the body: an address would be logged by proxies. */
  app.post('/api/auth/link', limited, async (request) => {
    const { kind, email, role, expiresAt } = await links.open((await readBody(request, link)).token)
    return { kind, email, role, expiresAt }
  })

  app.post('/api/auth/use-link', limited, async (request, reply) => {
    const { token, password } = await readBody(request, useLink)
    const person = await links.use(token, password)
    access.rightsChanged()
    return signInAs(person, request, reply)
  })

  app.post('/api/auth/password', limited, async (request) => {
    const { person, token } = await personOf(request)
    const { oldPassword, newPassword: wanted } = await readBody(request, newPassword)
    limit.atAccount(person.email, request.ip)
    const signedOutBrowsers = await people.changePassword(token, oldPassword, wanted)
    limit.succeeded(person.email, request.ip)
    access.rightsChanged()
    return { signedOutBrowsers }
  })

  app.post('/api/auth/sign-out', async (request, reply) => {
    await endSignIn(request)
    setCookie(request, reply, null)
    return reply.code(204).send()
  })

  app.post('/api/auth/sign-out-elsewhere', async (request) => {
    const signedOutBrowsers = await people.signOutElsewhere((await personOf(request)).token)
    access.rightsChanged()
    return { signedOutBrowsers }
  })

  app.post('/api/auth/sign-out-everywhere', async (request, reply) => {
    await people.signOutElsewhere((await personOf(request)).token)
    await endSignIn(request)
    setCookie(request, reply, null)
    return reply.code(204).send()
  })
}

const answerOf = ({ email, role }: Person) => ({ person: { email, role } })
const browserOf = (request: FastifyRequest) => browserLabel(request.headers['user-agent'])

async function readBody<T>(request: FastifyRequest, shape: z.ZodType<T>): Promise<T> {
  const value = await readJsonBody(request.raw, MAX_BODY_BYTES)
  const result = shape.safeParse(value)
  if (result.success) return result.data
  const fields = result.error.issues.map((issue) => {
    const field = issue.path.join('.')
    const came = SECRETS.has(field) ? '' : `, not ${quoted((value as Record<string, unknown>)?.[field])}`
    return { pointer: `/${field}`, field, code: issue.code, detail: `${field || 'The body'}: ${issue.message}${came}.` }
  })
  throw new Problem('invalid_payload', fields[0]!.detail, fields)
}

function setCookie(request: FastifyRequest, reply: FastifyReply, token: string | null): void {
  const isSecure = request.protocol === 'https'
  const cookie = serialize(cookieName(isSecure), token ?? '', {
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure,
    path: '/',
    maxAge: token === null ? 0 : SIGN_IN_DAYS * 86_400,
  })
  void reply.header('set-cookie', cookie)
}
