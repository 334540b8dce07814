// Agents in GraphQL: what ran, with counts.
import { encodeGlobalID } from '@pothos/plugin-relay'
import { readAgents, type AgentRow } from '../sessions/read.ts'
import { builder } from './builder.ts'
import { Platform, startOfRange, TimeRange } from './enums.ts'

export const Agent = builder.objectRef<AgentRow>('Agent').implement({
  description: 'What ran: all sessions of one name in one project, over both platforms.',
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
    runs: t.exposeInt('runs', { description: 'Sessions in the range.' }),
    running: t.exposeInt('running', { description: 'Of these, not closed.' }),
    completed: t.exposeInt('completed', { description: 'Of these, completed.' }),
    failed: t.exposeInt('failed', { description: 'Of these, failed.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When its newest session was first seen.' }),
  }),
})

builder.queryField('agents', (t) =>
  t.field({
    type: [Agent],
    description: 'All agents with sessions in the range, the last seen first; at most 1,000.',
    args: { range: t.arg({ type: TimeRange }) },
    complexity: { field: 20, multiplier: 20 },
    resolve: (_root, { range }, context) => readAgents(context.sql, context.projectIds, startOfRange(range)),
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
      return (await readAgents(context.sql, ids, startOfRange(range), name))[0] ?? null
    },
  }),
)
