// The rules of the alerts page: what is typed of a rule or channel, what is sent, and where a refusal is shown.
import { describe, expect, it } from 'vitest'
import { paths, readRoute } from '../../dashboard/paths.ts'
import type { AlertRule } from '../../dashboard/queries-alerts.ts'
import {
  cooldownWords,
  isReady,
  mutedDays,
  newRule,
  occasionWords,
  readRule,
  ruleRefusal,
  ruleState,
  typedRule,
} from '../../dashboard/rules/alert-rule-fields.ts'
import { channelRefusal, readChannel, testWords } from '../../dashboard/rules/channel-fields.ts'

const stored: AlertRule = {
  id: 'r1',
  project: 'default',
  name: 'Failure rate',
  kind: 'FAILURE_RATE',
  isEnabled: false,
  sentence: 'When 12.5 % or more of the runs of an agent fail within an hour, tell nobody yet.',
  minSeverity: 'LOW',
  categories: ['TOOL_FAILURE'],
  agents: ['Desk'],
  platform: 'PLATFORM_B',
  cooldownMinutes: 0,
  failureShare: 0.125,
  minRuns: 20,
  windowMinutes: 90,
  channels: [{ id: 'c1', name: 'Ops' }],
  updatedAt: '2026-11-20T10:00:00Z',
  updatedBy: null,
}

describe('a rule that is typed', () => {
  it('is sent as it was stored while nothing is changed', () => {
    expect(readRule(typedRule(stored))).toEqual({
      input: {
        name: 'Failure rate',
        kind: 'FAILURE_RATE',
        isEnabled: false,
        minSeverity: 'LOW',
        categories: ['TOOL_FAILURE'],
        agents: ['Desk'],
        platform: 'PLATFORM_B',
        channels: ['c1'],
        cooldownMinutes: 0,
        failureShare: 0.125,
        minRuns: 20,
        windowMinutes: 90,
      },
      wrong: {},
    })
  })
  it('sends only what belongs to its kind', () => {
    const typed = { ...newRule, name: 'A', channels: ['c1'], cooldown: '30', share: 'x' }
    expect(readRule(typed)).toMatchObject({ input: { cooldownMinutes: 30 }, wrong: {} })
    expect(readRule(typed).input).not.toHaveProperty('failureShare')
    expect(readRule({ ...typed, kind: 'NEW_PATTERN', cooldown: 'x' })).toMatchObject({
      input: { cooldownMinutes: 0 },
      wrong: {},
    })
  })
  it.each([
    [{ name: ' ' }, { name: 'Give the rule a name' }],
    [{ channels: [] }, { channels: 'Choose where it tells, or leave it switched off' }],
    [{ channels: [], isEnabled: false }, {}],
    [{ cooldown: '' }, { cooldown: 'Give whole minutes, such as 30' }],
    [{ cooldown: '2.5' }, { cooldown: 'Give whole minutes, such as 30' }],
    [{ kind: 'FAILURE_RATE', share: '12,5' }, {}],
    [{ kind: 'FAILURE_RATE', share: 'half' }, { share: 'Give a number of percent, such as 50' }],
    [{ kind: 'FAILURE_RATE', minRuns: '-1' }, { minRuns: 'Give whole runs, such as 10' }],
    [{ kind: 'FAILURE_RATE', window: 'an hour' }, { window: 'Give whole minutes, such as 60' }],
  ] as const)('%j is wrong in %j', (own, wrong) => {
    expect(readRule({ ...newRule, name: 'A', channels: ['c1'], ...(own as object) }).wrong).toEqual(wrong)
  })
})

describe('a refusal of the server', () => {
  it.each([
    [
      'cooldownMinutes must be a whole number from 0 to 10080, not 20000.',
      { cooldown: 'The time must be 0 to 10,080 minutes.' },
    ],
    ['failureShare must be from 0.001 to 1, not 1.5.', { share: 'The share must be 0.1 to 100 %.' }],
    ['name must have 1 to 100 characters.', { name: 'The name must have 1 to 100 characters.' }],
    [
      'Variable "$input" got invalid value 3000000000 at "input.minRuns"; Int cannot represent it',
      { minRuns: 'The number must be a smaller number.' },
    ],
    ['A rule that is switched on needs at least one channel to tell.', null],
  ])('%s', (message, shown) => {
    expect(ruleRefusal(message)).toEqual(shown)
  })
  it.each([
    ['There is a channel "Ops" already.', { name: 'There is a channel "Ops" already.' }],
    [
      'url must begin with https:// or http://, not ftp://.',
      { address: 'It must begin with https:// or http://, not ftp://.' },
    ],
    [
      '"a" is not an e-mail address like ops@example.com.',
      { address: '"a" is not an e-mail address like ops@example.com.' },
    ],
    ['The server answered 500.', null],
  ])('of a channel: %s', (message, shown) => {
    expect(channelRefusal(message)).toEqual(shown)
  })
})

describe('the words', () => {
  it.each([
    [null, 'It tells of each run.'],
    ['0', 'It tells of each run.'],
    ['1', 'Of the same failure it tells at most once in 1 minute.'],
    ['30', 'Of the same failure it tells at most once in 30 minutes.'],
    ['120', 'Of the same failure it tells at most once in 2 hours.'],
    ['2880', 'Of the same failure it tells at most once in 2 days.'],
  ])('of a cooldown of %s', (cooldown, words) => {
    expect(cooldownWords(cooldown)).toBe(words)
  })
  it.each([
    ['FAILURE', null, 12, 'In the last 7 days it would have told on 12 occasions, not counting mutes.'],
    [
      'FAILURE',
      '30',
      1,
      'In the last 7 days it would have told on 1 occasion, not counting mutes and the pause between.',
    ],
    ['NEW_PATTERN', '30', 0, 'In the last 7 days it would have told on no occasion, not counting mutes.'],
    ['FAILURE_RATE', null, null, 'How often it would have told is not worked out for shares of runs.'],
  ] as const)('of the occasions of %s', (kind, cooldown, occasions, words) => {
    expect(occasionWords({ kind, cooldown }, occasions)).toBe(words)
  })
  it.each([
    [{}, 'Off, ready to switch on', true],
    [{ updatedBy: 'a@b.c' }, 'Off', false],
    [{ isEnabled: true }, 'On', false],
    [{ isEnabled: true, channels: [] }, 'On, but without a channel: it tells nobody', false],
    // Viewers are not told the channels, but read the sentence.
    [{ isEnabled: true, channels: null }, 'On, but without a channel: it tells nobody', false],
    [{ isEnabled: true, channels: null, sentence: 'When a run fails, tell Ops.' }, 'On', false],
  ])('of the state of a rule with %j', (own, words, ready) => {
    expect([ruleState({ ...stored, ...own }), isReady({ ...stored, ...own })]).toEqual([words, ready])
  })
  it.each([
    [{ isDelivered: true, status: 200, durationMs: 1234.4, problem: null }, 'Delivered in 1,234 ms, answer 200'],
    [{ isDelivered: true, status: 250, durationMs: 0.4, problem: null }, 'Delivered in <1 ms, answer 250'],
    [
      { isDelivered: false, status: 503, durationMs: 2, problem: 'It answered 503.' },
      'Not delivered after 2 ms. It answered 503.',
    ],
    [
      { isDelivered: false, status: 302, durationMs: 2, problem: 'Redirected.' },
      'Not delivered after 2 ms, answer 302. Redirected.',
    ],
    [
      { isDelivered: false, status: null, durationMs: 10_000, problem: 'No answer.' },
      'Not delivered after 10,000 ms. No answer.',
    ],
  ])('of a test %j', (test, words) => {
    expect(testWords({ answer: null, ...test })).toBe(words)
  })
})

describe('a channel that is typed', () => {
  it('has the address of its kind, and of a change none where nothing was typed', () => {
    expect(readChannel('WEBHOOK', ' Ops ', ' https://example.com ')).toEqual({
      name: 'Ops',
      url: 'https://example.com',
    })
    expect(readChannel('EMAIL', 'Ops', 'a@b.c, d@e.f;g@h.i')).toEqual({ name: 'Ops', to: ['a@b.c', 'd@e.f', 'g@h.i'] })
    expect(readChannel('SLACK', 'Ops', '')).toEqual({ name: 'Ops' })
  })
})

it.each(['0', '366', '1.5', '', 'a week'])('an agent is not muted for "%s" days', (text) => {
  expect(mutedDays(text)).toEqual({ count: null, wrong: 'Give 1 to 365 days' })
})

it('the pages of the alerts have addresses, and so has an open form', () => {
  expect(readRoute(paths.alerts())).toEqual({ page: 'alerts', section: '' })
  expect(readRoute(paths.deliveries())).toEqual({ page: 'alerts', section: 'deliveries' })
  expect(readRoute('/alerts/else')).toEqual({ page: 'unknown' })
  expect(paths.alerts(new URLSearchParams({ rule: 'new' }))).toBe('/alerts?rule=new')
  expect(mutedDays(' 7 ')).toEqual({ count: 7, wrong: '' })
})
