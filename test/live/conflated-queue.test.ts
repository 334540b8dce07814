// What waits for one subscriber.
import { expect, test } from 'vitest'
import { ConflatedQueue, CONFLATE_MS, MAX_WAITING } from '../../server/live/conflated-queue.ts'

test('the first value goes out at once; of many that follow only the last arrives', async () => {
  const queue = new ConflatedQueue<number>(() => {})
  queue.push('a', 1)
  expect((await queue.next()).value).toEqual({ value: 1 })
  const since = performance.now()
  for (let i = 2; i <= 50; i++) queue.push('a', i)
  expect((await queue.next()).value).toEqual({ value: 50 })
  expect(performance.now() - since).toBeGreaterThan(CONFLATE_MS * 0.8)
})

test('one busy key does not hold up another', async () => {
  const queue = new ConflatedQueue<string>(() => {})
  queue.push('a', 'a1')
  await queue.next()
  queue.push('a', 'a2')
  queue.push('b', 'b1')
  expect((await queue.next()).value).toEqual({ value: 'b1' })
  expect((await queue.next()).value).toEqual({ value: 'a2' })
})

test('a reader that stops reading is told to resync and costs no memory', async () => {
  const queue = new ConflatedQueue<number>(() => {})
  for (let i = 0; i <= MAX_WAITING; i++) queue.push(`key-${i}`, i)
  queue.push('ignored', 1)
  expect((await queue.next()).value).toEqual({ resync: true })
  queue.push('fresh', 2)
  expect((await queue.next()).value).toEqual({ value: 2 })
})

test('ending it frees its place and ends the reader', async () => {
  let freed = 0
  const queue = new ConflatedQueue<number>(() => (freed += 1))
  const reading = queue.next()
  await queue.return()
  await queue.return()
  expect((await reading).done).toBe(true)
  expect((await queue.next()).done).toBe(true)
  expect(freed).toBe(1)
})
