// Owns what is typed over a prompt version: when it counts as unsaved, and what becomes of it when somebody else was first.
import type { PromptWhole } from '../queries-prompts.ts'
import { formatCount } from './format.ts'
import { decisionWords } from './prompt-words.ts'

export const mostPromptLength = 4_000

/** As the server stores it. */
export const cleanPrompt = (text: string) => text.replace(/\r\n?/g, '\n').trim()

/** Why it cannot be saved; empty where it can. */
export function wrongPrompt(text: string): string {
  const { length } = cleanPrompt(text)
  if (length === 0) return 'Write what the model is to read first.'
  if (length > mostPromptLength)
    return `It has ${formatCount(length)} characters; at most ${formatCount(mostPromptLength)} are allowed.`
  return ''
}

/** Activating replaces the active text: who wants both writes one below the other. */
export const belowActive = (active: string, text: string) => `${active}\n\n${cleanPrompt(text)}`
export const isBelowActive = (active: string, text: string) => cleanPrompt(text).startsWith(`${active}\n\n`)

type Text = Pick<PromptWhole, 'revision' | 'prompt'>

export interface Draft<Version extends Text = PromptWhole> {
  /** The version that is edited, as it was read. */
  base: Version
  typed: string
  /** As it stands by now, where it was changed while something unsaved was typed. */
  meanwhile: Version | null
}

export const isUnsaved = ({ base, typed }: Draft<Text>) => cleanPrompt(typed) !== cleanPrompt(base.prompt)

/** What was typed stays, whatever comes; without anything typed the newer version is taken over. */
export function receiveVersion<Version extends Text>(draft: Draft<Version>, now: Version): Draft<Version> {
  const known = draft.meanwhile ?? draft.base
  if (now.revision < known.revision) return draft
  if (now.revision === known.revision) return draft.meanwhile ? { ...draft, meanwhile: now } : { ...draft, base: now }
  if (!isUnsaved(draft)) return { base: now, typed: now.prompt, meanwhile: null }
  // The same text was saved by somebody else, or only something beside the text changed hands.
  if (cleanPrompt(draft.typed) === cleanPrompt(now.prompt)) return { ...draft, base: now, meanwhile: null }
  return { ...draft, meanwhile: now }
}

/** The typed text is to go over what somebody else saved. */
export const keepMine = <Version extends Text>(draft: Draft<Version>): Draft<Version> =>
  draft.meanwhile ? { ...draft, base: draft.meanwhile, meanwhile: null } : draft
export const takeTheirs = <Version extends Text>(draft: Draft<Version>): Draft<Version> =>
  draft.meanwhile ? { base: draft.meanwhile, typed: draft.meanwhile.prompt, meanwhile: null } : draft

type Seen = Pick<PromptWhole, 'revision' | 'prompt' | 'decisions'>

/** What happened between two readings of a version and of which one is active, the oldest first. */
export function changesBetween(
  before: Seen,
  now: Seen,
  activeBefore: number | null,
  activeNow: number | null,
): string[] {
  const added = now.decisions.slice(0, Math.max(0, now.decisions.length - before.decisions.length)).reverse()
  const changes = added.map((decision) => {
    const words = decisionWords(decision)
    return decision.reason ? `${words}: ${decision.reason}` : `${words}.`
  })
  if (changes.length === 0 && now.prompt !== before.prompt) changes.push('Its text was changed.')
  if (activeBefore !== activeNow)
    changes.push(
      `${activeNow === null ? 'No version is active by now' : `Version ${activeNow} is active by now`}${activeBefore === null ? '' : ` (it was version ${activeBefore})`}.`,
    )
  return changes
}
