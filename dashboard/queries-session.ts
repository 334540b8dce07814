// Owns the GraphQL documents of one session and its events.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

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
    possibleDuplicate
    inputBytes
    outputBytes
    orderKey
    revision
  }
`)
export type EventRow = FragmentOf<typeof eventRowFragment>

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
      possibleDuplicate
      attributes
      revision
    }
  }
`)
export type EventWhole = NonNullable<ResultOf<typeof eventQuery>['event']>

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
