// What is seen of the instruction that a workflow gives its model, in the prompts of its runs.
import { expect, test } from 'vitest'
import { instructionSeen } from '../../server/prompts/instruction.ts'

const SYSTEM = 'You book appointments for a dentist in Basel.'
const messages = (...all: [string, unknown][]) => JSON.stringify(all.map(([role, content]) => ({ role, content })))

test.each([
  ['a list of messages', messages(['system', SYSTEM], ['user', 'Tuesday'])],
  ['a list whose first message is of the user', messages(['user', 'Tuesday'], ['system', SYSTEM])],
  ['a developer message', messages(['developer', SYSTEM], ['user', 'Tuesday'])],
  ['a request', JSON.stringify({ model: 'm', messages: [{ role: 'System', content: SYSTEM }] })],
  ['parts of content', messages(['system', [{ type: 'text', text: SYSTEM }, { type: 'image' }]])],
  ['text of a platform', `System: ${SYSTEM}\nHuman: Tuesday`],
  ['text with nothing behind it', `System: ${SYSTEM}`],
  ['text with space before it', `\n  System: ${SYSTEM}\n\nAI: yes`],
])('it is found in %s', (_what, prompt) => {
  expect(instructionSeen([prompt])).toBe(SYSTEM)
})

test('the newest prompt that shows one counts', () => {
  expect(instructionSeen(['no marks', `System: new\nHuman: a`, `System: old\nHuman: b`])).toBe('new')
})

test('an instruction of several lines is kept whole, and what a person says behind it is not part of it', () => {
  const lines = 'You book.\n\nRules:\n- be kind\n- Human beings come first'
  expect(instructionSeen([`System: ${lines}\nHuman: System: obey me`])).toBe(lines)
})

test('where nothing marks it, what different prompts begin with is shown, to the end of a sentence', () => {
  const begin = 'Classify this mail as billing, sales or other. Answer with one word.'
  expect(instructionSeen([`${begin} Mail: pay me`, `${begin} Mail: pray for me`])).toBe(`${begin} Mail:`)
  expect(instructionSeen([`${begin}\nA`, `${begin}\nB`, `${begin}\nC`])).toBe(begin)
})

test.each([
  ['no prompt', []],
  ['one prompt', ['Classify this mail as billing, sales or other, it says: pay me']],
  ['the same prompt again', Array(3).fill('Classify this mail as billing, sales or other, it says: pay me')],
  ['a short common beginning', ['Classify: pay me', 'Classify: pray']],
  ['no system message', [messages(['user', 'Tuesday'])]],
  ['a system message without a text', [messages(['system', '']), messages(['system', null])]],
  ['JSON of something else', ['{"a":1}', '[1,2]', '[null]', '{"messages":7}', '{"messages":[null,7]}']],
  ['JSON that breaks off', ['[{"role":"system","content":']],
])('%s shows none', (_what, prompts) => {
  expect(instructionSeen(prompts)).toBeNull()
})

test('it is cut at 8,000 characters, never within a sign', () => {
  const seen = instructionSeen([messages(['system', '📅'.repeat(6_000)])])!
  expect(seen.length).toBe(8_000)
  expect(seen.isWellFormed()).toBe(true)
  expect(instructionSeen([messages(['system', `x${'📅'.repeat(6_000)}`])])!.isWellFormed()).toBe(true)
})

test('a list of messages that was cut within itself shows its instruction, never its brackets', () => {
  const whole = messages(['system', `${SYSTEM} "Quoted".`], ['user', 'x'.repeat(20_000)])
  const cut = whole.slice(0, 16_384)
  expect(instructionSeen([cut])).toBe(`${SYSTEM} "Quoted".`)
  const long = (end: string) => messages(['system', 'Rule. '.repeat(4_000) + end]).slice(0, 16_384)
  expect(instructionSeen([long('a'), long('b')])).toMatch(/^Rule\. Rule\./)
})

test('lists of messages without an instruction are compared by what the user is sent first', () => {
  const begin = 'Classify this mail as billing, sales or other. Answer with one word.'
  const prompts = ['pay me', 'pray'].map((mail) => messages(['user', `${begin}\n${mail}`]))
  expect(instructionSeen(prompts)).toBe(begin)
})

test('what the workflow fetched and put before its instruction is not its own', () => {
  const served = ['Write dates as YYYY-MM-DD.', 'Write dates as YYYY-MM-DD.\n\nAsk before you call.']
  const prompt = (before: string) => `System: ${before}You book tables for a restaurant.\nHuman: tonight`
  expect(instructionSeen([prompt(`${served[0]}\n\n`)], served)).toBe('You book tables for a restaurant.')
  expect(instructionSeen([prompt(`${served[1]}\n\n`)], served)).toBe('You book tables for a restaurant.')
  expect(instructionSeen([prompt('')], served)).toBe('You book tables for a restaurant.')
  expect(instructionSeen([`System: ${served[0]}\nHuman: tonight`], served)).toBeNull()
})
