// Reads a request's body: bounded in size, time and depth, inflated, as UTF-8, as JSON. Each fault has its sentence.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Problem } from '../errors.ts'
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
  value: unknown
  /** after inflation */
  bytes: number
}

/**
 * @param maxBytes after inflation
 * @throws Problem invalid_json, unsupported_media_type, body_too_large or request_timeout
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number, stallMs = STALL_MS): Promise<ReadBody> {
  checkContentType(request.headers['content-type'])
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding !== 'identity' && encoding !== '' && !Object.hasOwn(INFLATE, encoding)) {
    throw new Problem(
      'unsupported_media_type',
      `The Content-Encoding "${encoding.slice(0, 80)}" is not supported; send the body as it is, or as gzip, deflate or br. No event was recorded.`,
    )
  }
  const tooLarge = () =>
    new Problem(
      'body_too_large',
      `The body is larger than ${maxBytes / 1024 / 1024} MiB${encoding === 'identity' ? '' : ' when unpacked'}. Send fewer or shorter events at once. No event was recorded.`,
      [],
      { connection: 'close' },
    )
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) {
    await drain(request)
    throw tooLarge()
  }
  const bytes = await collect(request, INFLATE[encoding]?.() ?? null, maxBytes, stallMs, tooLarge)
  return { value: parseJson(bytes), bytes: bytes.length }
}

export function contentTypeProblem(came: string): Problem {
  const setting =
    'Set the Content-Type to application/json: in Zapier set "Payload Type" to JSON, in n8n set "Body Content Type" to JSON.'
  return new Problem(
    'unsupported_media_type',
    `The Content-Type is ${came}, and only JSON is read. ${setting} No event was recorded.`,
  )
}

function checkContentType(header: string | undefined): void {
  const [type, ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase())
  const isJson = type === 'application/json' || (type?.startsWith('application/') && type.endsWith('+json'))
  if (!isJson) throw contentTypeProblem(type ? `"${type.slice(0, 80)}"` : 'missing')
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') {
    throw new Problem(
      'unsupported_media_type',
      `The charset "${charset.slice(0, 80)}" is not supported; send the JSON in UTF-8. No event was recorded.`,
    )
  }
}

function collect(
  request: IncomingMessage,
  inflate: Transform | null,
  maxBytes: number,
  stallMs: number,
  tooLarge: () => Problem,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let isSettled = false
    const source = inflate ? request.pipe(inflate) : request
    let timer = setTimeout(() => stalled(), stallMs)
    const settle = () => {
      isSettled = true
      clearTimeout(timer)
    }
    const fail = (problem: unknown) => {
      if (isSettled) return
      settle()
      if (inflate) {
        request.unpipe(inflate)
        inflate.destroy()
      }
      source.removeAllListeners('data')
      void drain(request).then(() => reject(problem))
    }
    const stalled = () => {
      const detail = `The body did not arrive completely: nothing more came for ${stallMs / 1000} s. No event was recorded.`
      fail(new Problem('request_timeout', detail, [], { connection: 'close' }))
    }
    request.on('data', () => {
      clearTimeout(timer)
      timer = setTimeout(stalled, stallMs)
    })
    source.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) fail(tooLarge())
      else if (!isSettled) chunks.push(chunk)
    })
    source.once('end', () => {
      if (isSettled) return
      settle()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
    })
    inflate?.once('error', () => {
      const encoding = request.headers['content-encoding']
      fail(
        new Problem(
          'invalid_json',
          `The body is not valid ${encoding}, although Content-Encoding says so. No event was recorded.`,
        ),
      )
    })
    const broken = () =>
      fail(new Problem('invalid_json', 'The body ended before its announced length. No event was recorded.'))
    request.once('aborted', broken)
    request.once('error', broken)
  })
}

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

function parseJson(bytes: Buffer): unknown {
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
