// Platform A: the fields of one event, each with what it takes, what it warns of and what it refuses.
import { quoted, type FieldProblem } from '../errors.ts'
import type { EventType } from '../sessions/session.ts'
import { cleanText, cutText } from './clean-text.ts'
import { maskSecrets } from './mask.ts'
import type { Warning } from './parsed.ts'
import { readTimestamp, type ReadTime } from './timestamp.ts'

const MAX_NAME_LENGTH = 500
const MAX_ATTRIBUTES_BYTES = 16 * 1024
const MAX_DURATION_MS = 1e12
const SKEW_AHEAD_MS = 5 * 60_000
const SKEW_BACK_MS = 30 * 86_400_000

const TYPES = new Map<string, EventType>([
  ['llm.call', 'LLM_CALL'],
  ['tool.call', 'TOOL_CALL'],
  ['retrieval', 'RETRIEVAL'],
  ['span', 'SPAN'],
  ['session.end', 'SESSION_END'],
])
const TYPE_LIST = [...TYPES.keys()].join(', ')

const KNOWN = new Set(
  (
    'session_id type agent_name model tool_name input output prompt_tokens completion_tokens cost duration_ms error ' +
    'status timestamp event_id'
  ).split(' '),
)
export const ALIASES = { input: 'prompt', output: 'completion' } as const

type Fields = Record<string, unknown>

/** So far off that the sender's clock or mapping must be wrong. */
export const isSkewed = ({ ms }: ReadTime, receivedAt: number) =>
  ms > receivedAt + SKEW_AHEAD_MS || ms < receivedAt - SKEW_BACK_MS

/** Reads the fields of one event. What is wrong goes to `problems`, what was changed to `warnings`. */
export class FieldReader {
  /** A credential was found in one of the texts read so far. */
  isMasked = false

  constructor(
    private readonly item: unknown,
    private readonly pointer: string,
    private readonly label: string,
    private readonly problems: FieldProblem[],
    private readonly warnings: Warning[],
  ) {}

  isObject(): boolean {
    const isObject = typeof this.item === 'object' && this.item !== null && !Array.isArray(this.item)
    if (!isObject) {
      const detail = `${this.label}an event must be an object like {"session_id": "run-1"}, not ${quoted(this.item)}.`
      this.problems.push({ pointer: this.pointer, field: '', code: 'not_an_object', detail: upperFirst(detail) })
    }
    return isObject
  }

  sessionId(): string | null {
    const value = this.raw('session_id')
    if (value === undefined || value === null || value === '') {
      return this.refuse('session_id', 'required', 'is missing; send the id of the run, the same for all its events')
    }
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value)) {
        return this.refuse(
          'session_id',
          'imprecise_number',
          `is the number ${quoted(value)}, which lost digits on its way; send it as text`,
        )
      }
      this.warn('session_id', 'number_to_text', `was a number and is taken as the text "${value}"`)
      return this.checkedId(String(value))
    }
    if (typeof value !== 'string') return this.refuse('session_id', 'not_text', `must be text, not ${quoted(value)}`)
    return this.checkedId(value)
  }

  private checkedId(value: string): string | null {
    if (/^[A-Za-z0-9_-]{1,128}$/.test(value)) return value
    const use = 'use only letters, digits, - and _'
    const bad = /[^A-Za-z0-9_-]/u.exec(value)?.[0]
    if (bad !== undefined) {
      const named = bad === ' ' ? 'a space' : /\s/.test(bad) ? 'white space' : quoted(bad)
      return this.refuse('session_id', 'bad_character', `${quoted(value)} contains ${named}; ${use}`)
    }
    return this.refuse('session_id', 'too_long', `has ${value.length} characters; at most 128 are allowed`)
  }

  type(): EventType | null {
    const value = this.raw('type')
    if (isBlank(value)) return null
    const type = typeof value === 'string' ? TYPES.get(value.trim().toLowerCase()) : undefined
    if (type) return type
    this.refuse('type', 'unknown_type', `${quoted(value)} is not known; use one of ${TYPE_LIST}`)
    return 'SPAN'
  }

  inferredType(hasTool: boolean, hasModelOrTokens: boolean): EventType {
    const has = (...names: string[]) => names.some((name) => !isBlank(this.raw(name)))
    let type = 'span'
    if (hasTool) type = 'tool.call'
    else if (hasModelOrTokens || has('prompt', 'completion')) type = 'llm.call'
    else if (has('status') && !has('input', 'output', 'error', 'duration_ms', 'cost')) type = 'session.end'
    this.warn('type', 'inferred_type', `is missing and was taken as ${type}; send one of ${TYPE_LIST}`)
    return TYPES.get(type)!
  }

  name(field: string): string | null {
    const value = this.raw(field)
    if (isBlank(value)) return null
    if (typeof value === 'object') return this.refuse(field, 'not_text', `must be text, not ${quoted(value)}`)
    const text = this.plainText(field, value)
    if (text.length <= MAX_NAME_LENGTH) return text
    this.warn(field, 'cut', `has ${text.length} characters and was cut at ${MAX_NAME_LENGTH}`)
    return cutText(text, MAX_NAME_LENGTH)
  }

  text(field: string, alias: string): string | null {
    const from = this.raw(field) ?? null
    const name = from !== null ? field : alias
    const value = this.raw(name) ?? null
    if (value === null) return null
    return this.plainText(name, value)
  }

  error(): string | null {
    const value = this.raw('error')
    if (isBlank(value)) return null
    if (value === false) {
      this.warn('error', 'false_error', 'was false and is taken as no error; send the text of an error, or nothing')
      return null
    }
    return this.plainText('error', value)
  }

  /** Text as it came; anything else as its text, with a warning. */
  private plainText(field: string, value: unknown): string {
    let text: string
    if (typeof value === 'string') text = value
    else {
      const message = typeof value === 'object' && value !== null ? (value as Fields).message : undefined
      text = field === 'error' && typeof message === 'string' && message ? message : asText(value)
      this.warn(field, 'to_text', `was ${describe(value)} and is kept as text`)
    }
    const clean = cleanText(text)
    if (clean !== text)
      this.warn(
        field,
        'replaced_characters',
        'held characters that are no text (U+0000 or half a pair); they became U+FFFD',
      )
    const found = maskSecrets(clean)
    this.isMasked ||= found.masked
    return found.text
  }

  tokens(field: string): number | null {
    const value = this.number(field)
    if (value === null) return null
    if (Number.isInteger(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value
    return this.refuse(field, 'out_of_range', `must be a whole number from 0 to 2^53-1, not ${quoted(this.raw(field))}`)
  }

  /** USD with the digits that were sent. */
  cost(): string | null {
    const value = this.number('cost')
    if (value === null) return null
    const sent = this.raw('cost')
    if (value < 0 || value > 1e9)
      return this.refuse('cost', 'out_of_range', `must be USD from 0 to 1,000,000,000, not ${quoted(sent)}`)
    const digits = typeof sent === 'string' ? sent.trim().replace(/^\+/, '') : String(value)
    if (digits.length > 100)
      return this.refuse('cost', 'too_long', `has ${digits.length} digits; at most 100 are allowed`)
    return digits
  }

  duration(): number | null {
    const value = this.number('duration_ms')
    if (value === null) return null
    if (value < 0) {
      this.warn(
        'duration_ms',
        'negative',
        `was ${quoted(this.raw('duration_ms'))}; a negative duration is kept as unknown`,
      )
      return null
    }
    if (value <= MAX_DURATION_MS) return value
    return this.refuse(
      'duration_ms',
      'out_of_range',
      `must be milliseconds up to 1,000,000,000,000, not ${quoted(this.raw('duration_ms'))}`,
    )
  }

  private number(field: string): number | null {
    const value = this.raw(field)
    if (isBlank(value)) return null
    if (typeof value === 'number' && Number.isFinite(value)) return value
    if (typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) {
      const read = Number(value)
      if (Number.isFinite(read)) return read
    }
    return this.refuse(field, 'not_a_number', `must be a number like 120 or "120", not ${quoted(value)}`)
  }

  status(hasError: boolean): 'success' | 'error' | null {
    const value = this.raw('status')
    if (isBlank(value)) return null
    const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
    if (word === 'error' && !hasError) {
      this.warn(
        'error',
        'no_error_text',
        'is missing although status is error; map the text of what went wrong to it to see it here',
      )
    }
    if (word === 'success' || word === 'error') return word
    return this.refuse(
      'status',
      'unknown_status',
      `must be success or error (or absent while the run goes on), not ${quoted(value)}`,
    )
  }

  timestamp(receivedAt: number): ReadTime | null {
    const value = this.raw('timestamp')
    if (value === undefined || value === null) return null
    const read = readTimestamp(value)
    if ('problem' in read) return this.refuse('timestamp', 'not_a_time', `${read.problem}, not ${quoted(value)}`)
    if (read.warning) this.warn('timestamp', read.warning.code, read.warning.detail)
    if (read.time && isSkewed(read.time, receivedAt)) {
      this.warn(
        'timestamp',
        'skewed',
        'is more than 5 minutes ahead or 30 days back; kept, but not used for order or duration',
      )
    }
    return read.time
  }

  eventId(): string | null {
    const value = this.raw('event_id')
    if (isBlank(value)) return null
    if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
    if (typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)) return value
    return this.refuse('event_id', 'bad_event_id', `must be 1 to 128 visible characters, not ${quoted(value)}`)
  }

  attributes(): Fields | null {
    const item = this.item as Fields
    const attributes: Fields = Object.create(null)
    let bytes = 0
    let isEmpty = true
    for (const field of Object.keys(item)) {
      if (KNOWN.has(field) || this.isUsedAlias(field)) continue
      bytes += Buffer.byteLength(field) + Buffer.byteLength(asText(item[field])) + 6
      if (bytes > MAX_ATTRIBUTES_BYTES) {
        this.warn(
          field,
          'attributes_cut',
          'and what follows it did not fit into 16 KB of unknown fields and was left out',
        )
        break
      }
      attributes[field] = item[field]
      isEmpty = false
    }
    return isEmpty ? null : attributes
  }

  private isUsedAlias(field: string): boolean {
    if (field === ALIASES.input) return (this.raw('input') ?? null) === null
    if (field === ALIASES.output) return (this.raw('output') ?? null) === null
    return false
  }

  private raw(field: string): unknown {
    const item = this.item as Fields
    return Object.hasOwn(item, field) ? item[field] : undefined
  }

  private refuse(field: string, code: string, rest: string): null {
    const detail = `${this.label}${field} ${rest}.`
    this.problems.push({ pointer: `${this.pointer}/${field}`, field, code, detail })
    return null
  }

  private warn(field: string, code: string, rest: string): void {
    this.warnings.push({
      pointer: `${this.pointer}/${escapePointer(field)}`,
      field,
      code,
      detail: `${this.label}${field} ${rest}.`,
    })
  }
}

const isBlank = (value: unknown) =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
const asText = (value: unknown) =>
  typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null
      ? JSON.stringify(value)
      : String(value)
const escapePointer = (field: string) => field.replaceAll('~', '~0').replaceAll('/', '~1')
const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const describe = (value: unknown) =>
  Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `the ${typeof value} ${quoted(value)}`
