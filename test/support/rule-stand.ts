// Rules that each tell a path of their own, and what they raised: read from the database, where "nothing" is certain.
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { ownProject } from '../fixtures/own-project.ts'
import { failedStep, failureReader, untilAllClassified } from './failed-runs.ts'
import { alertStand } from './alert-stand.ts'
import { startReceiver, type Receiver } from './receiver.ts'
import type { TestServer } from './server.ts'
import { until } from './until.ts'

export interface Raised {
  subject: string
  kind: string
  severity: number | null
  category: string | null
  agent: string | null
  suppressedBy: string | null
  /** the run, as it was posted; null where it is gone or there is none */
  externalId: string | null
  facts: any
}

export type OwnRule = Awaited<ReturnType<Awaited<ReturnType<typeof ruleStand>>['rule']>>

export async function ruleStand(options: Parameters<typeof alertStand>[0] = {}) {
  const stand = await alertStand(options)
  const { server } = stand
  const { sql } = server.database
  const receiver = await startReceiver()
  const uuidOf = (id: string) => Buffer.from(id, 'base64').toString().split(':')[1]!

  /** Without channels of the test's own, a rule gets one that posts to a path of its own. */
  async function rule(input: any, { project = 'default', own }: { project?: string; own?: object } = {}) {
    const name = `rule ${randomBytes(5).toString('hex')}`
    const path = `/${name.replace(' ', '-')}`
    const channel = input.channels
      ? null
      : (await stand.channel('WEBHOOK', { name, url: receiver.url + path, ...own }, project)).channel
    const saved = await stand.rule({ name, ...(channel && { channels: [channel.id] }), ...input }, project)
    const id = uuidOf(saved.id)
    return {
      ...saved,
      uuid: id,
      channel,
      path,
      messages: () => messagesAt(receiver, path),
      /** In the order in which they came about. */
      raised: async (): Promise<Raised[]> =>
        (await sql`
          select a.subject, a.kind, a.severity, a.category, a.agent, a.suppressed_by as "suppressedBy", a.facts,
            s.external_id as "externalId"
          from alerts a left join sessions s on s.id = a.session_id where a.rule_id = ${id}
          order by a.created_at, s.external_id`) as any,
      /** Which runs it told of, or why not: "run-1", "run-2 COOLDOWN". */
      toldOf: async (): Promise<string[]> =>
        (
          await sql`
            select s.external_id as run, d.state, d.suppressed_by as why from deliveries d join alerts a on a.id = d.alert_id
            left join sessions s on s.id = a.session_id where a.rule_id = ${id} order by s.external_id, d.channel_id`
        ).map(({ run, why }) => (why ? `${run} ${why}` : (run as string))),
      change: (more: object) => stand.changeRule(saved.id, more),
      delete: () => stand.ask(`mutation ($id: ID!) { deleteAlertRule(id: $id) }`, { id: saved.id }),
      /** Once nothing of it waits any more. */
      settled: () => settled(sql, id),
    }
  }

  const posted = async (answer: Promise<{ status: number; body: any }>) => {
    const { status, body } = await answer
    expect([status, status === 200 ? null : body]).toEqual([200, null])
    await untilAllClassified(sql, 20_000)
  }
  return {
    ...stand,
    sql,
    receiver,
    rule,
    uuidOf,
    /** Posted, and all classified. */
    postA: (body: unknown, headers?: Record<string, string>) => posted(server.ingestA(body, headers)),
    postB: (body: unknown, headers?: Record<string, string>) => posted(server.ingestB(body, headers)),
    mutePattern: async (agent: string, days: number | null, title?: string) => {
      const ids = await sql`
        select p.id from failure_patterns p where agent = ${agent}
          and (${title ?? null}::text is null or exists (select from failures where pattern_id = p.id and title = ${title ?? null}))`
      expect(ids).toHaveLength(1)
      await stand.ask(`mutation ($id: ID!, $days: Int) { muteFailurePattern(id: $id, days: $days) { id } }`, {
        id: ids[0]!.id,
        days,
      })
    },
    resolvePattern: async (agent: string, name: 'resolve' | 'reopen' = 'resolve') => {
      const ids = await sql`select id from failure_patterns where agent = ${agent}`
      expect(ids).toHaveLength(1)
      await stand.ask(`mutation ($id: ID!) { ${name}FailurePattern(id: $id) { id } }`, { id: ids[0]!.id })
    },
    muteAgent: (agent: string, days: number | null, project = 'default') =>
      stand.ask(
        `mutation ($agent: String!, $days: Int, $project: String) {
          muteAgent(agent: $agent, days: $days, project: $project) { agent } }`,
        { agent, days, project },
      ),
    /** Looks at closed sessions of platform A once more: a step comes late that says nothing new of their failures. */
    classifyAgain: (externalIds: string[]) =>
      posted(server.ingestA(externalIds.map((session_id) => ({ session_id, type: 'span' })))),
    /** The same of any session, as after new prices: found by the next look for what is due. */
    async foundDue(externalId: string) {
      await sql`update sessions set content_revision = content_revision + 1 where external_id = ${externalId}`
      await untilAllClassified(sql, 20_000)
    },
    read: failureReader(server).read,
    /** Once the server knows it: projects made with a key are read in the background. */
    async newProject() {
      const project = await ownProject(server)
      const known = async () => (await stand.ask(`{ projects { name } }`)).projects as { name: string }[]
      await until(known, (all) => all.some(({ name }) => name === project.name))
      return project
    },
    async stop() {
      await server.stop()
      await receiver.close()
    },
  }
}

export const messagesAt = (receiver: Receiver, path: string) =>
  receiver.received.filter((one) => one.path === path).map(({ body }) => body)

const settled = (sql: TestServer['database']['sql'], ruleId: string) =>
  until(
    async () =>
      (await sql`
        select d.state from deliveries d join alerts a on a.id = d.alert_id where a.rule_id = ${ruleId}`) as unknown as {
        state: string
      }[],
    (rows) => rows.every(({ state }) => state !== 'QUEUED'),
    20_000,
  )

/** A failed step of an agent that ends its run as failed: a HIGH failure of a tool. */
export const failed = (id: string, agent: string, own: object = {}) => failedStep(id, { agent_name: agent, ...own })
