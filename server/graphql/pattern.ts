// Patterns of failures in GraphQL: ranked, by day, what people decide about them, and what changes.
import { encodeGlobalID, resolveOffsetConnection } from '@pothos/plugin-relay'
import { severityOf } from '../failures/failure.ts'
import {
  decidePattern,
  readFailureDays,
  readPatterns,
  readPatternsById,
  SPARK_BUCKETS,
  type FailureDay as Day,
  type PatternRow,
} from '../failures/patterns.ts'
import type { Delivery } from '../live/conflated-queue.ts'
import type { GonePattern } from '../live/pattern-feed.ts'
import { builder, failure, MAX_PAGE, pageSize } from './builder.ts'
import { whoAsks, type Context } from './context.ts'
import { startOfRange, TimeRange } from './enums.ts'
import { Failure } from './failure.ts'
import { FailureCategory, FailureCause, PatternState, Severity } from './failure-enums.ts'
import { patternUuid } from './ids.ts'

export const FailurePattern = builder.objectRef<PatternRow>('FailurePattern')
const MAX_MUTE_DAYS = 365
const MAX_SEARCH = 200

// prettier-ignore
builder.node(FailurePattern, {
  description: 'The same failure of one agent seen again: agent, category and what makes its error the same. Counts are of a range of time.',
  id: { resolve: ({ id }) => id, description: 'Global id.' },
  loadMany: (ids, context) => Promise.all(ids.map((id) => context.patterns.load(patternUuid(id)))),
  fields: (t) => ({
    project: t.string({ description: 'The project.', resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '' }),
    agent: t.exposeString('agent', { nullable: true, description: 'The agent; null stands for sessions without a name.' }),
    category: t.expose('category', { type: FailureCategory, description: 'What kind of failure.' }),
    cause: t.expose('cause', { type: FailureCause, nullable: true, description: 'Why; null where no error tells.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The node, tool or model it is about.' }),
    title: t.exposeString('title', { description: 'What it is called: the error as it first came, or what was found.' }),
    state: t.expose('state', { type: PatternState, description: 'Open, resolved, or seen again after it was.' }),
    severity: t.field({ type: Severity, nullable: true, description: 'The worst in the range.', resolve: ({ severity }) => (severity === null ? null : severityOf(severity)) }),
    sessions: t.exposeInt('sessions', { description: 'Sessions of the range that carry it.' }),
    runs: t.int({ complexity: 5, description: "All of the agent's runs in the range.", resolve: (pattern, _args, context) => context.runCounts.load(pattern) }),
    share: t.float({
      nullable: true, complexity: 5,
      description: "Sessions with it as a share of the agent's runs in the range, 0 to 1; null without runs.",
      resolve: async (pattern, _args, context) => {
        const runs = await context.runCounts.load(pattern)
        return runs === 0 ? null : Math.min(1, pattern.sessions / runs)
      },
    }),
    sparkline: t.intList({ complexity: 5, description: `Sessions with it in ${SPARK_BUCKETS} equal parts of the range, the oldest first.`, resolve: (pattern, _args, context) => context.sparklines.load(pattern) }),
    since: t.expose('since', { type: 'DateTime', description: 'Where the range begins; it goes up to now.' }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', nullable: true, description: 'When it was first seen, among the sessions that are kept.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', nullable: true, description: 'When it was last seen.' }),
    resolvedAt: t.expose('resolvedAt', { type: 'DateTime', nullable: true, description: 'When somebody resolved it.' }),
    resolvedBy: t.string({ nullable: true, description: 'Who did; null for keys.', resolve: ({ resolvedBy }, _args, { actor }) => (actor.kind === 'PERSON' ? resolvedBy : null) }),
    mutedUntil: t.expose('mutedUntil', { type: 'DateTime', nullable: true, description: 'Nobody is told of it until then.' }),
    mutedBy: t.string({ nullable: true, description: 'Who muted it; null for keys.', resolve: ({ mutedBy }, _args, { actor }) => (actor.kind === 'PERSON' ? mutedBy : null) }),
    isMuted: t.boolean({ description: 'Muted now.', resolve: ({ mutedUntil }) => mutedUntil !== null && mutedUntil.getTime() > Date.now() }),
    latest: t.field({ type: Failure, nullable: true, complexity: 50, description: 'The newest failure of it.', resolve: ({ id }, _args, context) => context.latestFailures.load(id) }),
  }),
})

const FailurePatternFilter = builder.inputType('FailurePatternFilter', {
  description: 'All that is given must hold.',
  fields: (t) => ({
    agents: t.field({
      type: t.listRef('String', { required: false }),
      description: 'Any of these names; null stands for sessions without a name.',
    }),
    category: t.field({ type: FailureCategory }),
    minSeverity: t.field({ type: Severity, description: 'At least this bad.' }),
    states: t.field({ type: [PatternState], description: 'Any of these.' }),
    muted: t.boolean({ description: 'Only muted ones, or only others.' }),
    search: t.string({ description: 'Part of the title, the node or tool, or the agent.' }),
  }),
})

const WEEK_MS = 7 * 86_400_000
const CURSOR = /^OffsetConnection:\d{1,9}$/
const since = (range: Parameters<typeof startOfRange>[0]) => startOfRange(range) ?? new Date(Date.now() - WEEK_MS)

builder.queryField('failurePatterns', (t) =>
  t.connection({
    type: FailurePattern,
    description: 'Patterns seen in the range, the most sessions first. Pages of at most 100.',
    args: {
      filter: t.arg({ type: FailurePatternFilter }),
      range: t.arg({ type: TimeRange, defaultValue: 'LAST_7_DAYS' }),
    },
    complexity: ({ first, last }) => ({ field: 20, multiplier: Math.min(first ?? last ?? 50, MAX_PAGE) }),
    resolve: (_root, args, context) => {
      pageSize(args.first ?? args.last, 50, MAX_PAGE)
      for (const cursor of [args.before, args.after]) {
        if (cursor != null && !CURSOR.test(Buffer.from(cursor, 'base64').toString()))
          throw failure('BAD_USER_INPUT', 'This cursor did not come from a list of patterns.')
      }
      if ((args.filter?.search?.length ?? 0) > MAX_SEARCH)
        throw failure('BAD_USER_INPUT', `search takes at most ${MAX_SEARCH} characters.`)
      if ((args.filter?.agents?.length ?? 0) > MAX_PAGE)
        throw failure('BAD_USER_INPUT', `agents takes at most ${MAX_PAGE} names.`)
      const { agents, ...filter } = args.filter ?? {}
      const wanted = { ...filter, agents: agents?.map((name) => name ?? null) }
      const start = since(args.range)
      return resolveOffsetConnection({ args, defaultSize: 50, maxSize: MAX_PAGE }, (page) =>
        readPatterns(context.sql, context.projectIds, wanted, start, page),
      )
    },
  }),
)

const FailureDay = builder.objectRef<Day>('FailureDay').implement({
  description: 'Failures of one category on one day.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'YYYY-MM-DD, in UTC.' }),
    category: t.expose('category', { type: FailureCategory, description: 'The category.' }),
    sessions: t.exposeInt('sessions', { description: 'Sessions with such a failure.' }),
  }),
})

builder.queryField('failureDays', (t) =>
  t.field({
    type: [FailureDay],
    description: 'Sessions with a failure, by day and category; days without one are left out.',
    args: { range: t.arg({ type: TimeRange, defaultValue: 'LAST_7_DAYS' }) },
    complexity: { field: 50, multiplier: 10 },
    resolve: (_root, { range }, context) => readFailureDays(context.sql, context.projectIds, since(range)),
  }),
)

async function decide(context: Context, id: string | number, decision: Parameters<typeof decidePattern>[3]) {
  const uuid = patternUuid(id)
  if (!(await decidePattern(context.jobs, context.projectIds, uuid, decision, whoAsks(context))))
    throw failure('NOT_FOUND', 'There is no such pattern.')
  const [row] = await readPatternsById(context.sql, [uuid], since(null))
  context.patternChanged(`${row!.projectId}/${uuid}`)
  return row!
}

builder.mutationField('resolveFailurePattern', (t) =>
  t.field({
    type: FailurePattern,
    description: 'Says that a pattern is dealt with. It reopens by itself when it is seen again.',
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, context) => decide(context, id, { resolved: true }),
  }),
)

builder.mutationField('reopenFailurePattern', (t) =>
  t.field({
    type: FailurePattern,
    description: 'Takes a resolution back.',
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, context) => decide(context, id, { resolved: false }),
  }),
)

builder.mutationField('muteFailurePattern', (t) =>
  t.field({
    type: FailurePattern,
    description: `Nobody is told of this pattern for so many days, 1 to ${MAX_MUTE_DAYS}; null ends that. It goes on being counted.`,
    args: { id: t.arg.id({ required: true }), days: t.arg.int() },
    resolve: (_root, { id, days }, context) => {
      if (days != null && (days < 1 || days > MAX_MUTE_DAYS))
        throw failure('BAD_USER_INPUT', `days must be 1 to ${MAX_MUTE_DAYS}, not ${days}.`)
      return decide(context, id, { mutedUntil: days == null ? null : new Date(Date.now() + days * 86_400_000) })
    },
  }),
)

const FailurePatternChange = builder.objectRef<Delivery<PatternRow | GonePattern>>('FailurePatternChange').implement({
  description: 'A pattern as it stands after a change.',
  fields: (t) => ({
    pattern: t.field({
      type: FailurePattern,
      nullable: true,
      description: 'Null where this says resync or goneId.',
      resolve: (delivery) => ('value' in delivery && !('goneId' in delivery.value) ? delivery.value : null),
    }),
    goneId: t.id({
      nullable: true,
      description: 'Global id of a pattern of which no session is kept any more.',
      resolve: (delivery) =>
        'value' in delivery && 'goneId' in delivery.value
          ? encodeGlobalID('FailurePattern', delivery.value.goneId)
          : null,
    }),
    resync: t.boolean({
      description: 'Changes were dropped for this subscriber: read the list again.',
      resolve: (delivery) => 'resync' in delivery,
    }),
  }),
})

builder.subscriptionField('failurePatternChanged', (t) =>
  t.field({
    type: FailurePatternChange,
    description: 'Patterns that were seen, resolved, muted or lost sessions, each at most some three times a second.',
    args: { range: t.arg({ type: TimeRange, defaultValue: 'LAST_7_DAYS' }) },
    subscribe: (_root, { range }, context) =>
      context.patternFeed.patterns(
        () => context.projectIds,
        () => since(range),
      ),
    resolve: (delivery) => delivery,
  }),
)
