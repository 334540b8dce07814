// GET /api/prompts/active: what a workflow puts before its own instruction.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { keyFrom } from '../access/actor.ts'
import type { KeyRing } from '../access/keys.ts'
import { RateLimit } from '../access/rate-limit.ts'
import { Problem, quoted } from '../errors.ts'
import { cleanText, cutText } from '../ingest/clean-text.ts'
import type { ActivePrompts } from './active.ts'

/** As long as a name is kept when it comes with a run. */
const MAX_AGENT = 500

export interface PromptServices {
  keys: KeyRing
  active: ActivePrompts
  rateLimitPerMinute: number
}

export async function promptRoutes(
  app: FastifyInstance,
  { keys, active, rateLimitPerMinute }: PromptServices,
): Promise<void> {
  const rateLimit = new RateLimit(rateLimitPerMinute)
  app.get('/api/prompts/active', async (request, reply) => {
    const key = await keys.authenticate(keyFrom(request.headers) ?? undefined, null)
    const { limit, remaining, resetSeconds, excess } = rateLimit.take(key.id)
    void reply
      .header('ratelimit-limit', limit)
      .header('ratelimit-remaining', remaining)
      .header('ratelimit-reset', resetSeconds)
    if (excess > 0) {
      const sentence = `This key asked for more than ${limit} prompts in a minute. Ask again in ${resetSeconds} s.`
      throw new Problem('rate_limited', sentence, [], { 'retry-after': String(resetSeconds) })
    }
    return answer(request, reply, active.fetch(key.projectId, agentOf(request.query as Record<string, unknown>)))
  })
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { prompt, json, etag, version }: ReturnType<ActivePrompts['fetch']>,
) {
  const isText = wantsText(request.headers.accept ?? '')
  // The two forms are different bodies, so their tags differ.
  const tag = isText ? etag.replace(/"$/, '-text"') : etag
  void reply
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept, x-api-key, authorization')
    .header('etag', tag)
    .header('x-prompt-version', version ?? 'none')
  if (hasTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply
    .type(isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8')
    .send(isText ? prompt : json)
}

function agentOf(query: Record<string, unknown>): string {
  const { agent_name: name } = query
  const problem = (detail: string, code: string) =>
    new Problem('invalid_payload', detail, [{ pointer: '', field: 'agent_name', code, detail }])
  if (Array.isArray(name))
    throw problem(`agent_name came ${name.length} times; ask for one agent at a time.`, 'repeated')
  if (typeof name !== 'string' || name.trim() === '') {
    const came = name === undefined ? 'It is missing' : `${quoted(name)} came`
    throw problem(
      `${came}: name the agent in the address, like /api/prompts/active?agent_name=Support%20triage.`,
      'required',
    )
  }
  return cutText(cleanText(name), MAX_AGENT)
}

/** Text where it is asked for by name and before JSON: clients that take anything often name both. */
function wantsText(accept: string): boolean {
  let text = 0
  let json = 0
  for (const part of accept.split(',')) {
    const [type, ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    const q = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
    if (type === 'text/plain') text = Math.max(text, q || 0)
    if (type === 'application/json') json = Math.max(json, q || 0)
  }
  return text > json
}

/** Weakly compared, as RFC 9110 has it for If-None-Match. */
function hasTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag)
}
