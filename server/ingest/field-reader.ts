// Reads fields of a payload that a person mapped: numbers that came as text, texts that came as something else. What is
// wrong goes to `problems` with a sentence, what was changed to `warnings`.
import { quoted, type FieldProblem } from '../errors.ts'
import { cleanText, cutText } from './clean-text.ts'
import { maskJson, type Mask } from './mask.ts'
import type { Warning } from './parsed.ts'

const MAX_NAME_LENGTH = 500
/** Of a name that the sender chose, where it is named to them again. */
const MAX_ECHOED_LENGTH = 80
const MAX_NUMBER_LENGTH = 1_000
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i

export type Fields = Record<string, unknown>

export class FieldReader {
  /** A credential was found in one of the texts read so far. */
  isMasked = false

  constructor(
    protected readonly item: unknown,
    private readonly pointer: string,
    private readonly label: string,
    private readonly problems: FieldProblem[],
    private readonly warnings: Warning[],
    protected readonly mask: Mask,
  ) {}

  isObject(): boolean {
    const isObject = typeof this.item === 'object' && this.item !== null && !Array.isArray(this.item)
    if (!isObject) {
      const detail = `${this.label}an event must be an object like {"session_id": "run-1"}, not ${quoted(this.item)}.`
      this.problems.push({ pointer: this.pointer, field: '', code: 'not_an_object', detail: upperFirst(detail) })
    }
    return isObject
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

  /** Text as it came; anything else as its text, with a warning. */
  protected plainText(field: string, value: unknown): string {
    let text: string
    if (typeof value === 'string') text = value
    else {
      const message = typeof value === 'object' && value !== null ? (value as Fields).message : undefined
      const named = maskJson(value, this.mask)
      this.isMasked ||= named.masked
      text = field === 'error' && typeof message === 'string' && message ? message : asText(named.value)
      this.warn(field, 'to_text', `was ${describe(value)} and is kept as text`)
    }
    const clean = cleanText(text)
    if (clean !== text)
      this.warn(
        field,
        'replaced_characters',
        'held characters that are no text (U+0000 or half a pair); they became U+FFFD',
      )
    const found = this.mask(clean)
    this.isMasked ||= found.masked
    return found.text
  }

  protected number(field: string): number | null {
    const value = this.raw(field)
    if (isBlank(value)) return null
    if (typeof value === 'number' && Number.isFinite(value)) return value
    if (typeof value === 'string' && value.length <= MAX_NUMBER_LENGTH && NUMBER.test(value)) {
      const read = Number(value)
      if (Number.isFinite(read)) return read
    }
    return this.refuse(field, 'not_a_number', `must be a number like 120 or "120", not ${quoted(value)}`)
  }

  protected raw(field: string): unknown {
    const item = this.item as Fields
    return Object.hasOwn(item, field) ? item[field] : undefined
  }

  protected refuse(field: string, code: string, rest: string): null {
    const detail = `${this.label}${field} ${rest}.`
    this.problems.push({ pointer: `${this.pointer}/${field}`, field, code, detail })
    return null
  }

  protected warn(field: string, code: string, rest: string): void {
    this.warnings.push({
      pointer: `${this.pointer}/${escapePointer(field)}`,
      field,
      code,
      detail: `${this.label}${field} ${rest}.`,
    })
  }
}

export const isBlank = (value: unknown) =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
export const asText = (value: unknown) =>
  typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null
      ? JSON.stringify(value)
      : String(value)
export const shortName = (name: string) =>
  cleanText(name.length > MAX_ECHOED_LENGTH ? `${cutText(name, MAX_ECHOED_LENGTH - 1)}…` : name)
const escapePointer = (field: string) => field.replaceAll('~', '~0').replaceAll('/', '~1')
const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const describe = (value: unknown) =>
  Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `the ${typeof value} ${quoted(value)}`
