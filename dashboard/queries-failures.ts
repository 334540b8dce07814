// Owns the GraphQL documents of failures over all sessions: patterns, days, and what people decide about a pattern.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

export const patternDecisionFragment = graphql(`
  fragment PatternDecision on FailurePattern @_unmask {
    id
    state
    resolvedAt
    resolvedBy
    mutedUntil
    mutedBy
  }
`)
export type PatternDecision = FragmentOf<typeof patternDecisionFragment>

export const patternRowFragment = graphql(
  `
    fragment PatternRow on FailurePattern @_unmask {
      ...PatternDecision
      agent
      category
      cause
      subject
      title
      severity
      sessions
      runs
      sparkline
      since
      firstSeenAt
      lastSeenAt
    }
  `,
  [patternDecisionFragment],
)
export type PatternRow = FragmentOf<typeof patternRowFragment>

export const failurePatternsQuery = graphql(
  `
    query FailurePatterns($range: TimeRange!, $filter: FailurePatternFilter, $first: Int!, $after: String) {
      failurePatterns(range: $range, filter: $filter, first: $first, after: $after) {
        edges {
          cursor
          node {
            ...PatternRow
          }
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  `,
  [patternRowFragment],
)

export const failurePatternQuery = graphql(
  `
    query FailurePattern($id: ID!) {
      node(id: $id) {
        __typename
        ... on FailurePattern {
          ...PatternRow
          project
          latest {
            sentence
            advice
            errorText
            evidence
            seenAt
            session {
              id
              externalId
            }
          }
        }
      }
    }
  `,
  [patternRowFragment],
)
export type PatternWhole = Extract<
  NonNullable<ResultOf<typeof failurePatternQuery>['node']>,
  { __typename: 'FailurePattern' }
>

export const failureDaysQuery = graphql(`
  query FailureDays($range: TimeRange!) {
    failureDays(range: $range) {
      day
      category
      sessions
    }
  }
`)
export type FailureDay = ResultOf<typeof failureDaysQuery>['failureDays'][number]

/** The newest session that failed at all, for the words where nothing is listed. */
export const latestFailureQuery = graphql(`
  query LatestFailure {
    sessions(first: 1, filter: { minSeverity: LOW }) {
      nodes {
        id
        firstSeenAt
      }
    }
  }
`)

export const resolvePatternMutation = graphql(
  `
    mutation ResolvePattern($id: ID!) {
      pattern: resolveFailurePattern(id: $id) {
        ...PatternDecision
      }
    }
  `,
  [patternDecisionFragment],
)

export const reopenPatternMutation = graphql(
  `
    mutation ReopenPattern($id: ID!) {
      pattern: reopenFailurePattern(id: $id) {
        ...PatternDecision
      }
    }
  `,
  [patternDecisionFragment],
)

export const mutePatternMutation = graphql(
  `
    mutation MutePattern($id: ID!, $days: Int) {
      pattern: muteFailurePattern(id: $id, days: $days) {
        ...PatternDecision
      }
    }
  `,
  [patternDecisionFragment],
)

export const patternChangedSubscription = graphql(
  `
    subscription FailurePatternChanged($range: TimeRange!) {
      failurePatternChanged(range: $range) {
        pattern {
          ...PatternRow
        }
        goneId
        resync
      }
    }
  `,
  [patternRowFragment],
)
