// Owns the GraphQL documents of the ingest log.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

export const loggedRequestFragment = graphql(`
  fragment LoggedRequest on IngestRequest @_unmask {
    id
    at
    platform
    keyName
    status
    code
    events
    duplicate
    bytes
    durationMs
    session {
      id
      externalId
      agent
    }
    sessionCount
    sentAgainAt
  }
`)
export type LoggedRequest = FragmentOf<typeof loggedRequestFragment>

export const ingestLogQuery = graphql(
  `
    query IngestLog($filter: IngestLogFilter, $first: Int!, $after: String) {
      ingestLog(filter: $filter, first: $first, after: $after) {
        edges {
          cursor
          node {
            ...LoggedRequest
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [loggedRequestFragment],
)

export const ingestRequestQuery = graphql(
  `
    query IngestRequest($id: ID!) {
      node(id: $id) {
        __typename
        ... on IngestRequest {
          ...LoggedRequest
          project
          detail
          problems {
            pointer
            field
            code
            detail
          }
          hasBody
          bodyCut
        }
      }
    }
  `,
  [loggedRequestFragment],
)
export type WholeRequest = Extract<
  NonNullable<ResultOf<typeof ingestRequestQuery>['node']>,
  { __typename: 'IngestRequest' }
>

export const ingestBodyQuery = graphql(`
  query IngestBody($id: ID!) {
    node(id: $id) {
      __typename
      ... on IngestRequest {
        body
      }
    }
  }
`)

export const sendAgainMutation = graphql(`
  mutation SendAgain($id: ID!, $body: String) {
    sendIngestRequestAgain(id: $id, body: $body) {
      status
      code
      detail
      problems {
        pointer
        field
        code
        detail
      }
      accepted
      duplicate
      urls
    }
  }
`)
export type IngestAnswer = ResultOf<typeof sendAgainMutation>['sendIngestRequestAgain']
export type FieldProblem = IngestAnswer['problems'][number]

export const unauthenticatedPostsQuery = graphql(`
  query UnauthenticatedPosts {
    unauthenticatedPosts(range: LAST_24_HOURS) {
      server
      reason
      count
      lastAt
    }
  }
`)

export const ingestLoggedSubscription = graphql(
  `
    subscription IngestLogged($filter: IngestLogFilter) {
      ingestLogged(filter: $filter) {
        request {
          ...LoggedRequest
        }
        resync
      }
    }
  `,
  [loggedRequestFragment],
)
