// Owns the GraphQL document of the requests that brought a session.
import { graphql, type ResultOf } from './graphql.ts'

export const sessionRequestsQuery = graphql(`
  query SessionRequests($id: ID!, $first: Int!) {
    session(id: $id) {
      ingestRequests(first: $first) {
        id
        at
        keyName
        bytes
        events
        duplicate
        durationMs
        sessionCount
      }
    }
  }
`)
export type SessionRequest = NonNullable<ResultOf<typeof sessionRequestsQuery>['session']>['ingestRequests'][number]
