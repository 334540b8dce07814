// What the load consists of: bodies like those of no-code tools, 400 to 600 bytes an event, the same in every run.

export interface Shape {
  /** events of one request */
  events: number
  /** how many of the events in a row belong to one session */
  perSession: number
}

export const SHAPES = {
  single: { events: 1, perSession: 1 },
  array100: { events: 100, perSession: 10 },
  array1000: { events: 1000, perSession: 10 },
  /** one post is one execution of platform B */
  execution: { events: 1, perSession: 1 },
} satisfies Record<string, Shape>

export type ShapeName = keyof typeof SHAPES

export type SentEvent = Record<string, string | number>

const AGENTS = ['Support triage', 'Invoice extractor', 'Research digest', 'Refund copilot', 'Lead enrichment']
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'house-model-7']
const WORDS = (
  'the customer asks for a refund of order and wants to know when it will arrive please check shipment status reply ' +
  'kindly with next steps invoice total net amount due date supplier contract clause summary "quoted" part\nnew line'
).split(' ')

/** One event; the session's id is set by whoever sends it. */
export function event(type: string, seed: number, sessionId: string): SentEvent {
  const sent: SentEvent = { session_id: sessionId, type, agent_name: AGENTS[seed % AGENTS.length]! }
  if (type === 'session.end') return { ...sent, output: text(seed, 52), status: seed % 20 === 0 ? 'error' : 'success' }
  sent.input = text(seed, 26)
  sent.output = text(seed + 7, 22)
  sent.duration_ms = 120 + ((seed * 37) % 4000)
  sent.timestamp = new Date(Date.now() - 60_000 + (seed % 60_000)).toISOString()
  if (type === 'llm.call') {
    sent.model = MODELS[seed % MODELS.length]!
    sent.prompt_tokens = 200 + ((seed * 13) % 3000)
    sent.completion_tokens = 20 + ((seed * 7) % 700)
  }
  if (type === 'tool.call') {
    sent.tool_name = seed % 2 ? 'crm.search' : 'orders.lookup'
    if (seed % 15 === 0) sent.error = 'Rate limit reached for requests (HTTP 429)'
  }
  return sent
}

const MIX = ['llm.call', 'tool.call', 'llm.call', 'retrieval', 'span']

/** A run that is one event: it opens and closes its session. */
export function closingEvent(seed: number, sessionId: string): SentEvent {
  return { ...event(MIX[seed % MIX.length]!, seed, sessionId), status: seed % 20 === 0 ? 'error' : 'success' }
}

/** The steps of one run, the last of which closes it. */
export function runOf(steps: number, seed: number, sessionId: string): SentEvent[] {
  return Array.from({ length: steps }, (_, i) =>
    event(i === steps - 1 ? 'session.end' : MIX[(seed + i) % MIX.length]!, seed + i, sessionId),
  )
}

function text(seed: number, words: number): string {
  let made = ''
  for (let i = 0; i < words; i++)
    made += `${made && ' '}${WORDS[(seed * 31 + i * 17 + ((seed * i) % 5)) % WORDS.length]}`
  return made
}
