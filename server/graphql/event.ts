// Events in GraphQL: thin in a session's timeline, whole by id, and the subscription that follows a timeline.
import { readEvent, type EventRow } from '../sessions/read-events.ts'
import type { EventChanges } from '../live/session-feed.ts'
import { builder, failure } from './builder.ts'
import type { Context } from './context.ts'
import { CostSource, EventType, NodeKind } from './enums.ts'
import { eventGlobalId, eventIdText, eventRef, isUuid, sessionUuid } from './ids.ts'
import type { EventError as StepError } from '../sessions/session.ts'
import { Session } from './session.ts'

export const Event = builder.objectRef<EventRow>('Event')

const EventError = builder.objectRef<StepError>('EventError').implement({
  description: 'Why a step failed.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'The most telling text that came.' }),
    name: t.exposeString('name', { nullable: true, description: 'The class of the error.' }),
    cause: t.exposeString('cause', { nullable: true, description: 'What lay behind it.' }),
    httpStatus: t.exposeString('httpStatus', {
      nullable: true,
      description: 'An HTTP status, or a connection error such as ECONNREFUSED.',
    }),
  }),
})

const textsOf = (event: EventRow, context: Context) => context.texts.load(event)
const FIRST = 'Only so many characters of its beginning, for a reader who does not want all of a large one.'
/** Never half of a character that is written with two. */
const beginning = (text: string | null | undefined, first: number | null | undefined) =>
  text == null || first == null || text.length <= first
    ? text
    : text.slice(0, Math.max(0, first)).replace(/[\ud800-\udbff]$/, '')
/** Costs far more than a thin field: a whole timeline with all its texts is refused. */
const TEXT_COMPLEXITY = 60

// prettier-ignore
builder.node(Event, {
  description: 'One step of a session.',
  id: { resolve: eventIdText, description: 'Global id.' },
  loadOne: (id, context) => readEvent(context.sql, context.projectIds, eventRef(id)),
  fields: (t) => ({
    session: t.field({
      type: Session, description: 'The session it belongs to.',
      resolve: async (event, _args, context) => {
        const session = await context.sessions.load(event.sessionId)
        if (!session) throw failure('NOT_FOUND', 'The session of this event is gone.')
        return session
      },
    }),
    type: t.expose('type', { type: EventType, description: 'What kind of step it is.' }),
    kind: t.expose('kind', { type: NodeKind, nullable: true, description: 'What kind of node ran; null where unknown.' }),
    kindSource: t.exposeString('kindSource', { nullable: true, description: 'How the kind is known: type, data or name.' }),
    name: t.exposeString('name', { nullable: true, description: 'The tool or node.' }),
    runIndex: t.exposeInt('runIndex', { nullable: true, description: 'Platform B: which run of its node, from 0.' }),
    parentId: t.id({
      nullable: true, description: 'The event it ran inside, such as the agent of a model call; that event may not exist.',
      resolve: (event) => event.parentKey && eventGlobalId({ ...event, eventKey: event.parentKey }),
    }),
    parentName: t.exposeString('parentName', { nullable: true, description: 'The node it ran inside.' }),
    model: t.exposeString('model', { nullable: true, description: 'The model that was called.' }),
    input: t.string({ nullable: true, complexity: TEXT_COMPLEXITY, description: 'What went in, as text.', args: { first: t.arg.int({ description: FIRST }) }, resolve: async (event, { first }, context) => beginning((await textsOf(event, context))?.input, first) }),
    output: t.string({ nullable: true, complexity: TEXT_COMPLEXITY, description: 'What came out, as text.', args: { first: t.arg.int({ description: FIRST }) }, resolve: async (event, { first }, context) => beginning((await textsOf(event, context))?.output, first) }),
    inputBytes: t.exposeInt('inputBytes', { nullable: true, description: 'Size of input in bytes.' }),
    outputBytes: t.exposeInt('outputBytes', { nullable: true, description: 'Size of output in bytes.' }),
    promptTokens: t.expose('promptTokens', { type: 'BigInt', nullable: true, description: 'Null where unknown.' }),
    completionTokens: t.expose('completionTokens', { type: 'BigInt', nullable: true, description: 'Null where unknown.' }),
    tokensEstimated: t.exposeBoolean('tokensEstimated', { description: "The counts are the platform's estimate." }),
    costUsd: t.expose('costUsd', { type: 'Decimal', nullable: true, description: 'Null where unknown.' }),
    costSource: t.expose('costSource', { type: CostSource, nullable: true, description: 'Where costUsd comes from.' }),
    durationMs: t.exposeFloat('durationMs', { nullable: true, description: 'Milliseconds; null where unknown.' }),
    status: t.exposeString('status', { nullable: true, description: 'The status word that came with it.' }),
    error: t.expose('error', { type: EventError, nullable: true, description: 'Why it failed, also where the run went on.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', nullable: true, description: 'Its own time; null where none came.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When it arrived.' }),
    late: t.exposeBoolean('late', { description: 'It arrived after its session had been closed.' }),
    skewed: t.exposeBoolean('skewed', { description: 'Its own time is too far off to be used for order or duration.' }),
    masked: t.exposeBoolean('masked', { description: 'A credential in it was not stored.' }),
    possibleDuplicate: t.exposeBoolean('possibleDuplicate', { description: 'An equal event came before it, and neither of the two had an event_id or an Idempotency-Key to tell whether it is the same.' }),
    attributes: t.field({ type: 'JSON', nullable: true, complexity: TEXT_COMPLEXITY, description: 'What else came with it.', resolve: async (event, _args, context) => (await textsOf(event, context))?.attributes }),
    orderKey: t.string({
      description: 'Sorted as plain text it gives the timeline order.',
      resolve: (event) => `${event.orderUs.padStart(16, '0')}.${event.sequence.padStart(16, '0')}.${String(event.place).padStart(6, '0')}.${event.eventKey}`,
    }),
    revision: t.expose('revision', { type: 'BigInt', description: "Its session's revision when it was last changed." }),
  }),
})

builder.queryField('event', (t) =>
  t.field({
    type: Event,
    nullable: true,
    description: 'One event whole.',
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, context) => readEvent(context.sql, context.projectIds, eventRef(id)),
  }),
)

/** A cursor of a timeline is an event's key. */
export function eventKeyOf(cursor: string): string {
  if (!isUuid(cursor)) throw failure('BAD_USER_INPUT', 'This cursor did not come from a list of events.')
  return cursor
}

const EventsChange = builder.objectRef<EventChanges>('EventsChange').implement({
  description: 'What changed in a timeline.',
  fields: (t) => ({
    session: t.expose('session', { type: Session, description: 'The session as it stands.' }),
    revision: t.expose('revision', {
      type: 'BigInt',
      description: 'What this message brings the reader to (where more is false).',
    }),
    events: t.expose('events', {
      type: [Event],
      description: 'The changed events, at most 100; empty where there are more.',
    }),
    more: t.exposeBoolean('more', {
      description: 'More than 100 changed: read the pages of events(changedAfter: the revision you hold).',
    }),
  }),
})

builder.subscriptionField('eventsChanged', (t) =>
  t.field({
    type: EventsChange,
    description:
      'Events of one session changed after a revision: first what was missed, then live. It completes when the session is deleted.',
    args: { sessionId: t.arg.id({ required: true }), after: t.arg({ type: 'BigInt', required: true }) },
    subscribe: async (_root, { sessionId, after }, context) => {
      const changes = await context.feed.events(context.projectIds, sessionUuid(sessionId), after)
      if (!changes) throw failure('NOT_FOUND', 'There is no such session to be seen.')
      return changes
    },
    resolve: (changes) => changes,
  }),
)
