// The ingest log in GraphQL: every request of the last day, refused ones longer, sending one again, and what is new.
import { resolveCursorConnection } from '@pothos/plugin-relay'
import { ERROR_TABLE, type FieldProblem as Problem } from '../errors.ts'
import {
  readLog,
  readLogById,
  readRefusedBody,
  readUnauthenticatedPosts,
  type LogFilter as Filter,
  type LoggedRequest,
  type UnauthenticatedPosts as Posts,
} from '../ingest/log-read.ts'
import type { Answer } from '../ingest/send-again.ts'
import { builder, failure, MAX_PAGE, pageSize } from './builder.ts'
import { isAdmin } from './context.ts'
import { Platform, startOfRange, TimeRange } from './enums.ts'
import { isUuid, keyUuid, requestUuid } from './ids.ts'
import { Session } from './session.ts'

const FieldProblem = builder.objectRef<Problem>('FieldProblem').implement({
  description: 'One thing that was wrong with a request.',
  fields: (t) => ({
    pointer: t.exposeString('pointer', { description: 'JSON pointer into the body (RFC 6901); empty for a header.' }),
    field: t.exposeString('field', { description: 'The field by its name.' }),
    code: t.exposeString('code', { description: 'A fixed word for what is wrong.' }),
    detail: t.exposeString('detail', { description: 'A sentence: what came, what is allowed.' }),
  }),
})

export const IngestRequest = builder.objectRef<LoggedRequest>('IngestRequest')

// prettier-ignore
builder.node(IngestRequest, {
  description: 'One post with a valid key: accepted ones are kept for 24 hours, refused ones for 7 days.',
  id: { resolve: (request) => request.id, description: 'Global id; the requestId of a refusal is inside.' },
  loadOne: async (id, context) => (await readLogById(context.sql, context.projectIds, [requestUuid(id)]))[0] ?? null,
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it was answered.' }),
    project: t.string({ description: 'The project of its key.', resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '' }),
    platform: t.expose('platform', { type: Platform, description: 'Which of the two endpoints it was posted to.' }),
    keyName: t.string({
      nullable: true, description: 'The key it came with; null where an admin sent it again.',
      resolve: ({ keyId }, _args, context) => context.access.keys.list().find((key) => key.id === keyId)?.name,
    }),
    status: t.exposeInt('status', { description: 'HTTP status of the answer.' }),
    code: t.exposeString('code', { nullable: true, description: 'Why it was refused; null where it was accepted.' }),
    detail: t.exposeString('detail', { nullable: true, description: 'The sentence of the refusal.' }),
    problems: t.expose('problems', { type: [FieldProblem], description: 'All that was wrong, at most 50.' }),
    events: t.exposeInt('events', { nullable: true, description: 'Events (platform A) or executions (B) that were accepted; null where it was refused.' }),
    duplicate: t.exposeBoolean('duplicate', { nullable: true, description: 'All of it had been recorded before; null where it was refused.' }),
    bytes: t.exposeInt('bytes', { description: 'Size of the body, unpacked.' }),
    durationMs: t.exposeFloat('durationMs', { description: 'Milliseconds from its headers to its answer.' }),
    session: t.field({
      type: Session, nullable: true, description: 'The first of its sessions; null where it was refused or the session is gone.',
      resolve: ({ sessionId }, _args, context) => (sessionId === null ? null : context.sessions.load(sessionId)),
    }),
    sessionCount: t.exposeInt('sessionCount', { description: 'How many sessions it was for.' }),
    body: t.string({
      nullable: true, complexity: 60,
      authScopes: (_request, _args, context) => isAdmin(context),
      description: 'The body of a refused one, credentials masked, cut at 1 MiB. Admins only.',
      resolve: async ({ id, hasBody }, _args, context) => (hasBody ? (await readRefusedBody(context.sql, id))?.body : null),
    }),
    hasBody: t.exposeBoolean('hasBody', { description: 'Its body was kept.' }),
    bodyCut: t.exposeBoolean('isBodyCut', { description: 'Only the beginning of its body was kept: it can only be sent again corrected.' }),
    sentAgainAt: t.expose('sentAgainAt', { type: 'DateTime', nullable: true, description: 'When an admin sent it again and it was accepted.' }),
  }),
})

const IngestLogFilter = builder.inputType('IngestLogFilter', {
  description: 'All that is given must hold.',
  fields: (t) => ({
    refused: t.boolean({ description: 'Only refused requests, or only accepted ones.' }),
    platform: t.field({ type: Platform }),
    apiKey: t.id({ description: 'Id of the key it came with.' }),
  }),
})

const readFilter = (input: typeof IngestLogFilter.$inferInput | null | undefined): Filter => ({
  isRefused: input?.refused,
  platform: input?.platform,
  keyId: input?.apiKey == null ? null : keyUuid(input.apiKey),
})

function readCursor(cursor: string): { at: string; id: string } {
  const [at = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('/')
  if (Number.isNaN(Date.parse(at)) || !/^[12]\d{3}-[\dT:.-]+Z$/.test(at) || !isUuid(id)) {
    throw failure('BAD_USER_INPUT', 'This cursor did not come from the ingest log.')
  }
  return { at, id }
}

builder.queryField('ingestLog', (t) =>
  t.connection({
    type: IngestRequest,
    description: 'What was posted with a valid key, newest first. Pages of at most 100, read forward.',
    args: { filter: t.arg({ type: IngestLogFilter }) },
    complexity: ({ first }) => ({ field: 1, multiplier: Math.min(first ?? 50, MAX_PAGE) }),
    resolve: (_root, args, context) => {
      if (args.last != null || args.before != null)
        throw failure('BAD_USER_INPUT', 'The log is read forward: use first and after.')
      pageSize(args.first, 50, MAX_PAGE)
      return resolveCursorConnection<Promise<LoggedRequest[]>>(
        {
          args,
          defaultSize: 50,
          maxSize: MAX_PAGE,
          toCursor: ({ at, id }) => Buffer.from(`${at.toISOString()}/${id}`).toString('base64url'),
        },
        ({ after, limit }) =>
          readLog(context.sql, context.projectIds, readFilter(args.filter), {
            limit,
            after: after ? readCursor(after) : null,
          }),
      )
    },
  }),
)

const UnauthenticatedPosts = builder.objectRef<Posts>('UnauthenticatedPosts').implement({
  description: 'Posts to the ingest endpoints without a valid key. Nothing of their content is kept.',
  fields: (t) => ({
    server: t.exposeString('server', { description: 'The server that refused them.' }),
    reason: t.exposeString('reason', { description: `Code of the refusal, such as ${Object.keys(ERROR_TABLE)[1]}.` }),
    count: t.expose('count', { type: 'BigInt', description: 'How many.' }),
    lastAt: t.expose('lastAt', { type: 'DateTime', description: 'When the last of them came.' }),
  }),
})

builder.queryField('unauthenticatedPosts', (t) =>
  t.field({
    type: [UnauthenticatedPosts],
    description: 'Counts by server and reason, from whole hours of the last 7 days. Admins only.',
    authScopes: { admin: true },
    args: { range: t.arg({ type: TimeRange, defaultValue: 'LAST_24_HOURS' }) },
    resolve: (_root, { range }, context) =>
      readUnauthenticatedPosts(context.sql, startOfRange(range ?? 'LAST_24_HOURS')!),
  }),
)

const IngestAnswer = builder.objectRef<Answer>('IngestAnswer').implement({
  description: 'What a request that was sent again was answered.',
  fields: (t) => ({
    status: t.int({
      description: 'HTTP status a platform would have got.',
      resolve: ({ problem }) => problem?.status ?? 200,
    }),
    code: t.string({ nullable: true, description: 'Why it was refused.', resolve: ({ problem }) => problem?.code }),
    detail: t.string({
      nullable: true,
      description: 'The sentence of the refusal.',
      resolve: ({ problem }) => problem?.detail,
    }),
    problems: t.field({
      type: [FieldProblem],
      description: 'All that is wrong.',
      resolve: ({ problem }) => problem?.fields.slice(0, 50) ?? [],
    }),
    accepted: t.int({
      nullable: true,
      description: 'Events or executions that were accepted.',
      resolve: ({ receipt }) => receipt?.accepted,
    }),
    duplicate: t.boolean({
      nullable: true,
      description: 'All of it had been recorded before.',
      resolve: ({ receipt }) => receipt?.duplicate,
    }),
    urls: t.stringList({
      description: 'Pages of its sessions, at most 100.',
      resolve: ({ receipt }) => receipt?.sessions.map(({ url }) => url) ?? [],
    }),
  }),
})

builder.mutationField('sendIngestRequestAgain', (t) =>
  t.field({
    type: IngestAnswer,
    description:
      'Takes a refused request once more, as it was kept or corrected. The same body counts once, however often it is sent.',
    args: {
      id: t.arg.id({ required: true }),
      body: t.arg.string({ description: 'The corrected body; without it the one that was kept.' }),
    },
    resolve: async (_root, { id, body }, context) => {
      const [request] = await readLogById(context.sql, context.projectIds, [requestUuid(id)])
      if (!request || request.code === null)
        throw failure('NOT_FOUND', 'There is no such refused request, or it is older than 7 days.')
      const answer = await context.sendAgain.send(request, body ?? null, context.baseUrl)
      if (!answer) throw failure('BAD_USER_INPUT', 'The body of this request was not kept whole: send it corrected.')
      return answer
    },
  }),
)

const IngestLogChange = builder
  .objectRef<{ request: LoggedRequest | null; resync: boolean }>('IngestLogChange')
  .implement({
    description: 'A new entry of the ingest log.',
    fields: (t) => ({
      request: t.expose('request', {
        type: IngestRequest,
        nullable: true,
        description: 'Null where this says resync.',
      }),
      resync: t.exposeBoolean('resync', {
        description: 'More came than are sent one by one: read the first page again.',
      }),
    }),
  })

builder.subscriptionField('ingestLogged', (t) =>
  t.field({
    type: IngestLogChange,
    description: 'Requests as they are logged, within a second.',
    args: { filter: t.arg({ type: IngestLogFilter }) },
    subscribe: (_root, { filter }, context) => context.logFeed.requests(() => context.projectIds, readFilter(filter)),
    resolve: (delivery) =>
      'resync' in delivery ? { request: null, resync: true } : { request: delivery.value, resync: false },
  }),
)
