// Whether a text is JSON that ends before it is whole. Pure.

/** What may come next in a list or an object. */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'comma'

const SCALAR = /(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/y
const SPACE = /\s*/y

/** Begins as JSON and ends inside of it. Text that only begins with a bracket is none. */
export function isUnclosedJson(text: string): boolean {
  const json = text.trim().replace(/^```(?:json)?\s*/i, '')
  // Lists of numbers are footnotes in most texts.
  if (!/^(\{\s*"|\[\s*[[{"])/.test(json)) return false
  const open: ('{' | '[')[] = []
  let next = 'value' as Next
  let at = 0
  while (at < json.length) {
    const sign = json[at]!
    if (next === 'comma') {
      if (sign === ',') next = open.at(-1) === '{' ? 'key' : 'value'
      else if (sign === (open.at(-1) === '{' ? '}' : ']')) open.pop()
      else return false
      if (open.length === 0) return false
      at += 1
    } else if (next === 'colon') {
      if (sign !== ':') return false
      next = 'value'
      at += 1
    } else if ((next === 'first key' && sign === '}') || (next === 'first value' && sign === ']')) {
      open.pop()
      if (open.length === 0) return false
      next = 'comma'
      at += 1
    } else if (sign === '"') {
      at = endOfText(json, at)
      next = next === 'key' || next === 'first key' ? 'colon' : 'comma'
    } else if (next === 'key' || next === 'first key') return false
    else if (sign === '{' || sign === '[') {
      open.push(sign)
      next = sign === '{' ? 'first key' : 'first value'
      at += 1
    } else {
      SCALAR.lastIndex = at
      if (SCALAR.test(json)) at = SCALAR.lastIndex
      // The end may lie inside of a word or number.
      else return /^(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-)$/.test(json.slice(at, at + 5))
      next = 'comma'
      if (json[at] === '.' || json[at] === 'e' || json[at] === 'E') return at >= json.length - 3
    }
    SPACE.lastIndex = at
    SPACE.test(json)
    at = SPACE.lastIndex
  }
  return true
}

/** Behind the closing quote; at the end of the text where there is none. Line breaks inside are forgiven. */
function endOfText(json: string, start: number): number {
  for (let i = start + 1; i < json.length; i++) {
    if (json[i] === '\\') i++
    else if (json[i] === '"') return i + 1
  }
  return json.length
}
