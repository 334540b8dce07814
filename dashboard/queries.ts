// Owns every GraphQL document the dashboard sends.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

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
    revision
  }
`)
export type SessionRow = FragmentOf<typeof sessionRowFragment>

export const sessionHeadFragment = graphql(`
  fragment SessionHead on Session @_unmask {
    id
    platform
    externalId
    agent
    workflowId
    mode
    status
    reportedStatus
    errorMessage
    lastNode
    externalUrl
    firstSeenAt
    startedAt
    closedAt
    durationMs
    durationSource
    eventCount
    errorCount
    models
    promptTokens
    completionTokens
    tokensEstimated
    costUsd
    unpricedCalls
    retryOf
    coverage {
      code
      detail
    }
    quietAt
    revision
  }
`)
export type SessionHead = FragmentOf<typeof sessionHeadFragment>

export const eventRowFragment = graphql(`
  fragment EventRow on Event @_unmask {
    id
    type
    kind
    name
    runIndex
    parentId
    model
    promptTokens
    completionTokens
    costUsd
    durationMs
    error {
      message
    }
    occurredAt
    receivedAt
    late
    skewed
    inputBytes
    outputBytes
    orderKey
    revision
  }
`)
export type EventRow = FragmentOf<typeof eventRowFragment>

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

export const sessionQuery = graphql(
  `
    query Session($id: ID!, $first: Int!, $after: String) {
      session(id: $id) {
        ...SessionHead
        events(first: $first, after: $after) {
          nodes {
            ...EventRow
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  [sessionHeadFragment, eventRowFragment],
)

export const eventsAfterRevisionQuery = graphql(
  `
    query EventsAfterRevision($id: ID!, $first: Int!, $after: String, $changedAfter: BigInt!) {
      session(id: $id) {
        ...SessionHead
        events(first: $first, after: $after, changedAfter: $changedAfter) {
          nodes {
            ...EventRow
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  [sessionHeadFragment, eventRowFragment],
)

export const eventQuery = graphql(`
  query Event($id: ID!, $withInput: Boolean!, $withOutput: Boolean!) {
    event(id: $id) {
      id
      type
      kind
      kindSource
      name
      runIndex
      parentId
      parentName
      model
      inputBytes
      outputBytes
      input @include(if: $withInput)
      output @include(if: $withOutput)
      promptTokens
      completionTokens
      tokensEstimated
      costUsd
      costSource
      durationMs
      status
      error {
        message
        name
        cause
        httpStatus
      }
      occurredAt
      receivedAt
      late
      skewed
      masked
      attributes
      revision
    }
  }
`)
export type EventWhole = NonNullable<ResultOf<typeof eventQuery>['event']>

export const agentsQuery = graphql(`
  query Agents($range: TimeRange) {
    agents(range: $range) {
      id
      name
      platforms
      runs
      running
      failed
      lastSeenAt
    }
  }
`)
export type AgentRow = ResultOf<typeof agentsQuery>['agents'][number]

export const apiKeysQuery = graphql(`
  query ApiKeys {
    apiKeys {
      id
      name
      scopes
      prefix
      createdAt
      lastUsedAt
      revokedAt
    }
  }
`)
export type ApiKeyRow = ResultOf<typeof apiKeysQuery>['apiKeys'][number]

export const createApiKeyMutation = graphql(`
  mutation CreateApiKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      apiKey {
        id
        name
      }
      secret
    }
  }
`)

export const revokeApiKeyMutation = graphql(`
  mutation RevokeApiKey($id: ID!) {
    revokeApiKey(id: $id) {
      id
      revokedAt
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
        resync
      }
    }
  `,
  [sessionRowFragment],
)

export const eventsChangedSubscription = graphql(
  `
    subscription EventsChanged($sessionId: ID!, $after: BigInt!) {
      eventsChanged(sessionId: $sessionId, after: $after) {
        session {
          ...SessionHead
        }
        revision
        events {
          ...EventRow
        }
        more
      }
    }
  `,
  [sessionHeadFragment, eventRowFragment],
)
