// Deliveries in GraphQL: the log of who was told of what, sending one again, and what changes.
import { resolveCursorConnection } from '@pothos/plugin-relay'
import {
  readDeliveries,
  readDeliveriesById,
  sendAgain,
  type AttemptRow,
  type DeliveryFilter as Filter,
  type DeliveryRow,
} from '../alerts/read.ts'
import { nameOfAgent } from '../alerts/alert.ts'
import { rateTitle } from '../alerts/rates.ts'
import { severityOf } from '../failures/failure.ts'
import type { Delivery as Delivered } from '../live/conflated-queue.ts'
import { AlertRuleKind, ChannelKind, DeliveryState, SuppressedBy } from './alert-enums.ts'
import { builder, failure, MAX_PAGE, pageSize } from './builder.ts'
import { isAdmin } from './context.ts'
import { FailureCategory, Severity } from './failure-enums.ts'
import { alertRuleUuid, channelUuid, deliveryUuid, isUuid, sessionUuid } from './ids.ts'
import { FailurePattern } from './pattern.ts'
import { Session } from './session.ts'

const DeliveryAttempt = builder.objectRef<AttemptRow>('DeliveryAttempt').implement({
  description: 'One try. Without a duration it runs, or the server ended in it.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'The first is 1.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    durationMs: t.exposeFloat('durationMs', { nullable: true, description: 'Milliseconds to its end.' }),
    isDelivered: t.exposeBoolean('isDelivered', { nullable: true, description: 'The receiver has taken it.' }),
    status: t.exposeInt('status', { nullable: true, description: 'Of the answer, HTTP or SMTP; null without one.' }),
    answer: t.string({
      nullable: true,
      description: 'The first 500 characters of the answer; null for all but admins.',
      resolve: ({ answer }, _args, context) => (isAdmin(context) ? answer : null),
    }),
    problem: t.exposeString('problem', { nullable: true, description: 'Why it failed, for people.' }),
  }),
})

const Delivery = builder.objectRef<DeliveryRow>('Delivery')

// prettier-ignore
const Alert = builder.objectRef<DeliveryRow>('Alert').implement({
  description: 'One occasion on which a rule told: once per rule and run, pattern, or agent and window.',
  fields: (t) => ({
    id: t.id({ description: 'Its id; webhooks carry it as alertId.', resolve: ({ alertId }) => alertId }),
    kind: t.expose('kind', { type: AlertRuleKind, description: 'What the occasion was.' }),
    title: t.string({
      description: 'What it is about, in a line.',
      resolve: ({ told, facts, failure: found, agent }) =>
        facts ? rateTitle(agent, facts) : found === null ? (told ?? 'A failure that is not found any more') : `${nameOfAgent(agent)}: ${found}`,
    }),
    rule: t.exposeString('rule', { description: 'Name of the rule that told.' }),
    ruleId: t.globalID({ description: 'Global id of the rule.', resolve: ({ ruleId }) => ({ type: 'AlertRule', id: ruleId }) }),
    agent: t.exposeString('agent', { nullable: true, description: 'The agent; null stands for sessions without a name.' }),
    severity: t.field({ type: Severity, nullable: true, description: 'The worst.', resolve: ({ severity }) => (severity === null ? null : severityOf(severity)) }),
    category: t.expose('category', { type: FailureCategory, nullable: true, description: 'Of the failure; null for rates.' }),
    session: t.field({ type: Session, nullable: true, description: 'Whose failure it is; null for rates.', resolve: ({ sessionId }, _args, context) => (sessionId === null ? null : context.sessions.load(sessionId)) }),
    pattern: t.field({ type: FailurePattern, nullable: true, complexity: 20, description: 'Of the failure.', resolve: ({ patternId }, _args, context) => (patternId === null ? null : context.patterns.load(patternId)) }),
    createdAt: t.expose('alertedAt', { type: 'DateTime', description: 'When the occasion was.' }),
  }),
})

// prettier-ignore
builder.node(Delivery, {
  description: 'One alert to one channel.',
  id: { resolve: ({ id }) => id, description: 'Global id; receivers see the uuid inside as msg_<uuid> with every attempt.' },
  loadMany: async (ids, context) => {
    const rows = await readDeliveriesById(context.sql, ids.map(deliveryUuid))
    return ids.map((id) => rows.find((row) => row.id === deliveryUuid(id) && context.projectIds.includes(row.projectId)) ?? null)
  },
  fields: (t) => ({
    project: t.string({ description: 'The project.', resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '' }),
    alert: t.field({ type: Alert, description: 'Of what is told.', resolve: (delivery) => delivery }),
    channel: t.exposeString('channel', { description: 'Name of the channel.' }),
    channelId: t.globalID({ description: 'Global id of the channel.', resolve: ({ channelId }) => ({ type: 'Channel', id: channelId }) }),
    channelKind: t.expose('channelKind', { type: ChannelKind, description: 'How it tells.' }),
    state: t.expose('state', { type: DeliveryState, description: 'What became of it.' }),
    suppressedBy: t.expose('suppressedBy', { type: SuppressedBy, nullable: true, description: 'Why nobody was told.' }),
    isTrying: t.exposeBoolean('isTrying', { description: 'An attempt is being made.' }),
    attemptCount: t.exposeInt('attemptCount', { description: 'Attempts so far.' }),
    nextAttemptAt: t.expose('nextAttemptAt', { type: 'DateTime', nullable: true, description: 'When the next is due.' }),
    lastStatus: t.exposeInt('lastStatus', { nullable: true, description: 'Status of the last attempt, HTTP or SMTP.' }),
    lastProblem: t.exposeString('lastProblem', { nullable: true, description: 'Why the last attempt failed, for people.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was written: with the alert, or when a mute no longer held.' }),
    settledAt: t.expose('settledAt', { type: 'DateTime', nullable: true, description: 'When it was sent, given up or suppressed.' }),
    attempts: t.field({ type: [DeliveryAttempt], complexity: { field: 5, multiplier: 10 }, description: 'The first first.', resolve: ({ id }, _args, context) => context.attempts.load(id) }),
  }),
})

builder.objectField(Session, 'deliveries', (t) =>
  t.field({
    type: [Delivery],
    complexity: { field: 5, multiplier: 10 },
    description: 'Who was told of its failures, newest first; at most 100.',
    resolve: ({ id }, _args, context) => context.deliveries.load(id),
  }),
)

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'All that is given must hold.',
  fields: (t) => ({
    states: t.field({ type: [DeliveryState], description: 'Any of these.' }),
    rule: t.id({ description: 'Of this rule.' }),
    channel: t.id({ description: 'Through this channel.' }),
    session: t.id({ description: 'Of this session.' }),
    agents: t.field({
      type: t.listRef('String', { required: false }),
      description: 'Of any of these; null stands for sessions without a name.',
    }),
  }),
})

function readFilter(input: typeof DeliveryFilter.$inferInput | null | undefined): Filter {
  if ((input?.agents?.length ?? 0) > MAX_PAGE)
    throw failure('BAD_USER_INPUT', `agents takes at most ${MAX_PAGE} names.`)
  return {
    states: input?.states,
    ruleId: input?.rule == null ? null : alertRuleUuid(input.rule),
    channelId: input?.channel == null ? null : channelUuid(input.channel),
    sessionId: input?.session == null ? null : sessionUuid(input.session),
    agents: input?.agents?.map((name) => name ?? null) ?? null,
  }
}

/** Whatever its state: a list hears of those that leave it. */
const concerns = ({ ruleId, channelId, sessionId, agents }: Filter, row: DeliveryRow) =>
  (ruleId == null || ruleId === row.ruleId) &&
  (channelId == null || channelId === row.channelId) &&
  (sessionId == null || sessionId === row.sessionId) &&
  (!agents?.length || agents.includes(row.agent))

function readCursor(cursor: string): { at: string; id: string } {
  const [at = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('/')
  if (Number.isNaN(Date.parse(at)) || !/^[12]\d{3}-[\dT:.-]+Z$/.test(at) || !isUuid(id))
    throw failure('BAD_USER_INPUT', 'This cursor did not come from a list of deliveries.')
  return { at, id }
}

builder.queryField('deliveries', (t) =>
  t.connection({
    type: Delivery,
    description: 'Who was told of what, newest first. Pages of at most 100, read forward. Kept for 90 days.',
    args: { filter: t.arg({ type: DeliveryFilter }) },
    complexity: ({ first }) => ({ field: 1, multiplier: Math.min(first ?? 50, MAX_PAGE) }),
    resolve: (_root, args, context) => {
      if (args.last != null || args.before != null)
        throw failure('BAD_USER_INPUT', 'Deliveries are read forward: use first and after.')
      pageSize(args.first, 50, MAX_PAGE)
      return resolveCursorConnection<Promise<DeliveryRow[]>>(
        {
          args,
          defaultSize: 50,
          maxSize: MAX_PAGE,
          toCursor: ({ createdAt, id }) => Buffer.from(`${createdAt.toISOString()}/${id}`).toString('base64url'),
        },
        ({ after, limit }) =>
          readDeliveries(context.sql, context.projectIds, readFilter(args.filter), {
            limit,
            after: after ? readCursor(after) : null,
          }),
      )
    },
  }),
)

const NOT_AGAIN = {
  settled: 'It was sent or suppressed: only one that was given up or waits can be sent again.',
  'channel-off': 'Its channel is switched off or deleted.',
  underway: 'An attempt is being made at this moment.',
}

builder.mutationField('sendDeliveryAgain', (t) =>
  t.field({
    type: Delivery,
    description:
      'Tries one again that was given up, or at once one that waits for its next attempt. Receivers see the same id.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => {
      const uuid = deliveryUuid(id)
      const queued = await sendAgain(context.jobs, uuid, context.projectIds)
      if (queued === 'not-there') throw failure('NOT_FOUND', 'There is no such delivery.')
      if (typeof queued === 'string') throw failure('BAD_USER_INPUT', NOT_AGAIN[queued])
      const [row] = await readDeliveriesById(context.sql, [uuid])
      context.deliveriesQueued([{ id: uuid, ...queued }])
      return row!
    },
  }),
)

const DeliveryChange = builder.objectRef<Delivered<DeliveryRow>>('DeliveryChange').implement({
  description: 'A delivery as it stands after a change.',
  fields: (t) => ({
    delivery: t.field({
      type: Delivery,
      nullable: true,
      description: 'Null where this says resync.',
      resolve: (delivered) => ('value' in delivered ? delivered.value : null),
    }),
    resync: t.boolean({
      description: 'Changes were dropped for this subscriber: read the list again.',
      resolve: (delivered) => 'resync' in delivered,
    }),
  }),
})

builder.subscriptionField('deliveryChanged', (t) =>
  t.field({
    type: DeliveryChange,
    description: 'Deliveries that were written, tried, sent or given up, whatever the states of the filter.',
    args: { filter: t.arg({ type: DeliveryFilter }) },
    subscribe: (_root, { filter }, context) => {
      const wanted = readFilter(filter)
      return context.deliveryFeed.subscribe(
        () => context.projectIds,
        (row) => concerns(wanted, row),
      )
    },
    resolve: (delivered) => delivered,
  }),
)
