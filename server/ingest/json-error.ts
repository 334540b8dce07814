// Where a text stops being JSON. Only asked after JSON.parse refused it: V8 does not always say where.

export interface JsonError {
  line: number
  column: number
  expected: string
}

const NUMBER = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
// eslint-disable-next-line no-control-regex
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const WORD = /true|false|null/y
const SPACE = /[ \t\r\n]*/y

export function findJsonError(text: string): JsonError {
  let at = 0
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const found = pattern.test(text)
    if (found) at = pattern.lastIndex
    return found
  }
  const fail = (expected: string): never => {
    throw expected
  }
  const string = (): void => {
    if (skip(TEXT)) return
    // The fault lies inside: go to the first character that a text cannot hold.
    const inside = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y
    skip(inside)
    fail(at >= text.length ? 'a text is not closed' : 'a character stands in a text that must be escaped')
  }
  const value = (): void => {
    skip(SPACE)
    const next = text[at]
    if (next === '"') string()
    else if (next === '{')
      members('}', () => {
        skip(SPACE)
        if (text[at] !== '"') fail('a name in double quotes is expected')
        string()
        skip(SPACE)
        if (text[at] !== ':') fail('a colon is expected')
        at += 1
        value()
      })
    else if (next === '[') members(']', value)
    else if (!skip(WORD) && !skip(NUMBER)) fail(next === undefined ? 'the text ends too early' : 'a value is expected')
    skip(SPACE)
  }
  const members = (close: string, member: () => void): void => {
    at += 1
    skip(SPACE)
    if (text[at] === close) {
      at += 1
      return
    }
    for (;;) {
      member()
      skip(SPACE)
      if (text[at] === close) break
      if (text[at] !== ',') fail(text[at] === undefined ? 'the text ends too early' : `a comma or ${close} is expected`)
      at += 1
    }
    at += 1
  }
  let expected = 'the text goes on after its end'
  try {
    value()
  } catch (reason) {
    if (typeof reason !== 'string') throw reason
    expected = reason
  }
  const before = text.slice(0, at)
  // Counted one by one: as a list, a body of line breaks would take many times its size.
  let line = 1
  for (let end = before.indexOf('\n'); end >= 0; end = before.indexOf('\n', end + 1)) line += 1
  return { line, column: at - before.lastIndexOf('\n'), expected }
}
