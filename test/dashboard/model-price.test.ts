// How prices of models are typed and written: exactly, with their unit.
import { describe, expect, it } from 'vitest'
import {
  fieldOfRefusal,
  formatExactUsd,
  formatPrice,
  formatProgress,
  goingOn,
  modelProblem,
  readPrice,
  whichSessions,
} from '../../dashboard/rules/model-price.ts'

describe('a typed price', () => {
  it.each([
    ['2.50', '2.50'],
    [' $0.075 ', '0.075'],
    ['.5', '0.5'],
    ['2.', '2'],
    ['007', '7'],
    ['0', '0'],
    ['1000000', '1000000'],
    ['0.000000000000000000000000000001', '0.000000000000000000000000000001'],
    ['123456.123456789012345678', '123456.123456789012345678'],
  ])('%s is taken exactly', (typed, usd) => {
    expect(readPrice(typed)).toEqual({ usd, wrong: '' })
  })
  it.each([
    ['', 'Give a price; 0 where it costs nothing'],
    ['2,50', 'Give a number with a point, like 2.50'],
    ['1e3', 'Give a number with a point, like 2.50'],
    ['.', 'Give a number with a point, like 2.50'],
    ['free', 'Give a number with a point, like 2.50'],
    ['-1', 'Give a price from 0 to 1,000,000 USD'],
    ['1000000.1', 'Give a price from 0 to 1,000,000 USD'],
    [`0.${'1'.repeat(31)}`, 'Give at most 30 decimals'],
  ])('%s is refused: %s', (typed, wrong) => {
    expect(readPrice(typed)).toEqual({ usd: null, wrong })
  })
})

it.each([
  ['2.5', '$2.50'],
  ['10', '$10.00'],
  ['0', '$0.00'],
  ['0.0750', '$0.075'],
  ['1000000', '$1,000,000.00'],
  ['0.000000000000000000000000000001', '$0.000000000000000000000000000001'],
  ['123456.123456789012345678', '$123,456.123456789012345678'],
])('%s is written as %s, never rounded', (usd, text) => {
  expect(formatExactUsd(usd)).toBe(text)
})

it('a price says its unit', () => {
  expect(formatPrice({ inputUsdPerMillion: '0.15', outputUsdPerMillion: '0.6' })).toBe(
    '$0.15 input, $0.60 output per million tokens',
  )
})

it.each([
  ['m', ''],
  ['', 'Give the name of the model, exactly as it is sent'],
  ['m'.repeat(501), 'Give at most 500 characters, not 501'],
])('the name of a model is checked', (model, problem) => {
  expect(modelProblem(model)).toBe(problem)
})

it.each([
  ['A model has a name of 1 to 500 characters, not of 0.', 'model'],
  ['A price lies between 0 and 1,000,000 USD per million tokens.', 'input'],
  ['Variable "$outputUsdPerMillion" got invalid value "x"; A Decimal is text like "2.50".', 'output'],
  ['There is no project "x".', null],
])('a refusal is shown at the field it speaks of: %s', (sentence, field) => {
  expect(fieldOfRefusal(sentence)).toBe(field)
})

describe('prices applied to history', () => {
  it('say how far they are', () => {
    expect(formatProgress({ sessions: 20_000, doneSessions: 1_204, changedSessions: 310 })).toBe(
      '1,204 of 20,000 sessions, 310 changed',
    )
    expect(formatProgress({ sessions: 1, doneSessions: 0, changedSessions: 0 })).toBe('0 of 1 session, 0 changed')
  })
  it('say of which sessions', () => {
    expect([whichSessions(7), whichSessions(null)]).toEqual(['the sessions of the last 7 days', 'all sessions'])
  })
  it('go on with the oldest that is not finished; the others wait', () => {
    const [newest, older, done] = [{ finishedAt: null }, { finishedAt: null }, { finishedAt: 'then' }]
    expect(goingOn([newest!, older!, done!])).toBe(older)
    expect(goingOn([done!])).toBeNull()
  })
})
