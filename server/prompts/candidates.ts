// Makes a candidate of every failure that repeats, and asks the model for its proposal where one is configured.
import { withDeadline, type Sql } from '../database/connect.ts'
import type { PatternNotice } from '../failures/failure.ts'
import type { CandidateSettings } from './candidate-settings.ts'
import { readEvidence, readPatternsWithoutCandidate, type RepeatedPattern } from './evidence.ts'
import { guardFor } from './guard.ts'
import type { Evidence } from './prompt.ts'
import type { Proposal, Provider } from './provider.ts'
import { askSoon, claimForModel, createCandidate, writeProposal, type Asked, type PromptNotice } from './store.ts'

/** Failures come in bursts: what repeats is counted once for many of them. */
const GATHER_MS = 500
const SWEEP_EVERY_MS = 600_000
const ASK_EVERY_MS = 5_000
const ASKED_AT_ONCE = 2
/** Until a model is asked again after a call that failed. */
const PAUSES_MS = [2_000, 15_000, 60_000, 600_000]
const LONGEST_PAUSE_MS = 3_600_000
/** About a day of them. */
const MAX_ATTEMPTS = 30
const MAX_REFUSED = 2
/** Beyond its timeout nobody waits for a call: after that another server may make it. */
const LEASE_MARGIN_MS = 60_000
const CLOSE_WITHIN_MS = 3_000
const DAY_MS = 86_400_000
const MAX_GATHERED = 5_000

export interface CandidateOptions {
  sql: Sql
  settings: CandidateSettings
  /** null where none is configured */
  provider: Provider | null
  projectIds(): number[]
  /** called after the commit */
  onChanged(notices: PromptNotice[]): void
  onError(error: unknown, what: string): void
}

export class Candidates {
  private gathered = new Set<PatternNotice>()
  private timers = new Set<NodeJS.Timeout>()
  private gatherTimer: NodeJS.Timeout | null = null
  private working: Promise<void> = Promise.resolve()
  private asking = 0
  private isClosed = false
  readonly counters = { made: 0, proposed: 0, refused: 0, failedCalls: 0 }

  constructor(private readonly options: CandidateOptions) {}

  start(): void {
    const sweep = () => {
      this.enqueue(() => this.sweep())
      this.later(SWEEP_EVERY_MS, sweep)
    }
    sweep()
    const ask = () => {
      this.ask()
      this.later(ASK_EVERY_MS, ask)
    }
    // The settings may be others since the last start.
    if (this.options.provider)
      void askSoon(this.options.sql)
        .catch((error: unknown) => this.options.onError(error, 'calls that failed could not be looked up'))
        .finally(ask)
  }

  /** These were seen again just now. */
  due(patterns: PatternNotice[]): void {
    if (this.gathered.size > MAX_GATHERED) return
    for (const pattern of patterns) this.gathered.add(pattern)
    if (this.gatherTimer || this.isClosed || this.gathered.size === 0) return
    this.gatherTimer = setTimeout(() => {
      this.gatherTimer = null
      const all = [...this.gathered]
      this.gathered.clear()
      this.enqueue(async () => this.makeFor(await readPatternsWithoutCandidate(this.options.sql, all)))
    }, GATHER_MS)
  }

  async close(): Promise<void> {
    this.isClosed = true
    if (this.gatherTimer) clearTimeout(this.gatherTimer)
    for (const timer of this.timers) clearTimeout(timer)
    // A model that is being asked is left: its answer is asked for again by the next start.
    await withDeadline(this.working, CLOSE_WITHIN_MS).catch(() => {})
  }

  private enqueue(work: () => Promise<void>): void {
    this.working = this.working
      .then(() => (this.isClosed ? undefined : work()))
      .catch((error: unknown) => this.options.onError(error, 'candidate prompts could not be made'))
  }

  private later(ms: number, work: () => void): void {
    if (this.isClosed) return
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      work()
    }, ms)
    this.timers.add(timer)
  }

  /** What a crash, or another server's end, left. */
  private async sweep(): Promise<void> {
    const { sql, settings, projectIds } = this.options
    const { mostDays: days, leastSessions: sessions } = settings
    await this.makeFor(await readPatternsWithoutCandidate(sql, { projectIds: projectIds(), days, sessions }))
  }

  private async makeFor(patterns: RepeatedPattern[]): Promise<void> {
    const { sql, settings, provider, onChanged } = this.options
    for (const pattern of patterns) {
      if (this.isClosed) return
      const rule = settings.ruleFor(pattern.projectId, pattern.agent)
      if (!rule.isEnabled) continue
      const found = await readEvidence(sql, pattern, rule)
      if (!found) continue
      const { evidence, sessionIds } = found
      const made = await createCandidate(sql, {
        projectId: pattern.projectId,
        patternId: pattern.id,
        evidence,
        guard: guardFor(evidence, found.hasModel),
        sessionIds,
        readAt: found.readAt,
        asksModel: provider !== null,
      })
      if (!made) continue
      this.counters.made += 1
      onChanged([made])
      this.ask()
    }
  }

  /** So many at once, each on its own: one that is slow holds up no other. */
  private ask(): void {
    while (this.options.provider && !this.isClosed && this.asking < ASKED_AT_ONCE) {
      this.asking += 1
      void this.askDue()
        .catch((error: unknown) => this.options.onError(error, 'the model could not be asked for a prompt'))
        .finally(() => (this.asking -= 1))
    }
  }

  private async askDue(): Promise<void> {
    const { sql, provider } = this.options
    while (!this.isClosed) {
      const asked = await claimForModel(sql, provider!.settings.timeoutMs + LEASE_MARGIN_MS)
      if (!asked) return
      await this.askFor(asked)
    }
  }

  private async askFor({ id, projectId, attempts }: Asked): Promise<void> {
    const { sql, onChanged, onError } = this.options
    const provider = this.options.provider!
    const given = await readGiven(sql, id)
    if (!given) return
    const proposal = await provider.propose(given.evidence, given)
    if (this.isClosed) return
    if (proposal.kind === 'PROPOSED') this.counters.proposed += 1
    if (proposal.kind === 'REFUSED') this.counters.refused += 1
    if (proposal.kind === 'FAILED') {
      this.counters.failedCalls += 1
      onError(new Error(proposal.problem), 'the model could not be asked for a prompt')
    }
    const againInMs = pauseAfter(proposal, attempts)
    await writeProposal(sql, id, provider.settings.model, proposal, againInMs)
    onChanged([{ id, projectId }])
    if (againInMs !== null && againInMs < ASK_EVERY_MS) this.later(againInMs + 50, () => this.ask())
  }
}

/** @returns milliseconds until the model is asked again; null where it is not */
export function pauseAfter(proposal: Proposal, attempts: number, now = Date.now()): number | null {
  if (proposal.kind === 'PROPOSED') return null
  if (proposal.kind === 'OVER_BUDGET') return DAY_MS - (now % DAY_MS) + 1_000
  if (proposal.kind === 'REFUSED') return attempts < MAX_REFUSED ? PAUSES_MS[0]! : null
  if (attempts >= MAX_ATTEMPTS) return null
  // A key or a model that is not known is mended by a person: until then it need not be tried often.
  const pause = proposal.isFinal ? LONGEST_PAUSE_MS : (PAUSES_MS[attempts - 1] ?? LONGEST_PAUSE_MS)
  return Math.max(pause, proposal.retryAfterMs ?? 0)
}

/** What the model is given for a candidate: as it was when the candidate was made, with its errors of now. */
async function readGiven(
  sql: Sql,
  id: string,
): Promise<{ evidence: Evidence; ruleText: string; activePrompt: string | null } | null> {
  const [row] = await sql`
    select v.agent, v.category, v.cause, v.subject, v.title, v.evidence_count, v.evidence_days, v.instruction_seen, v.role,
      r.prompt as rule_text, a.prompt as active_prompt,
      array(select distinct error_text from failures where pattern_id = v.pattern_id and session_id = any(v.evidence) and error_text is not null limit 10) as errors
    from prompt_versions v
    join prompt_proposals r on r.prompt_id = v.id and r.maker = 'RULES'
    left join prompt_versions a on a.project_id = v.project_id and a.agent = v.agent and a.state = 'ACTIVE'
    where v.id = ${id}`
  if (!row) return null
  return {
    ruleText: row.rule_text,
    activePrompt: row.active_prompt,
    evidence: {
      agent: row.agent,
      category: row.category,
      cause: row.cause,
      subject: row.subject,
      title: row.title ?? '',
      role: row.role,
      sessions: row.evidence_count,
      days: row.evidence_days,
      errorTexts: row.errors,
      instructionSeen: row.instruction_seen,
    },
  }
}
