// Owns what is particular to the log of deliveries among live logs: its documents, its filter, and that entries change.
import { query } from '../client.ts'
import {
  deliveriesByIdQuery,
  deliveriesQuery,
  deliveryChangedSubscription,
  type DeliveryRow,
} from '../queries-deliveries.ts'
import { deliveryFilterToInput, deliveryMatches, type DeliveryFilter } from '../rules/delivery-filter.ts'
import { connection } from './connection.svelte.ts'
import { LogList } from './log-list.svelte.ts'

export class DeliveryLog extends LogList<DeliveryRow, DeliveryFilter> {
  constructor() {
    super({
      words: ['delivery', 'deliveries'],
      keyOf: (filter) => JSON.stringify(deliveryFilterToInput(filter)),
      async readPage(filter, first, after) {
        const variables = { filter: deliveryFilterToInput(filter), first, after }
        const { edges, pageInfo } = (await query(deliveriesQuery, variables)).deliveries
        return { edges, ...pageInfo }
      },
      subscribe: (filter, { receive, missed }) =>
        connection.subscribe({
          document: deliveryChangedSubscription,
          variables: () => ({ filter: deliveryFilterToInput(filter) }),
          next: ({ deliveryChanged: { delivery, resync } }) => {
            if (resync) missed()
            if (delivery) receive(delivery)
          },
          started: missed,
        }),
      matches: deliveryMatches,
      unsettled: {
        // What was given up may be sent again, and what was not sent may turn out to be worth telling.
        mayChange: ({ state }) => state !== 'SENT',
        async readByIds(ids) {
          const { nodes } = await query(deliveriesByIdQuery, { ids })
          return nodes.map((node) => (node?.__typename === 'Delivery' ? node : null))
        },
      },
    })
  }
}
