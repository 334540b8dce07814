// Owns the GraphQL documents of one agent: its counts, what would save most, what fails, and its prompts.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'
import { sessionRowFragment } from './queries.ts'
import { agentTotalsFragment } from './queries-agents.ts'
import { patternRowFragment } from './queries-failures.ts'

export const findingSummaryFragment = graphql(`
  fragment FindingSummary on FindingSummary @_unmask {
    id
    kind
    subject
    sessions
    savingUsd
    savingTokens
    savingMs
    pricedSessions
    sentence
    advice
    lastSeenAt
    latestSession {
      id
    }
  }
`)
export type FindingSummary = FragmentOf<typeof findingSummaryFragment>

const agentPromptFragment = graphql(`
  fragment AgentPrompt on PromptVersion @_unmask {
    id
    project
    version
    title
    fetchCount
    lastFetchedAt
    createdAt
  }
`)
export type AgentPrompt = FragmentOf<typeof agentPromptFragment>

export const agentPageQuery = graphql(
  `
    query AgentPage($name: String!, $project: String, $range: TimeRange!, $patterns: FailurePatternFilter!) {
      agent(name: $name, project: $project, range: $range) {
        id
        project
        platforms
        lastSeenAt
        since
        partHours
        ...AgentTotals
        before {
          failureRate
          costUsd
        }
        parts {
          startsAt
          ...AgentTotals
        }
        models {
          model
          runs
          calls
          promptTokens
          completionTokens
          costUsd
        }
        findings(range: $range) {
          ...FindingSummary
        }
      }
      sessions(first: 8, filter: { agents: [$name] }) {
        nodes {
          ...SessionRow
          project
        }
      }
      failurePatterns(range: $range, filter: $patterns, first: 10) {
        nodes {
          ...PatternRow
          project
        }
        pageInfo {
          hasNextPage
        }
      }
      active: promptVersions(filter: { agents: [$name], states: [ACTIVE] }, first: 10) {
        nodes {
          ...AgentPrompt
        }
      }
      candidates: promptVersions(filter: { agents: [$name], states: [SHADOW] }, first: 50) {
        nodes {
          ...AgentPrompt
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  `,
  [findingSummaryFragment, patternRowFragment, agentPromptFragment, agentTotalsFragment, sessionRowFragment],
)
export type AgentPageAnswer = ResultOf<typeof agentPageQuery>
export type AgentCounts = Omit<NonNullable<AgentPageAnswer['agent']>, 'findings'>
export type AgentModel = AgentCounts['models'][number]
export type AgentSession = AgentPageAnswer['sessions']['nodes'][number]
export type AgentPattern = AgentPageAnswer['failurePatterns']['nodes'][number]

/** When it was last seen at all, for the words where it did not run in the range. */
export const agentEverQuery = graphql(`
  query AgentEver($name: String!, $project: String) {
    agent(name: $name, project: $project) {
      lastSeenAt
    }
  }
`)

export const agentRanSubscription = graphql(`
  subscription AgentRan($filter: SessionFilter) {
    sessionChanged(filter: $filter) {
      resync
    }
  }
`)

export const agentPromptsChangedSubscription = graphql(`
  subscription AgentPromptsChanged($filter: PromptVersionFilter) {
    promptVersionChanged(filter: $filter) {
      resync
    }
  }
`)
