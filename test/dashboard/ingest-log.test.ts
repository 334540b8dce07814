// How the ingest log on screen takes requests, how its filter stands in the URL, and the words of the strip above it.
import { describe, expect, it } from 'vitest'
import type { LoggedRequest } from '../../dashboard/queries-ingest.ts'
import { paths, readRoute } from '../../dashboard/paths.ts'
import { logFilterFromQuery, logFilterToInput, type LogFilter } from '../../dashboard/rules/log-filter.ts'
import {
  appendLog,
  logEntry,
  mergeLog,
  revealLog,
  type LogEntry,
  type LogState,
} from '../../dashboard/rules/log-merge.ts'
import { isShorter, readDays } from '../../dashboard/rules/retention.ts'
import { unauthenticatedLines } from '../../dashboard/rules/unauthenticated.ts'
import { second } from './row.ts'

type Entry = LogEntry<LoggedRequest>
type Log = LogState<LoggedRequest>
const entry = (
  id: string,
  at: number,
  over: Partial<LoggedRequest> = {},
  cursor: string | null = `after-${id}`,
): Entry =>
  logEntry(
    {
      id,
      at: second(at),
      platform: 'PLATFORM_A',
      keyName: 'Zapier',
      status: 200,
      code: null,
      events: 1,
      duplicate: false,
      bytes: 120,
      durationMs: 4,
      session: null,
      sessionCount: 1,
      sentAgainAt: null,
      ...over,
    },
    cursor,
  )
const ids = (entries: Entry[]) => entries.map(({ item }) => item.id)
const loaded = (): Log => ({ rows: [entry('c', 3), entry('b', 2), entry('a', 1)], fresh: [], hasMore: true })

describe('a new request', () => {
  it('waits and moves nothing', () => {
    const state = mergeLog(loaded(), [entry('d', 4, {}, null)])
    expect([ids(state.rows), ids(state.fresh)]).toEqual([['c', 'b', 'a'], ['d']])
  })
  it('waits once, and learns where the next page starts after it', () => {
    const once = mergeLog(loaded(), [entry('d', 4, {}, null)])
    const twice = mergeLog(once, [entry('e', 5), entry('d', 4), entry('c', 3)])
    expect(twice.fresh.map(({ item, cursor }) => [item.id, cursor])).toEqual([
      ['e', 'after-e'],
      ['d', 'after-d'],
    ])
  })
  it('that another server logged late stands in its place after a reveal', () => {
    const state = mergeLog(loaded(), [entry('late', 2.5, {}, null), entry('d', 4, {}, null)])
    expect(ids(revealLog(state, 100).rows)).toEqual(['d', 'c', 'late', 'b', 'a'])
  })
  it('that is older than what is loaded comes with its page', () => {
    expect(mergeLog(loaded(), [entry('old', 0)]).fresh).toEqual([])
  })
})

describe('a request on screen', () => {
  it('is renewed in its place, as its log wants it', () => {
    const renewed = (held: LoggedRequest, arrived: LoggedRequest) => (held.sentAgainAt ? held : arrived)
    const again = mergeLog(loaded(), [entry('b', 2, { sentAgainAt: second(9) })], { renewed })
    const earlier = mergeLog(again, [entry('b', 2)], { renewed })
    expect([ids(earlier.rows), earlier.rows[1]!.item.sentAgainAt]).toEqual([['c', 'b', 'a'], second(9)])
  })
})

describe('a reveal', () => {
  it('beyond the cap keeps rows up to one where the next page can start', () => {
    const state = { ...loaded(), fresh: [entry('e', 5, {}, null), entry('d', 4, {}, null)] }
    const revealed = revealLog({ ...state, hasMore: false }, 4)
    expect([ids(revealed.rows), revealed.hasMore]).toEqual([['e', 'd', 'c', 'b'], true])
  })
  it('keeps everything where no page could start', () => {
    const state = { rows: [entry('a', 1, {}, null)], fresh: [entry('b', 2, {}, null)], hasMore: false }
    expect(revealLog(state, 1).rows).toHaveLength(2)
  })
})

describe('a further page', () => {
  it('shows nothing twice', () => {
    const state = appendLog(loaded(), [entry('a', 1), entry('z', 0)], false)
    expect([ids(state.rows), state.hasMore]).toEqual([['c', 'b', 'a', 'z'], false])
  })
})

describe('the filter', () => {
  it.each<[string, LogFilter]>([
    ['', { refusedOnly: false, endpoint: null, apiKey: null }],
    ['answer=refused', { refusedOnly: true, endpoint: null, apiKey: null }],
    ['endpoint=platform-b&key=k1', { refusedOnly: false, endpoint: 'PLATFORM_B', apiKey: 'k1' }],
    ['answer=nonsense&endpoint=ftp&key=', { refusedOnly: false, endpoint: null, apiKey: null }],
  ])('%s', (text, filter) => {
    expect(logFilterFromQuery(new URLSearchParams(text))).toEqual(filter)
  })
  it('is in the address beside the opened request', () => {
    const address = paths.ingestLog({ refusedOnly: true, endpoint: 'PLATFORM_A', apiKey: 'k=1' }, 'r/1')
    expect(address).toBe('/ingest-log?answer=refused&endpoint=platform-a&key=k%3D1&request=r%2F1')
    expect(readRoute('/ingest-log')).toEqual({ page: 'ingest-log' })
  })
  it('asks the server for what is set alone', () => {
    expect(logFilterToInput({ refusedOnly: false, endpoint: null, apiKey: null })).toEqual({})
    expect(logFilterToInput({ refusedOnly: true, endpoint: 'PLATFORM_A', apiKey: 'k' })).toEqual({
      refused: true,
      platform: 'PLATFORM_A',
      apiKey: 'k',
    })
  })
})

describe('posts without a valid key', () => {
  const count = (server: string, reason: string, posts: number | string, at: number) => ({
    server,
    reason,
    count: posts,
    lastAt: second(at),
  })
  it('are one line for each server, in words', () => {
    const lines = unauthenticatedLines([
      count('one', 'missing_api_key', 3, 1),
      count('two', 'revoked_api_key', 1, 9),
      count('one', 'invalid_api_key', 1200, 5),
      count('one', 'new_reason', '9007199254740993', 2),
    ])
    expect(lines).toEqual([
      { server: 'two', sentence: '1 post with a revoked key', lastAt: second(9) },
      {
        server: 'one',
        sentence: '3 posts without a key, 1,200 with an unknown key, 9,007,199,254,740,993 refused as new_reason',
        lastAt: second(5),
      },
    ])
  })
  it('are nothing where there are none', () => {
    expect(unauthenticatedLines([])).toEqual([])
  })
})

describe('a retention', () => {
  it.each([
    ['30', 30],
    [' 7 ', 7],
    ['3650', 3650],
    ['0', null],
    ['3651', null],
    ['1.5', null],
    ['-3', null],
    ['', null],
    ['1e3', null],
  ])('typed as "%s" is %s days', (typed, days) => {
    expect(readDays(typed)).toBe(days)
  })
  it.each([
    [30, null, true],
    [30, 90, true],
    [90, 30, false],
    [30, 30, false],
    [null, 30, false],
    [null, null, false],
  ])('of %s days after %s is shorter: %s', (days, before, expected) => {
    expect(isShorter(days, before)).toBe(expected)
  })
})
