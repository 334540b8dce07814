// Projects in GraphQL: what each decides about its data, what its retention would delete, and deleting by hand.
import { MAX_RETENTION_DAYS, type Project as Row } from '../access/projects.ts'
import type { Deletion as DeletionRow, RetentionPreview as Preview } from '../sessions/retention.ts'
import { builder, failure } from './builder.ts'
import { whoAsks, type Context } from './context.ts'
import { sessionUuid } from './ids.ts'

const Project = builder.objectRef<Row>('Project').implement({
  description: 'What an API key belongs to, and what it decides about its data.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    masksCredentials: t.exposeBoolean('masksCredentials', {
      description: 'Credentials of the big providers and in headers are masked in texts before they are stored.',
    }),
    mergesEqualEvents: t.exposeBoolean('mergesEqualEvents', {
      description: 'Equal events of platform A with an equal timestamp of their own count once.',
    }),
    retentionDays: t.exposeInt('retentionDays', {
      nullable: true,
      description: 'Days after which sessions are deleted; null keeps them.',
    }),
  }),
})

builder.queryField('projects', (t) =>
  t.field({
    type: [Project],
    description: 'The projects whose sessions the caller sees.',
    resolve: (_root, _args, context) => context.projects.list().filter(({ id }) => context.projectIds.includes(id)),
  }),
)

const ProjectSettingsInput = builder.inputType('ProjectSettingsInput', {
  description: 'What is not given stays as it is.',
  fields: (t) => ({
    masksCredentials: t.boolean(),
    mergesEqualEvents: t.boolean(),
    retentionDays: t.int({
      description: `1 to ${MAX_RETENTION_DAYS}; null keeps sessions until they are deleted by hand.`,
    }),
  }),
})

export function projectNamed(context: Context, name: string): Row {
  const found = context.projects.list().find((project) => project.name === name)
  if (!found) throw failure('NOT_FOUND', `There is no project "${name.slice(0, 80)}".`)
  return found
}

function checkDays(days: number): void {
  if (days >= 1 && days <= MAX_RETENTION_DAYS) return
  throw failure('BAD_USER_INPUT', `retentionDays must be 1 to ${MAX_RETENTION_DAYS}, not ${days}.`)
}

builder.mutationField('updateProject', (t) =>
  t.field({
    type: Project,
    description:
      'Changes what a project decides. Masking and merging hold for what comes from now on; retention is applied within an hour.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      settings: t.arg({ type: ProjectSettingsInput, required: true }),
    },
    resolve: (_root, { project, settings }, context) => {
      const before = projectNamed(context, project ?? 'default')
      if (settings.retentionDays != null) checkDays(settings.retentionDays)
      return context.projects.update(before.id, {
        masksCredentials: settings.masksCredentials ?? before.masksCredentials,
        mergesEqualEvents: settings.mergesEqualEvents ?? before.mergesEqualEvents,
        retentionDays: settings.retentionDays === undefined ? before.retentionDays : settings.retentionDays,
      })
    },
  }),
)

const RetentionPreview = builder.objectRef<Preview>('RetentionPreview').implement({
  description: 'What a retention would delete at this moment.',
  fields: (t) => ({
    before: t.expose('before', {
      type: 'DateTime',
      description: 'Sessions first seen before this would go: midnight in UTC.',
    }),
    sessions: t.exposeInt('sessions', { description: 'How many.' }),
    events: t.expose('events', { type: 'BigInt', description: 'With so many events.' }),
    oldestFirstSeenAt: t.expose('oldestFirstSeenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The oldest of them.',
    }),
  }),
})

builder.queryField('retentionPreview', (t) =>
  t.field({
    type: RetentionPreview,
    description: 'A dry run: nothing is deleted. Admins only.',
    authScopes: { admin: true },
    args: { project: t.arg.string({ defaultValue: 'default' }), days: t.arg.int({ required: true }) },
    resolve: (_root, { project, days }, context) => {
      checkDays(days)
      return context.retention.preview(projectNamed(context, project ?? 'default').id, days)
    },
  }),
)

builder.mutationField('deleteSession', (t) =>
  t.field({
    type: 'Boolean',
    description:
      'Deletes a session and its events for good. False where there is none. What is posted to it later opens it anew.',
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, context) => context.retention.deleteSession(sessionUuid(id)),
  }),
)

const Deletion = builder.objectRef<DeletionRow>('Deletion').implement({
  description: "The deletion of all of an agent's sessions.",
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    project: t.string({
      description: 'The project.',
      resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '',
    }),
    agent: t.exposeString('agent', {
      nullable: true,
      description: 'The agent; null stands for sessions without a name.',
    }),
    requestedBy: t.exposeString('requestedBy', { description: 'Who asked for it.' }),
    requestedAt: t.expose('requestedAt', { type: 'DateTime', description: 'Sessions first seen before this go.' }),
    deletedSessions: t.exposeInt('deletedSessions', { description: 'How many are gone so far.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last was gone; null while it goes on.',
    }),
  }),
})

builder.queryField('deletions', (t) =>
  t.field({
    type: [Deletion],
    description: 'The last 100 deletions of agents, newest first. Admins only.',
    authScopes: { admin: true },
    resolve: (_root, _args, context) => context.retention.deletions(context.projectIds),
  }),
)

builder.mutationField('deleteAgentSessions', (t) =>
  t.field({
    type: Deletion,
    description: 'Deletes all sessions of an agent that were first seen before now, in the background.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      agent: t.arg.string({ description: 'Null stands for sessions without a name.' }),
    },
    resolve: (_root, { project, agent }, context) => {
      const { id } = projectNamed(context, project ?? 'default')
      return context.retention.requestDeletion(id, agent ?? null, whoAsks(context))
    },
  }),
)
