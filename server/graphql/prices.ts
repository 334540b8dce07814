// Model prices in GraphQL: a project's own, the table's, what has none, and prices applied to what is stored already.
import type { ModelPriceRow } from '../sessions/own-prices.ts'
import { plainTablePrice, type OwnPrice } from '../sessions/prices.ts'
import { readModelsOfUnpriced, type ModelRow } from '../sessions/read.ts'
import type { RepricingRow } from '../sessions/repricing.ts'
import { builder, failure } from './builder.ts'
import type { Context } from './context.ts'

const DAY_MS = 86_400_000
const UNPRICED_DAYS = 30
const MAX_UNPRICED = 100
const MAX_REPRICING_DAYS = 3_650

const ModelPrice = builder.objectRef<ModelPriceRow>('ModelPrice').implement({
  description: "A project's own price for a model; it goes before the price table.",
  fields: (t) => ({
    project: t.string({
      description: 'The project.',
      resolve: (price, _args, context) => context.projectNames.get(price.projectId) ?? '',
    }),
    model: t.exposeString('model', { description: 'The model exactly as it is sent.' }),
    inputUsdPerMillion: t.expose('inputUsdPerMillion', {
      type: 'Decimal',
      description: 'USD per million prompt tokens.',
    }),
    outputUsdPerMillion: t.expose('outputUsdPerMillion', {
      type: 'Decimal',
      description: 'USD per million completion tokens.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was set.' }),
  }),
})

builder.queryField('modelPrices', (t) =>
  t.field({
    type: [ModelPrice],
    description: "The projects' own prices.",
    resolve: (_root, _args, context) => context.prices.list(context.projectIds),
  }),
)

/** Among those that the caller sees. */
function projectId({ projectIds, projectNames }: Context, project: string): number {
  const found = projectIds.find((id) => projectNames.get(id) === project)
  if (found === undefined) throw failure('NOT_FOUND', `There is no project "${project.slice(0, 80)}".`)
  return found
}

function checkModel(model: string): void {
  if (model.length < 1 || model.length > 500)
    throw failure('BAD_USER_INPUT', `A model has a name of 1 to 500 characters, not of ${model.length}.`)
}

builder.mutationField('setModelPrice', (t) =>
  t.field({
    type: ModelPrice,
    description: 'Sets the price that calls of a model are to be priced with from now on.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      model: t.arg.string({ required: true }),
      inputUsdPerMillion: t.arg({ type: 'Decimal', required: true }),
      outputUsdPerMillion: t.arg({ type: 'Decimal', required: true }),
    },
    resolve: (_root, { project, model, ...price }, context) => {
      checkModel(model)
      for (const usd of Object.values(price)) {
        if (Number(usd) < 0 || Number(usd) > 1e6)
          throw failure('BAD_USER_INPUT', 'A price lies between 0 and 1,000,000 USD per million tokens.')
      }
      return context.prices.set(projectId(context, project ?? 'default'), model, price)
    },
  }),
)

builder.mutationField('removeModelPrice', (t) =>
  t.boolean({
    description: 'Goes back to the price table. False where no price was set.',
    args: { project: t.arg.string({ defaultValue: 'default' }), model: t.arg.string({ required: true }) },
    resolve: (_root, { project, model }, context) =>
      context.prices.remove(projectId(context, project ?? 'default'), model),
  }),
)

const ModelTablePrice = builder.objectRef<OwnPrice & { model: string }>('ModelTablePrice').implement({
  description: 'What the price table that is shipped says of a model at this moment.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'The model as it was asked for.' }),
    inputUsdPerMillion: t.expose('inputUsdPerMillion', {
      type: 'Decimal',
      description: 'USD per million prompt tokens; of a price in tiers the first.',
    }),
    outputUsdPerMillion: t.expose('outputUsdPerMillion', {
      type: 'Decimal',
      description: 'USD per million completion tokens; of a price in tiers the first.',
    }),
  }),
})

builder.queryField('tablePrice', (t) =>
  t.field({
    type: ModelTablePrice,
    nullable: true,
    description:
      'The price of a model in the table that is shipped; null where it lacks that of prompt or of completion tokens.',
    args: { model: t.arg.string({ required: true, description: 'The model exactly as it is sent.' }) },
    resolve: (_root, { model }) => {
      checkModel(model)
      const price = plainTablePrice(model, Date.now())
      return price && { model, ...price }
    },
  }),
)

const UnpricedModel = builder.objectRef<ModelRow>('UnpricedModel').implement({
  description: 'A model for which no price is known: the costs of its sessions leave its calls out.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'The model exactly as it was sent.' }),
    sessions: t.exposeInt('sessions', { description: 'Sessions with it and with a call that has no price.' }),
    lastSeenAt: t.expose('lastSeenAt', {
      type: 'DateTime',
      description: 'When the newest of them was first seen.',
    }),
  }),
})

builder.queryField('unpricedModels', (t) =>
  t.field({
    type: [UnpricedModel],
    description: `Models of the last ${UNPRICED_DAYS} days that have neither a price of the project's own nor one in the table; those of most sessions first, at most ${MAX_UNPRICED}.`,
    args: { project: t.arg.string({ defaultValue: 'default' }) },
    complexity: { field: 20, multiplier: 20 },
    resolve: async (_root, { project }, context) => {
      const id = projectId(context, project ?? 'default')
      const models = await readModelsOfUnpriced(context.sql, id, new Date(Date.now() - UNPRICED_DAYS * DAY_MS))
      const unpriced: ModelRow[] = []
      for (const row of models) {
        if (unpriced.length === MAX_UNPRICED) break
        if (!context.prices.hasPrice(id, row.model)) unpriced.push(row)
      }
      return unpriced
    },
  }),
)

const Repricing = builder.objectRef<RepricingRow>('Repricing').implement({
  description: "A project's prices applied to its sessions of before, in the background.",
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    project: t.string({
      description: 'The project.',
      resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '',
    }),
    requestedBy: t.exposeString('requestedBy', { description: 'Who asked for it.' }),
    requestedAt: t.expose('requestedAt', {
      type: 'DateTime',
      description: 'When; sessions first seen up to then are looked at.',
    }),
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Sessions first seen from then on are looked at; null where all are.',
      resolve: ({ since }) => (since.getTime() === 0 ? null : since),
    }),
    sessions: t.exposeInt('sessions', { description: 'How many there were when it was asked for.' }),
    doneSessions: t.exposeInt('doneSessions', {
      description: 'How many were looked at so far; those deleted meanwhile are not among them.',
    }),
    changedSessions: t.exposeInt('changedSessions', { description: 'How many of these got another cost.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last was done; null while it goes on.',
    }),
  }),
})

builder.queryField('repricings', (t) =>
  t.field({
    type: [Repricing],
    description: 'The last 100 times that prices were applied to history, newest first. Admins only.',
    authScopes: { admin: true },
    resolve: (_root, _args, context) => context.repricing.list(context.projectIds),
  }),
)

builder.mutationField('applyPricesToHistory', (t) =>
  t.field({
    type: Repricing,
    description:
      'Prices the calls of sessions first seen before now anew, in the background, as if they came now. Costs that were reported stay.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      days: t.arg.int({
        description: `Sessions first seen in the last so many days, 1 to ${MAX_REPRICING_DAYS}; null means all.`,
      }),
    },
    resolve: (_root, { project, days }, context) => {
      if (days != null && (days < 1 || days > MAX_REPRICING_DAYS))
        throw failure('BAD_USER_INPUT', `days must be 1 to ${MAX_REPRICING_DAYS}, or null for all, not ${days}.`)
      const { actor } = context
      const who = actor.kind === 'PERSON' ? actor.person.email : actor.key.name
      return context.repricing.request(projectId(context, project ?? 'default'), who, days ?? null)
    },
  }),
)
