// Agents in GraphQL: what their runs add up to over a span, whole, part by part and by model, and what came before.
import { encodeGlobalID } from '@pothos/plugin-relay'
import type { AgentSums, ModelSums } from '../agents/read.ts'
import { partHoursOf, readAgents, spanOfLast } from '../agents/read.ts'
import type { Delivery } from '../live/conflated-queue.ts'
import { builder } from './builder.ts'
import { hoursOfRange, Platform, TimeRange } from './enums.ts'

const AgentTotals = builder.interfaceRef<AgentSums>('AgentTotals').implement({
  description: 'What the runs of a span add up to. A run belongs to the hour in which it was first seen.',
  // prettier-ignore
  fields: (t) => ({
    runs: t.exposeInt('runs', { description: 'Sessions.' }),
    running: t.exposeInt('running', { description: 'Of these, not closed.' }),
    completed: t.exposeInt('completed', { description: 'Of these, completed.' }),
    failed: t.exposeInt('failed', { description: 'Of these, failed.' }),
    failureRate: t.float({ nullable: true, description: 'Share of the closed sessions that failed, 0 to 1; null where none is closed.', resolve: ({ failed, completed }) => failed + completed > 0 ? failed / (failed + completed) : null }),
    p50DurationMs: t.float({ nullable: true, description: 'Half of the closed sessions took no longer, in milliseconds, within 1 %; null where no duration is known.', resolve: async (sums, _args, context) => (await context.agentDurations.load(sums))?.p50 ?? null }),
    p95DurationMs: t.float({ nullable: true, description: '95 of 100 closed sessions took no longer, in milliseconds, within 1 %; null where no duration is known.', resolve: async (sums, _args, context) => (await context.agentDurations.load(sums))?.p95 ?? null }),
    costUsd: t.expose('costUsd', { type: 'Decimal', nullable: true, description: 'In USD, of calls whose cost is known; null where none is.' }),
    unpricedRuns: t.exposeInt('unpricedRuns', { description: 'Sessions with calls whose cost is not known.' }),
    promptTokens: t.expose('promptTokens', { type: 'BigInt', nullable: true, description: 'Tokens of prompts; null where none is known.' }),
    completionTokens: t.expose('completionTokens', { type: 'BigInt', nullable: true, description: 'Tokens of answers; null where none is known.' }),
    estimatedRuns: t.exposeInt('estimatedRuns', { description: 'Sessions with counts of tokens that are estimates of their platform.' }),
  }),
})

const AgentPart = builder.objectRef<AgentSums>('AgentPart').implement({
  description: 'A part of a span in which an agent ran.',
  interfaces: [AgentTotals],
  fields: (t) => ({
    startsAt: t.field({
      type: 'DateTime',
      description: 'Where the part begins.',
      resolve: ({ startsAt }) => startsAt!,
    }),
  }),
})

const AgentBefore = builder.objectRef<AgentSums>('AgentBefore').implement({
  description: 'The time before a span, of the same length.',
  interfaces: [AgentTotals],
})

// prettier-ignore
const AgentModel = builder.objectRef<ModelSums>('AgentModel').implement({
  description: 'What the calls of one model add up to, of sessions that were analysed.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'As the platform names it.' }),
    runs: t.exposeInt('runs', { description: 'Sessions with calls of it.' }),
    calls: t.expose('calls', { type: 'BigInt', description: 'Its calls.' }),
    promptTokens: t.expose('promptTokens', { type: 'BigInt', nullable: true, description: 'Tokens of prompts; null where none is known.' }),
    completionTokens: t.expose('completionTokens', { type: 'BigInt', nullable: true, description: 'Tokens of answers; null where none is known.' }),
    costUsd: t.expose('costUsd', { type: 'Decimal', nullable: true, description: 'In USD, of calls whose cost is known; null where none is.' }),
  }),
})

export const Agent = builder.objectRef<AgentSums>('Agent').implement({
  description: 'What ran: all sessions of one name in one project, over both platforms.',
  interfaces: [AgentTotals],
  fields: (t) => ({
    id: t.id({
      description: 'Global id.',
      resolve: (agent) => encodeGlobalID('Agent', `${agent.projectId}:${agent.name ?? ''}`),
    }),
    project: t.string({
      description: 'The project it belongs to.',
      resolve: (agent, _args, context) => context.projectNames.get(agent.projectId) ?? '',
    }),
    name: t.exposeString('name', { nullable: true, description: 'Null gathers the sessions without a name.' }),
    platforms: t.expose('platforms', { type: [Platform], description: 'Where it ran.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When its newest session was first seen.' }),
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Where the span begins: the hour in which the range does. Null where it is all.',
      resolve: ({ span }) => span.from,
    }),
    before: t.field({
      type: AgentBefore,
      nullable: true,
      description: 'The time before the span, of the same length; null where it did not run then.',
      resolve: (agent, _args, context) => context.agentsBefore.load(agent),
    }),
    partHours: t.int({
      description: 'How long the parts are, in hours, from midnight in UTC: 1, 6 or 24.',
      resolve: ({ span }) => partHoursOf(span),
    }),
    parts: t.field({
      type: [AgentPart],
      description: 'The parts of the span in which it ran, the oldest first.',
      complexity: { field: 20, multiplier: 5 },
      resolve: (agent, _args, context) => context.agentParts.load(agent),
    }),
    models: t.field({
      type: [AgentModel],
      description: 'Its models, the dearest first; at most 100. What is not in them was not analysed yet.',
      complexity: { field: 20, multiplier: 5 },
      resolve: (agent, _args, context) => context.agentModels.load(agent),
    }),
  }),
})

builder.queryField('agents', (t) =>
  t.field({
    type: [Agent],
    description:
      'All agents with sessions in the range, in whole hours, the last seen first; at most 1,000. Sums follow changes within seconds.',
    args: { range: t.arg({ type: TimeRange }) },
    complexity: { field: 20, multiplier: 20 },
    resolve: (_root, { range }, context) =>
      readAgents(context.sql, context.projectIds, spanOfLast(hoursOfRange(range))),
  }),
)

builder.queryField('agent', (t) =>
  t.field({
    type: Agent,
    nullable: true,
    description: 'One agent by its name; of several projects that of the newest session, where none is named.',
    args: {
      name: t.arg.string({ required: true }),
      project: t.arg.string({ description: 'Only of this project.' }),
      range: t.arg({ type: TimeRange }),
    },
    complexity: { field: 20 },
    resolve: async (_root, { name, project, range }, context) => {
      const ids = context.projectIds.filter((id) => project == null || context.projectNames.get(id) === project)
      return (await readAgents(context.sql, ids, spanOfLast(hoursOfRange(range)), name))[0] ?? null
    },
  }),
)

const AgentsChange = builder.objectRef<Delivery<number>>('AgentsChange').implement({
  description: 'Sums of agents are others now.',
  fields: (t) => ({
    project: t.string({
      nullable: true,
      description: 'Whose agents; null where this says resync.',
      resolve: (change, _args, context) => ('value' in change ? context.projectNames.get(change.value) : null),
    }),
    resync: t.boolean({
      description: 'Changes were dropped for this subscriber: read again what is shown.',
      resolve: (change) => 'resync' in change,
    }),
  }),
})

builder.subscriptionField('agentsChanged', (t) =>
  t.field({
    type: AgentsChange,
    description: 'Sums of agents changed: read them again. At most some ten messages a second of each project.',
    subscribe: (_root, _args, context) => context.agentFeed.subscribe(() => context.projectIds),
    resolve: (change) => change,
  }),
)
