// Owns the GraphQL documents of thresholds: what people fixed, what holds for an agent, and trying limits on history.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

const fixedThresholdsFragment = graphql(`
  fragment Fixed on FixedThresholds @_unmask {
    project
    agent
    latencyMs
    costUsd
    tokens
    loopRounds
    updatedAt
    updatedBy
  }
`)
export type FixedThresholds = FragmentOf<typeof fixedThresholdsFragment>

export const fixedThresholdsQuery = graphql(
  `
    query FixedThresholds {
      fixedThresholds {
        ...Fixed
      }
    }
  `,
  [fixedThresholdsFragment],
)

export const effectiveThresholdsQuery = graphql(`
  query EffectiveThresholds($project: String!, $agent: String) {
    effectiveThresholds(project: $project, agent: $agent) {
      measure
      value
      unit
      source
      because
    }
  }
`)
export type EffectiveThreshold = ResultOf<typeof effectiveThresholdsQuery>['effectiveThresholds'][number]

export const setThresholdsMutation = graphql(
  `
    mutation SetThresholds($project: String!, $agent: String, $thresholds: ThresholdsInput!) {
      setThresholds(project: $project, agent: $agent, thresholds: $thresholds) {
        ...Fixed
      }
    }
  `,
  [fixedThresholdsFragment],
)

const trialSessionFragment = graphql(`
  fragment TrialSession on Session @_unmask {
    id
    externalId
    agent
    firstSeenAt
  }
`)
export type TrialSession = FragmentOf<typeof trialSessionFragment>

export const thresholdPreviewQuery = graphql(
  `
    query ThresholdPreview($project: String!, $agent: String, $thresholds: ThresholdsInput!) {
      thresholdPreview(project: $project, agent: $agent, thresholds: $thresholds) {
        since
        checked
        isCut
        gained
        lost
        gainedSessions {
          ...TrialSession
        }
        lostSessions {
          ...TrialSession
        }
      }
    }
  `,
  [trialSessionFragment],
)
export type ThresholdPreview = ResultOf<typeof thresholdPreviewQuery>['thresholdPreview']
