// Requests rendered once, of which only the session ids change: the load costs little beside what it measures.
import { closingEvent, runOf, SHAPES, type ShapeName } from './events.ts'
import { executionBody } from './executions.ts'

const ID_LENGTH = 24
const VARIANTS = 20

/** A whole HTTP request and where its session ids stand, per session. */
export interface RenderedRequest {
  bytes: Buffer
  places: number[][]
  /** events, or one execution */
  events: number
  /** goes on with the session of the request before */
  continues: boolean
  /** how the answer must begin */
  answer: Buffer
}

const marker = (session: number) => `@${String(session).padStart(ID_LENGTH - 1, '@')}`

/**
 * A connection's own requests: a request that is being sent must not be written to by another.
 * @param isKeyed gives each request an Idempotency-Key of its own
 */
export function renderRequests(shape: ShapeName, plainHead: string, salt: number, isKeyed = false): RenderedRequest[] {
  const keyed = (step: number) => plainHead + (isKeyed ? `idempotency-key: ${marker(0)}-${step}\r\n` : '')
  const head = keyed(0)
  if (shape === 'execution') {
    return Array.from({ length: VARIANTS }, (_, i) => render(head, 1, executionBody(salt * 100 + i, marker(0)), false))
  }
  if (shape !== 'single') {
    const { events, perSession } = SHAPES[shape]
    return Array.from({ length: 2 }, (_, variant) =>
      render(
        head,
        events,
        Array.from({ length: events / perSession }, (_, s) =>
          runOf(perSession, (salt + variant) * 1000 + s, marker(s)),
        ).flat(),
        false,
      ),
    )
  }
  const requests: RenderedRequest[] = []
  for (let i = 0; i < VARIANTS; i++) {
    // Four in five runs are one post; every fifth takes three.
    if (i % 5 < 4) requests.push(render(head, 1, closingEvent(salt * 100 + i, marker(0)), false))
    else runOf(3, salt * 100 + i, marker(0)).forEach((step, n) => requests.push(render(keyed(n), 1, step, n > 0)))
  }
  return requests
}

function render(head: string, accepted: number, sent: object, continues: boolean): RenderedRequest {
  const body = Buffer.from(JSON.stringify(sent))
  const bytes = Buffer.concat([Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`), body])
  const places: number[][] = []
  for (let session = 0; ; session++) {
    const own = positions(bytes, marker(session))
    if (own.length === 0) break
    places.push(own)
  }
  const answer = Buffer.from(`{"accepted":${accepted},"duplicate":false,`)
  return { bytes, places, events: accepted, continues, answer }
}

export function positions(bytes: Buffer, text: string): number[] {
  const found: number[] = []
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) found.push(at)
  return found
}

/** Ids that no other round uses. */
export class SessionIds {
  private count = 0
  private last = ''

  constructor(private readonly prefix: string) {}

  fill(request: RenderedRequest): void {
    for (const places of request.places) {
      if (!request.continues) {
        const number = (this.count++).toString(36)
        this.last = this.prefix + '-' + number.padStart(ID_LENGTH - this.prefix.length - 1, '0')
      }
      for (const place of places) request.bytes.write(this.last, place, 'latin1')
    }
  }
}
