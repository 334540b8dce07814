// The rules of candidate prompts in the settings: what is typed, where a refusal is shown, and what the model has spent.
import { describe, expect, it } from 'vitest'
import {
  choiceOf,
  defaultRule,
  isSameRule,
  modelSentence,
  readRule,
  ruleRefusalOf,
  ruleWords,
} from '../../dashboard/rules/candidate-rule.ts'
import { DEFAULT_CANDIDATE_RULE } from '../../server/prompts/prompt.ts'

describe('a rule', () => {
  it('is the one of the server where nobody has set it', () => {
    expect(defaultRule).toEqual(DEFAULT_CANDIDATE_RULE)
  })
  it('is read as it is typed', () => {
    expect(readRule({ sessions: ' 3 ', days: '14' })).toEqual({
      rule: { isEnabled: true, sessions: 3, days: 14 },
      wrong: {},
    })
  })
  it.each(['', 'few', '2.5', '1e3'])('of "%s" sessions cannot be read', (sessions) => {
    expect(readRule({ sessions, days: '7' }).wrong).toEqual({
      sessions: 'Give a whole number of sessions, such as 5',
    })
  })
  it('is said in words', () => {
    expect(ruleWords({ isEnabled: true, sessions: 1, days: 30 })).toBe('1 session in 30 days')
    expect(ruleWords({ isEnabled: false, sessions: 1, days: 30 })).toBe('none are made')
  })
  it('is left, on or off', () => {
    expect([null, defaultRule, { ...defaultRule, isEnabled: false }].map(choiceOf)).toEqual(['left', 'made', 'none'])
    expect(isSameRule(defaultRule, { ...defaultRule })).toBe(true)
    expect(isSameRule(defaultRule, { ...defaultRule, days: 8 })).toBe(false)
    expect(isSameRule(null, defaultRule)).toBe(false)
  })
})

it.each([
  ['sessions must be 1 to 1000, not 0.', { sessions: 'Sessions must be 1 to 1000, not 0.' }],
  ['days must be 1 to 30, not 31.', { days: 'Days must be 1 to 30, not 31.' }],
  [
    'Variable "$rule" got invalid value 3000000000 at "rule.days"; Int cannot represent non 32-bit signed integer value: 3000000000',
    { days: 'Days must be a number nearer to 0.' },
  ],
  ['There is no project "x".', null],
])('the refusal "%s" stands at its field', (sentence, wrong) => {
  expect(ruleRefusalOf(sentence)).toEqual(wrong)
})

it('says what the model has spent, and what is not known of it', () => {
  const model = { model: 'gpt-4o', tokensToday: 12_300, tokensPerDay: 200_000, costUsdToday: '0.04', usdPerDay: '2.5' }
  expect(modelSentence(model)).toBe(
    'gpt-4o proposes beside the rules. Spent or reserved today (UTC), over all projects: 12,300 of 200,000 tokens and $0.0400 of $2.50.',
  )
  expect(modelSentence({ ...model, costUsdToday: null })).toBe(
    'gpt-4o proposes beside the rules. Spent or reserved today (UTC), over all projects: 12,300 of 200,000 tokens. Its price is not known, so the tokens alone limit it.',
  )
  expect(modelSentence(null)).toBe('No model is configured: candidates are built by rules only.')
})
