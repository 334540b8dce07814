// Owns what is shown of one agent over a range: read at once, and again while its runs and prompts go on.
import { query, sentenceOf } from '../client.ts'
import {
  agentEverQuery,
  agentPageQuery,
  agentPromptsChangedSubscription,
  agentRanSubscription,
  type AgentCounts,
  type AgentPageAnswer,
  type AgentPattern,
  type AgentPrompt,
  type AgentSession,
  type FindingSummary,
} from '../queries-agent.ts'
import { agentsChangedSubscription } from '../queries-agents.ts'
import { keptInPlace, type Kept } from '../rules/keep-place.ts'
import { emptyPatternFilter, patternFilterToInput, type FailureRange } from '../rules/pattern-filter.ts'
import { connection, type Subscription } from './connection.svelte.ts'
import { pause } from './pause.svelte.ts'

const lookEveryMs = 500
const refetchMs = 4_000
/** A long answer is followed by a rest of so many times its length. */
const rest = 10

export interface WantedAgent {
  name: string
  /** Null where the address names none: then the project in which it ran last. */
  project: string | null
  range: FailureRange
}

export class AgentOverview {
  /** What is on screen is of this agent and range; null before anything is. */
  shown = $state.raw<WantedAgent | null>(null)
  /** Null where it did not run in the range. */
  counts = $state.raw<AgentCounts | null>(null)
  /** When it ran last, where that was before the range; null where it is not known at all. */
  ranLastAt = $state.raw<string | null>(null)
  /** Its newest, whatever the range. */
  sessions = $state.raw<readonly AgentSession[]>([])
  findings = $state.raw<readonly Kept<FindingSummary>[]>([])
  patterns = $state.raw<readonly Kept<AgentPattern>[]>([])
  hasMorePatterns = $state(false)
  /** The prompt version that workflows fetch. */
  active = $state.raw<AgentPrompt | null>(null)
  candidates = $state.raw<readonly AgentPrompt[]>([])
  hasMoreCandidates = $state(false)
  isLoading = $state(false)
  problem = $state('')
  private wanted: WantedAgent | null = null
  private subscriptions: Subscription[] = []
  private isStale = false
  private restUntil = 0
  private turn = 0
  private readonly timer = setInterval(() => this.look(), lookEveryMs)

  turnTo(wanted: WantedAgent) {
    const isOther = wanted.name !== this.wanted?.name || wanted.project !== this.wanted.project
    this.wanted = wanted
    if (isOther) {
      this.shown = null
      this.problem = ''
      this.listen(wanted.name)
    }
    void this.read()
  }

  stop() {
    this.turn += 1
    clearInterval(this.timer)
    for (const subscription of this.subscriptions) subscription.stop()
  }

  /** @param isAnew what is read may change its order, because somebody asked for it */
  async read(isAnew = true) {
    const { wanted } = this
    if (!wanted) return
    const { name, project, range } = wanted
    const turn = (this.turn += 1)
    const began = performance.now()
    this.isLoading ||= isAnew
    this.isStale = false
    try {
      const answer = await query(agentPageQuery, {
        name,
        project,
        range,
        patterns: patternFilterToInput({ ...emptyPatternFilter, agent: name }),
      })
      const ever = answer.agent ? null : (await query(agentEverQuery, { name, project })).agent
      if (turn !== this.turn) return
      this.show(wanted, answer, ever?.lastSeenAt ?? null, isAnew)
      this.problem = ''
    } catch (error) {
      if (turn !== this.turn) return
      this.problem = sentenceOf(error)
      this.isStale = true
    }
    this.isLoading = false
    const now = performance.now()
    this.restUntil = now + Math.max(refetchMs, rest * (now - began))
  }

  private show(wanted: WantedAgent, answer: AgentPageAnswer, lastAt: string | null, isAnew: boolean) {
    const { agent, sessions, failurePatterns, active, candidates } = answer
    const isOfIt = (one: { project: string }) => one.project === (wanted.project ?? agent?.project ?? one.project)
    const { findings = [], ...counts } = agent ?? {}
    this.sessions = sessions.nodes.filter(isOfIt)
    this.findings = keptInPlace(isAnew ? [] : this.findings, findings)
    this.patterns = keptInPlace(isAnew ? [] : this.patterns, failurePatterns.nodes.filter(isOfIt))
    this.hasMorePatterns = failurePatterns.pageInfo.hasNextPage
    this.active = active.nodes.find(isOfIt) ?? null
    this.candidates = candidates.nodes.filter(isOfIt)
    this.hasMoreCandidates = candidates.pageInfo.hasNextPage
    this.counts = agent && (counts as AgentCounts)
    this.ranLastAt = lastAt
    this.shown = wanted
  }

  private listen(name: string) {
    for (const subscription of this.subscriptions) subscription.stop()
    const started = () => this.changed()
    const next = () => this.changed()
    this.subscriptions = [
      connection.subscribe({
        document: agentRanSubscription,
        variables: () => ({ filter: { agents: [name] } }),
        next,
        started,
      }),
      // Sums follow the runs a moment later.
      connection.subscribe({ document: agentsChangedSubscription, variables: () => ({}), next, started }),
      connection.subscribe({
        document: agentPromptsChangedSubscription,
        variables: () => ({ filter: { agents: [name] } }),
        next,
        started,
      }),
    ]
  }

  private changed() {
    this.isStale = true
  }

  private look() {
    const isDue = this.isStale && !this.isLoading && performance.now() > this.restUntil
    if (isDue && !pause.isOn && document.visibilityState === 'visible') void this.read(false)
  }
}
