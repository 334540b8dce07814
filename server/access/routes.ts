// Signing in and out over HTTP, and the one-time link's set-up. The cookie is never readable by a page.
import { serialize } from 'cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Problem, quoted } from '../errors.ts'
import { readJsonBody } from '../ingest/body.ts'
import { actorOf, checkOrigin, cookieName, signInToken, type Access } from './actor.ts'
import { SignInLimit } from './sign-in-limit.ts'

const SIGN_IN_DAYS = 30
const MAX_BODY_BYTES = 16 * 1024

const credentials = z.object({
  email: z
    .string()
    .trim()
    .min(3)
    .max(200)
    .regex(/^\S+@\S+$/, 'must be an e-mail address'),
  password: z.string().min(1).max(500),
})
const setUp = credentials.extend({ token: z.string().min(1).max(200) })

export async function accessRoutes(
  app: FastifyInstance,
  { access, publicUrl, triesPerMinute }: { access: Access; publicUrl: string | null; triesPerMinute: number },
): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onRequest', async (request) => checkOrigin(request.headers, publicUrl))
  const limit = new SignInLimit(triesPerMinute)
  const limited = { preHandler: async (request: FastifyRequest) => limit.fromAddress(request.ip) }

  /** A new sign-in of a browser ends the one it had: a token that was put there before is worth nothing after. */
  async function signedIn(request: FastifyRequest, reply: FastifyReply, token: string): Promise<void> {
    await endSignIn(request)
    setCookie(request, reply, token)
  }
  async function endSignIn(request: FastifyRequest): Promise<void> {
    const token = signInToken(request.headers)
    if (!token) return
    await access.people.signOut(token)
    access.rightsChanged()
  }

  app.get('/api/auth/state', async (request) => {
    const actor = await actorOf(access, { cookie: request.headers.cookie })
    const person = actor?.kind === 'PERSON' ? actor.person : null
    return {
      signedIn: person !== null,
      setUpNeeded: !(await access.people.hasAdmin()),
      person: person && { email: person.email, role: person.role },
    }
  })

  app.post('/api/auth/sign-in', limited, async (request, reply) => {
    const { email, password } = await readBody(request, credentials)
    limit.atAccount(email, request.ip)
    const { person, token } = await access.people.signIn(email, password)
    limit.succeeded(email, request.ip)
    await signedIn(request, reply, token)
    return { person: { email: person.email, role: person.role } }
  })

  app.post('/api/auth/set-up', limited, async (request, reply) => {
    const { token, email, password } = await readBody(request, setUp)
    const person = await access.people.setUp(token, email, password)
    await signedIn(request, reply, await access.people.newSignIn(person))
    return { person: { email: person.email, role: person.role } }
  })

  app.post('/api/auth/sign-out', async (request, reply) => {
    await endSignIn(request)
    setCookie(request, reply, null)
    return reply.code(204).send()
  })
}

async function readBody<T>(request: FastifyRequest, shape: z.ZodType<T>): Promise<T> {
  const value = await readJsonBody(request.raw, MAX_BODY_BYTES)
  const result = shape.safeParse(value)
  if (result.success) return result.data
  const fields = result.error.issues.map((issue) => {
    const field = issue.path.join('.')
    const came =
      field === 'password' || field === 'token' ? '' : `, not ${quoted((value as Record<string, unknown>)?.[field])}`
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
