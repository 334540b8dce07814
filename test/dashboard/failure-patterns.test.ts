// The rules of the failures page: filter and address, what a live list does, days, small pictures and words.
import { describe, expect, it } from 'vitest'
import { paths, readRoute } from '../../dashboard/paths.ts'
import type { FailureDay, PatternRow } from '../../dashboard/queries-failures.ts'
import { heatColumns, heatLevel, heatRows, nextHeatCell } from '../../dashboard/rules/heat.ts'
import {
  emptyPatternFilter,
  isEmptyPatternFilter,
  patternFilterFromQuery,
  patternFilterToInput,
  patternFilterToQuery,
  patternMatches,
  type PatternFilter,
} from '../../dashboard/rules/pattern-filter.ts'
import {
  appendPatterns,
  decidePattern,
  dimPatternsBut,
  markPatternGone,
  mergePatterns,
  type PatternsState,
} from '../../dashboard/rules/pattern-merge.ts'
import { countWords, kindWords, mutedWords, shareWords, spanSince } from '../../dashboard/rules/pattern-words.ts'
import { sparkBars, sparkWords } from '../../dashboard/rules/sparkline.ts'

const now = Date.parse('2026-11-21T10:00:00.000Z')
const hour = 3_600_000
const at = (hoursAgo: number) => new Date(now - hoursAgo * hour).toISOString()

const pattern = (id: string, over: Partial<PatternRow> = {}): PatternRow => ({
  id,
  agent: 'Support triage',
  category: 'TOOL_FAILURE',
  cause: 'TIMEOUT',
  subject: 'orders.lookup',
  title: 'The request timed out after 30000 ms',
  state: 'OPEN',
  severity: 'HIGH',
  sessions: 5,
  runs: 100,
  sparkline: Array<number>(24).fill(0),
  since: at(168),
  firstSeenAt: at(100),
  lastSeenAt: at(1),
  resolvedAt: null,
  resolvedBy: null,
  mutedUntil: null,
  mutedBy: null,
  ...over,
})

describe('the filter of the failures page', () => {
  const full: PatternFilter = {
    range: 'LAST_30_DAYS',
    state: 'resolved',
    category: 'INFINITE_LOOP',
    severity: 'HIGH',
    agent: 'CRM & sync',
    muted: false,
    search: 'time out',
  }
  it('is the same after a way through the address', () => {
    expect(patternFilterFromQuery(patternFilterToQuery(full))).toEqual(full)
    expect(String(patternFilterToQuery(full, 'abc'))).toBe(
      'range=30d&state=resolved&category=infinite-loop&severity=high&agent=CRM+%26+sync&muted=no&q=time+out&pattern=abc',
    )
  })
  it('leaves out of the address what it begins with', () => {
    expect(patternFilterToQuery(emptyPatternFilter).size).toBe(0)
    expect(
      patternFilterFromQuery(new URLSearchParams('range=1y&state=odd&category=x&severity=&muted=perhaps')),
    ).toEqual(emptyPatternFilter)
  })
  it('tells sessions without a name from any name', () => {
    expect(patternFilterFromQuery(new URLSearchParams('agent=')).agent).toBeNull()
    expect(patternFilterToInput({ ...emptyPatternFilter, agent: null })).toMatchObject({ agents: [null] })
    expect(patternFilterToInput(emptyPatternFilter)).toEqual({ states: ['OPEN', 'REOPENED'] })
  })
  it('is empty whatever the range is', () => {
    expect(isEmptyPatternFilter({ ...emptyPatternFilter, range: 'LAST_24_HOURS' })).toBe(true)
    expect(isEmptyPatternFilter({ ...emptyPatternFilter, state: 'all' })).toBe(false)
  })
  it.each<[Partial<PatternFilter>, Partial<PatternRow>, boolean]>([
    [{}, {}, true],
    [{}, { state: 'REOPENED' }, true],
    [{}, { state: 'RESOLVED' }, false],
    [{ state: 'all' }, { state: 'RESOLVED' }, true],
    [{}, { sessions: 0 }, false],
    [{ severity: 'HIGH' }, { severity: 'MEDIUM' }, false],
    [{ severity: 'HIGH' }, { severity: 'CRITICAL' }, true],
    [{ category: 'RUN_FAILURE' }, {}, false],
    [{ agent: null }, {}, false],
    [{ agent: null }, { agent: null }, true],
    [{ muted: true }, { mutedUntil: at(-1) }, true],
    [{ muted: true }, { mutedUntil: at(1) }, false],
    [{ muted: false }, { mutedUntil: at(-1) }, false],
    [{ search: 'TIMED out' }, {}, true],
    [{ search: 'orders.LOOK' }, {}, true],
    [{ search: 'nothing like this' }, { subject: null, agent: null }, false],
  ])('%j finds %j: %s', (filter, over, isFound) => {
    expect(patternMatches(pattern('1', over), { ...emptyPatternFilter, ...filter }, now)).toBe(isFound)
  })
})

describe('a list of patterns', () => {
  const matches = (each: PatternRow) => patternMatches(each, emptyPatternFilter, now)
  const listed = (...patterns: PatternRow[]): PatternsState =>
    appendPatterns({ rows: [], fresh: [], hasMore: false }, patterns, false)
  const ids = (state: PatternsState) => state.rows.map(({ pattern: { id } }) => id)
  const list = listed(pattern('a', { sessions: 9 }), pattern('b', { sessions: 5 }))

  it('replaces a row where it stands, however often it was seen since', () => {
    const after = mergePatterns(list, [pattern('b', { sessions: 50 })], matches)
    expect(ids(after)).toEqual(['a', 'b'])
    expect(after.rows[1]!.pattern.sessions).toBe(50)
  })
  it('lets a new one wait', () => {
    const after = mergePatterns(list, [pattern('c')], matches)
    expect([ids(after), after.fresh.map(({ id }) => id)]).toEqual([['a', 'b'], ['c']])
  })
  it('leaves one that belongs below what is loaded to the next page', () => {
    const cut = { ...list, hasMore: true }
    const [below, among] = [pattern('c', { sessions: 4 }), pattern('d', { sessions: 6 })]
    expect(mergePatterns(cut, [below, among], matches).fresh.map(({ id }) => id)).toEqual(['d'])
  })
  it('keeps a row that does not match any more, dimmed, and drops one that only waits', () => {
    const waiting = mergePatterns(list, [pattern('c')], matches)
    const resolved = ['a', 'c'].map((id) => pattern(id, { state: 'RESOLVED' }))
    const after = mergePatterns(waiting, resolved, matches)
    expect([after.rows.map((row) => row.matches), after.fresh]).toEqual([[false, true], []])
  })
  it('dims what a whole reading did not find', () => {
    expect(dimPatternsBut(list, new Set(['b'])).rows.map((row) => row.matches)).toEqual([false, true])
  })
  it('keeps the row of one whose sessions are all deleted', () => {
    const after = markPatternGone(mergePatterns(list, [pattern('c')], matches), 'a')
    expect(after.rows.map(({ isGone }) => isGone)).toEqual([true, false])
    expect(markPatternGone(after, 'c').fresh).toEqual([])
  })
  it('shows no pattern twice where pages overlap', () => {
    expect(ids(appendPatterns(list, [pattern('b'), pattern('c')], true))).toEqual(['a', 'b', 'c'])
  })
  it('takes of a decision what was decided, and no counts', () => {
    const decision = { ...pattern('b'), state: 'RESOLVED' as const, resolvedAt: at(0), resolvedBy: 'me' }
    const { id, state, resolvedAt, resolvedBy, mutedUntil, mutedBy } = decision
    const after = decidePattern(list, { id, state, resolvedAt, resolvedBy, mutedUntil, mutedBy }, matches)
    expect(after.rows[1]).toMatchObject({ matches: false, pattern: { sessions: 5, state: 'RESOLVED' } })
  })
})

describe('failures by day', () => {
  it('has a column for every day of the range in UTC, the first cut where the range begins', () => {
    const columns = heatColumns('LAST_7_DAYS', now, 100)
    expect(columns).toHaveLength(8)
    expect(new Date(columns[0]!.fromMs).toISOString()).toBe('2026-11-14T10:00:00.000Z')
    expect(new Date(columns[0]!.toMs).toISOString()).toBe('2026-11-15T00:00:00.000Z')
    expect(new Date(columns[7]!.fromMs).toISOString()).toBe('2026-11-21T00:00:00.000Z')
    expect(heatColumns('LAST_24_HOURS', now, 100)).toHaveLength(2)
    expect(heatColumns('LAST_30_DAYS', now, 100)).toHaveLength(31)
  })
  it('takes seven days together where there is no room, without a gap', () => {
    const columns = heatColumns('LAST_30_DAYS', now, 10)
    expect(columns).toHaveLength(5)
    for (const [index, { fromMs }] of columns.entries()) if (index > 0) expect(fromMs).toBe(columns[index - 1]!.toMs)
    expect(columns[0]!.fromMs).toBe(now - 720 * hour)
  })
  it('counts each day into its column, and has a row for every category', () => {
    const days: FailureDay[] = [
      { day: '2026-11-14', category: 'TOOL_FAILURE', sessions: 2 },
      { day: '2026-11-21', category: 'TOOL_FAILURE', sessions: 3 },
      { day: '2026-11-21', category: 'LATENCY_SPIKE', sessions: 1 },
    ]
    const rows = heatRows(days, heatColumns('LAST_7_DAYS', now, 100))
    expect(rows).toHaveLength(7)
    expect(rows[0]).toMatchObject({ counts: [2, 0, 0, 0, 0, 0, 0, 3], total: 5 })
    expect(heatRows(days, heatColumns('LAST_30_DAYS', now, 5))[0]!.counts).toEqual([0, 0, 0, 2, 3])
  })
  it.each([
    [0, 0],
    [1, 1],
    [25, 1],
    [26, 2],
    [100, 4],
  ])('%i of at most 100 is of level %i', (count, level) => expect(heatLevel(count, 100)).toBe(level))
  it('is walked over by arrow keys, past empty cells', () => {
    const rows = [
      [0, 4, 0, 2],
      [0, 0, 0, 0],
      [1, 0, 0, 1],
    ].map((counts, index) => ({
      category: (['TOOL_FAILURE', 'RUN_FAILURE', 'COST_ANOMALY'] as const)[index]!,
      counts,
      total: 1,
    }))
    expect(nextHeatCell(rows, [0, 1], 'ArrowRight')).toEqual([0, 3])
    expect(nextHeatCell(rows, [0, 3], 'ArrowDown')).toEqual([2, 3])
    expect(nextHeatCell(rows, [2, 0], 'ArrowUp')).toEqual([0, 1])
    expect(nextHeatCell(rows, [2, 3], 'Home')).toEqual([2, 0])
    expect(nextHeatCell(rows, [0, 1], 'ArrowLeft')).toBeNull()
    expect(nextHeatCell(rows, [2, 0], 'ArrowDown')).toBeNull()
    expect(nextHeatCell(rows, [0, 1], 'x')).toBeNull()
  })
})

describe('a sparkline', () => {
  const counts = [0, 5, 0, 1, ...Array<number>(20).fill(0)]
  it('draws what is not 0, and never too thin to see', () => {
    expect(sparkBars([0, 100, 1], 20)).toEqual([
      { x: 1, height: 20 },
      { x: 2, height: 2 },
    ])
  })
  it('says the most, when that was, and how long there has been none', () => {
    expect(sparkWords(counts, 24)).toBe('At most 5 within 1 h 00 m, 22 h 00 m ago; none in the last 20 h 00 m')
    expect(sparkWords([0, 1, 3], 3)).toBe('At most 3 within 1 h 00 m, now')
    expect(sparkWords([0, 0], 24)).toBe('None in this span')
  })
})

describe('the words for a pattern', () => {
  it('say what part of the runs it is', () => {
    const each = pattern('1', { sessions: 12, runs: 340 })
    expect([countWords(each), shareWords(each)]).toEqual(['12 of 340 runs', '4%'])
  })
  it('say only sessions where more are counted than runs', () => {
    const each = pattern('1', { sessions: 2, runs: 1 })
    expect([countWords(each), shareWords(each)]).toEqual(['2 sessions', null])
  })
  it('say category and cause', () => {
    expect(kindWords(pattern('1'))).toBe('Tool failure, timeout')
    expect(kindWords(pattern('1', { cause: null, category: 'COST_ANOMALY' }))).toBe('Costly run')
  })
  it('say until when it is muted, and nothing once that is over', () => {
    expect(mutedWords(pattern('1', { mutedUntil: at(-24) }), now)).toMatch(/^muted until .*22/)
    expect(mutedWords(pattern('1', { mutedUntil: at(1) }), now)).toBeNull()
  })
  it('say of which range counts are that begin there', () => {
    expect([at(24), at(24.4), at(168), at(169), at(720)].map((since) => spanSince(since, now).value)).toEqual([
      'LAST_24_HOURS',
      'LAST_24_HOURS',
      'LAST_7_DAYS',
      'LAST_7_DAYS',
      'LAST_30_DAYS',
    ])
  })
})

describe('the addresses', () => {
  it('lead to the failures, to thresholds, and from a cell to its sessions', () => {
    expect([readRoute('/failures'), readRoute('/settings/thresholds'), readRoute('/settings/x')]).toEqual([
      { page: 'failures' },
      { page: 'settings', section: 'thresholds' },
      { page: 'unknown' },
    ])
    expect(paths.failures()).toBe('/failures')
    expect(paths.sessions({ agents: ['A'], range: 'LAST_7_DAYS', category: 'TOOL_FAILURE' })).toBe(
      '/sessions?agent=A&range=7d&category=tool-failure',
    )
  })
})
