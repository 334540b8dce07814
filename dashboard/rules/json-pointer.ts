// Owns finding the part of a JSON text that a JSON pointer (RFC 6901) means, also where the text is cut or broken later.

export interface TextPart {
  start: number
  /** One past its last character. */
  end: number
  /** False: what the pointer names is not in the text; this is the bracket of the innermost value that should hold it. */
  isThere: boolean
}

const SPACE = /[\s\uFEFF]*/y
const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y
const SCALAR = /[^\s,:{}[\]"]+/y
const INSIDE = /[^"{}[\]]*/y

/** @returns null where the text is no JSON, or is cut or broken before that part */
export function findJsonPart(text: string, pointer: string): TextPart | null {
  const root = matchEnd(SPACE, text, 0)
  let at = root
  for (const segment of pointer.split('/').slice(1).map(unescapeSegment)) {
    const found = text[at] === '{' ? memberOf(text, at, segment) : text[at] === '[' ? itemOf(text, at, segment) : 'none'
    if (found === 'broken') return null
    if (found === 'none') return holderOf(text, at, root)
    at = found
  }
  const end = valueEnd(text, at)
  return end === null ? null : { start: at, end, isThere: true }
}

/** Of an object or list its opening bracket, else the whole value that stands where an object should. */
function holderOf(text: string, at: number, root: number): TextPart | null {
  if (text[at] === '{' || text[at] === '[') return { start: at, end: at + 1, isThere: false }
  const end = at === root ? null : valueEnd(text, at)
  return end === null ? null : { start: at, end, isThere: false }
}

/** Where the server's sentence says that a text stops being JSON: one character, or the line if credentials moved it. */
export function findJsonFault(text: string, sentence: string, mask = '[masked]'): TextPart | null {
  const place = /\bline (\d+), column (\d+)\b/.exec(sentence)
  if (!place) return null
  let lineStart = 0
  for (let line = 1; line < Number(place[1]); line += 1) {
    lineStart = text.indexOf('\n', lineStart) + 1
    if (lineStart === 0) return null
  }
  const newline = text.indexOf('\n', lineStart)
  const lineEnd = newline === -1 ? text.length : newline
  const start = lineStart + Number(place[2]) - 1
  if (text.slice(lineStart, start).includes(mask)) return { start: lineStart, end: lineEnd, isThere: true }
  if (start < lineEnd) return { start, end: start + 1, isThere: true }
  return lineEnd > lineStart ? { start: lineEnd - 1, end: lineEnd, isThere: true } : null
}

const unescapeSegment = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~')

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

type Found = number | 'none' | 'broken'

/** Where the value of a member begins; of equal names the last counts, as for every reader of JSON. */
function memberOf(text: string, brace: number, name: string): Found {
  let found: number | null = null
  let at = matchEnd(SPACE, text, brace + 1)
  while (text[at] === '"') {
    const nameEnd = matchEnd(STRING, text, at)
    const isIt = nameOf(text.slice(at, nameEnd)) === name
    at = matchEnd(SPACE, text, nameEnd)
    if (text[at] !== ':') break
    at = matchEnd(SPACE, text, at + 1)
    if (isIt) found = at
    const end = valueEnd(text, at)
    if (end === null) break
    at = matchEnd(SPACE, text, end)
    if (text[at] !== ',') break
    at = matchEnd(SPACE, text, at + 1)
  }
  return found ?? (text[at] === '}' ? 'none' : 'broken')
}

function itemOf(text: string, bracket: number, segment: string): Found {
  let at = matchEnd(SPACE, text, bracket + 1)
  for (let index = 0; text[at] !== undefined && text[at] !== ']'; index += 1) {
    if (String(index) === segment) return at
    const end = valueEnd(text, at)
    if (end === null) return 'broken'
    at = matchEnd(SPACE, text, end)
    if (text[at] === ',') at = matchEnd(SPACE, text, at + 1)
    else if (text[at] !== ']') return 'broken'
  }
  return text[at] === ']' ? 'none' : 'broken'
}

/** Counts brackets instead of descending: a hostile text may be nested a million times. */
function valueEnd(text: string, from: number): number | null {
  const first = text[from]
  if (first === '"') return laterThan(from, matchEnd(STRING, text, from))
  if (first !== '{' && first !== '[') return laterThan(from, matchEnd(SCALAR, text, from))
  let depth = 0
  let at = from
  while (at < text.length) {
    const character = text[at]
    if (character === '"') {
      const end = matchEnd(STRING, text, at)
      if (end === at) return null
      at = end
    } else {
      if (character === '{' || character === '[') depth += 1
      else if (character === '}' || character === ']') depth -= 1
      at += 1
      if (depth === 0) return at
    }
    at = matchEnd(INSIDE, text, at)
  }
  return null
}

const laterThan = (start: number, end: number) => (end > start ? end : null)

function nameOf(literal: string): string | null {
  try {
    return JSON.parse(literal) as string
  } catch {
    return null
  }
}
