// Owns the GraphQL documents of the list of sessions.
import { graphql, type FragmentOf } from './graphql.ts'

export const sessionRowFragment = graphql(`
  fragment SessionRow on Session @_unmask {
    id
    platform
    externalId
    agent
    status
    errorMessage
    firstSeenAt
    startedAt
    closedAt
    durationMs
    errorCount
    totalTokens
    tokensEstimated
    costUsd
    unpricedCalls
    quietAt
    failureCategories
    severity
    revision
  }
`)
export type SessionRow = FragmentOf<typeof sessionRowFragment>

export const sessionPageQuery = graphql(
  `
    query SessionPage($filter: SessionFilter, $first: Int!, $after: String) {
      sessions(filter: $filter, first: $first, after: $after) {
        edges {
          cursor
          node {
            ...SessionRow
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [sessionRowFragment],
)

export const sessionsByIdQuery = graphql(
  `
    query SessionsById($ids: [ID!]!) {
      nodes(ids: $ids) {
        __typename
        ...SessionRow
      }
    }
  `,
  [sessionRowFragment],
)

export const latestSessionQuery = graphql(`
  query LatestSession {
    sessions(first: 1) {
      nodes {
        id
        firstSeenAt
      }
    }
  }
`)

export const sessionChangedSubscription = graphql(
  `
    subscription SessionChanged($filter: SessionFilter, $ids: [ID!]) {
      sessionChanged(filter: $filter, ids: $ids) {
        session {
          ...SessionRow
        }
        goneId
        resync
      }
    }
  `,
  [sessionRowFragment],
)
