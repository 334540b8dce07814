// One attempt at one receiver: over HTTP with guarded addresses, or by mail. Nothing here throws.
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { createTransport } from 'nodemailer'
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent'
import { Webhook } from 'standardwebhooks'
import type { AlertMessage } from './alert.ts'
import type { Target } from './channels.ts'
import { lookup } from './lookup.ts'
import { mailOf, slackBody, webhookBody } from './formats.ts'
import { readRetryAfter } from './retry.ts'
import { clean, hidden, problemOf, redirectProblem, RefusedAddress, refusalOf } from './attempt-words.ts'

export const ATTEMPT_TIMEOUT_MS = 10_000
const MAX_ANSWER = 500
/** Bytes of an answer that are read at all. */
const READ_BYTES = 4_096

export interface AttemptResult {
  isDelivered: boolean
  durationMs: number
  /** of the answer: HTTP or SMTP */
  status: number | null
  /** its first 500 characters */
  answer: string | null
  /** why it failed, for people */
  problem: string | null
  retryAfterMs: number | null
  /** another try cannot help */
  isFinal: boolean
}

export const NO_ANSWER: Omit<AttemptResult, 'durationMs'> = {
  isDelivered: false,
  status: null,
  answer: null,
  problem: null,
  retryAfterMs: null,
  isFinal: false,
}

export interface SenderOptions {
  smtp: { url: string; from: string } | null
  /** hosts that may have private addresses */
  allowedPrivateHosts: ReadonlySet<string>
}

/** Azure's own service address; it looks public. The other clouds' lie in ranges that are refused. */
const GUARDED = { denyIPAddressList: ['168.63.129.16'] }

export class Sender {
  private readonly guarded = {
    'http:': new RequestFilteringHttpAgent(GUARDED),
    'https:': new RequestFilteringHttpsAgent(GUARDED),
  }
  private readonly open = { 'http:': new http.Agent(), 'https:': new https.Agent() }

  constructor(private readonly options: SenderOptions) {}

  get canMail(): boolean {
    return this.options.smtp !== null
  }

  /**
   * @param id the same for every attempt of a delivery, so that a receiver can tell a repeat
   * @param signal ends the attempt, as its 10 s do
   */
  async send(target: Target, message: AlertMessage, id: string, signal?: AbortSignal): Promise<AttemptResult> {
    const began = performance.now()
    const ended = new AbortController()
    const stop = () => ended.abort()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      stop()
    }, ATTEMPT_TIMEOUT_MS)
    signal?.addEventListener('abort', stop)
    let result: Omit<AttemptResult, 'durationMs'>
    try {
      if (signal?.aborted) stop()
      ended.signal.throwIfAborted()
      result = await (target.kind === 'EMAIL'
        ? this.sendMail(target.to, message, id, ended.signal)
        : this.post(target, message, id, ended.signal))
    } catch (error) {
      const isStopped = ended.signal.aborted && !isLate
      const problem = isStopped ? 'The server was stopped during the attempt.' : problemOf(error, isLate)
      result = { ...NO_ANSWER, ...refusalOf(error), problem }
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    // A secret at the cut must not be cut in two before it is looked for.
    const hide = (text: string | null) => text && hidden(text, target).slice(0, MAX_ANSWER).toWellFormed()
    return {
      ...result,
      answer: hide(result.answer),
      problem: hide(result.problem),
      durationMs: performance.now() - began,
    }
  }

  private async post(
    target: Extract<Target, { url: string }>,
    message: AlertMessage,
    id: string,
    signal: AbortSignal,
  ): Promise<Omit<AttemptResult, 'durationMs'>> {
    const url = new URL(target.url)
    const body = target.kind === 'SLACK' ? slackBody(message) : webhookBody(message)
    const now = new Date()
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'accept-encoding': 'identity',
      'user-agent': 'Runwatch',
      'webhook-id': id,
      ...(target.kind === 'WEBHOOK' && {
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': new Webhook(target.secret).sign(id, now, body),
      }),
    }
    const protocol = url.protocol as 'http:' | 'https:'
    const agents = this.options.allowedPrivateHosts.has(url.hostname) ? this.open : this.guarded
    if (agents !== this.open && isCompatible(url.hostname)) throw new RefusedAddress()
    const request = (protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      headers,
      agent: agents[protocol],
      lookup,
      signal,
    })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve)
      request.on('error', reject)
      request.on('upgrade', (_response, socket) => {
        socket.destroy()
        reject(new Error('It answered 101, a change of protocol that nobody asked for.'))
      })
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      request.end(body)
    })
    const status = response.statusCode!
    const answer = await firstWords(response)
    const isDelivered = status >= 200 && status < 300
    const location = status >= 300 && status < 400 ? response.headers.location : undefined
    return {
      isDelivered,
      status,
      answer,
      problem: isDelivered
        ? null
        : location === undefined
          ? `It answered ${status}.`
          : redirectProblem(status, location, url),
      retryAfterMs: isDelivered ? null : readRetryAfter(response.headers['retry-after'], Date.now()),
      // The receiver says that it is gone for good.
      isFinal: status === 410,
    }
  }

  private async sendMail(
    to: string[],
    message: AlertMessage,
    id: string,
    signal: AbortSignal,
  ): Promise<Omit<AttemptResult, 'durationMs'>> {
    const { smtp } = this.options
    if (!smtp) throw new Error('This server sends no mail: set SMTP_URL and SMTP_FROM.')
    const domain = /@([^\s>]+)>?\s*$/.exec(smtp.from)![1]
    const options = { url: smtp.url, disableFileAccess: true, disableUrlAccess: true, getSocket: socketUntil(signal) }
    const sent = createTransport(options as object, { from: smtp.from }).sendMail({
      to,
      ...mailOf(message),
      messageId: `<${id}@${domain}>`,
      headers: { 'auto-submitted': 'auto-generated', 'x-runwatch-delivery': id },
    })
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
    sent.catch(() => {})
    const info = await Promise.race([sent, stopped])
    const said = clean(info.response ?? '')
    const refused = (info.rejected as string[] | undefined) ?? []
    return {
      ...NO_ANSWER,
      isDelivered: true,
      status: Number(/^\d{3}/.exec(said)?.[0]) || null,
      // Addresses are for admins, as answers are.
      answer: clean(refused.length > 0 ? `${said}\nNot taken for ${refused.join(', ')}.` : said),
      problem: refused.length > 0 ? `Not taken for ${refused.length} of ${to.length} addresses.` : null,
    }
  }
}

/** nodemailer cannot be told to stop: without its connection it does. */
function socketUntil(signal: AbortSignal) {
  type Options = { host?: string; port?: number | string; secure?: boolean }
  return ({ host, port, secure }: Options, done: (error: Error | null, made?: { connection: net.Socket }) => void) => {
    const socket = net.connect({
      host: host ?? 'localhost',
      port: Number(port) || (secure ? 465 : 587),
      lookup,
      signal,
    })
    let isOpen = false
    socket.on('error', (error) => {
      if (!isOpen) done(error)
    })
    socket.once('connect', () => {
      isOpen = true
      done(null, { connection: socket })
    })
  }
}

/** ::7f00:1 once stood for 127.0.0.1; nothing public is addressed so (RFC 4291, 2.5.5.1). */
const isCompatible = (hostname: string) => /^\[::(?!ffff:)[0-9a-f:]*\]$/i.test(hostname)

/** What it says of itself is enough: a receiver that goes on and on is not listened to. */
async function firstWords(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  try {
    for await (const part of response) {
      parts.push(part as Buffer)
      length += (part as Buffer).length
      if (length >= READ_BYTES) break
    }
  } catch {
    // The status has come, and it decides.
  }
  response.destroy()
  return clean(Buffer.concat(parts).toString('utf8'))
}
