// Platform A: the fields of one event, each with what it takes, what it warns of and what it refuses.
import { quoted } from '../errors.ts'
import type { EventType } from '../sessions/session.ts'
import { asText, FieldReader, isBlank, shortName, type Fields } from './field-reader.ts'
import { maskJson } from './mask.ts'
import { readTimestamp, type ReadTime } from './timestamp.ts'

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

/** So far off that the sender's clock or mapping must be wrong. */
export const isSkewed = ({ ms }: ReadTime, receivedAt: number) =>
  ms > receivedAt + SKEW_AHEAD_MS || ms < receivedAt - SKEW_BACK_MS

/** The fields of one event, by their names in the API. */
export class EventFields extends FieldReader {
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
    // A minus that came this far stands before a zero, or before what is too small for a number.
    const digits = typeof sent === 'string' ? sent.trim().replace(/^[+-]/, '') : String(value)
    const exponent = Number(/e([+-]?\d+)$/i.exec(digits)?.[1] ?? 0)
    // An exact sum writes out every zero that the exponent stands for.
    if (digits.length > 100 || Math.abs(exponent) > 400) {
      return this.refuse(
        'cost',
        'too_long',
        `has more digits than can be kept (100); send a rounded amount, not ${quoted(sent)}`,
      )
    }
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
    return this.refuse(
      'event_id',
      'bad_event_id',
      `must be 1 to 128 visible ASCII characters without spaces, not ${quoted(value)}`,
    )
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
          shortName(field),
          'attributes_cut',
          'and what follows it did not fit into 16 KB of unknown fields and was left out',
        )
        break
      }
      attributes[field] = this.maskedAttribute(field, item[field])
      isEmpty = false
    }
    return isEmpty ? null : attributes
  }

  private maskedAttribute(field: string, value: unknown): unknown {
    const found = maskJson(value, this.mask, field)
    this.isMasked ||= found.masked
    return found.value
  }

  private isUsedAlias(field: string): boolean {
    if (field === ALIASES.input) return (this.raw('input') ?? null) === null
    if (field === ALIASES.output) return (this.raw('output') ?? null) === null
    return false
  }
}
