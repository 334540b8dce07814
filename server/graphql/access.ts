// Access in GraphQL: who asks, and API keys.
import type { Actor } from '../access/actor.ts'
import type { ApiKey as Key } from '../access/keys.ts'
import { builder, failure } from './builder.ts'
import { isAdmin } from './context.ts'
import { KeyScope, Role } from './enums.ts'
import { keyUuid } from './ids.ts'

const ViewerKind = builder.enumType('ViewerKind', {
  description: 'What someone came with.',
  values: { KEY: { description: 'An API key.' }, PERSON: { description: 'A signed-in browser.' } } as const,
})

const Viewer = builder.objectRef<Actor>('Viewer').implement({
  description: 'Who asks, and what they may do.',
  fields: (t) => ({
    kind: t.field({ type: ViewerKind, description: 'A key or a person.', resolve: (actor) => actor.kind }),
    email: t.string({
      nullable: true,
      description: "A person's e-mail.",
      resolve: (actor) => (actor.kind === 'PERSON' ? actor.person.email : null),
    }),
    role: t.field({
      type: Role,
      nullable: true,
      description: "A person's role.",
      resolve: (actor) => (actor.kind === 'PERSON' ? actor.person.role : null),
    }),
    scopes: t.field({
      type: [KeyScope],
      description: "A key's scopes; people read.",
      resolve: (actor): ('INGEST' | 'READ')[] => (actor.kind === 'KEY' ? actor.key.scopes : ['READ']),
    }),
    projects: t.stringList({
      description: 'The projects whose sessions they see.',
      resolve: (_actor, _args, context) => context.projectIds.map((id) => context.projectNames.get(id) ?? ''),
    }),
    isAdmin: t.boolean({ description: 'May change things.', resolve: (_actor, _args, context) => isAdmin(context) }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({ type: Viewer, description: 'Who asks.', resolve: (_root, _args, context) => context.actor }),
)

const ApiKey = builder.objectRef<Key>('ApiKey')

builder.node(ApiKey, {
  description: 'A key for posting or reading. Only its hash is kept.',
  id: { resolve: (key) => key.id, description: 'Global id.' },
  loadOne: (id, context) =>
    isAdmin(context) ? (context.access.keys.list().find((key) => key.id === id) ?? null) : null,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What it was named.' }),
    project: t.exposeString('project', { description: 'The project it belongs to.' }),
    scopes: t.expose('scopes', { type: [KeyScope], description: 'What it may do.' }),
    prefix: t.exposeString('prefix', { description: 'Its first characters, to tell keys apart.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, within a minute.',
    }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
  }),
})

builder.queryField('apiKeys', (t) =>
  t.field({
    type: [ApiKey],
    description: 'All keys, newest first. Admins only.',
    authScopes: { admin: true },
    resolve: (_root, _args, context) => context.access.keys.list(),
  }),
)

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'A key that is to be made.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 100 characters.' }),
    scopes: t.field({ type: [KeyScope], required: true, description: 'At least one.' }),
    project: t.string({ defaultValue: 'default', description: 'Made if there is none of this name.' }),
  }),
})

const CreatedApiKey = builder.objectRef<{ apiKey: Key; secret: string }>('CreatedApiKey').implement({
  description: 'A new key.',
  fields: (t) => ({
    apiKey: t.expose('apiKey', { type: ApiKey, description: 'What is kept of it.' }),
    secret: t.exposeString('secret', { description: 'The key itself. It is shown this once.' }),
  }),
})

builder.mutationField('createApiKey', (t) =>
  t.field({
    type: CreatedApiKey,
    description: 'Makes a key.',
    args: { input: t.arg({ type: CreateApiKeyInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      const name = input.name.trim()
      const project = (input.project ?? 'default').trim()
      if (name.length < 1 || name.length > 100)
        throw failure('BAD_USER_INPUT', 'A key needs a name of 1 to 100 characters.')
      if (!/^[A-Za-z0-9][A-Za-z0-9 _-]{0,62}$/.test(project)) {
        throw failure('BAD_USER_INPUT', 'A project is named with 1 to 63 letters, digits, spaces, - and _.')
      }
      if (input.scopes.length === 0) throw failure('BAD_USER_INPUT', 'A key needs at least one scope.')
      const created = await context.access.keys.create({ name, scopes: [...new Set(input.scopes)], project })
      // It may have made the project.
      await context.projects.load()
      return created
    },
  }),
)

builder.mutationField('revokeApiKey', (t) =>
  t.field({
    type: ApiKey,
    description: 'Revokes a key at once and for good.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => {
      const key = await context.access.keys.revoke(keyUuid(id))
      if (!key) throw failure('NOT_FOUND', 'There is no such key.')
      return key
    },
  }),
)
