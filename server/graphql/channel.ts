// Channels in GraphQL, for admins alone: where people are told, and trying one.
import { randomUUID } from 'node:crypto'
import { newSecret, targetProblem, type Channel as Row, type Target } from '../alerts/channels.ts'
import { testMessage } from '../alerts/message.ts'
import { SealError } from '../alerts/sealed.ts'
import type { AttemptResult } from '../alerts/send.ts'
import { ChannelKind } from './alert-enums.ts'
import { builder, failure } from './builder.ts'
import { isAdmin, whoAsks, type Context } from './context.ts'
import { channelUuid } from './ids.ts'
import { projectNamed } from './project.ts'

export const Channel = builder.objectRef<Row>('Channel')
const MAX_NAME = 100

builder.node(Channel, {
  description: 'Where people are told. Its address and signing secret are kept sealed and never shown whole.',
  id: { resolve: ({ id }) => id, description: 'Global id.' },
  loadOne: async (id, context) => {
    const channel = isAdmin(context) ? await context.channels.find(channelUuid(id)) : null
    return channel && context.projectIds.includes(channel.projectId) ? channel : null
  },
  fields: (t) => ({
    project: t.string({
      description: 'The project.',
      resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '',
    }),
    name: t.exposeString('name', { description: 'What it was named.' }),
    kind: t.expose('kind', { type: ChannelKind, description: 'How it tells.' }),
    address: t.exposeString('shown', {
      description: 'What may be read of its address: of a URL the host and its last characters.',
    }),
    secretSuffix: t.exposeString('secretSuffix', {
      nullable: true,
      description: 'The last characters of the secret that webhooks are signed with; null for others.',
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'It tells.' }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why this server cannot open its address, for people; null where it can.',
    }),
    pausedUntil: t.expose('pausedUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Its receiver asked for a pause until then.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    updatedBy: t.exposeString('updatedBy', { description: 'By whom.' }),
  }),
})

builder.queryField('channels', (t) =>
  t.field({
    type: [Channel],
    description: 'All channels, by name. Admins only.',
    authScopes: { admin: true },
    resolve: (_root, _args, context) => context.channels.list(context.projectIds),
  }),
)

builder.queryField('canMail', (t) =>
  t.boolean({
    description: 'The operator has set a mail server, so that there can be channels of the kind EMAIL.',
    resolve: (_root, _args, { sender }) => sender.canMail,
  }),
)

const ChannelInput = builder.inputType('ChannelInput', {
  description: 'A channel. Of a change what is not given stays as it is.',
  fields: (t) => ({
    name: t.string({ description: `1 to ${MAX_NAME} characters, once in a project.` }),
    isEnabled: t.boolean({ description: 'Whether it tells; true where not given.' }),
    url: t.string({ description: 'WEBHOOK and SLACK: where to post, http or https.' }),
    secret: t.string({ description: 'WEBHOOK: whsec_ and base64 of 24 to 64 bytes; made where not given.' }),
    to: t.stringList({ description: 'EMAIL: 1 to 20 addresses.' }),
  }),
})
type Input = typeof ChannelInput.$inferInput

const SavedChannel = builder.objectRef<{ channel: Row; secret: string | null }>('SavedChannel').implement({
  description: 'A channel after a change.',
  fields: (t) => ({
    channel: t.expose('channel', { type: Channel, description: 'The channel.' }),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'The secret that its webhooks are signed with, where it was made just now. It is shown this once.',
    }),
  }),
})

const bad = (sentence: string) => failure('BAD_USER_INPUT', sentence)

function checkName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length < 1 || trimmed.length > MAX_NAME) throw bad(`name must have 1 to ${MAX_NAME} characters.`)
  return trimmed
}

/** What belongs to another kind is a mistake of whoever fills it in. */
function checkFields(kind: Target['kind'], { url, secret, to }: Input): void {
  const wrong = kind === 'EMAIL' ? (url ?? secret) != null && 'url and secret' : to != null && 'to'
  if (wrong) throw bad(`${wrong} does not belong to a channel of the kind ${kind}.`)
  if (kind === 'SLACK' && secret != null) throw bad('secret belongs to channels of the kind WEBHOOK.')
}

function targetOf(kind: Target['kind'], { url, secret, to }: Input, before: Target | null): Target {
  if (kind === 'EMAIL') return { kind, to: to?.map((one) => one.trim()) ?? (before?.kind === kind ? before.to : []) }
  const address = url?.trim() ?? (before && 'url' in before ? before.url : '')
  if (kind === 'SLACK') return { kind, url: address }
  return { kind, url: address, secret: secret?.trim() ?? (before?.kind === kind ? before.secret : newSecret()) }
}

function checkTarget(target: Target, { sender }: Context): void {
  const problem = targetProblem(target, sender)
  if (problem) throw bad(problem)
}

const taken = (name: string) => bad(`There is a channel "${name.slice(0, 80)}" already.`)

builder.mutationField('createChannel', (t) =>
  t.field({
    type: SavedChannel,
    description: 'Makes a channel.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      kind: t.arg({ type: ChannelKind, required: true }),
      input: t.arg({ type: ChannelInput, required: true }),
    },
    resolve: async (_root, { project, kind, input }, context) => {
      const { id } = projectNamed(context, project ?? 'default')
      const name = checkName(input.name ?? '')
      checkFields(kind, input)
      const target = targetOf(kind, input, null)
      checkTarget(target, context)
      let channel = await context.channels.create(id, name, target, whoAsks(context))
      if (!channel) throw taken(name)
      if (input.isEnabled === false)
        channel = await context.channels.update(channel, { name, isEnabled: false, target: null }, whoAsks(context))
      return { channel: channel!, secret: target.kind === 'WEBHOOK' && input.secret == null ? target.secret : null }
    },
  }),
)

async function find(id: string | number, context: Context): Promise<Row> {
  const channel = await context.channels.find(channelUuid(id))
  if (!channel || !context.projectIds.includes(channel.projectId))
    throw failure('NOT_FOUND', 'There is no such channel.')
  return channel
}

/** What it was sealed as; null where this server cannot open it. */
async function opened(channel: Row, { channels }: Context): Promise<Target | null> {
  try {
    return await channels.target(channel.id)
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}

builder.mutationField('updateChannel', (t) =>
  t.field({
    type: SavedChannel,
    description: 'Changes a channel. Switched off it tells nobody, nor later what it was to tell meanwhile.',
    args: { id: t.arg.id({ required: true }), input: t.arg({ type: ChannelInput, required: true }) },
    resolve: async (_root, { id, input }, context) => {
      const channel = await find(id, context)
      const name = input.name == null ? channel.name : checkName(input.name)
      checkFields(channel.kind, input)
      const isOther = input.url != null || input.secret != null || input.to != null
      const before = isOther ? await opened(channel, context) : null
      if (isOther && !before && (channel.kind === 'EMAIL' ? input.to : input.url) == null) throw bad(channel.problem!)
      const target = isOther ? targetOf(channel.kind, input, before) : null
      if (target) checkTarget(target, context)
      const isEnabled = input.isEnabled ?? channel.isEnabled
      const saved = await context.channels.update(channel, { name, isEnabled, target }, whoAsks(context))
      if (!saved) throw taken(name)
      const isMade = target?.kind === 'WEBHOOK' && before === null && input.secret == null
      return { channel: saved, secret: isMade ? target.secret : null }
    },
  }),
)

builder.mutationField('rotateChannelSecret', (t) =>
  t.field({
    type: SavedChannel,
    description: 'Makes a new secret to sign webhooks with; the one before holds no more.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => {
      const channel = await find(id, context)
      if (channel.kind !== 'WEBHOOK') throw bad('Only channels of the kind WEBHOOK sign what they send.')
      const before = await opened(channel, context)
      if (before?.kind !== 'WEBHOOK') throw bad('Its address cannot be opened with this SECRET_KEY: set url again.')
      const target = { ...before, secret: newSecret() }
      const { name, isEnabled } = channel
      const saved = await context.channels.update(channel, { name, isEnabled, target }, whoAsks(context))
      return { channel: saved!, secret: target.secret }
    },
  }),
)

builder.mutationField('deleteChannel', (t) =>
  t.boolean({
    description: 'Deletes a channel with its secrets. What was told through it stays in the log.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => {
      await context.channels.delete((await find(id, context)).id, whoAsks(context))
      return true
    },
  }),
)

const ChannelTest = builder.objectRef<AttemptResult>('ChannelTest').implement({
  description: 'How a test message fared.',
  fields: (t) => ({
    isDelivered: t.exposeBoolean('isDelivered', { description: 'The receiver has taken it.' }),
    status: t.exposeInt('status', { nullable: true, description: 'Of the answer, HTTP or SMTP; null without one.' }),
    durationMs: t.exposeFloat('durationMs', { description: 'Milliseconds from the attempt to its answer.' }),
    answer: t.exposeString('answer', { nullable: true, description: 'The first 500 characters of the answer.' }),
    problem: t.exposeString('problem', { nullable: true, description: 'Why it failed, for people.' }),
  }),
})

builder.mutationField('testChannel', (t) =>
  t.field({
    type: ChannelTest,
    description:
      'Sends a message that says of itself that it is a test, once, also through a channel that is switched off.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => {
      const { id: channelId, name, projectId } = await find(id, context)
      const target = await context.channels.target(channelId).catch((error: unknown) => {
        if (error instanceof SealError) throw bad(error.message)
        throw error
      })
      const project = context.projectNames.get(projectId) ?? ''
      const testId = randomUUID()
      const message = testMessage(project, name, context.baseUrl, testId, new Date())
      return context.sender.send(target!, message, `msg_${testId}`)
    },
  }),
)
