// The words about people: when they were seen, in how many browsers, how long a link can be used.
import { expect, test } from 'vitest'
import {
  browsersWord,
  emailProblem,
  otherBrowsersWord,
  seenWord,
  untilWord,
} from '../../dashboard/rules/people-words.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const at = (offsetMs: number) => new Date(NOW + offsetMs).toISOString()
const HOUR_MS = 3_600_000

test('who never signed in was not seen long ago, but never', () => {
  expect([seenWord(null, NOW), seenWord(at(-2 * HOUR_MS), NOW)]).toEqual(['never signed in', 'seen 2 h ago'])
})

test('browsers are counted in words', () => {
  expect([0, 1, 2].map(browsersWord)).toEqual(['no browser signed in', '1 browser signed in', '2 browsers signed in'])
  expect([0, 1, 2].map(otherBrowsersWord)).toEqual([
    'No other browser was signed in.',
    '1 other browser was signed out.',
    '2 other browsers were signed out.',
  ])
})

test('a link says how long it can be used, or since when it cannot', () => {
  expect([untilWord(at(167 * HOUR_MS), NOW), untilWord(at(-HOUR_MS), NOW)]).toEqual(['for 6 d 23 h', 'expired 1 h ago'])
})

test.each([
  ['somebody@example.com', true],
  ['a@b', true],
  ['nobody', false],
  ['', false],
  ['two words@example.com', false],
  ['zero\u0000@example.com', false],
  [`${'a'.repeat(200)}@example.com`, false],
])('%j as an e-mail address', (email, isOne) => {
  expect(emailProblem(email) === '').toBe(isOne)
})
