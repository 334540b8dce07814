// Platform B: the text of an error, wherever a node or an execution left it.
import type { EventError } from '../sessions/session.ts'
import { cleanText, cutText } from './clean-text.ts'
import type { Mask } from './mask.ts'

type Fields = Record<string, unknown>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const nonBlank = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? cleanText(value) : null

/**
 * The generic text of a platform error stands in `message`, what helps in `description`, then `messages`. A code
 * node's description is only the class of what was thrown.
 */
export function readError(error: unknown): EventError | null {
  if (typeof error === 'string') return nonBlank(error) === null ? null : plainError(error)
  if (!isObject(error)) return null
  const description = nonBlank(error.description)
  const message = nonBlank(error.message)
  const first = Array.isArray(error.messages) ? nonBlank(error.messages[0]) : null
  const isClassName = description !== null && /^[A-Za-z]*(Error|Exception)$/.test(description)
  const text = isClassName && message !== null ? `${description}: ${message}` : (description ?? message ?? first)
  const name = nonBlank(error.name)
  const cause = isObject(error.cause) ? nonBlank(error.cause.message) : nonBlank(error.cause)
  if (text === null && name === null && cause === null) return null
  return {
    message: text ?? cause ?? name!,
    name,
    cause:
      cause ?? [message, first].find((other) => other !== null && other !== text && !text?.includes(other)) ?? null,
    httpStatus: statusText(error.httpCode ?? error.statusCode ?? error.status ?? error.code),
  }
}

export function readRedactedError(error: unknown): EventError | null {
  if (!isObject(error)) return null
  const type = nonBlank(error.type)
  return {
    message: type === null ? 'The error was redacted by the platform' : `${type} (text redacted by the platform)`,
    name: type,
    cause: null,
    httpStatus: statusText(error.httpCode),
  }
}

/** What a node that threw says, or a node that ended badly without saying why. */
export function readTaskError(task: Fields): EventError | null {
  const error = readError(task.error) ?? readRedactedError(task.redactedError)
  if (error) return error
  const status = task.executionStatus
  return status === 'error' || status === 'crashed'
    ? plainError(`The node ended with status ${status} and no message`)
    : null
}

/**
 * The error in an item of a node that went on after failing. An item that merely carries a field of that name among
 * its data is none.
 */
export function readItemError(item: unknown): EventError | null {
  if (!isObject(item)) return null
  const own = readError(item.error)
  if (own) return own
  const { json } = item
  if (!isObject(json) || !Object.hasOwn(json, 'error')) return null
  if (!Object.keys(json).every((key) => key === 'error' || key === 'details' || key === 'message')) return null
  return readError(json.error)
}

/** Tools of older agents hide their failure in the text that they give the model. */
export function readToolResponseError(json: unknown): EventError | null {
  if (!isObject(json)) return null
  const response = nonBlank(json.response)
  return response?.startsWith('There was an error: ') ? plainError(response) : null
}

function plainError(message: string): EventError {
  return { message: cleanText(message), name: null, cause: null, httpStatus: null }
}

/** The same error without the credentials in its texts. */
export function maskError<T extends EventError | null>(error: T, mask: Mask): { error: T; masked: boolean } {
  if (error === null) return { error, masked: false }
  const message = mask(error.message)
  const cause = error.cause === null ? null : mask(error.cause)
  return {
    error: { ...error, message: message.text, cause: cause && cause.text },
    masked: message.masked || (cause?.masked ?? false),
  }
}

function statusText(value: unknown): string | null {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
    ? cutText(cleanText(String(value)), 100)
    : null
}
