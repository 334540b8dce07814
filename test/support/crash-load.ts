// Clients that send as no-code platforms do while something breaks: the same bytes and key again until they hear 2xx.
import http from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { RequestMix, type Outgoing } from './crash-requests.ts'
import { KEY } from './server.ts'

const CLIENTS = 24
/** Longer than any answer may take, so that a silence ends as a lost answer and not as a test that hangs. */
const NO_ANSWER_MS = 40_000

/** What was heard of one try. `no_connection`: nothing was sent. `lost`: it was, and no answer came. */
export interface Heard {
  status: number
  code: string
  retryAfter: string | null
  isReplayed: boolean
  body: any
}

export interface Sent extends Outgoing {
  answers: Heard[]
  /** the first 2xx */
  receipt: Heard | null
  /** it stopped trying because its time was over, and never because it had enough */
  isUnfinished: boolean
}

/** Of these tries nobody knows what became: the answer was lost, or it was that it is not known. */
export const triesWithoutAnswer = ({ answers }: Sent) =>
  answers.filter(({ code }) => code === 'lost' || code === 'outcome_unknown').length

export interface Sender {
  send(request: Outgoing): Promise<Heard>
  close(): void
}

/** Posts over connections that are kept open, one request at a time on each. */
export function openSender(base: string): Sender {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS * 2 })
  const nothing = { status: 0, retryAfter: null, isReplayed: false, body: null }
  const send = ({ path, body, headers }: Outgoing) =>
    new Promise<Heard>((resolve) => {
      let isConnected = false
      const request = http.request(base + path, {
        agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'x-api-key': KEY,
          ...headers,
        },
      })
      const lost = () => resolve({ ...nothing, code: isConnected ? 'lost' : 'no_connection' })
      const timer = setTimeout(() => request.destroy(), NO_ANSWER_MS)
      request.on('socket', (socket) => {
        if (socket.connecting) socket.once('connect', () => (isConnected = true))
        else isConnected = true
      })
      request.on('error', lost)
      request.on('close', () => clearTimeout(timer))
      request.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => (text += part))
        response.on('close', () => {
          if (!response.complete) return lost()
          const parsed = text === '' ? {} : JSON.parse(text)
          resolve({
            status: response.statusCode!,
            code: parsed.code ?? '',
            retryAfter: response.headers['retry-after'] ?? null,
            isReplayed: response.headers['idempotency-replayed'] === 'true',
            body: parsed,
          })
        })
      })
      request.end(body)
    })
  return { send, close: () => agent.destroy() }
}

export const isAccepted = ({ status }: Heard) => status >= 200 && status < 300

export class CrashLoad {
  readonly sent: Sent[] = []
  private readonly sender: Sender
  private readonly mix: RequestMix
  private readonly clients: Promise<void>[]
  private isStopped = false
  private deadline = Infinity

  /** @param prefix begins the names of all its sessions */
  constructor(
    url: string,
    readonly prefix: string,
  ) {
    this.sender = openSender(url)
    this.mix = new RequestMix(prefix)
    this.clients = Array.from({ length: CLIENTS }, () => this.client())
  }

  get acknowledged(): number {
    return this.sent.filter(({ receipt }) => receipt).length
  }

  /** No new requests; what is not acknowledged yet is tried for `patienceMs` more. */
  async end(patienceMs: number): Promise<void> {
    this.isStopped = true
    this.deadline = performance.now() + patienceMs
    await Promise.all(this.clients)
    this.sender.close()
  }

  private async client(): Promise<void> {
    while (!this.isStopped) {
      const request: Sent = { ...this.mix.next(), answers: [], receipt: null, isUnfinished: false }
      this.sent.push(request)
      await this.deliver(request)
      await sleep(this.mix.between(2, 8))
    }
  }

  private async deliver(request: Sent): Promise<void> {
    for (;;) {
      const heard = await this.sender.send(request)
      request.answers.push(heard)
      if (isAccepted(heard)) {
        request.receipt = heard
        return
      }
      if (!request.isPatient) return
      if (performance.now() > this.deadline) {
        request.isUnfinished = true
        return
      }
      await sleep(this.mix.between(100, 400))
    }
  }
}
