// What makes two failures the same: category, cause, place, and of the text the words that stay from run to run. Pure.
import { causeOf } from './causes.ts'
import type { Cause, FailureCategory } from './failure.ts'

const MAX_TEXT = 1_000
const MAX_WORDS = 60

/** Codes that producers give to their errors: they stay, wherever they stand. */
const CODES = [
  // In JSON and XML, by the name of the member.
  /["'](?:code|type|error|error_?code|error_?type|reason|status|category|subcode|decline_code)["']\s*:\s*["']([A-Za-z][\w.-]{1,60})["']/gi,
  /\b(?:code|error_?code|decline_code|reason)\s*[:=]\s*["']([A-Za-z][\w.-]{1,60})["']/gi,
  /<(?:Code|Reason|Type)>([\w.-]{2,60})</g,
  /\berror response: ["']([a-z]\w{2,60})["']/gi,
  // Numbers behind a word that says they are one.
  /\b(?:status(?: code)?|error code|errno|code|error|sqlstate|errmsg|exit code)[\s:=#([-]{0,3}(\d{3,6})\b/gi,
  /\bsqlstate\W{0,3}([0-9a-z]{5})\b/gi,
  // At the beginning of the text or of a clause.
  /(?<=^|[:(]\s?|\s)(?:(ORA-\d{5}|E1\d{4}|TS\d{4}|SQL\d{4,5}N?))(?=\b)/g,
]

/** Texts within JSON and XML are read like any other; the names and values around them change. */
const MESSAGE_IN_JSON =
  /"(?:message|detail|details|description|error_message|error_description|error|title|msg)"\s*:\s*"((?:[^"\\]|\\.)*)"/gi
const JSON_IN_TEXT = /"[{[]+\\"/
const UNWRAPPED: [RegExp, string][] = [
  [MESSAGE_IN_JSON, ' $1 '],
  [/\\{1,8}(["'/])/g, '$1'],
  [/\\{1,8}[nrt]/g, ' '],
  [/<(?:message|title|description|h1)>([^<]*)<\/\w+>/gi, ' $1 '],
  [/<(\w+)>[^<]*<\/\1>/g, ' '],
  [/<[^<>\n]{1,300}>/g, ' '],
]

const NAME_END = '(?![\\p{L}\\p{N}])'
/** What changes from run to run, in this order. */
const CHANGING: RegExp[] = [
  // A line that a caret points into, and what a statement looked like.
  /^[^\n]*\n[ \t]*\^[ \t]*$/gm,
  /\bLINE \d+:[^\n]*/g,
  // A text that was given: up to its last quote, it may hold any.
  /\b(?:text|output|content|completion|body|value|input): "[\s\S]*"(?=\.\s)/gi,
  /(?<=\brange:? )[^\n]*![A-Z]{1,3}\d*(?::[A-Z]{1,3}\d*)?/gi,
  // Quoted text. Marks within words are apostrophes.
  new RegExp(`“[^“”\\n]{0,400}”|«[^«»\\n]{0,400}»|„[^„“”\\n]{0,400}[“”]`, 'gu'),
  new RegExp('(?<![\\p{L}\\p{N}])`[^`\\n]{0,400}`', 'gu'),
  new RegExp(`(?<![\\p{L}\\p{N}])"[\\s\\S]{0,400}?"${NAME_END}`, 'gu'),
  new RegExp(`(?<![\\p{L}\\p{N}])'[^\\n]{0,400}?'${NAME_END}`, 'gu'),
  // Addresses, places and people.
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>)\]]+/gi,
  /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,5}/g,
  /(?<=\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) )\S+/g,
  /(?:\b[A-Za-z]:)?(?:[\\/][\w.@~%+ -]*[\w.@~%+-]){2,}[\\/]?/g,
  /(?:\*\.)?(?<![\w-])[\w-]{1,64}(?:\.[\w-]{1,64})+\b\.?/g,
  /\blocalhost\b/gi,
  /(?<=^|\s)[#@][\w.-]+/g,
  // Ids that hold no digit: in groups, behind the prefix of their kind, masked.
  /(?<![\w-])[0-9a-f]{3,}(?:[:-][0-9a-f]{3,})+\b/gi,
  /\b(?:org|req|run|call|msg|proj|user|cus|sub|evt|file|asst|thread|chatcmpl|sess|acct|pi|ch|in|key|sk|pk)[-_](?=\S{0,60}[A-Z0-9*])[\w*-]{5,}/g,
  /(?<![\w-])[\w-]{0,40}(?:\*{3,}|\[masked\])[\w*-]*/g,
  /\b_\w+_?\b/g,
  // Models of the families that are about, where nothing else gives them away.
  /\b(?:gpt|chatgpt|claude|gemini|gemma|llama|mistral|mixtral|codestral|qwen|deepseek|command-r|grok|text-embedding)(?:[-_.:/][\w.:-]*)?/gi,
  // Months, and numbers with their units.
  /\b\d{1,2}[ -](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[ -]\d{2,4}\b/gi,
  /\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*, \d[^,;]*/gi,
  /(?<![\d.,])\d[\d.,]{0,30}\s{0,3}(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?|bytes?|[kmgt]i?b)\b/gi,
  // Values of settings.
  /(?<==)[^\s,;)\]]+/g,
]

const BRACKETS = /\(([^()[\]{}]*)\)|\[([^()[\]{}]*)\]|\{([^()[\]{}]*)\}/g

/** Words that stay from run to run, each once, in their order. A list of any length says each of its words once. */
export function normalizedText(text: string): string {
  let rest = text.slice(0, MAX_TEXT)
  const kept: string[] = []
  // Stands where nothing below finds it: in the private use area of Unicode.
  const keep = (all: string, code: string) =>
    `${all.includes('<') ? '' : ' '}${String.fromCharCode(0xe000 + (kept.push(code.toLowerCase()) - 1))} `
  if (JSON_IN_TEXT.test(rest)) rest = rest.replace(/\\(.)/g, '$1')
  for (const code of CODES) rest = rest.replace(code, keep)
  const isJson = rest.search(MESSAGE_IN_JSON) >= 0
  for (const [pattern, inside] of UNWRAPPED) rest = rest.replace(pattern, inside)
  for (const pattern of CHANGING) rest = rest.replace(pattern, ' ')
  // What was said stands within the brackets then, and all else in them is gone.
  if (isJson) rest = rest.replace(/[{}[\]]/g, ' ')
  // Innermost first; what brackets hold is mostly a value, but a word or a code stays.
  for (let depth = 0; depth < 4 && BRACKETS.test(rest); depth++) {
    rest = rest.replace(BRACKETS, (_all, ...inner: string[]) => {
      const held = inner.slice(0, 3).find((one) => one !== undefined) ?? ''
      return /^[\p{L}\s]+$/u.test(held) && /^\[/.test(_all) ? ` ${held} ` : ` ${held.replace(/[^\ue000-\uf8ff]/g, '')} `
    })
  }
  const words = rest.match(/[\ue000-\uf8ff]|[^\s,;]*\d[^\s,;]*|\p{L}[\p{L}'’_-]*/gu) ?? []
  const said = new Set<string>()
  for (const word of words) {
    const code = kept[word.charCodeAt(0) - 0xe000]
    if (code !== undefined) said.add(code)
    else if (!/\d|^(?:true|false|null|none)$/i.test(word) && !isId(word)) said.add(word.toLowerCase())
    if (said.size === MAX_WORDS) break
  }
  return [...said].join(' ')
}

/** Letters in an order that no word has: capitals every other letter, or only those of hexadecimal numbers. */
function isId(word: string): boolean {
  if (/^[a-f]{6,}$/i.test(word)) return true
  const humps = word.match(/[A-Z]+[a-z]*|[a-z]+/g) ?? []
  return word.length >= 10 && humps.length > 3 && word.length / humps.length < 3.2
}

/** The same for the same error at the same place. */
export function fingerprintOfError(error: {
  category: FailureCategory
  cause: Cause
  subject: string | null
  text: string
  httpStatus: string | null
}): string {
  const { category, cause, subject, text, httpStatus } = error
  return [category, cause, subject ?? '', httpStatus ?? '', normalizedText(text)].join('\n')
}

/** The same errors come again and again, also within one run. */
const described = new Map<string, { cause: Cause; fingerprint: string }>()
const MAX_DESCRIBED = 2_000

/** Cause and fingerprint of an error as it came. */
export function describeError(
  category: FailureCategory,
  subject: string | null,
  { message, name, httpStatus }: { message: string; name: string | null; httpStatus: string | null },
): { cause: Cause; fingerprint: string } {
  const text = message.slice(0, MAX_TEXT)
  const key = [category, subject, httpStatus, name?.slice(0, 200), text].join('\n')
  let known = described.get(key)
  if (!known) {
    const cause = causeOf(text, httpStatus, name && name.slice(0, 200))
    known = { cause, fingerprint: fingerprintOfError({ category, cause, subject, text, httpStatus }) }
    if (described.size >= MAX_DESCRIBED) described.clear()
    described.set(key, known)
  }
  return known
}
