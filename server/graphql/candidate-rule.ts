// When candidates are made, in GraphQL: how often a failure must repeat, and what the model that proposes has spent.
import type { CandidateSettingsRow } from '../prompts/candidate-settings.ts'
import { DEFAULT_CANDIDATE_RULE, type CandidateRule as Rule } from '../prompts/prompt.ts'
import { builder, failure } from './builder.ts'
import { whoAsks, type Context } from './context.ts'
import { projectNamed } from './project.ts'

const MAX_SESSIONS = 1_000
const MAX_DAYS = 30
const MAX_AGENT = 500

const CandidateRule = builder
  .objectRef<
    Omit<CandidateSettingsRow, 'updatedAt' | 'updatedBy'> & {
      isDefault: boolean
      updatedAt: Date | null
      updatedBy: string | null
    }
  >('CandidateRule')
  .implement({
    description: 'How often a failure must repeat until a candidate is made.',
    fields: (t) => ({
      project: t.string({
        description: 'The project.',
        resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '',
      }),
      agent: t.exposeString('agent', { nullable: true, description: 'The agent; null stands for the whole project.' }),
      isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether candidates are made.' }),
      sessions: t.exposeInt('sessions', { description: 'Sessions that must show the failure.' }),
      days: t.exposeInt('days', { description: 'Within so many days.' }),
      isDefault: t.exposeBoolean('isDefault', { description: 'Nobody has set it.' }),
      updatedAt: t.expose('updatedAt', { type: 'DateTime', nullable: true, description: 'When it was last set.' }),
      updatedBy: t.string({
        nullable: true,
        description: 'By whom; null for keys.',
        resolve: ({ updatedBy }, _args, { actor }) => (actor.kind === 'PERSON' ? updatedBy : null),
      }),
    }),
  })

/** What holds for every project, and where it was set for an agent. */
function rulesOf(context: Context) {
  const set = context.candidateSettings.list(context.projectIds)
  const defaults = context.projectIds
    .filter((projectId) => !set.some((row) => row.projectId === projectId && row.agent === null))
    .map((projectId) => ({
      ...DEFAULT_CANDIDATE_RULE,
      projectId,
      agent: null,
      isDefault: true,
      updatedAt: null,
      updatedBy: null,
    }))
  return [...defaults, ...set.map((row) => ({ ...row, isDefault: false }))].sort(
    (a, b) => a.projectId - b.projectId || ((a.agent ?? '') < (b.agent ?? '') ? -1 : 1),
  )
}

builder.queryField('candidateRules', (t) =>
  t.field({
    type: [CandidateRule],
    description: 'When candidates are made: one rule for each project, and those that were set for agents.',
    resolve: (_root, _args, context) => rulesOf(context),
  }),
)

const CandidateRuleInput = builder.inputType('CandidateRuleInput', {
  description: 'How often a failure must repeat until a candidate is made.',
  fields: (t) => ({
    isEnabled: t.boolean({ defaultValue: true, description: 'False makes none.' }),
    sessions: t.int({ required: true, description: `1 to ${MAX_SESSIONS}.` }),
    days: t.int({ required: true, description: `1 to ${MAX_DAYS}.` }),
  }),
})

function readRule({ isEnabled, sessions, days }: typeof CandidateRuleInput.$inferInput): Rule {
  if (sessions < 1 || sessions > MAX_SESSIONS)
    throw failure('BAD_USER_INPUT', `sessions must be 1 to ${MAX_SESSIONS}, not ${sessions}.`)
  if (days < 1 || days > MAX_DAYS) throw failure('BAD_USER_INPUT', `days must be 1 to ${MAX_DAYS}, not ${days}.`)
  return { isEnabled: isEnabled ?? true, sessions, days }
}

builder.mutationField('setCandidateRule', (t) =>
  t.field({
    type: [CandidateRule],
    description:
      'Sets when candidates are made for a project or one of its agents; holds from the next failure on. Answers all rules.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      agent: t.arg.string({ description: 'Null stands for the whole project.' }),
      rule: t.arg({ type: CandidateRuleInput, description: 'Null takes back what was set.' }),
    },
    resolve: async (_root, { project, agent, rule }, context) => {
      const { id } = projectNamed(context, project ?? 'default')
      if (
        agent != null &&
        (agent.trim() === '' || agent.length > MAX_AGENT || /\0/.test(agent) || !agent.isWellFormed())
      )
        throw failure('BAD_USER_INPUT', `agent must be 1 to ${MAX_AGENT} characters.`)
      await context.candidateSettings.set(id, agent ?? null, rule ? readRule(rule) : null, whoAsks(context))
      return rulesOf(context)
    },
  }),
)

const PromptModel = builder
  .objectRef<{
    model: string
    isPriced: boolean
    tokens: number
    tokensPerDay: number
    costUsd: number
    usdPerDay: number
  }>('PromptModel')
  .implement({
    description: 'The model that proposes prompts, and what it spent today (in UTC) over all servers and projects.',
    fields: (t) => ({
      model: t.exposeString('model', { description: 'Its name.' }),
      tokensToday: t.field({
        type: 'BigInt',
        description: 'Tokens spent or reserved today.',
        resolve: ({ tokens }) => String(tokens),
      }),
      tokensPerDay: t.field({
        type: 'BigInt',
        description: 'It is not asked beyond these.',
        resolve: ({ tokensPerDay }) => String(tokensPerDay),
      }),
      costUsdToday: t.field({
        type: 'Decimal',
        nullable: true,
        description: 'USD spent or reserved today; null where its price is not known.',
        resolve: ({ isPriced, costUsd }) => (isPriced ? String(costUsd) : null),
      }),
      usdPerDay: t.field({
        type: 'Decimal',
        description: 'It is not asked beyond these, where its price is known.',
        resolve: ({ usdPerDay }) => String(usdPerDay),
      }),
    }),
  })

builder.queryField('promptModel', (t) =>
  t.field({
    type: PromptModel,
    nullable: true,
    description: 'The model that proposes prompts; null where none is configured, and for keys.',
    resolve: async (_root, _args, { actor, provider, budget }) => {
      if (!provider || !budget || actor.kind !== 'PERSON') return null
      const { tokens, costUsd } = await budget.today()
      const isPriced = provider.priceOf(1, 1) !== null
      return { model: provider.settings.model, isPriced, tokens, costUsd, ...budget.limits }
    },
  }),
)
