// What the clients of a fault test send: a mix of both platforms, with and without what makes a repeat safe.

/** `keyed`: an Idempotency-Key. `named`: event_ids. `bare`: neither. `execution`: platform B. */
export type Kind = 'keyed' | 'named' | 'bare' | 'execution'

export interface Outgoing {
  kind: Kind
  path: string
  body: string
  headers: Record<string, string>
  /** how its events are called, each once in all that is sent */
  markers: string[]
  /** It is sent again until it is acknowledged; others give up after their first answer. */
  isPatient: boolean
}

const TYPES = ['llm.call', 'tool.call', 'retrieval', 'span']
const SHARED_SESSIONS = 40

export class RequestMix {
  private count = 0
  private state = 20_260_101
  private executions = 0

  constructor(private readonly prefix: string) {}

  /** The same numbers in every run. */
  between(least: number, most: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0
    return least + Math.floor((this.state / 2 ** 32) * (most - least + 1))
  }

  next(): Outgoing {
    const name = `${this.prefix}-r${this.count++}`
    const dice = this.between(1, 100)
    const kind = dice <= 30 ? 'keyed' : dice <= 50 ? 'named' : dice <= 75 ? 'bare' : 'execution'
    const isPatient = this.between(1, 5) > 1
    const isKeyed = kind === 'keyed' || (kind === 'execution' && dice % 2 === 0)
    const headers: Record<string, string> = isKeyed ? { 'idempotency-key': `key ${name}` } : {}
    if (kind === 'execution') {
      const body = JSON.stringify({ execution: this.execution(name) })
      return { kind, path: '/api/ingest/platform-b', body, headers, markers: [name], isPatient }
    }
    const count = this.between(1, 2) === 1 ? 1 : this.between(2, 8)
    const markers = Array.from({ length: count }, (_, place) => `${name}-${place}`)
    const events = markers.map((marker) => ({
      ...this.event(marker),
      ...(kind === 'named' ? { event_id: marker } : {}),
    }))
    const body = JSON.stringify(count === 1 ? events[0] : events)
    return { kind, path: '/api/ingest/platform-a', body, headers, markers, isPatient }
  }

  private event(marker: string) {
    const type = TYPES[this.between(0, TYPES.length - 1)]!
    const event: Record<string, unknown> = {
      session_id: `${this.prefix}-s${this.between(1, SHARED_SESSIONS)}`,
      type,
      agent_name: 'Faults',
      input: marker,
      duration_ms: this.between(1, 900),
    }
    if (type === 'llm.call') {
      Object.assign(event, {
        model: 'gpt-4o',
        prompt_tokens: this.between(1, 900),
        completion_tokens: this.between(1, 90),
      })
      if (this.between(1, 2) === 1) event.cost = this.between(1, 999) / 100_000
    }
    const end = this.between(1, 20)
    if (end === 1) Object.assign(event, { status: 'success' })
    if (end === 2) Object.assign(event, { status: 'error', error: `broke at ${marker}` })
    if (end === 3) Object.assign(event, { type: 'session.end' })
    if (end === 4) Object.assign(event, { error: `went on after ${marker}` })
    return event
  }

  /** Every fourth is an earlier one again, with one more step. */
  private execution(marker: string) {
    const isRepost = this.executions > 8 && this.between(1, 4) === 1
    const number = isRepost ? this.executions - this.between(0, 8) : ++this.executions
    const isFailed = this.between(1, 10) === 1
    const startTime = Date.UTC(2026, 10, 20, 10)
    const tokenUsage = { promptTokens: this.between(1, 500), completionTokens: this.between(1, 50) }
    const json = { response: { generations: [[{ text: 'done' }]] }, tokenUsage }
    const step = { startTime: startTime + 5, executionTime: 20, executionStatus: 'success', source: [] }
    return {
      id: `${this.prefix}-x${number}`,
      workflowId: 'w',
      workflowName: 'Faults',
      status: isFailed ? 'error' : 'success',
      mode: 'webhook',
      startedAt: new Date(startTime).toISOString(),
      stoppedAt: new Date(startTime + this.between(100, 900)).toISOString(),
      data: {
        resultData: {
          runData: {
            Start: [{ startTime, executionTime: 1, executionStatus: 'success', source: [], data: { main: [[]] } }],
            [marker]: [{ ...step, data: { ai_languageModel: [[{ json }]] } }],
          },
        },
      },
    }
  }
}
