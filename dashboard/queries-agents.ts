// Owns the GraphQL documents of agents and their sums.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

export const agentTotalsFragment = graphql(`
  fragment AgentTotals on AgentTotals @_unmask {
    runs
    running
    completed
    failed
    failureRate
    p50DurationMs
    p95DurationMs
    costUsd
    unpricedRuns
    promptTokens
    completionTokens
    estimatedRuns
  }
`)
export type AgentTotals = FragmentOf<typeof agentTotalsFragment>

export const agentsQuery = graphql(
  `
    query Agents($range: TimeRange, $hasSpan: Boolean = false) {
      agents(range: $range) {
        id
        project
        name
        platforms
        lastSeenAt
        since
        partHours
        ...AgentTotals
        before @include(if: $hasSpan) {
          failureRate
          costUsd
        }
        parts @include(if: $hasSpan) {
          startsAt
          runs
          failed
        }
      }
    }
  `,
  [agentTotalsFragment],
)
export type AgentRow = ResultOf<typeof agentsQuery>['agents'][number]

export const agentsChangedSubscription = graphql(`
  subscription AgentsChanged {
    agentsChanged {
      resync
    }
  }
`)
