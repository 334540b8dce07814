// One attempt at one receiver: over HTTP with guarded addresses, or by mail. Nothing here throws.
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { createTransport, type Transporter } from 'nodemailer'
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent'
import { Webhook } from 'standardwebhooks'
import type { AlertMessage } from './alert.ts'
import type { Target } from './channels.ts'
import { mailOf, slackBody, webhookBody } from './formats.ts'
import { readRetryAfter } from './retry.ts'

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
  private readonly mail: Transporter | null
  private readonly guarded = {
    'http:': new RequestFilteringHttpAgent(GUARDED),
    'https:': new RequestFilteringHttpsAgent(GUARDED),
  }
  private readonly open = { 'http:': new http.Agent(), 'https:': new https.Agent() }

  constructor(private readonly options: SenderOptions) {
    this.mail =
      options.smtp &&
      createTransport(
        {
          url: options.smtp.url,
          connectionTimeout: ATTEMPT_TIMEOUT_MS,
          greetingTimeout: ATTEMPT_TIMEOUT_MS,
          socketTimeout: ATTEMPT_TIMEOUT_MS,
          dnsTimeout: ATTEMPT_TIMEOUT_MS,
          disableFileAccess: true,
          disableUrlAccess: true,
        } as object,
        { from: options.smtp.from },
      )
  }

  get canMail(): boolean {
    return this.mail !== null
  }

  /**
   * @param id the same for every attempt of a delivery, so that a receiver can tell a repeat
   * @param stop ends the attempt, as its 10 s do
   */
  async send(target: Target, message: AlertMessage, id: string, stop = new AbortController()): Promise<AttemptResult> {
    const began = performance.now()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      stop.abort()
    }, ATTEMPT_TIMEOUT_MS)
    let result: Omit<AttemptResult, 'durationMs'>
    try {
      result = await (target.kind === 'EMAIL'
        ? raceTo(stop.signal, this.sendMail(target.to, message, id))
        : this.post(target, message, id, stop.signal))
    } catch (error) {
      const isStopped = stop.signal.aborted && !isLate
      const problem = isStopped ? 'The server was stopped during the attempt.' : problemOf(error, isLate)
      result = { ...NO_ANSWER, ...refusalOf(error), problem }
    } finally {
      clearTimeout(timer)
    }
    const hide = (text: string | null) => text && hidden(text, target)
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
    const request = (protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      headers,
      agent: agents[protocol],
      signal,
    })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve)
      request.on('error', reject)
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

  private async sendMail(to: string[], message: AlertMessage, id: string): Promise<Omit<AttemptResult, 'durationMs'>> {
    if (!this.mail) throw new Error('This server sends no mail: set SMTP_URL and SMTP_FROM.')
    const domain = /@([^\s>]+)>?\s*$/.exec(this.options.smtp!.from)?.[1] ?? 'runwatch'
    const info = await this.mail.sendMail({
      to,
      ...mailOf(message),
      messageId: `<${id}@${domain}>`,
      headers: { 'auto-submitted': 'auto-generated', 'x-runwatch-delivery': id },
    })
    const refused = (info.rejected as string[]) ?? []
    return {
      isDelivered: true,
      status: Number(/^\d{3}/.exec(info.response ?? '')?.[0]) || null,
      answer: clean(info.response ?? ''),
      problem: refused.length > 0 ? `Not taken for ${refused.join(', ')}.` : null,
      retryAfterMs: null,
      isFinal: false,
    }
  }
}

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

const clean = (text: string) => text.replaceAll('\0', '\uFFFD').trim().slice(0, MAX_ANSWER).toWellFormed()

async function raceTo<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  work.catch(() => {})
  return Promise.race([work, aborted])
}

function redirectProblem(status: number, location: string, from: URL): string {
  const to = URL.canParse(location, from) ? new URL(location, from).host : 'another address'
  return `It answered ${status}, a redirect to ${to}: redirects are not followed. Set the address that it leads to.`
}

/** Of a mail server's refusal: what it said, and whether it is for good (RFC 5321: 5yz). */
function refusalOf(error: unknown): Partial<AttemptResult> {
  const {
    responseCode,
    response,
    message = '',
  } = error as { responseCode?: number; response?: string; message?: string }
  if (responseCode !== undefined)
    return {
      status: responseCode,
      answer: response === undefined ? null : clean(response),
      isFinal: responseCode >= 500,
    }
  return { isFinal: isRefusedAddress(message) }
}

const isRefusedAddress = (message: string) => /is not allowed\. Because/.test(message)

const NETWORK: Record<string, string> = {
  ECONNREFUSED: 'Nothing listens at its address.',
  ECONNRESET: 'It closed the connection without an answer.',
  EPIPE: 'It closed the connection without an answer.',
  ENOTFOUND: 'The name of its host is not known.',
  EDNS: 'The name of its host is not known.',
  EAI_AGAIN: 'The name of its host could not be looked up.',
  EHOSTUNREACH: 'Its address cannot be reached.',
  ENETUNREACH: 'Its address cannot be reached.',
  ETIMEDOUT: 'It did not answer within 10 s.',
  EAUTH: 'The mail server refused the user or password of SMTP_URL.',
}

function problemOf(error: unknown, isTimeout: boolean): string {
  const { code = '', responseCode, message = '' } = error as { code?: string; responseCode?: number; message?: string }
  if (isTimeout) return 'It did not answer within 10 s.'
  if (isRefusedAddress(message)) {
    return 'Its address is private or reserved, and such are not posted to. The operator can allow its host with ALLOWED_PRIVATE_HOSTS.'
  }
  if (NETWORK[code]) return NETWORK[code]
  if (responseCode !== undefined) return `The mail server answered ${responseCode}.`
  return clean(message) || 'The attempt failed.'
}

/** Receivers like to repeat where they were asked: whoever reads their answer need not learn the address. */
function hidden(text: string, target: Target): string {
  if (target.kind === 'EMAIL') return text
  const url = new URL(target.url)
  const parts = [...url.pathname.split('/'), ...url.searchParams.values()]
  const secrets = [
    target.url,
    url.href,
    url.pathname + url.search,
    url.pathname,
    // A part in words says nothing.
    ...parts.filter((part) => part.length >= 8 && /\d/.test(part)),
    url.password,
    ...(target.kind === 'WEBHOOK' ? [target.secret, target.secret.slice('whsec_'.length)] : []),
  ]
  return secrets
    .filter((secret) => secret.length >= 2)
    .sort((a, b) => b.length - a.length)
    .reduce((clear, secret) => clear.replaceAll(secret, '…').replaceAll(decoded(secret), '…'), text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
