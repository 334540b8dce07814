// Filters as the URL carries them, and whether a session matches.
import { describe, expect, it } from 'vitest'
import { paths, readRoute, safeReturn } from '../../dashboard/paths.ts'
import {
  canStopMatching,
  chipsOf,
  emptyFilter,
  filterFromQuery,
  filterToInput,
  filterToQuery,
  stillMatches,
  type ListFilter,
} from '../../dashboard/rules/session-filter.ts'
import { sessionRow } from './row.ts'

const full: ListFilter = {
  status: 'FAILED',
  platform: 'PLATFORM_B',
  agents: ['Support triage', null, 'a&b=c'],
  range: 'LAST_24_HOURS',
  from: '2026-11-20T00:00:00.000Z',
  to: '2026-11-21T00:00:00.000Z',
  category: 'INFINITE_LOOP',
  severity: 'MEDIUM',
  search: 'run 1',
}

describe('the filter in the URL', () => {
  it('comes back as it went', () => {
    expect(filterFromQuery(new URLSearchParams(filterToQuery(full).toString()))).toEqual(full)
  })
  it('is nothing where nothing is filtered', () => {
    expect(filterToQuery(emptyFilter).toString()).toBe('')
  })
  it('ignores words it does not know', () => {
    expect(
      filterFromQuery(
        new URLSearchParams('status=odd&platform=x&range=9y&from=long+ago&category=TOOL_FAILURE&severity=bad'),
      ),
    ).toEqual(emptyFilter)
  })
  it('is asked of the server with the range as a word', () => {
    expect(filterToInput({ ...emptyFilter, range: 'LAST_HOUR' })).toEqual({ range: 'LAST_HOUR' })
  })
  it('names times with their offset, and is asked of the server in UTC', () => {
    const filter = filterFromQuery(new URLSearchParams('from=2026-11-20T01:00:00%2B01:00&to=2026-11-21'))
    expect(filterToInput(filter)).toEqual({ since: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z' })
    expect(chipsOf(filter).map(({ label, without }) => [/^From .*, before /.test(label), without])).toEqual([
      [true, emptyFilter],
    ])
  })
  it('spells failures in plain words, and asks for the least severity', () => {
    const filter: ListFilter = { ...emptyFilter, category: 'TOOL_FAILURE', severity: 'HIGH' }
    expect(filterToQuery(filter).toString()).toBe('category=tool-failure&severity=high')
    expect(filterToInput(filter)).toEqual({ category: 'TOOL_FAILURE', minSeverity: 'HIGH' })
  })
})

describe('a session', () => {
  it('without a name is found by its own choice', () => {
    expect(stillMatches(sessionRow('1', { agent: null }), { ...emptyFilter, agents: [null] })).toBe(true)
  })
  it.each([
    [{ externalId: 'run-77' }, 'RUN-7', true],
    [{ externalId: 'my-run-77' }, 'run-7', false],
    [{ agent: 'Invoice intake' }, 'intake', true],
    [{ errorMessage: 'CRM answered 500' }, '500', true],
    [{ agent: null }, 'x', false],
  ])('with %o is searched by %s: %s', (over, search, expected) => {
    expect(stillMatches(sessionRow('1', over), { ...emptyFilter, search })).toBe(expected)
  })
  it.each([
    [{ category: 'LATENCY_SPIKE' }, true],
    [{ category: 'RUN_FAILURE' }, false],
    [{ severity: 'LOW' }, true],
    [{ severity: 'HIGH' }, true],
    [{ severity: 'CRITICAL' }, false],
  ] satisfies [Partial<ListFilter>, boolean][])(
    'with a high tool failure and a slow run is found by %o: %s',
    (of, expected) => {
      const session = sessionRow('1', { failureCategories: ['TOOL_FAILURE', 'LATENCY_SPIKE'], severity: 'HIGH' })
      expect(stillMatches(session, { ...emptyFilter, ...of })).toBe(expected)
    },
  )
  it('without a failure is found by no severity', () => {
    expect(stillMatches(sessionRow('1'), { ...emptyFilter, severity: 'LOW' })).toBe(false)
  })
  it('can leave a filter of failures: a run that is posted to again is judged again', () => {
    expect(canStopMatching({ ...emptyFilter, category: 'RUN_FAILURE' })).toBe(true)
    expect(canStopMatching({ ...emptyFilter, severity: 'LOW' })).toBe(true)
  })
  it('cannot leave a filter of platform and range', () => {
    expect(canStopMatching({ ...emptyFilter, platform: 'PLATFORM_A', range: 'LAST_HOUR' })).toBe(false)
  })
})

describe('the chips', () => {
  it('take away one thing each', () => {
    const chips = chipsOf({ ...full, from: null, to: null })
    expect(chips.map((chip) => chip.label)).toEqual([
      'Status: Failed',
      'Platform: n8n',
      'Agent: Support triage',
      'Agent: No name',
      'Agent: a&b=c',
      'Last 24 hours',
      'Failure: Endless loop',
      'Severity: Medium or worse',
      'Search: run 1',
    ])
    expect(chips[3]!.without.agents).toEqual(['Support triage', 'a&b=c'])
  })
})

describe('a path', () => {
  it('of the failures survives any pattern', () => {
    expect(paths.failures()).toBe('/failures')
    const pattern = 'RmFp/bHVy+Q=='
    expect(paths.failures(new URLSearchParams({ pattern }))).toBe('/failures?pattern=RmFp%2FbHVy%2BQ%3D%3D')
  })
  it('of a session survives any id', () => {
    const id = 'U2Vz/c2lv+bg=='
    expect(readRoute(paths.session(id))).toEqual({ page: 'session', id })
  })
  it.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/sign-in?return=/x', null])(
    'back to %s leads home instead',
    (returnTo) => {
      expect(safeReturn(returnTo)).toBe('/')
    },
  )
  it('back into the dashboard is kept', () => {
    expect(safeReturn('/sessions/x?step=1')).toBe('/sessions/x?step=1')
  })
})
