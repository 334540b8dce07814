// The timeline: merging events, nesting steps, the geometry of the waterfall.
import { describe, expect, it } from 'vitest'
import { mergeEvents } from '../../dashboard/rules/event-merge.ts'
import { stepsOf } from '../../dashboard/rules/steps.ts'
import { axisOf, barOf, concurrency, isTimeKnown, ticksOf } from '../../dashboard/rules/waterfall.ts'
import { eventRow, second } from './row.ts'

describe('events that arrive', () => {
  it('are each shown once, in timeline order', () => {
    const held = [eventRow('a'), eventRow('c')]
    const merged = mergeEvents(held, [eventRow('b'), eventRow('c'), eventRow('d')])
    expect(merged.map((event) => event.id)).toEqual(['a', 'b', 'c', 'd'])
  })
  it('replace what is held only with a higher revision', () => {
    const merged = mergeEvents(
      [eventRow('a', { revision: 3, durationMs: 5 })],
      [eventRow('a', { revision: 2, durationMs: 9 })],
    )
    expect(merged[0]!.durationMs).toBe(5)
  })
  it('move where their place in the order changed', () => {
    const merged = mergeEvents([eventRow('a'), eventRow('b')], [eventRow('a', { revision: 2, orderKey: 'z' })])
    expect(merged.map((event) => event.id)).toEqual(['b', 'a'])
  })
})

describe('steps', () => {
  it('stand under the event they ran inside', () => {
    const steps = stepsOf([eventRow('agent'), eventRow('after'), eventRow('model', { parentId: 'agent' })])
    expect(steps.map((step) => [step.number, step.event.id, step.depth])).toEqual([
      [1, 'agent', 0],
      [2, 'model', 1],
      [3, 'after', 0],
    ])
  })
  it('without their parent stand flat', () => {
    expect(stepsOf([eventRow('model', { parentId: 'gone' })])[0]!.depth).toBe(0)
  })
  it('in a ring of parents are not lost', () => {
    const steps = stepsOf([eventRow('a', { parentId: 'b' }), eventRow('b', { parentId: 'a' })])
    expect(steps).toHaveLength(2)
  })
  it('carry their run only where a node ran more than once', () => {
    const steps = stepsOf([
      eventRow('1', { name: 'Search', runIndex: 0 }),
      eventRow('2', { name: 'Search', runIndex: 1 }),
      eventRow('3', { name: 'Send', runIndex: 0 }),
    ])
    expect(steps.map((step) => step.name)).toEqual(['Search (1)', 'Search (2)', 'Send'])
  })
  it('with a skewed time stand at their receipt', () => {
    const [step] = stepsOf([eventRow('a', { occurredAt: second(0), receivedAt: second(9), skewed: true })])
    expect(step!.startMs).toBe(Date.parse(second(9)))
  })
})

describe('the waterfall', () => {
  const timed = (id: string, at: number, durationMs: number | null) =>
    eventRow(id, { occurredAt: second(at), durationMs })

  it('is given up where fewer than a fifth have a duration', () => {
    const events = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => timed(id, 0, id === 'a' ? 10 : null))
    expect(isTimeKnown(stepsOf(events))).toBe(false)
  })
  it('lays a bar by its share of the axis', () => {
    const steps = stepsOf([timed('a', 0, 4000), timed('b', 1, 2000)])
    expect(barOf(steps[1]!.startMs, 2000, axisOf(steps))).toEqual({ leftPercent: 25, widthPercent: 50 })
  })
  it('cuts what sticks out of the rows in view', () => {
    expect(barOf(0, 100, { startMs: 50, endMs: 150 })).toEqual({ leftPercent: 0, widthPercent: 50 })
  })
  it('has round ticks counted from the start of the session', () => {
    expect(ticksOf({ startMs: 10_300, endMs: 14_600 }, 10_000).map((tick) => tick.offsetMs)).toEqual([
      1000, 2000, 3000, 4000,
    ])
  })
  it('has an axis also where nothing takes time', () => {
    expect(ticksOf(axisOf([]), 0).length).toBeLessThan(20)
  })
  it('counts steps that touch as one after the other', () => {
    const steps = stepsOf([timed('a', 0, 1000), timed('b', 1, 1000)])
    expect([...concurrency(steps, axisOf(steps), 4).get('TOOL_CALL')!]).toEqual([1, 1, 1, 1])
  })
})
