// Sessions in GraphQL: the type, the list with its filter, one by id, and what changes.
import { encodeGlobalID, resolveCursorConnection } from '@pothos/plugin-relay'
import { rankOfSeverity } from '../failures/failure.ts'
import { readEvents } from '../sessions/read-events.ts'
import {
  readSessionByExternalId,
  readSessions,
  type SessionFilter as Filter,
  type SessionRow,
} from '../sessions/read.ts'
import type { CoverageNote as Note } from '../sessions/session.ts'
import { builder, failure, MAX_EVENT_PAGE, MAX_NODES, MAX_PAGE, pageSize } from './builder.ts'
import { DurationSource, Platform, SessionStatus, startOfRange, TimeRange } from './enums.ts'
import { Event, eventKeyOf } from './event.ts'
import { FailureCategory, Severity } from './failure-enums.ts'
import { isUuid, sessionUuid } from './ids.ts'

export const Session = builder.objectRef<SessionRow>('Session')

const CoverageNote = builder.objectRef<Note>('CoverageNote').implement({
  description: 'Something about a run that could not be known or understood.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'A fixed word for the kind of gap.' }),
    detail: t.exposeString('detail', { description: 'A sentence for people.' }),
  }),
})

const totalTokens = ({ promptTokens, completionTokens }: SessionRow) =>
  promptTokens === null && completionTokens === null
    ? null
    : String(BigInt(promptTokens ?? 0) + BigInt(completionTokens ?? 0))

// prettier-ignore
builder.node(Session, {
  description: 'One run of an automation.',
  id: { resolve: (session) => session.id, description: 'Global id.' },
  loadMany: (ids, context) => Promise.all(ids.map((id) => context.sessions.load(sessionUuid(id)))),
  fields: (t) => ({
    project: t.string({ description: 'The project it belongs to.', resolve: (session, _args, context) => context.projectNames.get(session.projectId) ?? '' }),
    platform: t.expose('platform', { type: Platform, description: 'Where it ran.' }),
    externalId: t.exposeString('externalId', { description: 'Its id on the platform: session_id or execution.id.' }),
    agent: t.exposeString('agent', { nullable: true, description: 'What ran; the first name that came.' }),
    workflowId: t.exposeString('workflowId', { nullable: true, description: 'The workflow on platform B.' }),
    mode: t.exposeString('mode', { nullable: true, description: 'How it was started, in the words of platform B.' }),
    status: t.expose('status', { type: SessionStatus, description: 'The outcome as reported.' }),
    reportedStatus: t.exposeString('reportedStatus', { nullable: true, description: 'The status word that platform B sent.' }),
    errorMessage: t.exposeString('errorMessage', { nullable: true, description: 'The error of the run, else of its last failed step.' }),
    lastNode: t.exposeString('lastNode', { nullable: true, description: 'The last node that ran on platform B.' }),
    externalUrl: t.exposeString('externalUrl', { nullable: true, description: 'Its page on the platform.' }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'When the first of it arrived; orders the lists.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When it started.' }),
    lastEventAt: t.expose('lastEventAt', { type: 'DateTime', description: 'When something of it last arrived.' }),
    closedAt: t.expose('closedAt', { type: 'DateTime', nullable: true, description: 'When it ended; null while it runs.' }),
    durationMs: t.exposeFloat('durationMs', { nullable: true, description: 'Milliseconds; null where it cannot be known.' }),
    durationSource: t.expose('durationSource', { type: DurationSource, nullable: true, description: 'Where durationMs comes from.' }),
    eventCount: t.exposeInt('eventCount', { description: 'Events that are stored.' }),
    errorCount: t.exposeInt('errorCount', { description: 'Events that carry an error.' }),
    llmCalls: t.exposeInt('llmCalls', { description: 'Model calls.' }),
    toolCalls: t.exposeInt('toolCalls', { description: 'Tool calls.' }),
    models: t.exposeStringList('models', { description: 'The models that were called.' }),
    promptTokens: t.expose('promptTokens', { type: 'BigInt', nullable: true, description: 'Sum over the events where it is known; null where it is of none.' }),
    completionTokens: t.expose('completionTokens', { type: 'BigInt', nullable: true, description: 'Sum over the events where it is known; null where it is of none.' }),
    totalTokens: t.field({ type: 'BigInt', nullable: true, description: 'Prompt and completion tokens together.', resolve: totalTokens }),
    tokensEstimated: t.exposeBoolean('tokensEstimated', { description: 'Some counts are the platform\'s estimate.' }),
    costUsd: t.expose('costUsd', { type: 'Decimal', nullable: true, description: 'Sum of the costs that are known; null where none is.' }),
    unpricedCalls: t.exposeInt('unpricedCalls', { description: 'Calls with tokens but without a known price: costUsd leaves them out.' }),
    retryOf: t.exposeString('retryOf', { nullable: true, description: 'External id of the run that this one retries.' }),
    coverage: t.expose('coverage', { type: [CoverageNote], description: 'What is not known about this run.' }),
    quietAt: t.field({
      type: 'DateTime', nullable: true,
      description: 'When a running session counts as quiet if nothing more arrives; null once closed.',
      resolve: async (session, _args, context) => quietAt(session, await quietAfter(session, context)),
    }),
    quiet: t.boolean({
      description: 'Running, and silent for longer than is usual for its agent.',
      resolve: async (session, _args, context) => {
        const at = quietAt(session, await quietAfter(session, context))
        return at !== null && at.getTime() <= Date.now()
      },
    }),
    revision: t.expose('revision', { type: 'BigInt', description: 'Rises with every change of anything that can be seen of it.' }),
    events: t.connection({
      type: Event,
      description: 'In timeline order. Thin: read input, output and attributes of one with event(id).',
      args: { changedAfter: t.arg({ type: 'BigInt', description: 'Only events changed after this revision.' }) },
      complexity: ({ first }) => ({ field: 1, multiplier: Math.min(first ?? MAX_PAGE, MAX_EVENT_PAGE) }),
      resolve: async (session, args, context) => {
        if (args.last != null || args.before != null) throw failure('BAD_USER_INPUT', 'Events are read forward: use first and after.')
        const limit = pageSize(args.first, MAX_PAGE, MAX_EVENT_PAGE)
        const after = args.after == null ? null : eventKeyOf(args.after)
        const rows = await readEvents(context.sql, session, { limit: limit + 1, after, changedAfter: args.changedAfter ?? null })
        const page = rows.slice(0, limit)
        return {
          edges: page.map((node) => ({ cursor: node.eventKey, node })),
          pageInfo: {
            startCursor: page[0]?.eventKey ?? null,
            endCursor: page.at(-1)?.eventKey ?? null,
            hasNextPage: rows.length > limit,
            hasPreviousPage: after !== null,
          },
        }
      },
    }),
  }),
})

function quietAfter(
  session: SessionRow,
  context: { quiet: { afterMs(projectId: number, agent: string | null): Promise<number> } },
) {
  return session.status === 'RUNNING' ? context.quiet.afterMs(session.projectId, session.agent) : null
}
function quietAt(session: SessionRow, afterMs: number | null): Date | null {
  return afterMs === null ? null : new Date(session.lastEventAt.getTime() + afterMs)
}

export const SessionFilter = builder.inputType('SessionFilter', {
  description: 'All that is given must hold.',
  fields: (t) => ({
    platform: t.field({ type: Platform }),
    status: t.field({ type: SessionStatus }),
    agents: t.field({
      type: t.listRef('String', { required: false }),
      description: 'Any of these names; null stands for sessions without a name.',
    }),
    search: t.string({ description: "Start of the external id, or part of the agent's name or of the error text." }),
    since: t.field({ type: 'DateTime', description: 'First seen at or after.' }),
    until: t.field({ type: 'DateTime', description: 'First seen before.' }),
    range: t.field({ type: TimeRange, description: 'First seen within this span up to now.' }),
    category: t.field({ type: FailureCategory, description: 'With a failure of this category.' }),
    minSeverity: t.field({ type: Severity, description: 'With a failure at least this bad.' }),
  }),
})

type FilterInput = typeof SessionFilter.$inferInput

export function readFilter(input: FilterInput | null | undefined): Filter {
  if (!input) return {}
  if ((input.agents?.length ?? 0) > MAX_PAGE) throw failure('BAD_USER_INPUT', `agents takes at most ${MAX_PAGE} names.`)
  if ((input.search?.length ?? 0) > 200) throw failure('BAD_USER_INPUT', 'search takes at most 200 characters.')
  const start = startOfRange(input.range)
  const since =
    input.since && start ? new Date(Math.max(input.since.getTime(), start.getTime())) : (input.since ?? start)
  return {
    platform: input.platform,
    status: input.status,
    agents: input.agents?.map((name) => name ?? null),
    search: input.search,
    since,
    until: input.until,
    category: input.category,
    minSeverity: input.minSeverity && rankOfSeverity(input.minSeverity),
  }
}

const CURSOR = /^([12]\d{3}-\d{2}-\d{2}T[\d:.]{12}Z)\/(.+)$/
const cursorOf = (session: SessionRow) =>
  Buffer.from(`${session.firstSeenAt.toISOString()}/${session.id}`).toString('base64url')
function readCursor(cursor: string) {
  const match = CURSOR.exec(Buffer.from(cursor, 'base64url').toString())
  if (!match || Number.isNaN(Date.parse(match[1]!)) || !isUuid(match[2]!))
    throw failure('BAD_USER_INPUT', 'This cursor did not come from a list of sessions.')
  return { firstSeenAt: match[1]!, id: match[2]! }
}

builder.queryField('sessions', (t) =>
  t.connection({
    type: Session,
    description: 'Newest first. Pages of at most 100.',
    args: { filter: t.arg({ type: SessionFilter }) },
    complexity: ({ first, last }) => ({ field: 1, multiplier: Math.min(first ?? last ?? 50, MAX_PAGE) }),
    resolve: (_root, args, context) => {
      pageSize(args.first ?? args.last, 50, MAX_PAGE)
      if (args.first != null && args.last != null) throw failure('BAD_USER_INPUT', 'Give first or last, not both.')
      if (args.before != null && args.after != null) throw failure('BAD_USER_INPUT', 'Give after or before, not both.')
      for (const cursor of [args.before, args.after]) if (cursor != null) readCursor(cursor)
      const filter = readFilter(args.filter)
      return resolveCursorConnection<Promise<SessionRow[]>>(
        { args, defaultSize: 50, maxSize: MAX_PAGE, toCursor: cursorOf },
        async ({ before, after, limit, inverted }) => {
          const from = inverted ? before : after
          // Pothos turns the rows of a page that is read backward around.
          return readSessions(context.sql, context.projectIds, filter, {
            limit,
            from: from ? readCursor(from) : null,
            backward: inverted,
          })
        },
      )
    },
  }),
)

builder.queryField('session', (t) =>
  t.field({
    type: Session,
    nullable: true,
    description:
      'One session, by its global id or by platform and external id (the newest where two workflows share one).',
    args: { id: t.arg.id(), platform: t.arg({ type: Platform }), externalId: t.arg.string() },
    resolve: async (_root, { id, platform, externalId }, context) => {
      if (id != null) return context.sessions.load(sessionUuid(id))
      if (platform == null || externalId == null)
        throw failure('BAD_USER_INPUT', 'Give id, or platform and externalId.')
      return readSessionByExternalId(context.sql, context.projectIds, platform, externalId)
    },
  }),
)

interface Change {
  session: SessionRow | null
  goneId: string | null
  resync: boolean
}

const SessionChange = builder.objectRef<Change>('SessionChange').implement({
  description: 'A session as it stands after a change, or one that is gone.',
  fields: (t) => ({
    session: t.expose('session', {
      type: Session,
      nullable: true,
      description: 'Null where this says resync or goneId.',
    }),
    goneId: t.id({
      nullable: true,
      description: 'Global id of a session that was deleted.',
      resolve: ({ goneId }) => goneId && encodeGlobalID('Session', goneId),
    }),
    resync: t.exposeBoolean('resync', {
      description: 'Changes were dropped for this subscriber: read the first page and the loaded rows again.',
    }),
  }),
})

builder.subscriptionField('sessionChanged', (t) =>
  t.field({
    type: SessionChange,
    description:
      'Sessions that match the filter, whatever happens to the listed ones, and any that are deleted. At most some ten messages a second of each; the last always arrives.',
    args: { filter: t.arg({ type: SessionFilter }), ids: t.arg.idList() },
    subscribe: (_root, { filter, ids }, context) => {
      if ((ids?.length ?? 0) > MAX_NODES)
        throw failure('BAD_USER_INPUT', `ids takes at most ${MAX_NODES} ids, not ${ids!.length}.`)
      return context.feed.sessions(() => context.projectIds, readFilter(filter), (ids ?? []).map(sessionUuid))
    },
    resolve: (delivery) => {
      if ('resync' in delivery) return { session: null, goneId: null, resync: true }
      const { value } = delivery
      return 'goneId' in value
        ? { session: null, goneId: value.goneId, resync: false }
        : { session: value, goneId: null, resync: false }
    },
  }),
)
