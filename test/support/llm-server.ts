// A small server with OpenAI's interface on loopback: it keeps what it is sent, and misbehaves as the test wants.
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** No real one: what must never be seen outside of the header of a call. */
export const LLM_KEY = 'llm-key-of-the-tests-0123456789abcdef'

export interface Asked {
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: any
  system: string
  /** the message of the user as it came, with its marks */
  user: string
  mark: string
  /** what stands between the marks, parsed */
  data: any
}

export type Conduct = (response: ServerResponse, asked: Asked) => void

export interface LlmServer {
  /** to be given as LLM_BASE_URL */
  url: string
  /** settings of a Runwatch that asks it */
  env: Record<string, string>
  asked: Asked[]
  /** calls that wait for an answer now, and that did at most */
  readonly open: number
  readonly mostOpen: number
  /** How it answers from now on; with a fine proposal until then. */
  answers(how: Conduct): void
  /** How it answers one after the other; the last goes on. */
  answersInTurn(...all: Conduct[]): void
  /** Whoever waits is answered so, and whoever comes later. */
  release(how: Conduct): void
  close(): Promise<void>
}

export const FINE = {
  prompt:
    'Before you call the tool, check that the date is written as YYYY-MM-DD. If it is refused twice, stop and say so.',
  reason: 'The tool refuses every other form.',
  rewrite: null as string | null,
}
export const USAGE: object = { prompt_tokens: 700, completion_tokens: 50, total_tokens: 750 }

/** Usage that is undefined is left out. */
interface Around {
  usage?: unknown
  finish?: string
}

const bodyOf = (content: unknown, around: Around = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, finish_reason: around.finish ?? 'stop', message: { role: 'assistant', content } }],
  usage: 'usage' in around ? around.usage : USAGE,
})

/** Bytes with a status, whatever they are. */
export const raw =
  (status: number, text: string | Buffer, headers: Record<string, string> = {}): Conduct =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)

/** A completion with this content; what is no text is put in as it is. */
export const says = (content: unknown, around: Around = {}): Conduct =>
  raw(200, JSON.stringify(bodyOf(content, around)))

/** A proposal in the form that is asked for. */
export const proposes = (own: object = {}, around: Around = {}) => says(JSON.stringify({ ...FINE, ...own }), around)

export const fails = (status: number, headers: Record<string, string> = {}) =>
  raw(status, JSON.stringify({ error: { message: `no, ${LLM_KEY} will not do`, type: 'x', code: 'y' } }), headers)

export const neverAnswers: Conduct = () => {}
export const resets: Conduct = (response) => void response.socket!.resetAndDestroy()
export const withoutChoices = raw(200, JSON.stringify({ ...bodyOf(''), choices: [] }))
export const halfAnswer: Conduct = (response) => {
  const text = JSON.stringify(bodyOf(JSON.stringify(FINE)))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(text.length) })
  response.write(text.slice(0, text.length >> 1), () => response.socket!.destroy())
}
/** Headers and half of a body, and then nothing more, and no end. */
export const stopsInTheMiddle: Conduct = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"choices":[')
}
/** As much as is taken. @param onWritten hears how many bytes were */
export const floods =
  (bytes: number, onWritten: (bytes: number) => void = () => {}): Conduct =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"x":"')
    const part = Buffer.alloc(65_536, 'y')
    let written = 0
    const more = () => {
      while (written < bytes && !response.destroyed) {
        written += part.length
        onWritten(written)
        if (!response.write(part)) return
      }
      if (!response.destroyed) response.end('"}')
    }
    response.on('drain', more)
    more()
  }
/** After so many milliseconds. */
export const slowly =
  (ms: number, how: Conduct = proposes()): Conduct =>
  (response, asked) =>
    void setTimeout(() => how(response, asked), ms)

export async function startLlmServer(env: Record<string, string> = {}): Promise<LlmServer> {
  const asked: Asked[] = []
  const waiting = new Map<ServerResponse, Asked>()
  let how: Conduct = proposes()
  let mostOpen = 0
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('error', () => {})
    response.on('error', () => {})
    response.on('close', () => waiting.delete(response))
    request.on('end', () => {
      const one = readAsked(request.url!, request.headers, Buffer.concat(parts).toString('utf8'))
      asked.push(one)
      waiting.set(response, one)
      mostOpen = Math.max(mostOpen, waiting.size)
      how(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return {
    url,
    env: { LLM_BASE_URL: url, LLM_API_KEY: LLM_KEY, LLM_MODEL: 'gpt-4o', ...env },
    asked,
    get open() {
      return waiting.size
    },
    get mostOpen() {
      return mostOpen
    },
    answers: (next) => void (how = next),
    answersInTurn(...all) {
      let turn = 0
      how = (response, one) => all[Math.min(turn++, all.length - 1)]!(response, one)
    },
    release(next) {
      how = next
      for (const [response, one] of waiting) next(response, one)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function readAsked(path: string, headers: IncomingHttpHeaders, text: string): Asked {
  const body = JSON.parse(text)
  const contentOf = (role: string) => body.messages.find((one: any) => one.role === role)?.content ?? ''
  const user: string = contentOf('user')
  const lines = user.split('\n')
  return {
    path,
    headers,
    text,
    body,
    system: contentOf('system'),
    user,
    mark: lines[0]!,
    data: lines.length === 3 && lines[0] === lines[2] ? JSON.parse(lines[1]!) : null,
  }
}
