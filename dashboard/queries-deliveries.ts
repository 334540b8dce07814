// Owns the GraphQL documents of deliveries: who was told of what, and trying again.
import { graphql, type FragmentOf, type ResultOf, type VariablesOf } from './graphql.ts'

export const deliveryRowFragment = graphql(`
  fragment DeliveryRow on Delivery @_unmask {
    id
    at: createdAt
    alert {
      kind
      title
      rule
      agent
      severity
      session {
        id
        externalId
      }
    }
    channel
    channelKind
    state
    suppressedBy
    isTrying
    attemptCount
    nextAttemptAt
    lastStatus
    lastProblem
    settledAt
  }
`)
export type DeliveryRow = FragmentOf<typeof deliveryRowFragment>

export const deliveriesQuery = graphql(
  `
    query Deliveries($filter: DeliveryFilter, $first: Int!, $after: String) {
      deliveries(filter: $filter, first: $first, after: $after) {
        edges {
          cursor
          node {
            ...DeliveryRow
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [deliveryRowFragment],
)
export type DeliveryFilterInput = NonNullable<VariablesOf<typeof deliveriesQuery>['filter']>

export const deliveriesByIdQuery = graphql(
  `
    query DeliveriesById($ids: [ID!]!) {
      nodes(ids: $ids) {
        __typename
        ... on Delivery {
          ...DeliveryRow
        }
      }
    }
  `,
  [deliveryRowFragment],
)

export const deliveryQuery = graphql(
  `
    query Delivery($id: ID!) {
      node(id: $id) {
        __typename
        ... on Delivery {
          ...DeliveryRow
          project
          alert {
            category
            pattern {
              id
              title
            }
          }
          attempts {
            number
            startedAt
            durationMs
            isDelivered
            status
            answer
            problem
          }
        }
      }
    }
  `,
  [deliveryRowFragment],
)
export type DeliveryWhole = Extract<NonNullable<ResultOf<typeof deliveryQuery>['node']>, { __typename: 'Delivery' }>
export type DeliveryAttempt = DeliveryWhole['attempts'][number]

export const sessionDeliveriesQuery = graphql(
  `
    query SessionDeliveries($id: ID!) {
      session(id: $id) {
        deliveries {
          ...DeliveryRow
        }
      }
    }
  `,
  [deliveryRowFragment],
)

export const sendDeliveryAgainMutation = graphql(`
  mutation SendDeliveryAgain($id: ID!) {
    sendDeliveryAgain(id: $id) {
      id
    }
  }
`)

/** The names that can be chosen among. */
export const alertRuleNamesQuery = graphql(`
  query AlertRuleNames {
    alertRules {
      id
      name
      isEnabled
    }
  }
`)
export type AlertRuleName = ResultOf<typeof alertRuleNamesQuery>['alertRules'][number]

/** For admins only. */
export const channelNamesQuery = graphql(`
  query ChannelNames {
    channels {
      id
      name
    }
  }
`)
export type ChannelName = ResultOf<typeof channelNamesQuery>['channels'][number]

export const deliveryChangedSubscription = graphql(
  `
    subscription DeliveryChanged($filter: DeliveryFilter) {
      deliveryChanged(filter: $filter) {
        delivery {
          ...DeliveryRow
        }
        resync
      }
    }
  `,
  [deliveryRowFragment],
)
