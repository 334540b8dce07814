// Owns what a person types over one prompt version, kept while other pages are looked at, and saving it.
import { mutate, RequestError } from '../client.ts'
import { editPromptMutation, type PromptWhole } from '../queries-prompts.ts'
import {
  changesBetween,
  cleanPrompt,
  isUnsaved,
  keepMine,
  receiveVersion,
  takeTheirs,
  wrongPrompt,
  type Draft,
} from '../rules/prompt-draft.ts'
import type { AgentPrompts } from './agent-prompts.svelte.ts'

/** Unsaved ones, by version. */
const kept = new Map<string, Draft>()

export const isConflict = (error: unknown) => error instanceof RequestError && error.code === 'CONFLICT'

export class PromptDraft {
  private draft = $state.raw<Draft>() as Draft
  /** What happened to the version, or to which one is active, while it was looked at. */
  changes = $state.raw<string[]>([])
  isSending = $state(false)
  private seenActive: number | null
  private waiting: PromptWhole | null = null

  constructor(
    version: PromptWhole,
    private readonly prompts: AgentPrompts,
  ) {
    this.seenActive = prompts.active?.version ?? null
    this.draft = kept.get(version.id) ?? { base: version, typed: version.prompt, meanwhile: null }
    this.receive(version)
  }

  /** The version as it was read last; what was typed is not in it. */
  get version(): PromptWhole {
    return this.draft.meanwhile ?? this.draft.base
  }
  get meanwhile(): PromptWhole | null {
    return this.draft.meanwhile
  }
  get typed(): string {
    return this.draft.typed
  }
  get isUnsaved(): boolean {
    return isUnsaved(this.draft)
  }
  get wrong(): string {
    return wrongPrompt(this.draft.typed)
  }

  type(text: string) {
    this.set({ ...this.draft, typed: text })
  }

  discard() {
    this.set({ base: this.version, typed: this.version.prompt, meanwhile: null })
    this.changes = []
  }
  keepMine() {
    this.set(keepMine(this.draft))
    this.changes = []
  }
  takeTheirs() {
    this.set(takeTheirs(this.draft))
    this.changes = []
  }

  /** As it stands now. While something is sent, its answer goes before. */
  receive(now: PromptWhole) {
    if (this.isSending) {
      this.waiting = now
      return
    }
    const { base } = this.draft
    const activeNow = this.prompts.active?.version ?? null
    const isNews = now.revision > base.revision
    this.set(receiveVersion(this.draft, now))
    if (isNews) this.changes = changesBetween(base, now, this.seenActive, activeNow)
    if (!this.draft.meanwhile) this.seenActive = activeNow
  }

  /** Saves what is typed, where it is not what is stored. @throws what the server said */
  async save(): Promise<PromptWhole> {
    const { base, typed } = this.draft
    if (!this.isUnsaved) return base
    if (this.wrong) throw new Error(this.wrong)
    return this.decide(
      async () =>
        (await mutate(editPromptMutation, { id: base.id, revision: base.revision, prompt: cleanPrompt(typed) }))
          .decided,
    )
  }

  /**
   * Sends a decision. Where somebody was first nothing that was typed is lost: all is read again and it is said what changed.
   * @throws what the server said
   */
  async decide(send: () => Promise<PromptWhole>): Promise<PromptWhole> {
    this.isSending = true
    this.waiting = null
    try {
      const decided = await send()
      this.set({ base: decided, typed: decided.prompt, meanwhile: null })
      this.changes = []
      this.isSending = false
      this.prompts.decided(decided)
      return decided
    } catch (error) {
      this.isSending = false
      if (isConflict(error)) await this.readAgain()
      throw error
    } finally {
      this.isSending = false
    }
  }

  private async readAgain() {
    const { base } = this.draft
    const seen = this.seenActive
    await this.prompts.readNow()
    const now = await this.prompts.readOne(base.id).catch(() => null)
    if (!now) return
    this.receive(now)
    this.changes = changesBetween(base, now, seen, this.prompts.active?.version ?? null)
  }

  private set(draft: Draft) {
    this.draft = draft
    if (isUnsaved(draft) && draft.base.state === 'SHADOW') kept.set(draft.base.id, draft)
    else kept.delete(draft.base.id)
  }
}

/** Whether anything unsaved is kept: leaving the dashboard would lose it. */
export const hasUnsaved = () => kept.size > 0
