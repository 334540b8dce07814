// Owns the GraphQL documents of one session and its events.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'
import { deliveryRowFragment } from './queries-deliveries.ts'

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
    classified
    failureCount
    hint
    rulesNotRun {
      category
      sentence
    }
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

export const failureFragment = graphql(`
  fragment SessionFailure on Failure @_unmask {
    category
    severity
    cause
    subject
    sentence
    advice
    errorText
    measured
    threshold
    unit
    thresholdSource
    thresholdRuns
    evidence
    evidenceCount
    pattern {
      id
      state
      isMuted
      sessions
    }
  }
`)
export type SessionFailure = FragmentOf<typeof failureFragment>

export const findingFragment = graphql(`
  fragment SessionFinding on Finding @_unmask {
    id
    kind
    subject
    sentence
    advice
    savingUsd
    savingTokens
    savingMs
    evidence
    evidenceCount
  }
`)
export type SessionFinding = FragmentOf<typeof findingFragment>

export const sessionQuery = graphql(
  `
    query Session($id: ID!, $first: Int!, $after: String, $withFailures: Boolean!) {
      session(id: $id) {
        ...SessionHead
        failures @include(if: $withFailures) {
          ...SessionFailure
        }
        findings @include(if: $withFailures) {
          ...SessionFinding
        }
        deliveries @include(if: $withFailures) {
          ...DeliveryRow
        }
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
  [sessionHeadFragment, failureFragment, findingFragment, deliveryRowFragment, eventRowFragment],
)

export const sessionFailuresQuery = graphql(
  `
    query SessionFailures($id: ID!) {
      session(id: $id) {
        failures {
          ...SessionFailure
        }
      }
    }
  `,
  [failureFragment],
)

export const sessionFindingsQuery = graphql(
  `
    query SessionFindings($id: ID!) {
      session(id: $id) {
        findings {
          ...SessionFinding
        }
      }
    }
  `,
  [findingFragment],
)

/** Those against one failure pattern that wait to be decided about, or that workflows fetch. */
export const promptsOfPatternQuery = graphql(`
  query PromptsOfPattern($pattern: ID!) {
    promptVersions(filter: { pattern: $pattern, states: [SHADOW, ACTIVE] }, first: 2) {
      nodes {
        id
        agent
        version
        state
      }
    }
  }
`)
export type PatternPrompt = ResultOf<typeof promptsOfPatternQuery>['promptVersions']['nodes'][number]

export const promptsOfAgentChangedSubscription = graphql(`
  subscription PromptsOfAgentChanged($agent: String!) {
    promptVersionChanged(filter: { agents: [$agent] }) {
      promptVersion {
        id
        revision
      }
    }
  }
`)

export const sessionRulesQuery = graphql(`
  query SessionRules($id: ID!) {
    session(id: $id) {
      explain {
        category
        outcome
        sentence
      }
    }
  }
`)
export type RuleExplanation = NonNullable<ResultOf<typeof sessionRulesQuery>['session']>['explain'][number]

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
  query Event($id: ID!, $withInput: Boolean!, $withOutput: Boolean!, $inputFirst: Int, $outputFirst: Int) {
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
      input(first: $inputFirst) @include(if: $withInput)
      output(first: $outputFirst) @include(if: $withOutput)
      promptTokens
      completionTokens
      tokensEstimated
      costUsd
      costSource
      price {
        inputUsdPerMillion
        outputUsdPerMillion
        isOwn
        provider
        at
      }
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
