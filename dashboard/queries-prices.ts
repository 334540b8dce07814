// Owns the GraphQL documents about model prices and about applying them to what is stored.
import { graphql, type ResultOf } from './graphql.ts'

/** The own prices come for all projects that the caller sees. */
export const modelPricesQuery = graphql(`
  query ModelPrices($project: String!) {
    unpricedModels(project: $project) {
      model
      sessions
      lastSeenAt
    }
    modelPrices {
      project
      model
      inputUsdPerMillion
      outputUsdPerMillion
      updatedAt
    }
  }
`)
export type UnpricedModel = ResultOf<typeof modelPricesQuery>['unpricedModels'][number]
export type ModelPrice = ResultOf<typeof modelPricesQuery>['modelPrices'][number]

export const tablePriceQuery = graphql(`
  query TablePrice($model: String!) {
    tablePrice(model: $model) {
      inputUsdPerMillion
      outputUsdPerMillion
    }
  }
`)
export type TablePrice = ResultOf<typeof tablePriceQuery>['tablePrice']

export const setModelPriceMutation = graphql(`
  mutation SetModelPrice(
    $project: String!
    $model: String!
    $inputUsdPerMillion: Decimal!
    $outputUsdPerMillion: Decimal!
  ) {
    setModelPrice(
      project: $project
      model: $model
      inputUsdPerMillion: $inputUsdPerMillion
      outputUsdPerMillion: $outputUsdPerMillion
    ) {
      model
    }
  }
`)

export const removeModelPriceMutation = graphql(`
  mutation RemoveModelPrice($project: String!, $model: String!) {
    removeModelPrice(project: $project, model: $model)
  }
`)

export const repricingsQuery = graphql(`
  query Repricings {
    repricings {
      id
      project
      requestedBy
      requestedAt
      since
      sessions
      doneSessions
      changedSessions
      finishedAt
    }
  }
`)
export type RepricingRow = ResultOf<typeof repricingsQuery>['repricings'][number]

export const applyPricesMutation = graphql(`
  mutation ApplyPricesToHistory($project: String!, $days: Int) {
    applyPricesToHistory(project: $project, days: $days) {
      id
    }
  }
`)
