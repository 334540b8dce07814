// Owns the GraphQL document of the agents.
import { graphql, type ResultOf } from './graphql.ts'

export const agentsQuery = graphql(`
  query Agents($range: TimeRange) {
    agents(range: $range) {
      id
      project
      name
      platforms
      runs
      running
      failed
      lastSeenAt
    }
  }
`)
export type AgentRow = ResultOf<typeof agentsQuery>['agents'][number]
