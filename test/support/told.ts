// An agent with a channel and a rule of its own, so that what a receiver does to it meddles with no other; and counting.
import type postgres from 'postgres'
import type { alertsOf } from './alert-stand.ts'
import { failedStep } from './failed-runs.ts'
import { soon } from './fault-stand.ts'
import type { Asked } from './odd-receiver.ts'
import type { TestServer } from './server.ts'

type Admin = Awaited<ReturnType<typeof alertsOf>>

/** Each channel is told of the failed runs of this agent. @returns their ids, in order */
export async function tellOf(admin: Admin, agent: string, urls: string[]): Promise<string[]> {
  const channels: string[] = []
  for (const [i, url] of urls.entries()) {
    const { channel } = await admin.channel('WEBHOOK', { name: `${agent} ${i}`, url })
    channels.push(channel.id)
  }
  await admin.rule({ name: `Rule of ${agent}`, agents: [agent], channels })
  return channels
}

/** Failed runs: each is a session of its own with one failure, of a few patterns. */
export const runsOf = (agent: string, prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    failedStep(`${prefix}-${i}`, {
      agent_name: agent,
      tool_name: `tool-${i % 4}`,
      error: `Rate limit 429 for request ${i}`,
    }),
  )

/** Posts them; they must be taken. */
export async function failRuns(to: { ingestA: TestServer['ingestA'] }, runs: object[]): Promise<void> {
  const { status, body } = await to.ingestA(runs)
  if (status !== 200) throw new Error(`not taken: ${JSON.stringify(body)}`)
}

/** Once so many attempts of its only delivery have ended. */
export async function afterAttempts(admin: Admin, channel: string, count = 1, withinMs = 20_000) {
  const read = async () => (await admin.deliveries({ channel }))[0]
  await soon(async () => {
    const ended = (await read())?.attempts.filter((attempt: any) => attempt.durationMs !== null).length ?? 0
    return ended >= count
  }, withinMs)
  // A delivery and its attempts are read one after the other.
  return read()
}

/** Of each session told of how often it was told, and with how many ids. */
export function countOf(asked: { body: any; id: string }[]) {
  const ids = new Map<string, string[]>()
  for (const { body, id } of asked) {
    const session = body.data.session.externalId as string
    ids.set(session, [...(ids.get(session) ?? []), id])
  }
  return {
    sessions: ids.size,
    mostTimes: Math.max(0, ...[...ids.values()].map((all) => all.length)),
    mostIds: Math.max(0, ...[...ids.values()].map((all) => new Set(all).size)),
    ids: new Set(asked.map(({ id }: Pick<Asked, 'id'>) => id)).size,
  }
}
export const ONCE_EACH = (sessions: number) => ({ sessions, mostTimes: 1, mostIds: 1, ids: sessions })

/** How many deliveries are in which state. */
export async function statesOf(sql: postgres.Sql): Promise<Record<string, number>> {
  const rows = await sql`select state, count(*)::int as count from deliveries group by state`
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** What waits for a pause or for the end of a lease is due now. */
export const hurry = (sql: postgres.Sql) => sql`update deliveries set next_attempt_at = now() where state = 'QUEUED'`
