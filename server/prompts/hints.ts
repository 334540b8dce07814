// What error texts say exactly: field names, formats and limits. Only words of fixed forms are taken over, because the
// texts were written by others and what is taken becomes part of an instruction. Pure.
import { maskSecrets } from '../ingest/mask.ts'
import { faultIn } from './answer-check.ts'

export interface Hints {
  /** the step could not read JSON */
  isJson: boolean
  /** the step could not build JSON around what it was given */
  buildsJson: boolean
  /** names of fields that were missing */
  missing: string[]
  /** what a field must be: ["order_id", "a number"] */
  kinds: [field: string, kind: string][]
  /** forms that were asked for, one of a class: "dates as YYYY-MM-DD" */
  formats: string[]
  /** at most so much of something: "100 items" */
  limits: string[]
}

const FIELD = `["'\`\\u201c]?([A-Za-z_][A-Za-z0-9_.-]{0,39})["'\`\\u201d]?(?![A-Za-z0-9_[])`
const FIELD_WORD = '(?:field|property|parameter|argument|key|column|attribute)'
const QUOTED = `["'\`\\u201c]([A-Za-z_][A-Za-z0-9_.-]{0,39})["'\`\\u201d]`
/** As frameworks for web pages show a field: "start date" */
const SHOWN = '([a-z]{2,20}(?: [a-z]{2,20}){0,2}?)'

const MISSING = [
  // A word alone after it may be any: "missing required field in the request".
  new RegExp(`(?:missing|requires?d?)(?: \\w+){0,2}? ${FIELD_WORD}s?:? ${QUOTED}`, 'gi'),
  new RegExp(
    `(?:missing|required)(?: \\w+){0,2}? ${FIELD_WORD}s?: ?([A-Za-z_][\\w.-]{0,39}(?:, ?[A-Za-z_][\\w.-]{0,39}){0,4})\\b`,
    'gi',
  ),
  new RegExp(
    `(?:missing|required)(?: \\w+){0,2}? ${FIELD_WORD}s? ([a-z]+(?:_[a-z0-9]+)+|[a-z]+[A-Z]\\w{0,30})\\b`,
    'g',
  ),
  new RegExp(`${FIELD_WORD} ${FIELD} (?:is|was) (?:missing|required|empty)`, 'gi'),
  // Behind a word it may be a value: 'Order "A123" is missing'.
  new RegExp(`(?<!\\w )${QUOTED} is (?:a )?(?:required|missing)`, 'gi'),
  new RegExp(`must have required property ${QUOTED}`, 'gi'),
  /\b([a-z]+_[a-z0-9_]{1,38}) (?:is|was) (?:required|missing)/gi,
  new RegExp(`\\bthe ${SHOWN} field is required`, 'gi'),
  // Of pydantic: the field stands on a line of its own.
  /^([A-Za-z_][\w.]{0,39})\n\s+field required\b/gim,
]

const KIND_WORDS: Record<string, string> = {
  number: 'a number',
  integer: 'a whole number',
  int: 'a whole number',
  float: 'a number',
  'whole number': 'a whole number',
  'positive number': 'a positive number',
  'positive integer': 'a positive whole number',
  string: 'a text',
  str: 'a text',
  boolean: 'true or false',
  bool: 'true or false',
  array: 'a list',
  list: 'a list',
  object: 'an object',
  date: 'a date',
  datetime: 'a date with a time',
  email: 'an e-mail address',
  'e-mail address': 'an e-mail address',
  'email address': 'an e-mail address',
  'phone number': 'a phone number',
  uuid: 'a UUID',
  url: 'a full address that begins with https://',
}
const KIND_WORD = `(${Object.keys(KIND_WORDS)
  .sort((a, b) => b.length - a.length)
  .join('|')})`
/** Not "a number of items", and not "a string matching ..". */
const KIND_END = '\\b(?! (?:of|or|that|which|matching|with)\\b)'
const MUST_BE = `(?:must|should|has to|needs to) be (?:of type |a |an )?(?:valid )?`
const KINDS = [
  new RegExp(`(?<![\\w"'\`])(?:${FIELD_WORD} )?${FIELD}:? ${MUST_BE}${KIND_WORD}${KIND_END}`, 'gi'),
  new RegExp(`\\bthe ${SHOWN} field ${MUST_BE}${KIND_WORD}${KIND_END}`, 'gi'),
  new RegExp(`\\b(?:type|value) for ${FIELD}:? expected (?:a |an )?${KIND_WORD}${KIND_END}`, 'gi'),
  new RegExp(`^([A-Za-z_][\\w.]{0,39})\\n\\s+input ${MUST_BE}${KIND_WORD}${KIND_END}`, 'gim'),
]
/** What one of a few words is asked for; they may be in quotes or in brackets. */
const ONE_OF = new RegExp(
  `(?<![\\w"'\`])(?:${FIELD_WORD} )?${FIELD}:? (?:must|should|has to|needs to) be one of:?(?: the following)?(?: values)?:? ?[[({]?((?:["'\`]?[A-Za-z][A-Za-z0-9_-]{0,23}["'\`]?(?:, ?| or |, or | \\| ?)){1,7}["'\`]?[A-Za-z][A-Za-z0-9_-]{0,23}["'\`]?)(?=[\\])}.;\\n]|$)`,
  'gi',
)
/** Of zod: what was expected stands before the field. */
const KINDS_BEFORE = [
  new RegExp(`expected ${KIND_WORD}, received \\w+\\s+(?:→|->) at ${FIELD}`, 'gi'),
  new RegExp(`"expected": ?"${KIND_WORD}"[^{}]{0,120}?"path": ?\\[ ?"([A-Za-z_]\\w{0,39})" ?\\]`, 'gi'),
]

/** Forms of values, a few of a class: the first of each class that was asked for counts. */
const FORMATS: [text: RegExp, form: (found: string) => string][][] = [
  [
    [/%Y-%m-%d[T ]%H:%M(?::%S)?Z?/, () => 'dates with times as YYYY-MM-DDTHH:mm:ss'],
    [/%Y-%m-%d/, () => 'dates as YYYY-MM-DD'],
    [/%d([./-])%m\1%Y/, (found) => `dates as ${found.replace('%d', 'DD').replace('%m', 'MM').replace('%Y', 'YYYY')}`],
    [
      /\bYYYY[-/]MM[-/]DD[T ]HH:mm(?::ss)?(?:\.SSS)?Z?(?:[+-]HH:mm)?/i,
      (found) => `dates with times as ${found.replace(/^yyyy.mm.dd/i, (day) => day.toUpperCase())}`,
    ],
    [/\b(?:YYYY([-/.])MM\1DD|DD([-/.])MM\2YYYY|MM([-/.])DD\3YYYY)\b/i, (found) => `dates as ${found.toUpperCase()}`],
    [
      /\bISO[ -]?8601\b|\bRFC ?3339\b|\biso ?format\b/i,
      () => 'dates in ISO 8601, like 2026-03-09 or, with a time, 2026-03-09T14:30:00Z',
    ],
    [/\b(?:unix|epoch) (?:timestamp|seconds|time)\b/i, () => 'times as Unix timestamps in seconds'],
  ],
  [[/(?<![T ])\bHH:mm(?::ss)?\b/i, (found) => `times of day as ${found}`]],
  [[/\bE\.?164\b/i, () => 'phone numbers in E.164, like +41441234567']],
  [[/\bISO[ -]?4217\b|\b(?:three|3)[- ]letter currency code/i, () => 'currencies as codes of three letters, like EUR']],
  [[/\bISO[ -]?3166\b|\b(?:two|2)[- ]letter country code/i, () => 'countries as codes of two letters, like CH']],
  [[/\bIANA time ?zone|\bvalid time ?zone\b/i, () => 'time zones by their IANA names, like Europe/Zurich']],
]
/** Behind these words stands what came, not what is asked for. */
const CAME =
  /\b(?:got|received|came|instead was|but was|was given|you sent|instead of|rather than)\W{0,3}(?:\w+\W{1,3}){0,2}$|\bnot (?:as |in |use )?\W?$/i
const NOT_TAKEN =
  /^\W{0,3}(?:is|are|was|were)?(?: not|n't) (?:a |an )?(?:valid|accepted|allowed|supported|recogni[sz]ed)/i

const COUNT = '(\\d{1,3}(?:,\\d{3}){1,2}|\\d{1,7})'
const WHAT = '(characters?|items?|rows?|results?|records?|entries|recipients?|elements?|ids|keys?)'
const LIMITS = [
  new RegExp(
    `\\b(?:at most|maximum(?: of)?|max(?:imum)?(?: is)?|no more than|not more than|NOT have more than|up to|limit(?:ed)?(?: is| of| to)?) ${COUNT} ${WHAT}(?:\\(s\\))?(?=\\W|$)`,
    'gi',
  ),
  new RegExp(`\\b${COUNT} ${WHAT}(?:\\(s\\))? (?:or less|or fewer|maximum|at most|allowed)\\b`, 'gi'),
]
const LENGTHS = [
  new RegExp(`\\bmax(?:imum)?[ _]length(?: is| of|:|=)? ?${COUNT}\\b`, 'gi'),
  new RegExp(`\\btoo long for type character varying\\(${COUNT}\\)`, 'gi'),
]

/** Said by the output parser of platform B, which asks for JSON. */
const UNFIT = /model output doesn't fit required format/i
const JSON_TEXT = /\bjson\b/i
const UNREADABLE =
  /unexpected (?:token|end|character|non-whitespace|string|number)|not valid json|invalid json|failed to parse|could not parse|parse error|json\.?(?:decode|parse)|malformed json|in json at|expecting (?:value|property)|extra data/i
/** A page of an error, which no model wrote. */
const IS_PAGE = /unexpected token '?</i
const BUILDS_JSON =
  /json (?:parameter|body)["'`\u201d]?(?: \w+){0,3} (?:needs to be|must be|is not|contains in)\s?(?:a )?valid/i

/** Words that stand where a field's name could. */
const NO_FIELDS = new Set(
  `the a an is it its are was were this that there these value values input output body request response data field fields
  parameter property argument key column payload content type message error json string and or of in for you to from on at
  by with but not no be must should one any all each every some what which format as when if has`.split(/\s+/),
)
const MOST = 3

/** @param texts of errors of one pattern. What only one of several says is left out: it is about that run alone. */
export function hintsOf(texts: string[]): Hints {
  const least = texts.length > 1 ? 2 : 1
  const often = (read: (text: string) => string[]) => {
    const counts = new Map<string, number>()
    for (const text of texts)
      for (const one of new Set(read(text.slice(0, 2_000)))) counts.set(one, (counts.get(one) ?? 0) + 1)
    return [...counts]
      .filter(([, count]) => count >= least)
      .sort((a, b) => b[1] - a[1])
      .map(([one]) => one)
      .slice(0, MOST)
  }
  const is = (test: (text: string) => boolean) => often((text) => (test(text) ? ['yes'] : [])).length > 0
  const buildsJson = is((text) => BUILDS_JSON.test(text))
  const kinds = often(kindsIn)
  return {
    isJson:
      !buildsJson &&
      is((text) => UNFIT.test(text) || (JSON_TEXT.test(text) && UNREADABLE.test(text) && !IS_PAGE.test(text))),
    buildsJson,
    missing: often((text) =>
      MISSING.flatMap((pattern) =>
        [...text.matchAll(pattern)].flatMap(([, fields]) => fields!.split(/, ?/).flatMap(fieldNamed)),
      ),
    ),
    kinds: kinds.map((one) => one.split('\n') as [string, string]),
    formats: often(formatsIn),
    limits: often((text) => [
      ...LIMITS.flatMap((pattern) =>
        [...text.matchAll(pattern)].map(([, count, what]) => `${count} ${plural(what!.toLowerCase())}`),
      ),
      ...(/\b(?:array|list)\b/i.test(text) ? [] : LENGTHS).flatMap((pattern) =>
        [...text.matchAll(pattern)].flatMap(([, count]) => (count!.length > 4 ? [] : `${count} characters`)),
      ),
    ]),
  }
}

function kindsIn(text: string): string[] {
  const read = (field: string, kind: string) =>
    fieldNamed(field).map((one) => `${one}\n${KIND_WORDS[kind.toLowerCase()]}`)
  return [
    ...KINDS.flatMap((pattern) => [...text.matchAll(pattern)].flatMap(([, field, kind]) => read(field!, kind!))),
    ...[...text.matchAll(ONE_OF)].flatMap(([, field, words]) =>
      fieldNamed(field!).map(
        (one) =>
          `${one}\none of ${words!
            .match(/(?!or\b)[A-Za-z][\w-]*/g)!
            .map((word) => `"${word}"`)
            .join(', ')}`,
      ),
    ),
    ...KINDS_BEFORE.flatMap((pattern) => [...text.matchAll(pattern)].flatMap(([, kind, field]) => read(field!, kind!))),
  ]
}

function formatsIn(text: string): string[] {
  return FORMATS.flatMap((forms) => {
    for (const [pattern, form] of forms) {
      for (const found of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
        const isCome = CAME.test(text.slice(Math.max(0, found.index - 40), found.index))
        if (!isCome && !NOT_TAKEN.test(text.slice(found.index + found[0].length, found.index + found[0].length + 40)))
          return form(found[0])
      }
    }
    return []
  })
}

/** None where the word is not a field's name: called as one likes, but not like an address, a credential or an order. */
function fieldNamed(word: string): string[] {
  const field = word.replace(/[.-]+$/, '')
  const isField =
    field !== '' &&
    !NO_FIELDS.has(field.toLowerCase()) &&
    !maskSecrets(field).masked &&
    faultIn(field, '') === null &&
    faultIn(field.replace(/[_.-]+/g, ' '), '') === null
  return isField ? [field] : []
}

const plural = (what: string) => `${what.replace(/s$/, '')}s`

/** The same as sentences of an instruction, each with a space before it; "it" is what the step or the tool takes. */
export function sentencesOf({ missing, kinds, formats, limits }: Hints): string {
  const sentences = [
    ...missing.map((field) => `The field "${field}" must always be there.`),
    ...kinds.map(([field, kind]) => `The field "${field}" must be ${kind}.`),
    ...formats.map((format) => `Give it ${format}.`),
    ...limits.map((limit) =>
      limit.endsWith('characters') ? `Keep each text within ${limit}.` : `Give it at most ${limit} at once.`,
    ),
  ]
  return sentences.map((sentence) => ` ${sentence}`).join('')
}
