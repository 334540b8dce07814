// The price of a call in GraphQL: with which price the cost of an event was computed.
import { priceUsed, type PriceUsed } from '../sessions/price-used.ts'
import { builder } from './builder.ts'
import { Event } from './event.ts'

const PriceOfCall = builder.objectRef<PriceUsed>('PriceOfCall').implement({
  description: 'The price that the cost of a call was computed with.',
  fields: (t) => ({
    inputUsdPerMillion: t.expose('inputUsdPerMillion', {
      type: 'Decimal',
      description: 'USD per million prompt tokens.',
    }),
    outputUsdPerMillion: t.expose('outputUsdPerMillion', {
      type: 'Decimal',
      description: 'USD per million completion tokens.',
    }),
    isOwn: t.exposeBoolean('isOwn', { description: 'Set by the project, not from the price table.' }),
    provider: t.exposeString('provider', {
      nullable: true,
      description: 'Whose price it is in the table; null for one that the project set.',
    }),
    at: t.expose('at', {
      type: 'DateTime',
      description:
        'Since when the project has it; of a price of the table the time of the call, for which it was asked.',
    }),
  }),
})

builder.objectField(Event, 'price', (t) =>
  t.field({
    type: PriceOfCall,
    nullable: true,
    complexity: 5,
    description:
      'What costUsd was computed with; null where it was reported or is unknown, and where the price has changed since or has tiers.',
    resolve: async (event, _args, context) => {
      const { model, promptTokens, completionTokens, costUsd, costSource } = event
      if (costSource !== 'PRICED' || model === null || promptTokens === null || completionTokens === null) return null
      if (costUsd === null) return null
      const session = await context.sessions.load(event.sessionId)
      if (!session) return null
      const own = context.prices.list([session.projectId]).find((price) => price.model === model)
      return priceUsed(own, { model, promptTokens, completionTokens, costUsd }, event.occurredAt ?? event.receivedAt)
    },
  }),
)
