// Owns the GraphQL documents of prompts: agents with versions, one version whole, and what people decide about it.
import { graphql, type FragmentOf } from './graphql.ts'

export const promptAgentFragment = graphql(`
  fragment PromptAgentRow on PromptAgent @_unmask {
    id
    project
    agent
    candidates
    versions
    changedAt
    active {
      id
      version
      fetchCount
      lastFetchedAt
    }
  }
`)
export type PromptAgentRow = FragmentOf<typeof promptAgentFragment>

export const promptAgentsQuery = graphql(
  `
    query PromptAgents {
      promptAgents {
        ...PromptAgentRow
      }
      projects {
        name
      }
    }
  `,
  [promptAgentFragment],
)

export const candidateRulesQuery = graphql(`
  query CandidateRulesInForce {
    candidateRules {
      project
      agent
      isEnabled
      sessions
      days
    }
  }
`)

export const promptRowFragment = graphql(`
  fragment PromptRow on PromptVersion @_unmask {
    id
    project
    agent
    version
    state
    maker
    category
    cause
    subject
    title
    revision
    evidenceCount
    evidenceDays
    createdAt
    createdBy
    decisions {
      action
      decidedBy
      reason
      decidedAt
    }
  }
`)
export type PromptRow = FragmentOf<typeof promptRowFragment>

export const promptWholeFragment = graphql(
  `
    fragment PromptWhole on PromptVersion @_unmask {
      ...PromptRow
      prompt
      caution
      instructionSeen
      activatedAt
      retiredAt
      fetchCount
      lastFetchedAt
      evidence {
        id
        externalId
        status
        quietAt
        firstSeenAt
      }
      pattern {
        id
        sessions
        runs
      }
      proposals {
        maker
        prompt
        rewrite
        reason
        model
        problem
        attempts
        nextAttemptAt
        promptTokens
        completionTokens
        costUsd
      }
      effect {
        before {
          since
          until
          runs
          sessions
          per100Runs
        }
        after {
          since
          until
          runs
          sessions
          per100Runs
        }
      }
    }
  `,
  [promptRowFragment],
)
export type PromptWhole = FragmentOf<typeof promptWholeFragment>

export const promptVersionsQuery = graphql(
  `
    query PromptVersions($agent: String!, $first: Int!, $after: String) {
      promptVersions(filter: { agents: [$agent] }, first: $first, after: $after) {
        nodes {
          ...PromptRow
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
      projects {
        name
      }
    }
  `,
  [promptRowFragment],
)

export const promptsByIdQuery = graphql(
  `
    query PromptsById($ids: [ID!]!) {
      nodes(ids: $ids) {
        __typename
        ...PromptWhole
      }
    }
  `,
  [promptWholeFragment],
)

export const promptVersionChangedSubscription = graphql(`
  subscription PromptVersionChanged($filter: PromptVersionFilter) {
    promptVersionChanged(filter: $filter) {
      promptVersion {
        id
        revision
      }
      resync
    }
  }
`)

export const editPromptMutation = graphql(
  `
    mutation EditPrompt($id: ID!, $revision: Int!, $prompt: String!) {
      decided: editPrompt(id: $id, revision: $revision, prompt: $prompt) {
        ...PromptWhole
      }
    }
  `,
  [promptWholeFragment],
)

export const activatePromptMutation = graphql(
  `
    mutation ActivatePrompt($id: ID!, $revision: Int!, $activeVersion: Int, $reason: String!) {
      decided: activatePrompt(id: $id, revision: $revision, activeVersion: $activeVersion, reason: $reason) {
        ...PromptWhole
      }
    }
  `,
  [promptWholeFragment],
)

export const rejectPromptMutation = graphql(
  `
    mutation RejectPrompt($id: ID!, $revision: Int!, $reason: String!) {
      decided: rejectPrompt(id: $id, revision: $revision, reason: $reason) {
        ...PromptWhole
      }
    }
  `,
  [promptWholeFragment],
)

export const retirePromptMutation = graphql(
  `
    mutation RetirePrompt($id: ID!, $revision: Int!, $reason: String!) {
      decided: retirePrompt(id: $id, revision: $revision, reason: $reason) {
        ...PromptWhole
      }
    }
  `,
  [promptWholeFragment],
)

export const createPromptMutation = graphql(`
  mutation CreatePrompt($project: String!, $agent: String!, $prompt: String!, $reason: String) {
    createPrompt(project: $project, agent: $agent, prompt: $prompt, reason: $reason) {
      id
      project
      agent
      version
    }
  }
`)
