// What one flush writes: sessions folded together over its requests, or merged onto what is stored of them.
import type { Sql } from '../database/connect.ts'
import { mergeExecution, type Execution } from '../sessions/execution.ts'
import { writeKeys, type KeyWrite } from '../sessions/request-keys.ts'
import { foldEvents, type EventDraft } from '../sessions/session.ts'
import {
  AlreadyStored,
  foldSessions,
  lockExecution,
  probeStored,
  writeMergedExecution,
  type Transaction,
  type WrittenSession,
} from '../sessions/store.ts'
import type { ParsedSession } from './parsed.ts'

export interface Flush {
  /** in the order in which they came; one session may be in it several times */
  sessions: ParsedSession[]
  /** asked for when the repeats among the sessions are known */
  keys(): KeyWrite[]
}

/**
 * Writes sessions of which nothing is stored that could come again: one statement, one transaction.
 * @throws AlreadyStored if something is stored
 */
export function writeFolded(sql: Sql, { sessions, keys }: Flush): Promise<WrittenSession[]> {
  const writes = [...bySession(sessions).values()].map((posts) => {
    const { identity, execution } = posts[0]!
    if (execution) return { session: execution, events: posts[0]!.events }
    const events = firstOfEachKey(posts)
    if (posts.length > 1) identity.agent ??= posts.find((post) => post.identity.agent !== null)?.identity.agent ?? null
    return { session: foldEvents(identity, events), events }
  })
  return foldSessions(sql, writes, keys())
}

/**
 * Where a network falls silent between two halves of a statement, Postgres waits for the other one, and the locks of the
 * transaction are held: for no longer than this. Waiting for a lock ends before, because that is tried again.
 */
const LOCKS_FOR = 'set local statement_timeout = 8000; set local lock_timeout = 7000'

/**
 * Writes sessions of which something is stored, under their row locks: executions merged, stored events left out.
 * @throws AlreadyStored if another server writes the same at this moment
 */
export async function writeMerged(sql: Sql, { sessions, keys }: Flush): Promise<WrittenSession[]> {
  // Sorted like every other writer of sessions, so that row locks cannot deadlock.
  const sorted = [...bySession(sessions)].sort(([a], [b]) => (a < b ? -1 : 1))
  const written = await sql.begin(async (tx) => {
    await tx.unsafe(LOCKS_FOR)
    const all: WrittenSession[] = []
    for (const [, posts] of sorted) {
      all.push(posts[0]!.execution ? await mergePosts(tx, posts) : await foldUnstored(tx, posts))
    }
    const kept = keys()
    const statusOf = new Map(all.map(({ id, status }) => [id, status]))
    if (kept.length > 0 && !(await writeKeys(tx, kept, statusOf))) throw new AlreadyStored()
    return all
  })
  return written as WrittenSession[]
}

/** Posts of one execution, in the order in which they came, onto what is stored of it. */
async function mergePosts(tx: Transaction, posts: ParsedSession[]): Promise<WrittenSession> {
  const stored = await lockExecution(tx, posts[0]!.identity.id)
  const later = stored ? posts : posts.slice(1)
  const merged = mergeExecution(stored ?? executionOf(posts[0]!), ...later.map(executionOf))
  if (!stored) noteRepeats(posts[0]!, null)
  later.forEach((post, i) => noteRepeats(post, { events: [], execution: { isNews: merged.news[i]! } }))
  if (stored) return writeMergedExecution(tx, merged.session, merged.changed)
  return (await foldSessions(tx, [merged]))[0]!
}

const executionOf = ({ execution, events }: ParsedSession): Execution => ({ session: execution!, events })

/** Events of platform A that may be stored: those that are count once, the first one wins. */
async function foldUnstored(tx: Transaction, posts: ParsedSession[]): Promise<WrittenSession> {
  const { identity } = posts[0]!
  const all = firstOfEachKey(posts)
  const named = all.map((event) => ({ sessionId: identity.id, key: event.key }))
  const { sessions, eventKeys } = await probeStored(tx, [identity.id], named)
  const isStored = (event: EventDraft) => eventKeys.has(`${identity.id}/${event.key}`)
  const events = all.filter((event) => !isStored(event))
  noteLeftOut(posts, new Set(events))
  if (events.length === 0) return sessions.get(identity.id)!
  return (await foldSessions(tx, [{ session: foldEvents(identity, events), events }]))[0]!
}

/** What is found stored after a try whose end nobody knows may be this request's own. */
function noteRepeats(post: ParsedSession, repeats: ParsedSession['repeats']): void {
  post.repeats = post.isTriedBefore ? null : repeats
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
  const [first] = posts
  first!.repeats = null
  if (posts.length === 1 && first!.events.length === 1) return first!.events
  const seen = new Set<string>()
  const events = posts.flatMap((post) => post.events.filter((event) => !seen.has(event.key) && seen.add(event.key)))
  noteLeftOut(posts, new Set(events))
  return events
}

function noteLeftOut(posts: ParsedSession[], kept: Set<EventDraft>): void {
  for (const post of posts) {
    const events = post.events.filter((event) => !kept.has(event))
    noteRepeats(post, events.length > 0 ? { events, execution: null } : null)
  }
}
