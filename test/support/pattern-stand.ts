// Projects of their own for tests of patterns: what is posted to them, what their keys see, and what an admin decides.
import { expect } from 'vitest'
import { ownProject, type OwnProject } from '../fixtures/own-project.ts'
import { untilAllClassified } from './failed-runs.ts'
import type { TestServer } from './server.ts'

const HOUR_MS = 3_600_000
const PATTERN = `id project agent category cause subject title state severity sessions runs share sparkline since firstSeenAt
  lastSeenAt resolvedAt resolvedBy mutedUntil mutedBy isMuted latest { sentence errorText session { externalId } }`

/** @param admin cookie of an admin */
export function patternStand(server: TestServer, admin: { cookie: string }) {
  const { sql } = server.database

  /** What a caller with the key of a project sees and does. */
  function inProject({ name, key, ingestA, ingestB }: OwnProject) {
    const headers = { 'x-api-key': key }
    const ask = (query: string, variables = {}) => server.query(query, variables, headers)
    const patterns = async (filter: object = {}, range = 'LAST_7_DAYS') =>
      (
        await ask(
          `query ($filter: FailurePatternFilter, $range: TimeRange) {
            failurePatterns(filter: $filter, range: $range, first: 100) { nodes { ${PATTERN} } } }`,
          { filter, range },
        )
      ).failurePatterns.nodes as any[]
    return {
      name,
      key,
      ask,
      patterns,
      /** The only pattern of an agent, as far as the test knows. */
      pattern: async (agent: string, range?: string) => (await patterns({ agents: [agent] }, range))[0],
      refusal: async (query: string) =>
        (await server.graphql(query, {}, headers)).body.errors?.[0].extensions.code as string | undefined,
      /** Posted, and all classified. */
      postA: async (body: unknown) => {
        expect((await ingestA(body)).status).toBe(200)
        await untilAllClassified(sql)
      },
      postB: async (body: unknown) => {
        expect((await ingestB(body)).status).toBe(200)
        await untilAllClassified(sql)
      },
    }
  }

  return {
    newProject: async () => inProject(await ownProject(server)),
    mutate: (mutation: string) => server.graphql(`mutation ${mutation}`, {}, admin),
    /** Resolves, reopens or mutes. */
    async decide(name: 'resolve' | 'reopen' | 'mute', id: string, more = '') {
      const mutation = `${name}FailurePattern`
      const answer = await server.query(
        `mutation ($id: ID!) { ${mutation}(id: $id${more}) { ${PATTERN} } }`,
        { id },
        admin,
      )
      return answer[mutation]
    },
    /** Moves a session with its failures into the past. */
    async age(externalId: string, hours: number): Promise<string> {
      const then = new Date(Date.now() - hours * HOUR_MS)
      const [session] = await sql`
        update sessions set first_seen_at = ${then}, last_event_at = ${then} where external_id = ${externalId} returning id`
      await sql`update failures set seen_at = ${then} where session_id = ${session!.id}`
      return then.toISOString()
    },
  }
}
