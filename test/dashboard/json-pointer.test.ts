// Where in a body a problem is: by JSON pointer, by line and column, in texts that may be cut, broken or hostile.
import { describe, expect, it } from 'vitest'
import { bodyPieces, drawnWindow, partsWithin } from '../../dashboard/rules/body-marks.ts'
import { findJsonFault, findJsonPart } from '../../dashboard/rules/json-pointer.ts'

const marked = (text: string, pointer: string) => {
  const part = findJsonPart(text, pointer)
  return part && [text.slice(part.start, part.end), part.isThere]
}

describe('a pointer', () => {
  it.each([
    ['{"session_id": "run 1", "type": "span"}', '/session_id', '"run 1"'],
    ['[{"cost": 1}, {"cost": "x,]}"}]', '/1/cost', '"x,]}"'],
    ['{"execution": {"id": null}}', '/execution/id', 'null'],
    ['{"a": {"b": [1, [2, 3], {"c": -1.5e3}]}}', '/a/b/2/c', '-1.5e3'],
    ['{"a": [1, 2]}', '/a', '[1, 2]'],
    ['{"a": {"x": "}"}}', '/a', '{"x": "}"}'],
    ['{"say \\"hi\\"": 1}', '/say "hi"', '1'],
    ['{"a/b": 1, "c~d": 2}', '/c~0d', '2'],
    ['{"a/b": 1, "c~d": 2}', '/a~1b', '1'],
    ['{"\\u0061": 1}', '/a', '1'],
    ['{"": 1}', '/', '1'],
    ['\uFEFF \n{"a": 1}', '/a', '1'],
    ['{"a": 1, "a": 2}', '/a', '2'],
    ['7', '', '7'],
  ])('into %s: %s is %s', (text, pointer, expected) => {
    expect(marked(text, pointer)).toEqual([expected, true])
  })

  it.each([
    ['{"type": "span"}', '/session_id', '{'],
    ['[{"a": 1}, {"type": "span"}]', '/1/session_id', '{'],
    ['{"execution": {"status": "error"}}', '/execution/id', '{'],
    ['[1]', '/5', '['],
    ['{"execution": "text"}', '/execution/id', '"text"'],
    ['[1]', '/a', '['],
  ])('into %s: %s is missing, and %s should hold it', (text, pointer, expected) => {
    expect(marked(text, pointer)).toEqual([expected, false])
  })

  it('finds what stands before the place where a text is cut or broken', () => {
    expect(marked('{"a": {"b": "x"}, "c": "cut he', '/a/b')).toEqual(['"x"', true])
    expect(marked('[{"a": 1}, {"a": 2} {"a"', '/1/a')).toEqual(['2', true])
  })

  it('finds nothing in what is no JSON', () => {
    expect([marked('', '/a'), marked('   ', '/a')]).toEqual([null, null])
    expect([marked('a=1&b=2', '/a'), marked('"text"', '/a')]).toEqual([null, null])
    expect(marked('{"a": "never closed', '/a')).toBeNull()
  })

  it('does not descend into what it passes, however deep that is', () => {
    const deep = `{"deep": ${'['.repeat(200_000)}${']'.repeat(200_000)}, "a": 1}`
    expect(marked(deep, '/a')).toEqual(['1', true])
    expect(marked('['.repeat(200_000), '/0/1')).toBeNull()
  })

  it('takes a text of a megabyte in its stride', () => {
    const long = `{"long": "${'x\\"'.repeat(300_000)}", "a": 1}`
    expect(marked(long, '/a')).toEqual(['1', true])
  })
})

describe('the place of a sentence', () => {
  const text = '{"a": 1,\n "b": "say "hi"",\n "c": 2}'
  it('is one character', () => {
    const part = findJsonFault(text, 'The body is not valid JSON: line 2, column 13, a comma or } is expected.')!
    expect(text.slice(part.start, part.end)).toBe('h')
  })
  it('at the end of the text is its last character', () => {
    expect(findJsonFault('{"a": 1', 'line 1, column 8, the text ends too early')).toEqual({
      start: 6,
      end: 7,
      isThere: true,
    })
  })
  it('is the line where a credential before it was masked', () => {
    const masked = '{"key": "sk-[masked]", b: 1}'
    const part = findJsonFault(masked, 'line 1, column 60, a name in double quotes is expected')!
    expect(masked.slice(part.start, part.end)).toBe(masked)
  })
  it.each(['no place in it', 'line 9, column 1, the text ends too early'])('is unknown: %s', (sentence) => {
    expect(findJsonFault(text, sentence)).toBeNull()
  })
})

describe('the pieces of a body', () => {
  const text = '{"a": 1, "b": [2, 3]}'
  it('are plain text around numbered marks', () => {
    const pieces = bodyPieces(text, [findJsonPart(text, '/b/1'), null, findJsonPart(text, '/a')])
    expect(pieces.map((piece) => [piece.text, ...piece.numbers])).toEqual([
      ['{"a": '],
      ['1', 3],
      [', "b": [2, '],
      ['3', 1],
      [']}'],
    ])
  })
  it('mark the smaller one of two that overlap, with both numbers', () => {
    const pieces = bodyPieces(text, [findJsonPart(text, '/b'), findJsonPart(text, '/b/0')])
    expect(pieces.filter((piece) => piece.numbers.length > 0).map((piece) => [piece.text, piece.numbers])).toEqual([
      ['2', [1, 2]],
    ])
  })
  it('share one mark where two fields are missing in the same object', () => {
    const pieces = bodyPieces(text, [findJsonPart(text, '/x'), findJsonPart(text, '/y')])
    expect(pieces[0]).toEqual({ text: '{', numbers: [1, 2], isThere: false })
  })
  it('together are the text', () => {
    const pieces = bodyPieces(text, [findJsonPart(text, '/b'), findJsonPart(text, '/nothing')])
    expect(pieces.map((piece) => piece.text).join('')).toBe(text)
  })
})

describe('what is drawn of a long body', () => {
  const part = (start: number) => ({ start, end: start + 1, isThere: true })
  it.each([
    [500, [], { start: 0, end: 500 }],
    [5000, [null], { start: 0, end: 800 }],
    [5000, [part(600)], { start: 0, end: 800 }],
    [5000, [part(4990), part(2000)], { start: 1900, end: 2700 }],
    [5000, [part(4990)], { start: 4890, end: 5000 }],
  ])('%i characters with %o: %o', (length, parts, expected) => {
    expect(drawnWindow(length, parts, 800)).toEqual(expected)
  })
  it('holds the marks that lie in it, counted from its start', () => {
    expect(partsWithin([part(1905), null, part(4990)], { start: 1900, end: 2700 })).toEqual([part(5), null, null])
  })
})
