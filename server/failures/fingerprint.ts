// What makes two failures the same: category, cause, place, and the text without what changes from run to run. Pure.
import { causeOf } from './causes.ts'
import type { Cause, FailureCategory } from './failure.ts'

const MAX_TEXT = 1_000

/** What is replaced, in this order. A mark keeps the place, so that "A 'x' of B" and "A of B" stay apart. */
const CHANGING: [RegExp, string][] = [
  // Quoted text, however it is quoted; a list of quoted texts is one.
  [/(["'`])(?:\\.|(?!\1)[^\\\n]){0,300}?\1(?![A-Za-z])/g, '<text>'],
  [/[“„«‘][^”’»\n]{0,300}[”’»]/g, '<text>'],
  [/<text>(?:\s*(?:,|and|or|,\s*and|,\s*or)\s*<text>)+/g, '<text>'],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '<address>'],
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]]+/gi, '<address>'],
  // Times and dates, before their numbers go one by one.
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?\b/g, '<time>'],
  [/\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b/g, '<time>'],
  [/\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? \d{1,2} [a-z]{3} \d{4}/gi, '<time>'],
  [/\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2},? \d{4}/gi, '<time>'],
  [/\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[ap]m)?\b/gi, '<time>'],
  // Places: paths, hosts, numbers of machines.
  [/(?:\b[A-Za-z]:)?(?:[\\/][\w.@~%+-]+){2,}[\\/]?/g, '<path>'],
  [/\[?\b(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}\]?(?::\d+)?/gi, '<address>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '<address>'],
  [
    /\b(?:[a-z0-9_-]+\.)+(?:com|net|org|io|dev|app|ai|cloud|local|internal|lan|example|test|co|de|eu|uk|us|me|so)\b(?::\d+)?(?:\/[^\s"']*)?/gi,
    '<address>',
  ],
  [/\blocalhost(?::\d+)?/gi, '<address>'],
  // Models of the families that are about.
  [
    /\b(?:models\/)?(?:gpt|chatgpt|claude|gemini|gemma|llama|mistral|mixtral|ministral|codestral|qwen|deepseek|command-[ra]|phi|grok|nova|titan|text-embedding|embed|whisper|dall-e|o\d)(?:[-_.:@/]?[a-z0-9]+)*(?![a-z])/gi,
    '<model>',
  ],
  // Units written out beside their number.
  [
    /\b\d+(?:[.,]\d+)*\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?)\b(?:\s*\d+(?:\.\d+)?\s*(?:ms|s|m|h)\b)*/gi,
    '<time>',
  ],
  [/\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?s\b/gi, '<time>'],
  [/\b\d+(?:[.,]\d+)*\s*(?:bytes?|[kmg]i?b)\b/gi, '<number>'],
]

/** A number that says which error it is, in the words before it. */
const TELLING =
  /\b(status(?: code)?|http(?:\/\d(?:\.\d)?)?|error code|errno|code|error|sqlstate|ora|exit code)([\s:=#([-]{0,3})(\d{3,5})\b/gi
/** Codes that producers give to their errors: letters first, few, then digits. */
const CODE = /^(?:[A-Z]{1,5}-\d{3,5}|E\d{4,5}|TS\d{4}|[A-Z]{1,4}\d{3,4})$/

/** The text without what changes from one run to the next. */
export function normalizedText(text: string): string {
  let normal = text.slice(0, MAX_TEXT)
  const kept: string[] = []
  const keep = (code: string) => `\u0001${kept.push(code) - 1}\u0001`
  normal = normal.replace(TELLING, (_all, word: string, between: string, code: string) => word + between + keep(code))
  normal = normal.replace(/\bsqlstate\W{0,3}([0-9a-z]{5})\b/gi, (_all, code: string) => `sqlstate ${keep(code)}`)
  normal = normal.replace(/\b[A-Z]{1,5}-?\d{3,5}\b/g, (word, at: number, all: string) =>
    CODE.test(word) && /(^|error|code|exception|errmsg|:|\()\W{0,3}$/i.test(all.slice(Math.max(0, at - 12), at))
      ? keep(word)
      : word,
  )
  for (const [pattern, mark] of CHANGING) normal = normal.replace(pattern, mark)
  normal = normal
    .toLowerCase()
    // Whatever still holds a digit is an id or a count.
    .replace(/[\w-]*(?<!\u0001)\d[\w-]*(?:[.,:/]\d[\w-]*)*(?!\u0001)/g, (word) =>
      word.includes('\u0001') ? word : '<number>',
    )
    .replace(/\b(?=[a-z_-]*[a-z]{3})[bcdfghjklmnpqrstvwxz]{7,}\b/g, '<number>')
    .replace(/(?:<number>[\s,;/]*){2,}/g, '<number> ')
    .replace(/\s+/g, ' ')
    .trim()
  return normal.replace(/\u0001(\d+)\u0001/g, (_all, i: string) => kept[Number(i)]!.toLowerCase())
}

/** The same for the same error at the same place. */
export function fingerprintOfError(error: {
  category: FailureCategory
  cause: Cause
  subject: string | null
  text: string
  httpStatus: string | null
}): string {
  return [error.category, error.cause, error.subject ?? '', error.httpStatus ?? '', normalizedText(error.text)].join(
    '\n',
  )
}

/** Cause and fingerprint of an error as it came. */
export function describeError(
  category: FailureCategory,
  subject: string | null,
  error: { message: string; name: string | null; httpStatus: string | null },
) {
  const cause = causeOf(error.message, error.httpStatus, error.name)
  return {
    cause,
    fingerprint: fingerprintOfError({ category, cause, subject, text: error.message, httpStatus: error.httpStatus }),
  }
}
