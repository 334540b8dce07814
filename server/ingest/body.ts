// Reads a request's body: bounded in size, time and depth, inflated, as UTF-8, as JSON. Each fault has its sentence.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Problem, type ErrorCode } from '../errors.ts'
import { findJsonError } from './json-error.ts'

const STALL_MS = 30_000
/** Deeper than any real payload; what walks a value may then recurse. */
export const MAX_DEPTH = 100
/** Read and thrown away before a refusal is answered, so that the sender sees the answer and not a reset connection. */
const DRAIN_BYTES = 64 * 1024 * 1024
const DRAIN_MS = 2_000

const INFLATE: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

export interface ReadBody {
  /** what arrived, after inflation; where there is a problem no more than its beginning */
  bytes: Buffer
  /** how much arrived */
  size: number
  /** why it cannot be taken; some of it may have arrived all the same */
  problem: Problem | null
}

/**
 * Reads a body without understanding it.
 * @param maxBytes after inflation
 */
export async function readBody(request: IncomingMessage, maxBytes: number, stallMs = STALL_MS): Promise<ReadBody> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding !== 'identity' && encoding !== '' && !Object.hasOwn(INFLATE, encoding)) {
    await drain(request)
    return refusedBody(
      'unsupported_media_type',
      `The Content-Encoding "${encoding.slice(0, 80)}" is not supported; send the body as it is, or as gzip, deflate or br. No event was recorded.`,
    )
  }
  const declared = Number(request.headers['content-length'] ?? 0)
  const isTooLarge = declared > maxBytes
  const most = isTooLarge ? MAX_REFUSED_BYTES : maxBytes
  const body = await collect(request, INFLATE[encoding]?.() ?? null, most, stallMs)
  if (isTooLarge) return { ...body, size: declared, problem: tooLarge(maxBytes, encoding) }
  body.problem ??= typeProblem(request.headers['content-type'])
  return body
}

/** @throws Problem invalid_json, unsupported_media_type, body_too_large or request_timeout */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const { bytes, problem } = await readBody(request, maxBytes)
  if (problem) throw problem
  return parseJson(bytes)
}

/** Of a body that is refused, so much is of use to those who look into it later. */
export const MAX_REFUSED_BYTES = 1024 * 1024
const NOTHING = Buffer.alloc(0)
const refusedBody = (code: ErrorCode, detail: string): ReadBody => ({
  bytes: NOTHING,
  size: 0,
  problem: new Problem(code, detail),
})

export function contentTypeProblem(came: string): Problem {
  const setting =
    'Set the Content-Type to application/json: in Zapier set "Payload Type" to JSON, in n8n set "Body Content Type" to JSON.'
  return new Problem(
    'unsupported_media_type',
    `The Content-Type is ${came}, and only JSON is read. ${setting} No event was recorded.`,
  )
}

function typeProblem(header: string | undefined): Problem | null {
  const [type, ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase())
  const isJson = type === 'application/json' || (type?.startsWith('application/') && type.endsWith('+json'))
  if (!isJson) return contentTypeProblem(type ? `"${type.slice(0, 80)}"` : 'missing')
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') {
    return new Problem(
      'unsupported_media_type',
      `The charset "${charset.slice(0, 80)}" is not supported; send the JSON in UTF-8. No event was recorded.`,
    )
  }
  return null
}

function collect(
  request: IncomingMessage,
  inflate: Transform | null,
  maxBytes: number,
  stallMs: number,
): Promise<ReadBody> {
  return new Promise((resolve) => new Collector(request, inflate, maxBytes, stallMs, resolve).start())
}

class Collector {
  private readonly chunks: Buffer[] = []
  private size = 0
  private isSettled = false
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly request: IncomingMessage,
    private readonly inflate: Transform | null,
    private readonly maxBytes: number,
    private readonly stallMs: number,
    private readonly resolve: (body: ReadBody) => void,
  ) {}

  start(): void {
    const { request, inflate } = this
    const source = inflate ? request.pipe(inflate) : request
    this.waitForMore()
    request.on('data', () => this.waitForMore())
    source.on('data', (chunk: Buffer) => this.take(chunk))
    source.once('end', () => this.finish())
    inflate?.once('error', () => this.fail(notInflated(request.headers['content-encoding'])))
    request.once('aborted', () => this.fail(cutOff()))
    request.once('error', () => this.fail(cutOff()))
  }

  private take(chunk: Buffer): void {
    this.size += chunk.length
    if (this.size > this.maxBytes) this.fail(tooLarge(this.maxBytes, this.request.headers['content-encoding']))
    else if (!this.isSettled) this.chunks.push(chunk)
  }

  private waitForMore(): void {
    if (this.isSettled) return
    if (this.timer) this.timer.refresh()
    else this.timer = setTimeout(() => this.fail(stalled(this.stallMs)), this.stallMs)
  }

  private fail(problem: Problem): void {
    if (this.isSettled) return
    this.isSettled = true
    const { request, inflate } = this
    if (inflate) {
      request.unpipe(inflate)
      inflate.removeAllListeners('data')
      inflate.destroy()
    } else request.removeAllListeners('data')
    clearTimeout(this.timer)
    // One byte more than is kept tells that it was cut.
    const bytes = Buffer.concat(this.chunks.splice(0), Math.min(this.size, MAX_REFUSED_BYTES + 1))
    void drain(request).then(() => this.resolve({ bytes, size: this.size, problem }))
  }

  private finish(): void {
    if (this.isSettled) return
    this.isSettled = true
    clearTimeout(this.timer)
    const bytes = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks)
    this.resolve({ bytes, size: this.size, problem: null })
  }
}

const tooLarge = (maxBytes: number, encoding = 'identity') =>
  new Problem(
    'body_too_large',
    `The body is larger than ${maxBytes / 1024 / 1024} MiB${/^(identity)?$/i.test(encoding.trim()) ? '' : ' when unpacked'}. Send fewer or shorter events at once. No event was recorded.`,
    [],
    { connection: 'close' },
  )
const cutOff = () => new Problem('invalid_json', 'The body ended before its announced length. No event was recorded.')
const notInflated = (encoding: string | undefined) =>
  new Problem(
    'invalid_json',
    `The body is not valid ${encoding}, although Content-Encoding says so. No event was recorded.`,
  )
const stalled = (stallMs: number) =>
  new Problem(
    'request_timeout',
    `The body did not arrive completely: nothing more came for ${stallMs / 1000} s. No event was recorded.`,
    [],
    { connection: 'close' },
  )

/** Reads on for a moment, until the sender is done or has sent more than is worth reading. */
function drain(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = DRAIN_BYTES
    const timer = setTimeout(resolve, DRAIN_MS)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    if (request.readableEnded || request.destroyed) return done()
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) done()
    })
    request.once('end', done)
    request.once('close', done)
    request.resume()
  })
}

/** @throws Problem invalid_json */
export function parseJson(bytes: Buffer): unknown {
  const fail = (detail: string) => new Problem('invalid_json', `${detail} No event was recorded.`)
  if (!isUtf8(bytes)) throw fail('The body is not UTF-8.')
  const hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const text = bytes.toString('utf8', hasBom ? 3 : 0)
  if (text.trim() === '') throw fail('The body is empty. Send JSON like {"session_id": "run-1", "status": "success"}.')
  if (depthOf(text) > MAX_DEPTH) throw fail(`The JSON is nested deeper than ${MAX_DEPTH} levels.`)
  try {
    return JSON.parse(text)
  } catch {
    throw fail(
      `The body is not valid JSON${whereOf(text)}. Quotes and line breaks inside a text must be escaped (\\" and \\n); a JSON step of your platform does that for you.`,
    )
  }
}

function whereOf(text: string): string {
  try {
    const { line, column, expected } = findJsonError(text)
    return `: line ${line}, column ${column}, ${expected}`
  } catch (error) {
    // A single text of many megabytes is more than a regular expression can walk.
    if (error instanceof RangeError) return ''
    throw error
  }
}

export function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let isInText = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (isInText) {
      if (code === 0x5c) i += 1
      else if (code === 0x22) isInText = false
    } else if (code === 0x22) isInText = true
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth -= 1
  }
  return deepest
}
