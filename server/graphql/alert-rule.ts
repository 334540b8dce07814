// Alert rules in GraphQL: when people are told, what a rule would do, and mutes of agents.
import {
  ruleProblem,
  type AlertRule as Row,
  type MutedAgent as Mute,
  type RuleSettings,
} from '../alerts/alert-rules.ts'
import { ruleSentence } from '../alerts/rule-sentence.ts'
import { AlertRuleKind } from './alert-enums.ts'
import { builder, failure } from './builder.ts'
import { Channel } from './channel.ts'
import { isAdmin, whoAsks, type Context } from './context.ts'
import { Platform } from './enums.ts'
import { FailureCategory, Severity } from './failure-enums.ts'
import { alertRuleUuid, channelUuid } from './ids.ts'
import { projectNamed } from './project.ts'

export const AlertRule = builder.objectRef<Row>('AlertRule')
const MAX_MUTE_DAYS = 365

const channelsOf = async ({ projectId, channelIds }: { projectId: number; channelIds: string[] }, context: Context) =>
  (await context.channels.list([projectId])).filter(({ id }) => channelIds.includes(id))

// prettier-ignore
builder.node(AlertRule, {
  description: 'When people are told. Empty lists and null mean any.',
  id: { resolve: ({ id }) => id, description: 'Global id.' },
  loadOne: async (id, context) => {
    const rule = await context.alertRules.find(alertRuleUuid(id))
    return rule && context.projectIds.includes(rule.projectId) ? rule : null
  },
  fields: (t) => ({
    project: t.string({ description: 'The project.', resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '' }),
    name: t.exposeString('name', { description: 'What it was named.' }),
    kind: t.expose('kind', { type: AlertRuleKind, description: 'On what occasion it tells.' }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'It is switched on.' }),
    sentence: t.string({
      complexity: 5, description: 'What it does, for people.',
      resolve: async (rule, _args, context) => ruleSentence(rule, (await channelsOf(rule, context)).map(({ name }) => name)),
    }),
    minSeverity: t.expose('minSeverity', { type: Severity, description: 'Failures at least this bad.' }),
    categories: t.expose('categories', { type: [FailureCategory], description: 'Any of these.' }),
    agents: t.exposeStringList('agents', { description: 'Any of these names.' }),
    platform: t.expose('platform', { type: Platform, nullable: true, description: 'Only runs of it.' }),
    cooldownMinutes: t.exposeInt('cooldownMinutes', { description: 'FAILURE: of one pattern it tells at most once in so many minutes; 0 tells of each run.' }),
    failureShare: t.exposeFloat('failureShare', { nullable: true, description: 'FAILURE_RATE: failed runs as a share of all, above 0 to 1.' }),
    minRuns: t.exposeInt('minRuns', { nullable: true, description: 'FAILURE_RATE: of fewer runs it says nothing.' }),
    windowMinutes: t.exposeInt('windowMinutes', { nullable: true, description: 'FAILURE_RATE: counted over the last so many minutes.' }),
    channels: t.field({
      type: [Channel], nullable: true, complexity: { field: 5, multiplier: 5 },
      description: 'Where it tells; null for all but admins.',
      resolve: (rule, _args, context) => (isAdmin(context) ? channelsOf(rule, context) : null),
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    updatedBy: t.string({ nullable: true, description: 'By whom; null for keys, and where nobody has changed it.', resolve: ({ updatedBy }, _args, { actor }) => (actor.kind === 'PERSON' ? updatedBy : null) }),
  }),
})

builder.queryField('alertRules', (t) =>
  t.field({
    type: [AlertRule],
    description: 'All rules, in the order in which they were made. Three stand ready in each project.',
    resolve: (_root, _args, context) => context.alertRules.list(context.projectIds),
  }),
)

const AlertRuleInput = builder.inputType('AlertRuleInput', {
  description: 'A rule. What is not given stays as it is; of a new one it has the value that is said here.',
  fields: (t) => ({
    name: t.string({ description: '1 to 100 characters.' }),
    kind: t.field({ type: AlertRuleKind, description: 'FAILURE.' }),
    isEnabled: t.boolean({ description: 'False.' }),
    minSeverity: t.field({ type: Severity, description: 'LOW.' }),
    categories: t.field({ type: [FailureCategory], description: 'Any.' }),
    agents: t.stringList({ description: 'Any; at most 50.' }),
    platform: t.field({ type: Platform, description: 'Both; null takes a choice back.' }),
    channels: t.idList({ description: 'None; at most 20.' }),
    cooldownMinutes: t.int({ description: '0, that is each run; at most 10,080.' }),
    failureShare: t.float({ description: '0.5; above 0 to 1.' }),
    minRuns: t.int({ description: '10.' }),
    windowMinutes: t.int({ description: '60; at most 10,080.' }),
  }),
})
type Input = typeof AlertRuleInput.$inferInput

const NEW: RuleSettings = {
  name: '',
  kind: 'FAILURE',
  isEnabled: false,
  minSeverity: 'LOW',
  categories: [],
  agents: [],
  platform: null,
  channelIds: [],
  cooldownMinutes: 0,
  failureShare: null,
  minRuns: null,
  windowMinutes: null,
}

/** What belongs to another kind is a mistake of whoever fills it in. */
function misplaced(kind: RuleSettings['kind'], input: Input): string | null {
  const ofRates = (['failureShare', 'minRuns', 'windowMinutes'] as const).find((field) => input[field] != null)
  if (ofRates && kind !== 'FAILURE_RATE') return `${ofRates} belongs to rules of the kind FAILURE_RATE, not ${kind}.`
  if (input.cooldownMinutes && kind !== 'FAILURE')
    return `cooldownMinutes belongs to rules of the kind FAILURE, not ${kind}.`
  return null
}

function merged(before: RuleSettings, input: Input): RuleSettings {
  const kind = input.kind ?? before.kind
  const isRate = kind === 'FAILURE_RATE'
  return {
    name: (input.name ?? before.name).trim(),
    kind,
    isEnabled: input.isEnabled ?? before.isEnabled,
    minSeverity: input.minSeverity ?? before.minSeverity,
    categories: [...new Set(input.categories ?? before.categories)],
    agents: [...new Set(input.agents ?? before.agents)],
    platform: input.platform === undefined ? before.platform : input.platform,
    channelIds: [...new Set(input.channels?.map(channelUuid) ?? before.channelIds)],
    cooldownMinutes: kind === 'FAILURE' ? (input.cooldownMinutes ?? before.cooldownMinutes) : 0,
    failureShare: isRate ? (input.failureShare ?? before.failureShare ?? 0.5) : null,
    minRuns: isRate ? (input.minRuns ?? before.minRuns ?? 10) : null,
    windowMinutes: isRate ? (input.windowMinutes ?? before.windowMinutes ?? 60) : null,
  }
}

async function problemOf(
  rule: RuleSettings,
  input: Input,
  projectId: number,
  context: Context,
): Promise<string | null> {
  const known = new Set((await channelsOf({ projectId, channelIds: rule.channelIds }, context)).map(({ id }) => id))
  const unknown = rule.channelIds.find((id) => !known.has(id))
  if (unknown !== undefined) return `channels names "${unknown}", which is not there or is of another project.`
  return misplaced(rule.kind, input) ?? ruleProblem(rule)
}

async function find(id: string | number, context: Context): Promise<Row> {
  const rule = await context.alertRules.find(alertRuleUuid(id))
  if (!rule || !context.projectIds.includes(rule.projectId)) throw failure('NOT_FOUND', 'There is no such alert rule.')
  return rule
}

async function save(before: Row | null, projectId: number, input: Input, context: Context): Promise<Row> {
  const rule = merged(before ?? NEW, input)
  const problem = await problemOf(rule, input, projectId, context)
  if (problem) throw failure('BAD_USER_INPUT', problem)
  const saved = await context.alertRules.save(before?.id ?? null, projectId, rule, whoAsks(context))
  if (!saved) throw failure('NOT_FOUND', 'There is no such alert rule.')
  return saved
}

builder.mutationField('createAlertRule', (t) =>
  t.field({
    type: AlertRule,
    description: 'Makes a rule.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      input: t.arg({ type: AlertRuleInput, required: true }),
    },
    resolve: (_root, { project, input }, context) =>
      save(null, projectNamed(context, project ?? 'default').id, input, context),
  }),
)

builder.mutationField('updateAlertRule', (t) =>
  t.field({
    type: AlertRule,
    description: 'Changes a rule, or switches it on or off. It holds for what is seen from then on.',
    args: { id: t.arg.id({ required: true }), input: t.arg({ type: AlertRuleInput, required: true }) },
    resolve: async (_root, { id, input }, context) => {
      const rule = await find(id, context)
      return save(rule, rule.projectId, input, context)
    },
  }),
)

builder.mutationField('deleteAlertRule', (t) =>
  t.boolean({
    description: 'Deletes a rule. What it told stays in the log.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => {
      await context.alertRules.delete((await find(id, context)).id, whoAsks(context))
      return true
    },
  }),
)

const AlertRuleDescription = builder
  .objectRef<{ sentence: string; problem: string | null; occasions: number | null }>('AlertRuleDescription')
  .implement({
    description: 'What a rule would do, before it is saved.',
    fields: (t) => ({
      sentence: t.exposeString('sentence', { description: 'The same as of a saved one.' }),
      problem: t.exposeString('problem', { nullable: true, description: 'Why it cannot be saved; null where it can.' }),
      occasionsInLast7Days: t.exposeInt('occasions', {
        nullable: true,
        description:
          'On how many occasions of the last 7 days it would have told, mutes and cooldown left out; null for rates.',
      }),
    }),
  })

builder.queryField('describeAlertRule', (t) =>
  t.field({
    type: AlertRuleDescription,
    description: 'Says what a rule does while it is being made. Admins only.',
    authScopes: { admin: true },
    complexity: 50,
    args: {
      id: t.arg.id({ description: 'Of the rule that is being changed.' }),
      project: t.arg.string({ defaultValue: 'default' }),
      input: t.arg({ type: AlertRuleInput, required: true }),
    },
    resolve: async (_root, { id, project, input }, context) => {
      const before = id == null ? null : await find(id, context)
      const projectId = before?.projectId ?? projectNamed(context, project ?? 'default').id
      const rule = merged(before ?? NEW, input)
      const channels = await channelsOf({ projectId, channelIds: rule.channelIds }, context)
      const problem = await problemOf(rule, input, projectId, context)
      return {
        sentence: ruleSentence(
          rule,
          channels.map(({ name }) => name),
        ),
        problem,
        occasions: await context.alertRules.occasions(projectId, rule, 7),
      }
    },
  }),
)

const MutedAgent = builder.objectRef<Mute>('MutedAgent').implement({
  description: 'An agent of which nobody is told.',
  fields: (t) => ({
    project: t.string({
      description: 'The project.',
      resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '',
    }),
    agent: t.exposeString('agent', { description: 'Its name.' }),
    mutedUntil: t.expose('mutedUntil', { type: 'DateTime', description: 'Until when.' }),
    mutedBy: t.string({
      nullable: true,
      description: 'Who muted it; null for keys.',
      resolve: ({ mutedBy }, _args, { actor }) => (actor.kind === 'PERSON' ? mutedBy : null),
    }),
  }),
})

builder.queryField('mutedAgents', (t) =>
  t.field({
    type: [MutedAgent],
    description: 'Agents that are muted now.',
    resolve: (_root, _args, context) => context.alertRules.mutedAgents(context.projectIds),
  }),
)

builder.mutationField('muteAgent', (t) =>
  t.field({
    type: [MutedAgent],
    description: `Nobody is told of an agent for so many days, 1 to ${MAX_MUTE_DAYS}; null ends that. Its failures go on being counted. Returns all that are muted.`,
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      agent: t.arg.string({ required: true }),
      days: t.arg.int(),
    },
    resolve: async (_root, { project, agent, days }, context) => {
      if (agent.length < 1 || agent.length > 500)
        throw failure('BAD_USER_INPUT', 'agent must be a name of 1 to 500 characters.')
      if (days != null && (days < 1 || days > MAX_MUTE_DAYS))
        throw failure('BAD_USER_INPUT', `days must be 1 to ${MAX_MUTE_DAYS}, not ${days}.`)
      const until = days == null ? null : new Date(Date.now() + days * 86_400_000)
      await context.alertRules.muteAgent(projectNamed(context, project ?? 'default').id, agent, until, whoAsks(context))
      return context.alertRules.mutedAgents(context.projectIds)
    },
  }),
)
