// The words for what could be better, and rows that keep their place while they are read again.
import { describe, expect, it } from 'vitest'
import { promptPath, paths, readRoute } from '../../dashboard/paths.ts'
import {
  findingWords,
  hasFindings,
  knownSavings,
  pricedWords,
  savingWords,
} from '../../dashboard/rules/finding-words.ts'
import { keptInPlace } from '../../dashboard/rules/keep-place.ts'
import { schemaEnum } from './schema-enum.ts'

const saving = (savingUsd: string | null, savingTokens: number | string | null, savingMs: number | null) => ({
  savingUsd,
  savingTokens,
  savingMs,
})

describe('what could be saved', () => {
  it.each([
    ['money, tokens and time', saving('0.00255', 1005, 3200), 'at most $0.0026, 1,005 tokens and 3.20 s, estimated'],
    ['two of them', saving('12.5', null, 184_000), 'at most $12.50 and 3 m 04 s, estimated'],
    ['one token', saving(null, 1, null), 'at most 1 token, estimated'],
    [
      'more tokens than a number holds',
      saving(null, '9007199254740993', null),
      'at most 9,007,199,254,740,993 tokens, estimated',
    ],
    ['less than can be written', saving('0.000001', null, 0.2), 'at most $0.0001 and 1 ms, estimated'],
    ['nothing that is known', saving(null, null, null), null],
    ['nothing at all', saving('0', 0, 0), null],
  ])('of %s', (_what, known, words) => {
    expect(savingWords(known)).toBe(words)
  })

  it('is summed up from what is known, and what is not is counted apart', () => {
    const all = [
      saving('1.5', null, null),
      saving('0.25', 100, null),
      saving(null, null, null),
      saving('0', null, null),
    ]
    expect(knownSavings(all)).toEqual({ savingUsd: '1.75', savingTokens: '100', savingMs: null, unknown: 2 })
    expect(knownSavings([])).toEqual({ savingUsd: null, savingTokens: null, savingMs: null, unknown: 0 })
  })

  it('says for how many runs the money is known where it is of some', () => {
    expect(pricedWords({ pricedSessions: 12, sessions: 1_040 })).toBe('money known for 12 of 1,040 runs')
    expect(pricedWords({ pricedSessions: 40, sessions: 40 })).toBe(null)
    expect(pricedWords({ pricedSessions: 0, sessions: 40 })).toBe(null)
  })
})

describe('a finding', () => {
  it.each(schemaEnum('FindingKind'))('of the kind %s has words', (kind) => {
    expect(findingWords(kind as never)).toMatch(/^[A-Z][a-z' ]+$/)
  })

  it('is shown of a run that is closed or quiet, and of none that goes on', () => {
    const at = Date.parse('2026-01-01T12:00:00Z')
    expect(hasFindings({ status: 'COMPLETED', quietAt: null }, at)).toBe(true)
    expect(hasFindings({ status: 'RUNNING', quietAt: '2026-01-01T12:00:01Z' }, at)).toBe(false)
    expect(hasFindings({ status: 'RUNNING', quietAt: '2026-01-01T12:00:00Z' }, at)).toBe(true)
  })
})

describe('ranked rows that are read again', () => {
  const row = (id: string, count: number) => ({ id, count })
  it('keep their place, count up there, and what is new comes below', () => {
    const before = keptInPlace([], [row('a', 3), row('b', 2), row('c', 1)])
    expect(keptInPlace(before, [row('d', 9), row('c', 8), row('a', 3)])).toEqual([
      { row: row('a', 3), isGone: false },
      { row: row('b', 2), isGone: true },
      { row: row('c', 8), isGone: false },
      { row: row('d', 9), isGone: false },
    ])
  })
})

describe('the address of an agent', () => {
  it.each(['Mail', 'Mail v1.2', 'a/b?c#d %41', 'Größe & mehr'])('leads back to "%s"', (name) => {
    const { pathname } = new URL(paths.agent(name, '24h'), 'https://runwatch.test')
    expect(readRoute(pathname)).toEqual({ page: 'agent', name })
  })

  it('carries the range, where it is not the usual one, and the project where it is named', () => {
    expect(paths.agent('Mail', '7d')).toBe('/agents/Mail')
    expect(paths.agent('Mail', 'all', 'other')).toBe('/agents/Mail?range=30d&project=other')
    expect(promptPath('Mail desk', 3)).toBe('/prompts/Mail%20desk?version=3')
    expect(promptPath('Mail desk')).toBe('/prompts/Mail%20desk')
  })
})
