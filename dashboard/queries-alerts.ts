// Owns the GraphQL documents of alert rules, the channels they tell, and agents that nobody is told of.
import { graphql, type FragmentOf, type ResultOf, type VariablesOf } from './graphql.ts'

const alertRuleFragment = graphql(`
  fragment AlertRuleRow on AlertRule @_unmask {
    id
    project
    name
    kind
    isEnabled
    sentence
    minSeverity
    categories
    agents
    platform
    cooldownMinutes
    failureShare
    minRuns
    windowMinutes
    channels {
      id
      name
    }
    updatedAt
    updatedBy
  }
`)
export type AlertRule = FragmentOf<typeof alertRuleFragment>

const mutedAgentFragment = graphql(`
  fragment MutedAgentRow on MutedAgent @_unmask {
    project
    agent
    mutedUntil
    mutedBy
  }
`)
export type MutedAgent = FragmentOf<typeof mutedAgentFragment>

export const alertRulesQuery = graphql(
  `
    query AlertRules {
      alertRules {
        ...AlertRuleRow
      }
      mutedAgents {
        ...MutedAgentRow
      }
      canMail
      projects {
        name
      }
    }
  `,
  [alertRuleFragment, mutedAgentFragment],
)

const channelFragment = graphql(`
  fragment ChannelRow on Channel @_unmask {
    id
    project
    name
    kind
    address
    secretSuffix
    isEnabled
    pausedUntil
    problem
    updatedAt
    updatedBy
  }
`)
export type Channel = FragmentOf<typeof channelFragment>

/** For admins alone. */
export const channelsQuery = graphql(
  `
    query Channels {
      channels {
        ...ChannelRow
      }
    }
  `,
  [channelFragment],
)

/** For admins alone. */
export const describeAlertRuleQuery = graphql(`
  query DescribeAlertRule($id: ID, $project: String!, $input: AlertRuleInput!) {
    describeAlertRule(id: $id, project: $project, input: $input) {
      sentence
      problem
      occasionsInLast7Days
    }
  }
`)
export type AlertRuleDescription = ResultOf<typeof describeAlertRuleQuery>['describeAlertRule']

export const createAlertRuleMutation = graphql(
  `
    mutation CreateAlertRule($project: String!, $input: AlertRuleInput!) {
      createAlertRule(project: $project, input: $input) {
        ...AlertRuleRow
      }
    }
  `,
  [alertRuleFragment],
)
export type AlertRuleInput = VariablesOf<typeof createAlertRuleMutation>['input']

export const updateAlertRuleMutation = graphql(
  `
    mutation UpdateAlertRule($id: ID!, $input: AlertRuleInput!) {
      updateAlertRule(id: $id, input: $input) {
        ...AlertRuleRow
      }
    }
  `,
  [alertRuleFragment],
)

export const deleteAlertRuleMutation = graphql(`
  mutation DeleteAlertRule($id: ID!) {
    deleteAlertRule(id: $id)
  }
`)

export const createChannelMutation = graphql(
  `
    mutation CreateChannel($project: String!, $kind: ChannelKind!, $input: ChannelInput!) {
      createChannel(project: $project, kind: $kind, input: $input) {
        secret
        channel {
          ...ChannelRow
        }
      }
    }
  `,
  [channelFragment],
)
export type ChannelInput = VariablesOf<typeof createChannelMutation>['input']

export const updateChannelMutation = graphql(
  `
    mutation UpdateChannel($id: ID!, $input: ChannelInput!) {
      updateChannel(id: $id, input: $input) {
        secret
        channel {
          ...ChannelRow
        }
      }
    }
  `,
  [channelFragment],
)

export const rotateChannelSecretMutation = graphql(
  `
    mutation RotateChannelSecret($id: ID!) {
      rotateChannelSecret(id: $id) {
        secret
        channel {
          ...ChannelRow
        }
      }
    }
  `,
  [channelFragment],
)
export type SavedChannel = ResultOf<typeof rotateChannelSecretMutation>['rotateChannelSecret']

export const deleteChannelMutation = graphql(`
  mutation DeleteChannel($id: ID!) {
    deleteChannel(id: $id)
  }
`)

export const testChannelMutation = graphql(`
  mutation TestChannel($id: ID!) {
    testChannel(id: $id) {
      isDelivered
      status
      durationMs
      answer
      problem
    }
  }
`)
export type ChannelTest = ResultOf<typeof testChannelMutation>['testChannel']

export const mutedAgentsQuery = graphql(
  `
    query MutedAgents {
      mutedAgents {
        ...MutedAgentRow
      }
    }
  `,
  [mutedAgentFragment],
)

export const muteAgentMutation = graphql(
  `
    mutation MuteAgent($project: String!, $agent: String!, $days: Int) {
      muteAgent(project: $project, agent: $agent, days: $days) {
        ...MutedAgentRow
      }
    }
  `,
  [mutedAgentFragment],
)
