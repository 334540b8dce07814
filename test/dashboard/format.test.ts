// How numbers, money, durations and times read on screen.
import { afterEach, describe, expect, it } from 'vitest'
import {
  formatAgo,
  formatBothTimes,
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatRunning,
  formatShare,
  formatSize,
  formatTime,
  truncateMiddle,
  writeTimesIn,
} from '../../dashboard/rules/format.ts'

describe('a duration', () => {
  it.each([
    [0, '0 ms'],
    [0.4, '<1 ms'],
    [223, '223 ms'],
    [999.6, '1.00 s'],
    [2340, '2.34 s'],
    [12_800, '12.8 s'],
    [59_960, '1 m 00 s'],
    [184_000, '3 m 04 s'],
    [3_599_700, '1 h 00 m'],
    [7_500_000, '2 h 05 m'],
    [277_200_000, '3 d 5 h'],
  ])('of %d ms reads %s', (durationMs, expected) => {
    expect(formatDuration(durationMs)).toBe(expected)
  })

  it('that still runs is counted in whole seconds', () => {
    expect(formatRunning(14_900)).toBe('14 s')
  })

  it('is never negative, however the clocks differ', () => {
    expect(formatRunning(-3000)).toBe('0 s')
  })
})

describe('a cost', () => {
  it.each([
    ['0', '$0.0000'],
    ['0.000132', '$0.0001'],
    ['0.00001', '<$0.0001'],
    ['0.2', '$0.2000'],
    ['0.99996', '$1.00'],
    ['1234.5', '$1,234.50'],
  ])('of %s dollars reads %s', (costUsd, expected) => {
    expect(formatCost(costUsd)).toBe(expected)
  })
})

describe('a count', () => {
  it('is grouped', () => expect(formatCount(10_000)).toBe('10,000'))
  it('beyond 2^53 comes as text and stays exact', () =>
    expect(formatCount('9007199254740993')).toBe('9,007,199,254,740,993'))
  it('is short in a list', () => expect(formatCompact(6912)).toBe('6.9K'))
})

describe('a time ago', () => {
  const now = Date.parse('2026-11-20T12:00:00.000Z')
  it.each([
    ['2026-11-20T11:59:57.000Z', 'now'],
    ['2026-11-20T12:00:02.000Z', 'now'],
    ['2026-11-20T11:59:30.000Z', '30 s ago'],
    ['2026-11-20T11:57:00.000Z', '3 m ago'],
    ['2026-11-20T10:00:00.000Z', '2 h ago'],
    ['2026-11-16T12:00:00.000Z', '4 d ago'],
  ])('at %s reads %s', (at, expected) => {
    expect(formatAgo(at, now)).toBe(expected)
  })
})

describe('a share', () => {
  it('of nothing is not known', () => expect(formatShare(0, 0)).toBeNull())
  it('that is small does not become zero', () => expect(formatShare(1, 1000)).toBe('<1%'))
})

describe('a long run id', () => {
  it('keeps its beginning and its end', () =>
    expect(truncateMiddle('execution-with-a-long-name-404', 18)).toBe('execution…name-404'))
  it('is left alone where it fits', () => expect(truncateMiddle('run-1', 18)).toBe('run-1'))
})

describe('a size', () => {
  it('has its unit', () => expect([formatSize(12), formatSize(400_000)]).toEqual(['12 bytes', '391 KB']))
})

describe('an absolute time', () => {
  const at = '2026-11-20T12:00:00.000Z'
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(Date.parse(at))
  afterEach(() => void writeTimesIn(''))

  it('is local, with UTC beside it in a title', () => {
    expect(formatTime(at)).toBe(local)
    expect(formatBothTimes(at)).toBe(`${local} (${at})`)
  })
  it.each([
    ['UTC', '12:00:00'],
    ['Asia/Tokyo', '9:00:00'],
  ])('in %s says so, and its title has the local time and UTC too', (zone, hour) => {
    expect(writeTimesIn(zone)).toBe(true)
    expect(formatTime(at)).toContain(hour)
    expect(formatTime(at)).toMatch(new RegExp(`${zone}$`))
    expect(formatBothTimes(at)).toBe(`${formatTime(at)} (local ${local}, ${at})`)
  })
  it('is never in a zone that nobody knows', () => {
    expect(writeTimesIn('Mars/Olympus')).toBe(false)
    expect(formatTime(at)).toBe(local)
  })
  it('long ago is the day of the chosen zone', () => {
    writeTimesIn('Pacific/Kiritimati')
    expect(formatAgo('2026-11-01T23:00:00.000Z', Date.parse(at))).toMatch(/Nov 2\D|2 Nov/)
  })
})
