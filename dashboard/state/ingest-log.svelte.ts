// Owns what is particular to the ingest log among live logs: its documents and its filter.
import { query } from '../client.ts'
import { ingestLoggedSubscription, ingestLogQuery, type LoggedRequest } from '../queries-ingest.ts'
import { logFilterToInput, logFilterToQuery, type LogFilter } from '../rules/log-filter.ts'
import { connection } from './connection.svelte.ts'
import { LogList } from './log-list.svelte.ts'

export class IngestLog extends LogList<LoggedRequest, LogFilter> {
  constructor() {
    super({
      words: ['request', 'requests'],
      keyOf: (filter) => String(logFilterToQuery(filter)),
      async readPage(filter, first, after) {
        const { edges, pageInfo } = (await query(ingestLogQuery, { filter: logFilterToInput(filter), first, after }))
          .ingestLog
        return { edges, ...pageInfo }
      },
      subscribe: (filter, { receive, missed }) =>
        connection.subscribe({
          document: ingestLoggedSubscription,
          variables: () => ({ filter: logFilterToInput(filter) }),
          next: ({ ingestLogged: { request, resync } }) => {
            if (resync) missed()
            if (request) receive(request)
          },
          started: missed,
        }),
      // It never changes but for having been sent again, which a later reading knows.
      renewed: (held, request) => (request.sentAgainAt || !held.sentAgainAt ? request : held),
    })
  }
}
