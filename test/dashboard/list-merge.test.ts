// How the live list takes changes: rows in place, nothing twice, nothing lost.
import { describe, expect, it } from 'vitest'
import { appendPage, markGone, mergeSessions, revealFresh, type ListState } from '../../dashboard/rules/list-merge.ts'
import { emptyFilter } from '../../dashboard/rules/session-filter.ts'
import { listRow, second, sessionRow } from './row.ts'

const ids = (rows: ListState['rows']) => rows.map((row) => row.session.id)
const loaded = (): ListState => ({
  rows: [
    listRow('c', { firstSeenAt: second(3) }),
    listRow('b', { firstSeenAt: second(2) }),
    listRow('a', { firstSeenAt: second(1) }),
  ],
  fresh: [],
  hasMore: false,
})

describe('a change of a row on screen', () => {
  it('replaces the row where it stands', () => {
    const changed = sessionRow('b', { firstSeenAt: second(2), revision: 2, status: 'FAILED' })
    const { rows } = mergeSessions(loaded(), [changed], emptyFilter)
    expect(rows.map((row) => [row.session.id, row.session.status])).toEqual([
      ['c', 'RUNNING'],
      ['b', 'FAILED'],
      ['a', 'RUNNING'],
    ])
  })

  it('is left out if it is older than what is shown', () => {
    const state = loaded()
    state.rows[1] = listRow('b', { firstSeenAt: second(2), revision: 5, eventCount: 9 } as never)
    const { rows } = mergeSessions(state, [sessionRow('b', { revision: 4, status: 'FAILED' })], emptyFilter)
    expect(rows[1]!.session.status).toBe('RUNNING')
  })

  it('compares revisions beyond 2^53 exactly', () => {
    const state = loaded()
    state.rows[1] = listRow('b', { firstSeenAt: second(2), revision: '9007199254740992' })
    const changed = sessionRow('b', { firstSeenAt: second(2), revision: '9007199254740993', status: 'FAILED' })
    expect(mergeSessions(state, [changed], emptyFilter).rows[1]!.session.status).toBe('FAILED')
  })

  it('that takes it out of the filter dims it and leaves it there', () => {
    const changed = sessionRow('b', { firstSeenAt: second(2), revision: 2, status: 'COMPLETED' })
    const { rows } = mergeSessions(loaded(), [changed], { ...emptyFilter, status: 'RUNNING' })
    expect(rows.map((row) => row.matches)).toEqual([true, false, true])
  })
})

describe('a new session', () => {
  it('waits and moves nothing', () => {
    const state = mergeSessions(loaded(), [sessionRow('d', { firstSeenAt: second(4) })], emptyFilter)
    expect([ids(state.rows), ids(state.fresh)]).toEqual([['c', 'b', 'a'], ['d']])
  })

  it('waits once, however often it is told', () => {
    const once = mergeSessions(loaded(), [sessionRow('d', { firstSeenAt: second(4) })], emptyFilter)
    const twice = mergeSessions(once, [sessionRow('d', { firstSeenAt: second(4), revision: 2 })], emptyFilter)
    expect(twice.fresh.map((row) => row.session.revision)).toEqual([2])
  })

  it('that stops matching while it waits is not shown at all', () => {
    const filter = { ...emptyFilter, status: 'RUNNING' as const }
    const once = mergeSessions(loaded(), [sessionRow('d', { firstSeenAt: second(4) })], filter)
    const changed = sessionRow('d', { firstSeenAt: second(4), revision: 2, status: 'FAILED' })
    expect(mergeSessions(once, [changed], filter).fresh).toEqual([])
  })

  it('that is older than what is loaded comes with its page', () => {
    const state = { ...loaded(), hasMore: true }
    expect(mergeSessions(state, [sessionRow('old', { firstSeenAt: second(0) })], emptyFilter).fresh).toEqual([])
  })

  it('that is older is new all the same where no page is left', () => {
    const state = mergeSessions(loaded(), [sessionRow('old', { firstSeenAt: second(0) })], emptyFilter)
    expect(ids(state.fresh)).toEqual(['old'])
  })
})

describe('a reveal', () => {
  it('puts what waits in its place and drops what no longer matches', () => {
    const state = loaded()
    state.rows[1] = { ...state.rows[1]!, matches: false }
    state.fresh = [listRow('d', { firstSeenAt: second(4) }), listRow('between', { firstSeenAt: second(2) })]
    expect(ids(revealFresh(state, 100).rows)).toEqual(['d', 'c', 'between', 'a'])
  })

  it('beyond the cap keeps rows up to one where the next page can start', () => {
    const state = {
      ...loaded(),
      fresh: [listRow('e', { firstSeenAt: second(5) }, null), listRow('d', { firstSeenAt: second(4) }, null)],
    }
    const revealed = revealFresh(state, 4)
    expect([ids(revealed.rows), revealed.hasMore]).toEqual([['e', 'd', 'c', 'b'], true])
  })

  it('keeps everything where no page could start', () => {
    const state: ListState = { rows: [listRow('a', {}, null), listRow('b', {}, null)], fresh: [], hasMore: false }
    expect(revealFresh(state, 1).rows).toHaveLength(2)
  })
})

describe('a further page', () => {
  it('does not show a session twice', () => {
    const state = appendPage(
      loaded(),
      [listRow('a', { firstSeenAt: second(1) }), listRow('z', { firstSeenAt: second(0) })],
      true,
    )
    expect([ids(state.rows), state.hasMore]).toEqual([['c', 'b', 'a', 'z'], true])
  })
})

describe('a session that is deleted', () => {
  it('stays in its place, dimmed', () => {
    const { rows } = markGone(loaded(), new Set(['b']))
    expect(rows.map((row) => [row.session.id, row.matches, row.isGone])).toEqual([
      ['c', true, false],
      ['b', false, true],
      ['a', true, false],
    ])
  })

  it('stays gone, whatever an earlier reading still says', () => {
    const state = markGone(loaded(), new Set(['b']))
    const { rows } = mergeSessions(state, [sessionRow('b', { firstSeenAt: second(2) })], emptyFilter)
    expect(rows[1]).toMatchObject({ matches: false, isGone: true })
  })

  it('and is posted to again is shown again, where it stands', () => {
    const state = markGone(loaded(), new Set(['b']))
    const again = sessionRow('b', { firstSeenAt: second(9), revision: 2 })
    const { rows } = mergeSessions(state, [again], emptyFilter)
    expect(rows[1]).toMatchObject({ matches: true, isGone: false, cursor: null, session: { revision: 2 } })
  })

  it('while it waits is not shown at all', () => {
    const state = { ...loaded(), fresh: [listRow('d', { firstSeenAt: second(4) })] }
    expect(markGone(state, new Set(['d'])).fresh).toEqual([])
  })

  it('is dropped by the next reveal', () => {
    expect(ids(revealFresh(markGone(loaded(), new Set(['b'])), 100).rows)).toEqual(['c', 'a'])
  })
})
