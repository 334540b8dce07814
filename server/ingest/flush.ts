// What one flush writes: sessions folded together over its requests, or merged onto what is stored of them.
import type { Sql } from '../database/connect.ts'
import { mergeExecution, type Execution } from '../sessions/execution.ts'
import { foldEvents, type EventDraft } from '../sessions/session.ts'
import {
  foldSessions,
  lockExecution,
  probeStored,
  writeMergedExecution,
  type Transaction,
  type WrittenSession,
} from '../sessions/store.ts'
import type { ParsedSession } from './parsed.ts'

/** Writes sessions of which nothing is stored that could come again: one statement, one transaction. */
export function writeFolded(sql: Sql, sessions: ParsedSession[]): Promise<WrittenSession[]> {
  const writes = [...bySession(sessions).values()].map((posts) => {
    const { identity, execution } = posts[0]!
    if (execution) return { session: execution, events: posts[0]!.events }
    const events = firstOfEachKey(posts)
    if (posts.length > 1) identity.agent ??= posts.find((post) => post.identity.agent !== null)?.identity.agent ?? null
    return { session: foldEvents(identity, events), events }
  })
  return foldSessions(sql, writes)
}

/** Writes sessions of which something is stored, under their row locks: executions merged, stored events left out. */
export async function writeMerged(sql: Sql, sessions: ParsedSession[]): Promise<WrittenSession[]> {
  // Sorted like every other writer of sessions, so that row locks cannot deadlock.
  const sorted = [...bySession(sessions)].sort(([a], [b]) => (a < b ? -1 : 1))
  const written = await sql.begin(async (tx) => {
    const all: WrittenSession[] = []
    for (const [, posts] of sorted) {
      all.push(posts[0]!.execution ? await mergePosts(tx, posts) : await foldUnstored(tx, posts))
    }
    return all
  })
  return written as WrittenSession[]
}

/** Posts of one execution, in the order in which they came, onto what is stored of it. */
async function mergePosts(tx: Transaction, posts: ParsedSession[]): Promise<WrittenSession> {
  const executions = posts.map(({ execution, events }) => ({ session: execution!, events }))
  const stored = await lockExecution(tx, executions[0]!.session.id)
  let merged: Execution = stored ?? executions.shift()!
  const changed = new Map<string, EventDraft>()
  for (const post of executions) {
    const next = mergeExecution(merged, post)
    for (const event of next.changed) changed.set(event.key, event)
    merged = next
  }
  if (stored) return writeMergedExecution(tx, merged.session, [...changed.values()])
  return (await foldSessions(tx, [merged]))[0]!
}

/** Events of platform A that may be stored: those that are count once, the first one wins. */
async function foldUnstored(tx: Transaction, posts: ParsedSession[]): Promise<WrittenSession> {
  const { identity } = posts[0]!
  const all = firstOfEachKey(posts)
  const named = all.map((event) => ({ sessionId: identity.id, key: event.key }))
  const { sessions, eventKeys } = await probeStored(tx, [identity.id], named)
  const events = all.filter((event) => !eventKeys.has(`${identity.id}/${event.key}`))
  if (events.length === 0) return sessions.get(identity.id)!
  return (await foldSessions(tx, [{ session: foldEvents(identity, events), events }]))[0]!
}

function bySession(sessions: ParsedSession[]): Map<string, ParsedSession[]> {
  const groups = new Map<string, ParsedSession[]>()
  for (const session of sessions) {
    const posts = groups.get(session.identity.id)
    if (posts) posts.push(session)
    else groups.set(session.identity.id, [session])
  }
  return groups
}

function firstOfEachKey(posts: ParsedSession[]): EventDraft[] {
  if (posts.length === 1 && posts[0]!.events.length === 1) return posts[0]!.events
  const seen = new Set<string>()
  return posts.flatMap((post) => post.events.filter((event) => !seen.has(event.key) && seen.add(event.key)))
}
