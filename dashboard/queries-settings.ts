// Owns the GraphQL documents about keys, what projects decide about their data, and deleting.
import { graphql, type ResultOf } from './graphql.ts'

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

export const projectsQuery = graphql(`
  query Projects {
    projects {
      name
      masksCredentials
      mergesEqualEvents
      retentionDays
    }
  }
`)
export type ProjectRow = ResultOf<typeof projectsQuery>['projects'][number]

export const updateProjectMutation = graphql(`
  mutation UpdateProject($project: String!, $settings: ProjectSettingsInput!) {
    updateProject(project: $project, settings: $settings) {
      name
      masksCredentials
      mergesEqualEvents
      retentionDays
    }
  }
`)

export const retentionPreviewQuery = graphql(`
  query RetentionPreview($project: String!, $days: Int!) {
    retentionPreview(project: $project, days: $days) {
      before
      sessions
      events
      oldestFirstSeenAt
    }
  }
`)
export type RetentionPreview = ResultOf<typeof retentionPreviewQuery>['retentionPreview']

export const deletionsQuery = graphql(`
  query Deletions {
    deletions {
      id
      project
      agent
      requestedBy
      requestedAt
      deletedSessions
      finishedAt
    }
  }
`)
export type DeletionRow = ResultOf<typeof deletionsQuery>['deletions'][number]

export const deleteSessionMutation = graphql(`
  mutation DeleteSession($id: ID!) {
    deleteSession(id: $id)
  }
`)

export const deleteAgentSessionsMutation = graphql(`
  mutation DeleteAgentSessions($project: String!, $agent: String) {
    deleteAgentSessions(project: $project, agent: $agent) {
      id
      project
      agent
      requestedBy
      requestedAt
      deletedSessions
      finishedAt
    }
  }
`)
