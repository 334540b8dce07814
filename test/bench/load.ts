// The load generator, a process of its own: keep-alive connections on bare sockets, one request at a time on each.
import net from 'node:net'
import type { ShapeName } from './events.ts'
import { renderRequests, SessionIds, type RenderedRequest } from './requests.ts'
import { quantile } from './report.ts'

export interface LoadJob {
  host: string
  port: number
  path: string
  key: string
  shape: ShapeName
  connections: number
  /** every request has an Idempotency-Key of its own */
  isKeyed?: boolean
  warmUpMs: number
  measureMs: number
  /** begins the session ids, at most 12 characters */
  prefix: string
}

export interface LoadResult {
  /** events acknowledged while it was measured, and for how long that was */
  events: number
  seconds: number
  /** events acknowledged in all, warm-up and end included */
  acknowledged: number
  requests: number
  /** answers that were not the expected receipt, with the first of them */
  refused: number
  firstRefusal: string | null
  p50: number
  p99: number
}

const QUIET_DEADLINE_MS = 15_000

class Load {
  private readonly latencies: number[] = []
  private readonly result: LoadResult = {
    events: 0,
    seconds: 0,
    acknowledged: 0,
    requests: 0,
    refused: 0,
    firstRefusal: null,
    p50: 0,
    p99: 0,
  }
  private isMeasuring = false
  private isStopping = false
  private open = 0

  constructor(private readonly job: LoadJob) {}

  async run(tell: (what: 'begin' | 'end') => void): Promise<LoadResult> {
    const { job, result } = this
    const ended = Promise.all(Array.from({ length: job.connections }, (_, i) => this.connect(i)))
    await sleep(job.warmUpMs)
    tell('begin')
    this.isMeasuring = true
    const began = performance.now()
    await sleep(job.measureMs)
    this.isMeasuring = false
    result.seconds = (performance.now() - began) / 1000
    tell('end')
    this.isStopping = true
    await Promise.race([ended, sleep(QUIET_DEADLINE_MS)])
    if (this.open > 0) result.firstRefusal ??= `${this.open} requests were not answered`
    result.p50 = quantile(this.latencies, 0.5)
    result.p99 = quantile(this.latencies, 0.99)
    return result
  }

  private connect(index: number): Promise<void> {
    const { host, port, path, key, shape, prefix } = this.job
    const head = `POST ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n`
    const requests = renderRequests(shape, head, index, this.job.isKeyed)
    const ids = new SessionIds(`${prefix}-${index.toString(36)}`)
    return new Promise((resolve) => {
      const socket = net.connect({ host, port, noDelay: true })
      const answer = new Answer()
      let current: RenderedRequest
      let sentAt = 0
      let turn = 0
      const send = () => {
        current = requests[turn++ % requests.length]!
        // A run that was begun is carried on to its end.
        if (this.isStopping && !current.continues) {
          this.open -= 1
          socket.end()
          return resolve()
        }
        ids.fill(current)
        sentAt = performance.now()
        socket.write(current.bytes)
      }
      socket.on('connect', () => {
        this.open += 1
        send()
      })
      socket.on('data', (chunk) => {
        if (!answer.add(chunk)) return
        this.answered(current, answer, performance.now() - sentAt)
        answer.clear()
        send()
      })
      socket.on('error', (error) => this.refuse(error.message))
      socket.on('close', () => {
        if (!this.isStopping) this.refuse('the server closed a connection')
        resolve()
      })
    })
  }

  private answered(request: RenderedRequest, answer: Answer, latencyMs: number): void {
    if (!answer.isReceipt(request.answer)) return this.refuse(answer.text())
    this.result.acknowledged += request.events
    if (!this.isMeasuring) return
    this.result.events += request.events
    this.result.requests += 1
    this.latencies.push(latencyMs)
  }

  private refuse(what: string): void {
    this.result.refused += 1
    this.result.firstRefusal ??= what.slice(0, 500)
  }
}

/** One answer, collected until it is whole. */
class Answer {
  private chunk: Buffer = Buffer.alloc(0)
  private bodyAt = 0
  private end = 0

  add(chunk: Buffer): boolean {
    this.chunk = this.chunk.length === 0 ? chunk : Buffer.concat([this.chunk, chunk])
    if (this.end === 0) {
      const headEnd = this.chunk.indexOf('\r\n\r\n')
      if (headEnd === -1) return false
      const length = /content-length: (\d+)/i.exec(this.chunk.toString('latin1', 0, headEnd))
      this.bodyAt = headEnd + 4
      this.end = this.bodyAt + Number(length?.[1])
    }
    return this.chunk.length >= this.end
  }

  isReceipt(start: Buffer): boolean {
    return (
      this.chunk.toString('latin1', 0, 15) === 'HTTP/1.1 200 OK' &&
      this.chunk.compare(start, 0, start.length, this.bodyAt, this.bodyAt + start.length) === 0
    )
  }

  text(): string {
    return this.chunk.toString()
  }

  clear(): void {
    this.chunk = Buffer.alloc(0)
    this.end = 0
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

process.on('disconnect', () => process.exit())
process.on('message', (job: LoadJob) => {
  void new Load(job).run((event) => process.send!({ event })).then((result) => process.send!({ result }))
})
process.send!({ ready: true })
