// Owns which failures of a session somebody could act upon: the prompt versions that were made against their patterns.
import { query } from '../client.ts'
import {
  promptsOfAgentChangedSubscription,
  promptsOfPatternQuery,
  type PatternPrompt,
  type SessionFailure,
} from '../queries-session.ts'
import { connection, type Subscription } from './connection.svelte.ts'

/** The worst failures come first: of more patterns than these nobody asks. */
const mostPatterns = 10
const restMs = 200

export class FailurePrompts {
  private byPattern = $state.raw<ReadonlyMap<string, readonly PatternPrompt[]>>(new Map())
  private patterns: readonly string[] = []
  private agent: string | null = null
  private subscription: Subscription | null = null
  private revisions = new Map<string, number>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private turn = 0

  of = (failure: SessionFailure): readonly PatternPrompt[] =>
    (failure.pattern && this.byPattern.get(failure.pattern.id)) ?? []

  follow(agent: string | null, failures: readonly SessionFailure[]) {
    // Prompts belong to agents with a name.
    if (agent === null) return
    const patterns = [...new Set(failures.flatMap(({ pattern }) => pattern?.id ?? []))].slice(0, mostPatterns)
    if (String(patterns) !== String(this.patterns)) {
      this.patterns = patterns
      this.readSoon()
    }
    if (agent === this.agent || patterns.length === 0) return
    this.agent = agent
    this.subscription?.stop()
    this.subscription = connection.subscribe({
      document: promptsOfAgentChangedSubscription,
      variables: () => ({ agent }),
      started: () => this.readSoon(),
      next: ({ promptVersionChanged: { promptVersion: prompt } }) => {
        // One that is only fetched keeps its revision.
        if (prompt && this.revisions.get(prompt.id) === prompt.revision) return
        if (prompt) this.revisions.set(prompt.id, prompt.revision)
        this.readSoon()
      },
    })
  }

  stop() {
    this.turn += 1
    this.subscription?.stop()
    clearTimeout(this.timer)
  }

  private readSoon() {
    this.timer ??= setTimeout(() => void this.read(), restMs)
  }

  /** Without an answer the links stay as they are: they are no part of what went wrong. */
  private async read() {
    this.timer = undefined
    const turn = (this.turn += 1)
    const { patterns } = this
    const read = patterns.map(async (pattern) => {
      const { promptVersions } = await query(promptsOfPatternQuery, { pattern })
      return [pattern, promptVersions.nodes] as const
    })
    const answers = await Promise.all(read).catch(() => null)
    if (answers && turn === this.turn) this.byPattern = new Map(answers)
  }
}
