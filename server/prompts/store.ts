// How prompt versions are written: made once for a repeated failure, moved from state to state by people, one at a time per agent.
import { randomUUID } from 'node:crypto'
import type { Sql } from '../database/connect.ts'
import type { Transaction } from '../sessions/store.ts'
import type { Guard } from './guard.ts'
import { ACTIONS, type DecisionAction, type Evidence, type PromptMaker, type PromptState } from './prompt.ts'
import type { Proposal } from './provider.ts'

export interface PromptNotice {
  id: string
  projectId: number
}

export interface CandidateWrite {
  projectId: number
  patternId: string
  evidence: Evidence
  guard: Guard
  /** of sessions, the newest first */
  sessionIds: string[]
  /** when the database was asked for them */
  readAt: string
  /** whether a model is to be asked too */
  asksModel: boolean
}

/** Open candidates of one agent: more than a person would read. */
const MAX_OPEN = 10

/** All that changes the versions of one agent goes one after the other, over all servers. */
const lockAgent = (tx: Transaction, projectId: number, agent: string) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`prompts of ${projectId} ${agent}`}, 0))`

const decide = (
  tx: Transaction,
  id: string,
  action: DecisionAction,
  by: string | null,
  reason: string | null,
  prompt: string | null = null,
) =>
  tx`insert into prompt_decisions (prompt_id, action, decided_by, reason, prompt) values (${id}, ${action}, ${by}, ${reason}, ${prompt})`

/**
 * @returns null where one was made of these sessions meanwhile, the agent has more than enough, or what is proposed is active
 * as it stands and no model will propose another
 */
export async function createCandidate(sql: Sql, write: CandidateWrite): Promise<PromptNotice | null> {
  const { projectId, patternId, evidence, guard } = write
  return await sql.begin(async (tx) => {
    await lockAgent(tx, projectId, evidence.agent)
    const id = randomUUID()
    const [made] = await tx`
      insert into prompt_versions (id, project_id, agent, version, state, prompt, maker, pattern_id, category, cause, subject, title, role,
        caution, instruction_seen, evidence, evidence_count, evidence_days)
      select ${id}, ${projectId}, ${evidence.agent}, coalesce(max(version), 0) + 1, 'SHADOW', ${guard.prompt}, 'RULES', ${patternId},
        ${evidence.category}, ${evidence.cause}, ${evidence.subject}, ${evidence.title}, ${evidence.role}, ${guard.caution}, ${evidence.instructionSeen},
        ${write.sessionIds}::uuid[], ${evidence.sessions}, ${evidence.days}
      from prompt_versions where project_id = ${projectId} and agent = ${evidence.agent}
      having count(*) filter (where state = 'SHADOW' and pattern_id is not null) < ${MAX_OPEN}
        and count(*) filter (where pattern_id = ${patternId}
          and (state = 'SHADOW' or greatest(created_at, decided_at) > ${write.readAt}::timestamptz)) = 0
        and (${write.asksModel} or count(*) filter (where state = 'ACTIVE' and prompt = ${guard.prompt}) = 0)
      returning id`
    if (!made) return null
    await tx`insert into prompt_proposals (prompt_id, maker, prompt) values (${id}, 'RULES', ${guard.prompt})`
    if (write.asksModel)
      await tx`insert into prompt_proposals (prompt_id, maker, attempts, next_attempt_at) values (${id}, 'MODEL', 0, now())`
    await decide(
      tx,
      id,
      'CREATED',
      null,
      `${evidence.sessions} sessions with this failure within ${evidence.days} days`,
    )
    return { id, projectId }
  })
}

/** A version that a person writes by hand. */
export async function createByHand(
  sql: Sql,
  version: { projectId: number; agent: string; prompt: string; reason: string | null; by: string },
): Promise<PromptNotice> {
  const { projectId, agent, prompt, reason, by } = version
  return await sql.begin(async (tx) => {
    await lockAgent(tx, projectId, agent)
    const id = randomUUID()
    await tx`
      insert into prompt_versions (id, project_id, agent, version, state, prompt, maker, created_by)
      select ${id}, ${projectId}, ${agent}, coalesce(max(version), 0) + 1, 'SHADOW', ${prompt}, 'PERSON', ${by}
      from prompt_versions where project_id = ${projectId} and agent = ${agent}`
    await decide(tx, id, 'CREATED', by, reason)
    return { id, projectId }
  })
}

/** Why a decision was not taken. */
export type Refusal =
  | { refused: 'not-there' }
  | { refused: 'state'; state: PromptState }
  /** somebody changed the text since it was read */
  | { refused: 'changed' }
  /** another version is active than the one that was read */
  | { refused: 'other-active'; version: number | null }

export interface Decision {
  /** the revision that the person has read */
  revision: number
  by: string
  reason: string | null
}

interface Held {
  id: string
  projectId: number
  agent: string
  state: PromptState
}

/** Holds the version, and all of its agent, until the transaction ends. */
async function hold(
  tx: Transaction,
  projectIds: number[],
  id: string,
  action: (typeof ACTIONS)[PromptState][number],
  revision: number,
): Promise<Held | Refusal> {
  const [asked] =
    await tx`select project_id, agent from prompt_versions where id = ${id} and project_id = any(${projectIds}::int2[])`
  if (!asked) return { refused: 'not-there' }
  await lockAgent(tx, asked.project_id, asked.agent)
  const [row] = await tx`select state, revision from prompt_versions where id = ${id} for update`
  if (!row) return { refused: 'not-there' }
  const state = row.state as PromptState
  if (!ACTIONS[state].includes(action)) return { refused: 'state', state }
  if (row.revision !== revision) return { refused: 'changed' }
  return { id, projectId: asked.project_id, agent: asked.agent, state }
}

export async function editPrompt(
  sql: Sql,
  projectIds: number[],
  id: string,
  prompt: string,
  { revision, by, reason }: Decision,
): Promise<PromptNotice[] | Refusal> {
  return await sql.begin(async (tx) => {
    const held = await hold(tx, projectIds, id, 'edit', revision)
    if ('refused' in held) return held
    // Taken over as a maker proposed it, it is that maker's.
    await tx`
      update prompt_versions set prompt = ${prompt}, revision = revision + 1, maker = coalesce(
        (select maker from prompt_proposals where prompt_id = ${id} and prompt = ${prompt} order by maker limit 1), 'PERSON')
      where id = ${id}`
    await decide(tx, id, 'EDITED', by, reason, prompt)
    return [{ id, projectId: held.projectId }]
  })
}

/**
 * Makes a version the one that workflows fetch; the one before retires in the same transaction.
 * @param activeVersion the number of the one that the person saw active, null for none
 */
export async function activatePrompt(
  sql: Sql,
  projectIds: number[],
  id: string,
  { revision, by, reason }: Decision,
  activeVersion: number | null,
): Promise<PromptNotice[] | Refusal> {
  return await sql.begin(async (tx) => {
    const held = await hold(tx, projectIds, id, 'activate', revision)
    if ('refused' in held) return held
    const { projectId, agent, state } = held
    const [active] =
      await tx`select id, version from prompt_versions where project_id = ${projectId} and agent = ${agent} and state = 'ACTIVE'`
    const version = (active?.version as number | undefined) ?? null
    if (version !== activeVersion) return { refused: 'other-active', version }
    const [own] = await tx`select version from prompt_versions where id = ${id}`
    if (active) {
      await tx`update prompt_versions set state = 'RETIRED', revision = revision + 1, decided_at = now(), retired_at = now() where id = ${active.id as string}`
      await decide(tx, active.id as string, 'RETIRED', by, `Version ${own!.version} took its place`)
    }
    await tx`
      update prompt_versions set state = 'ACTIVE', revision = revision + 1, decided_at = now(), activated_at = now(), retired_at = null,
        fetch_count = 0, last_fetched_at = null
      where id = ${id}`
    await tx`update prompt_proposals set next_attempt_at = null where prompt_id = ${id}`
    await decide(tx, id, state === 'RETIRED' ? 'ROLLED_BACK' : 'ACTIVATED', by, reason)
    return [{ id, projectId }, ...(active ? [{ id: active.id as string, projectId }] : [])]
  })
}

/** Ends a candidate (REJECTED) or the active version (RETIRED: workflows fetch nothing from then on). */
export async function endPrompt(
  sql: Sql,
  projectIds: number[],
  id: string,
  how: 'REJECTED' | 'RETIRED',
  { revision, by, reason }: Decision,
): Promise<PromptNotice[] | Refusal> {
  return await sql.begin(async (tx) => {
    const held = await hold(tx, projectIds, id, how === 'REJECTED' ? 'reject' : 'retire', revision)
    if ('refused' in held) return held
    await tx`
      update prompt_versions set state = ${how}, revision = revision + 1, decided_at = now(),
        retired_at = ${how === 'RETIRED' ? tx`now()` : null}
      where id = ${id}`
    await tx`update prompt_proposals set next_attempt_at = null where prompt_id = ${id}`
    await decide(tx, id, how, by, reason)
    return [{ id, projectId: held.projectId }]
  })
}

export interface Asked {
  id: string
  projectId: number
  attempts: number
}

/**
 * A candidate for which a model is to be asked now; null where there is none.
 * @param leaseMs for so long nobody else asks it, so longer than a call can take
 */
export async function claimForModel(sql: Sql, leaseMs: number): Promise<Asked | null> {
  const [row] = await sql`
    update prompt_proposals p set attempts = p.attempts + 1, next_attempt_at = now() + ${leaseMs} * interval '1 millisecond'
    from (
      select d.prompt_id, v.project_id from prompt_proposals d join prompt_versions v on v.id = d.prompt_id
      where d.next_attempt_at <= now() and v.state = 'SHADOW'
      order by d.next_attempt_at limit 1 for update of d skip locked) due
    where p.prompt_id = due.prompt_id and p.maker = 'MODEL'
    returning p.prompt_id, p.attempts, due.project_id`
  return row ? { id: row.prompt_id, projectId: row.project_id, attempts: row.attempts } : null
}

/** Those that wait because a call failed are asked for at once. */
export async function askSoon(sql: Sql): Promise<void> {
  await sql`update prompt_proposals set next_attempt_at = now() where next_attempt_at > now() and problem is not null`
}

/**
 * What came of asking. The model's text takes the place of the rules' where nobody has touched that.
 * @param againInMs when it is asked again; null where it is not
 */
export async function writeProposal(
  sql: Sql,
  id: string,
  model: string,
  proposal: Proposal,
  againInMs: number | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    const [held] = await tx`select state, revision from prompt_versions where id = ${id} for update`
    if (!held) return
    const isProposed = proposal.kind === 'PROPOSED'
    const usage = 'usage' in proposal ? proposal.usage : null
    await tx`
      update prompt_proposals set model = ${model}, prompt = ${isProposed ? proposal.prompt : null}, rewrite = ${isProposed ? proposal.rewrite : null},
        reason = ${isProposed ? proposal.reason : null}, problem = ${isProposed ? null : proposal.problem},
        prompt_tokens = ${usage?.promptTokens ?? null}, completion_tokens = ${usage?.completionTokens ?? null}, cost_usd = ${usage?.costUsd ?? null}::numeric,
        attempts = attempts - ${proposal.kind === 'OVER_BUDGET' ? 1 : 0}, created_at = now(),
        next_attempt_at = ${againInMs === null || held.state !== 'SHADOW' ? null : tx`now() + ${againInMs} * interval '1 millisecond'`}
      where prompt_id = ${id} and maker = 'MODEL'`
    if (!isProposed) return
    const takesPlace = held.state === 'SHADOW' && held.revision === 1
    if (takesPlace) {
      await tx`update prompt_versions set prompt = ${proposal.prompt}, maker = 'MODEL', revision = revision + 1 where id = ${id}`
    }
    await decide(tx, id, 'PROPOSED', null, `${model} proposed a text`)
  })
}

/** Texts of sessions that are gone must not stay behind in what was made of them. */
export async function forgetGoneEvidence(sql: Sql): Promise<void> {
  await sql`
    update prompt_versions v set instruction_seen = null, title = null, evidence = '{}'
    where v.evidence <> '{}' and not exists (select from sessions s where s.id = any(v.evidence))`
}

/** Counts what was fetched since the last time. */
export async function countFetches(sql: Sql, fetched: { id: string; count: number; lastAt: Date }[]): Promise<void> {
  if (fetched.length === 0) return
  await sql`
    update prompt_versions v set fetch_count = v.fetch_count + w.count, last_fetched_at = greatest(v.last_fetched_at, w.last_at)
    from unnest(${fetched.map(({ id }) => id)}::uuid[], ${fetched.map(({ count }) => count)}::int8[],
      ${fetched.map(({ lastAt }) => lastAt.toISOString())}::timestamptz[]) as w (id, count, last_at)
    where v.id = w.id and v.state = 'ACTIVE'`
}
