// Owns the agents with prompts on screen: read anew whenever a version changes, without a row that moves.
import { query, type RequestError } from '../client.ts'
import { promptAgentsQuery, promptVersionChangedSubscription } from '../queries-prompts.ts'
import { plural } from '../rules/format.ts'
import {
  countAdded,
  firstAgents,
  mergeAgents,
  revealAgents,
  type PromptAgentEntry,
  type PromptAgentsState,
} from '../rules/prompt-agents.ts'
import { mayRevealAtOnce } from '../rules/reveal.ts'
import type { FurtherPages, LiveList } from '../ui/live-list.ts'
import { announcer } from './announcer.svelte.ts'
import { LiveReading } from './live-reading.ts'

export class PromptAgents implements LiveList, FurtherPages {
  rows = $state.raw<PromptAgentEntry[]>([])
  fresh = $state.raw<PromptAgentEntry[]>([])
  projects = $state.raw<string[]>([])
  isFirstLoad = $state(true)
  isLoading = $state(false)
  problem = $state.raw<RequestError | null>(null)
  /** Since the page was opened. */
  readonly added = $derived(countAdded(this))
  readonly hasMore = false
  readonly isLoadingMore = false
  readonly moreProblem = ''
  scrollTop = 0
  engagement: LiveList['engagement'] = () => ({
    isAtTop: true,
    hasActiveRow: false,
    hasFocus: false,
    hasPointer: false,
    isTabVisible: true,
  })
  private readonly reading = new LiveReading(
    promptVersionChangedSubscription,
    () => ({ filter: null }),
    () => this.load(),
  )

  stop() {
    this.reading.stop()
  }

  loadMore() {}

  async load() {
    this.isLoading = this.isFirstLoad
    try {
      const { promptAgents, projects } = await query(promptAgentsQuery, {})
      const added = this.added
      this.projects = projects.map(({ name }) => name)
      this.problem = null
      if (this.isFirstLoad) this.take(firstAgents(promptAgents))
      else this.take(mergeAgents(this, promptAgents))
      this.isFirstLoad = false
      if (this.added > added) announcer.say(plural(this.added, 'new candidate prompt'))
      const mayReveal = this.rows.length === 0 || mayRevealAtOnce({ ...this.engagement(), newPerSecond: 0 })
      if (this.fresh.length > 0 && mayReveal) this.reveal()
    } catch (error) {
      this.problem = error as RequestError
    } finally {
      this.isLoading = false
    }
  }

  reveal() {
    this.take(revealAgents(this))
  }

  private take({ rows, fresh }: PromptAgentsState) {
    this.rows = rows
    this.fresh = fresh
  }
}
