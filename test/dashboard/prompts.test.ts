// The rules of the prompt pages: words, what becomes of typed text, and rows that keep their places.
import { describe, expect, it } from 'vitest'
import { readRoute, paths } from '../../dashboard/paths.ts'
import type { PromptAgentRow } from '../../dashboard/queries-prompts.ts'
import {
  countAdded,
  firstAgents,
  mergeAgents,
  revealAgents,
  type PromptAgentsState,
} from '../../dashboard/rules/prompt-agents.ts'
import {
  belowActive,
  changesBetween,
  isBelowActive,
  isUnsaved,
  keepMine,
  receiveVersion,
  takeTheirs,
  wrongPrompt,
  type Draft,
} from '../../dashboard/rules/prompt-draft.ts'
import {
  candidateWords,
  effectSentence,
  effectWarning,
  modelProblem,
  spentWords,
  type Proposal,
} from '../../dashboard/rules/prompt-words.ts'

describe('what came of a version', () => {
  const rate = (sessions: number, runs: number) => ({
    since: '2026-11-01T00:00:00.000Z',
    until: '2026-11-08T00:00:00.000Z',
    runs,
    sessions,
    per100Runs: runs === 0 ? null : (100 * sessions) / runs,
  })
  it('is said with its counts, and a span without runs is not 0', () => {
    const effect = { before: rate(17, 50), after: rate(1, 50) }
    expect(effectSentence(effect, true)).toBe('Before 34 per 100 runs (17 of 50), since 2 per 100 runs (1 of 50).')
    expect(effectSentence({ before: rate(1, 3_000), after: rate(0, 0) }, false)).toBe(
      'Before <0.1 per 100 runs (1 of 3,000), while it was active no runs.',
    )
    expect(effectSentence({ before: rate(1, 12), after: rate(0, 30) }, true)).toBe(
      'Before 8.3 per 100 runs (1 of 12), since 0 per 100 runs (0 of 30).',
    )
  })
  it('is warned of where nobody fetched it, and where runs are few', () => {
    const few = { before: rate(17, 50), after: rate(0, 19) }
    expect(effectWarning(few, 0, true)).toContain('No workflow has fetched this version yet')
    expect(effectWarning(few, '3', true)).toContain('Only 19 runs since: too few to tell.')
    expect(effectWarning({ before: rate(1, 2), after: rate(0, 20) }, 3, true)).toBe('')
  })
})

describe('what a model proposed', () => {
  const proposal: Proposal = {
    maker: 'MODEL',
    prompt: null,
    rewrite: null,
    reason: null,
    model: 'gpt-4o-mini',
    problem: null,
    attempts: 0,
    nextAttemptAt: '2026-11-01T00:00:00.000Z',
    promptTokens: null,
    completionTokens: null,
    costUsd: null,
  }
  it.each<[Partial<Proposal>, string | null]>([
    [{}, 'It is being asked.'],
    [{ problem: 'It timed out.' }, 'It timed out. It will be asked again.'],
    [{ problem: 'It timed out.', nextAttemptAt: null }, 'It timed out.'],
    [{ prompt: 'Be brief.', nextAttemptAt: null }, null],
  ])('%j: %s', (with_, words) => expect(modelProblem({ ...proposal, ...with_ })).toBe(words))
  it('costs what is known of it', () => {
    expect(spentWords(proposal)).toBeNull()
    expect(spentWords({ ...proposal, promptTokens: 1_812, completionTokens: 96 })).toBe(
      '1,812 tokens sent, 96 answered, cost not known',
    )
  })
})

describe('what is typed over a version', () => {
  const version = (revision: number, prompt: string) => ({ revision, prompt, state: 'SHADOW' })
  const draft = (typed: string): Draft<ReturnType<typeof version>> => ({
    base: version(1, 'Be brief.'),
    typed,
    meanwhile: null,
  })
  it('is unsaved where it differs in more than the space around it', () => {
    expect(isUnsaved(draft('Be brief.\r\n'))).toBe(false)
    expect(isUnsaved(draft('Be brief!'))).toBe(true)
  })
  it('gives way to a newer text only where nothing was typed', () => {
    expect(receiveVersion(draft('Be brief.'), version(2, 'Be kind.'))).toEqual({
      base: version(2, 'Be kind.'),
      typed: 'Be kind.',
      meanwhile: null,
    })
    const held = receiveVersion(draft('Mine.'), version(2, 'Be kind.'))
    expect(held).toEqual({ base: version(1, 'Be brief.'), typed: 'Mine.', meanwhile: version(2, 'Be kind.') })
    expect(keepMine(held)).toEqual({ base: version(2, 'Be kind.'), typed: 'Mine.', meanwhile: null })
    expect(takeTheirs(held).typed).toBe('Be kind.')
  })
  it('is not held against the same text, nor against an older reading', () => {
    expect(receiveVersion(draft('Be kind.'), version(2, 'Be kind.')).meanwhile).toBeNull()
    const held = receiveVersion(draft('Mine.'), version(3, 'Be kind.'))
    expect(receiveVersion(held, version(2, 'Older.'))).toBe(held)
  })
  it('is refused where it is empty or too long', () => {
    expect(wrongPrompt(' \n')).not.toBe('')
    expect(wrongPrompt('x'.repeat(4_000))).toBe('')
    expect(wrongPrompt('x'.repeat(4_001))).toContain('4,001')
  })
  it('goes below the active text once', () => {
    const below = belowActive('Be brief.', ' Be kind. ')
    expect(below).toBe('Be brief.\n\nBe kind.')
    expect([isBelowActive('Be brief.', below), isBelowActive('Be brief.', 'Be kind.')]).toEqual([true, false])
  })
  it('is told what changed, the oldest first', () => {
    const decision = (action: 'CREATED' | 'EDITED' | 'REJECTED', reason: string | null) => ({
      action,
      decidedBy: action === 'CREATED' ? null : 'ana@example.com',
      reason,
      decidedAt: '2026-11-01T00:00:00.000Z',
    })
    const before = { revision: 1, prompt: 'a', decisions: [decision('CREATED', null)] }
    const now = {
      revision: 3,
      prompt: 'b',
      decisions: [decision('REJECTED', 'Not needed'), decision('EDITED', null), ...before.decisions],
    }
    expect(changesBetween(before, now, 1, 4)).toEqual([
      'Text changed by ana@example.com.',
      'Rejected by ana@example.com: Not needed',
      'Version 4 is active by now (it was version 1).',
    ])
    expect(changesBetween(before, before, null, null)).toEqual([])
  })
})

describe('the list of agents', () => {
  const agent = (id: string, candidates: number): PromptAgentRow => ({
    id,
    project: 'default',
    agent: id,
    candidates,
    versions: 3,
    changedAt: '2026-11-01T00:00:00.000Z',
    active: null,
  })
  const namesOf = ({ rows }: PromptAgentsState) => rows.map((each) => each.agent.id)
  it('keeps its order, counts what is new and lets new agents wait', () => {
    const first = firstAgents([agent('a', 0), agent('b', 1)])
    const merged = mergeAgents(first, [agent('c', 2), agent('b', 3), agent('a', 0)])
    expect(namesOf(merged)).toEqual(['a', 'b'])
    expect(merged.rows[1]).toMatchObject({ agent: { candidates: 3 }, added: 2 })
    expect(merged.fresh.map((each) => each.agent.id)).toEqual(['c'])
    expect(countAdded(merged)).toBe(4)
    const revealed = revealAgents(merged)
    expect(namesOf(revealed)).toEqual(['c', 'a', 'b'])
    expect(countAdded(mergeAgents(revealed, [agent('a', 0), agent('b', 3), agent('c', 2)]))).toBe(4)
  })
  it('counts a candidate that came after another was decided about', () => {
    const decided = mergeAgents(firstAgents([agent('a', 2)]), [agent('a', 1)])
    expect(countAdded(decided)).toBe(0)
    expect(mergeAgents(decided, [agent('a', 2)]).rows[0]!.added).toBe(1)
  })
  it('keeps the row of one that is gone', () => {
    const [row] = mergeAgents(firstAgents([agent('a', 2)]), []).rows
    expect(row!.agent).toMatchObject({ id: 'a', candidates: 0, versions: 0 })
  })
  it.each([
    [0, 0, 'none'],
    [1, 0, '1 waits'],
    [1, 1, '1 waits, new'],
    [3, 1, '3 wait, 1 of them new'],
  ])('says of %i candidates, %i new: %s', (candidates, added, words) =>
    expect(candidateWords({ candidates }, added)).toBe(words),
  )
})

describe('addresses', () => {
  it.each(['Support triage', 'a/b?c#d', 'Desk 1.2', 'Büro'])('an agent named %s is found again', (agent) => {
    const url = new URL(paths.promptsOf(agent, { project: 'shop', version: 3 }), 'http://localhost')
    expect(readRoute(url.pathname)).toEqual({ page: 'prompts', agent })
    expect([...url.searchParams]).toEqual([
      ['project', 'shop'],
      ['version', '3'],
    ])
  })
  it('without an agent it is the list', () => {
    expect(readRoute('/prompts')).toEqual({ page: 'prompts', agent: '' })
    expect(readRoute('/prompts/a/b')).toEqual({ page: 'unknown' })
  })
})
