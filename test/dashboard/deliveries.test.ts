// How deliveries stand in a log on screen, how their filter stands in the URL, and the words for what became of them.
import { describe, expect, it } from 'vitest'
import { paths, readRoute } from '../../dashboard/paths.ts'
import type { DeliveryRow } from '../../dashboard/queries-deliveries.ts'
import { agentNames } from '../../dashboard/rules/agent-names.ts'
import {
  deliveryFilterFromQuery,
  deliveryFilterToInput,
  deliveryMatches,
  isEmptyDeliveryFilter,
  type DeliveryFilter,
} from '../../dashboard/rules/delivery-filter.ts'
import {
  answerWords,
  attemptWords,
  deliveryStateWords,
  nextAttemptWords,
} from '../../dashboard/rules/delivery-words.ts'
import { logEntry, markLogGone, mergeLog, revealLog, type LogState } from '../../dashboard/rules/log-merge.ts'
import { second } from './row.ts'

const idOf = (uuid: string) => btoa(`Delivery:${uuid}`)
const row = (uuid: string, at: number, over: Partial<DeliveryRow> = {}): DeliveryRow => ({
  id: idOf(uuid),
  at: second(at),
  alert: {
    kind: 'FAILURE',
    title: 'Desk: tool failure',
    rule: 'Every failure',
    agent: 'Desk',
    severity: 'HIGH',
    session: null,
  },
  channel: 'Ops',
  channelKind: 'WEBHOOK',
  state: 'QUEUED',
  suppressedBy: null,
  isTrying: false,
  attemptCount: 1,
  nextAttemptAt: null,
  lastStatus: null,
  lastProblem: null,
  settledAt: null,
  ...over,
})
const entry = (uuid: string, at: number, over: Partial<DeliveryRow> = {}) =>
  logEntry(row(uuid, at, over), `after-${uuid}`)
const waiting = { matches: ({ state }: DeliveryRow) => state === 'QUEUED' }
const loaded = (): LogState<DeliveryRow> => ({
  rows: [entry('c', 3), entry('b', 2), entry('a', 1)],
  fresh: [],
  hasMore: true,
})
const uuids = (entries: { item: DeliveryRow }[]) => entries.map(({ item }) => atob(item.id).slice('Delivery:'.length))

describe('a delivery that does not match any more', () => {
  const left = () => mergeLog(loaded(), [entry('b', 2, { state: 'SENT' })], waiting)
  it('stays where it stands and says so', () => {
    expect(left().rows.map(({ item, matches }) => [item.state, matches])).toEqual([
      ['QUEUED', true],
      ['SENT', false],
      ['QUEUED', true],
    ])
  })
  it('goes with the next reveal', () => {
    expect(uuids(revealLog(left(), 100).rows)).toEqual(['c', 'a'])
  })
  it('comes back in its place', () => {
    expect(mergeLog(left(), [entry('b', 2)], waiting).rows[1]!.matches).toBe(true)
  })
  it('does not wait to be shown', () => {
    const state = mergeLog(loaded(), [entry('d', 4)], waiting)
    expect(mergeLog(state, [entry('d', 4, { state: 'SENT' })], waiting).fresh).toEqual([])
  })
})

describe('deliveries of one moment', () => {
  const rows = () => [entry('d', 3), entry('c', 3)]
  it('that stand below the last row are not new', () => {
    expect(mergeLog({ rows: rows(), fresh: [], hasMore: true }, [entry('b', 3)]).fresh).toEqual([])
  })
  it('stand as they do on the server', () => {
    const state = mergeLog({ rows: rows(), fresh: [], hasMore: false }, [entry('b', 3), entry('e', 3)])
    expect(uuids(revealLog(state, 100).rows)).toEqual(['e', 'd', 'c', 'b'])
  })
})

it('a delivery that is gone stays until the next reveal', () => {
  const state = markLogGone(loaded(), new Set([idOf('b')]))
  expect(state.rows.map(({ isGone }) => isGone)).toEqual([false, true, false])
  expect(uuids(revealLog(state, 100).rows)).toEqual(['c', 'a'])
})

describe('the filter', () => {
  it.each<[string, DeliveryFilter, object]>([
    ['', {}, {}],
    ['state=given-up', { state: 'given-up' }, { states: ['FAILED'] }],
    ['rule=r%3D&channel=c', { rule: 'r=', channel: 'c' }, { rule: 'r=', channel: 'c' }],
    ['agent=', { agent: null }, { agents: [null] }],
    ['state=waiting&agent=A%26B', { state: 'waiting', agent: 'A&B' }, { states: ['QUEUED'], agents: ['A&B'] }],
    ['state=nonsense&rule=&channel=', {}, {}],
  ])('%s', (text, filter, input) => {
    expect(deliveryFilterFromQuery(new URLSearchParams(text))).toEqual(filter)
    expect(deliveryFilterToInput(filter)).toEqual(input)
    const again = new URL(paths.deliveries(filter, 'd/1'), 'http://localhost')
    expect(deliveryFilterFromQuery(again.searchParams)).toEqual(filter)
    expect(again.searchParams.get('delivery')).toBe('d/1')
    expect(isEmptyDeliveryFilter(filter)).toBe(Object.keys(filter).length === 0)
  })
  it('has an address', () => {
    expect(paths.deliveries({ state: undefined, agent: 'Desk' })).toBe('/alerts/deliveries?agent=Desk')
    expect(readRoute('/alerts/deliveries')).toEqual({ page: 'alerts', section: 'deliveries' })
  })
  it('is left by a delivery whose state changes', () => {
    expect(deliveryMatches({ state: 'SENT' }, { state: 'waiting' })).toBe(false)
    expect(deliveryMatches({ state: 'SENT' }, { agent: 'Desk' })).toBe(true)
  })
  it('offers each agent once, and the chosen one in any case', () => {
    expect(agentNames(['b', 'a', 'b'], undefined)).toEqual(['a', 'b'])
    expect(agentNames(['b', null], 'c')).toEqual(['b', 'c', null])
  })
})

describe('the words', () => {
  it('say what becomes of it', () => {
    const words = [
      row('a', 1),
      row('a', 1, { isTrying: true }),
      row('a', 1, { state: 'SENT' }),
      row('a', 1, { state: 'FAILED' }),
      row('a', 1, { state: 'SUPPRESSED' }),
    ].map(deliveryStateWords)
    expect(words).toEqual(['Waiting', 'Trying now', 'Sent', 'Given up', 'Not sent'])
  })
  it.each([
    [null, null],
    [24, 'in 24 s'],
    [60, 'in 1 m 00 s'],
    [125, 'in 2 m 05 s'],
    [0, 'due'],
    [-9, 'due'],
  ])('of an attempt that is due after %s s are %s', (after, words) => {
    const nextAttemptAt = after === null ? null : second(after)
    expect(nextAttemptWords({ nextAttemptAt }, Date.parse(second(0)))).toBe(words)
  })
  it('do not say that it is due before it is', () => {
    const due = { nextAttemptAt: second(24) }
    expect(nextAttemptWords(due, Date.parse(second(0)) + 1)).toBe('in 24 s')
    expect(nextAttemptWords(due, Date.parse(second(24)) - 1)).toBe('in 1 s')
  })
  it('name the kind of a status, and say where there was none', () => {
    expect(answerWords('WEBHOOK', 503, 'It answered 503.')).toBe('HTTP 503')
    expect(answerWords('EMAIL', 250, null)).toBe('SMTP 250')
    expect(answerWords('SLACK', null, 'It did not answer.')).toBe('no answer')
    expect(answerWords('SLACK', null, null)).toBe(null)
  })
  it('do not make up the end of an attempt', () => {
    const attempt = {
      number: 1,
      startedAt: second(1),
      durationMs: null,
      isDelivered: null,
      status: null,
      answer: null,
      problem: null,
    }
    expect(attemptWords(attempt, true)).toBe('Being made now')
    expect(attemptWords(attempt, false)).toBe('Its outcome is not known: the server ended while it was made')
    expect(attemptWords({ ...attempt, durationMs: 5, isDelivered: false }, false)).toBe('Failed')
    expect(attemptWords({ ...attempt, durationMs: 5, isDelivered: true }, false)).toBe('Taken by the receiver')
  })
})
