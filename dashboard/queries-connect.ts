// Owns the GraphQL document of what has arrived from each platform, and what was refused.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

export const arrivedSessionFragment = graphql(`
  fragment ArrivedSession on Session @_unmask {
    id
    platform
    externalId
    agent
    lastEventAt
    eventCount
    events(first: 1) {
      nodes {
        type
      }
    }
  }
`)
export type ArrivedSession = FragmentOf<typeof arrivedSessionFragment>

export const acceptedPostFragment = graphql(
  `
    fragment AcceptedPosts on QueryIngestLogConnection @_unmask {
      nodes {
        at
        events
        session {
          ...ArrivedSession
        }
      }
    }
  `,
  [arrivedSessionFragment],
)

export const refusedPostFragment = graphql(`
  fragment RefusedPosts on QueryIngestLogConnection @_unmask {
    nodes {
      id
      at
      status
      code
      detail
      sentAgainAt
    }
  }
`)

/** The log knows the last day, the sessions what came before. */
export const arrivalsQuery = graphql(
  `
    query Arrivals($isAdmin: Boolean!) {
      acceptedA: ingestLog(filter: { refused: false, platform: PLATFORM_A }, first: 1) {
        ...AcceptedPosts
      }
      acceptedB: ingestLog(filter: { refused: false, platform: PLATFORM_B }, first: 1) {
        ...AcceptedPosts
      }
      refusedA: ingestLog(filter: { refused: true, platform: PLATFORM_A }, first: 1) {
        ...RefusedPosts
      }
      refusedB: ingestLog(filter: { refused: true, platform: PLATFORM_B }, first: 1) {
        ...RefusedPosts
      }
      sessionsA: sessions(filter: { platform: PLATFORM_A }, first: 1) {
        nodes {
          ...ArrivedSession
        }
      }
      sessionsB: sessions(filter: { platform: PLATFORM_B }, first: 1) {
        nodes {
          ...ArrivedSession
        }
      }
      unauthenticatedPosts(range: LAST_24_HOURS) @include(if: $isAdmin) {
        server
        reason
        count
        lastAt
      }
      projects {
        name
      }
    }
  `,
  [acceptedPostFragment, arrivedSessionFragment, refusedPostFragment],
)
export type Arrivals = ResultOf<typeof arrivalsQuery>
