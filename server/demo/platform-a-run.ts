// A run of platform A as its posts: flat events with pauses between them, like a workflow that reports each step.
import type { Random } from './random.ts'
import { filled, MODELS, PLATFORM_A_SCRIPTS, UNKNOWN_MODEL, vocabulary, type Step } from './scripts.ts'

/** What is sent, and how long after the post before it. */
export interface Post {
  afterMs: number
  platform: 'a' | 'b'
  body: object
}

export interface Run {
  title: string
  posts: Post[]
}

type FlatEvent = Record<string, string | number>

const FAILURE_SHARE = 0.14
const QUIET_SHARE = 0.03
const ONE_POST_SHARE = 0.4

/** @param startedAt of a run that is over, epoch milliseconds; null for one that is posted step by step from now on */
export function platformARun(random: Random, startedAt: number | null): Run {
  const script = random.pick(PLATFORM_A_SCRIPTS)
  const words = vocabulary(random)
  const sessionId = `${script.agent.toLowerCase().replaceAll(' ', '-')}-${random.id(10)}`
  const model = random.chance(0.07) ? UNKNOWN_MODEL : random.pick(MODELS)
  const failsAt = random.chance(FAILURE_SHARE) ? random.between(0, script.steps.length - 1) : -1
  const goesQuiet = startedAt === null && random.chance(QUIET_SHARE)
  const posts: Post[] = []
  const events: FlatEvent[] = []
  let offsetMs = 0
  let failure: string | null = null
  for (const [place, step] of script.steps.entries()) {
    const durationMs = random.between(...step.takes)
    // A step that failed once and was tried again does not fail the run.
    const slip = step.errors !== undefined && random.chance(0.08)
    if (slip && place !== failsAt) {
      events.push(event(step, sessionId, script.agent, model, durationMs, random, random.pick(step.errors!), words))
      posts.push(post(events, offsetMs, startedAt, durationMs))
      offsetMs += durationMs
    }
    if (place === failsAt && step.errors) failure = filled(random.pick(step.errors), words)
    else failure = filled(step.refuses?.(words) ?? '', words) || null
    events.push(event(step, sessionId, script.agent, model, durationMs, random, failure, words))
    posts.push(post(events, offsetMs, startedAt, durationMs))
    offsetMs += durationMs
    if (failure !== null) {
      // The step that ends the run closes it: with its error told again at the end, that would be a second failure.
      events.at(-1)!.status = 'error'
      break
    }
    if (goesQuiet && place === 1) return { title: `${script.agent} (goes quiet)`, posts }
  }
  if (failure === null) {
    events.push({
      session_id: sessionId,
      agent_name: script.agent,
      type: 'session.end',
      status: 'success',
      event_id: random.id(12),
    })
    posts.push(post(events, offsetMs, startedAt, 200))
  }
  const title = failure === null ? script.agent : `${script.agent} (fails)`
  const inOne = startedAt !== null || random.chance(ONE_POST_SHARE)
  return { title, posts: inOne ? [together(posts, events, startedAt === null)] : posts }
}

function event(
  step: Step,
  sessionId: string,
  agent: string,
  model: string,
  durationMs: number,
  random: Random,
  error: string | null,
  words: ReturnType<typeof vocabulary>,
): FlatEvent {
  const types = { llm: 'llm.call', tool: 'tool.call', retrieval: 'retrieval', span: 'span' }
  const made: FlatEvent = {
    session_id: sessionId,
    agent_name: agent,
    type: types[step.kind],
    input: filled(step.input, words),
    duration_ms: durationMs,
    event_id: random.id(12),
  }
  if (step.name !== undefined && (step.kind === 'tool' || step.kind === 'retrieval')) made.tool_name = step.name
  if (error !== null) made.error = filled(error, words)
  else made.output = filled(step.output, words)
  if (step.kind === 'llm') {
    made.model = model
    made.prompt_tokens = random.between(180, 3_800)
    // No-code tools send numbers as text.
    made.completion_tokens = error === null ? String(random.between(30, 700)) : 0
  }
  return made
}

/** A step is posted when it is over; of a run in the past its time is told. */
function post(events: FlatEvent[], offsetMs: number, startedAt: number | null, durationMs: number): Post {
  const body = events.at(-1)!
  if (startedAt !== null) body.timestamp = new Date(startedAt + offsetMs).toISOString()
  return { afterMs: durationMs, platform: 'a', body }
}

function together(posts: Post[], events: FlatEvent[], isLive: boolean): Post {
  return { afterMs: isLive ? posts.reduce((sum, one) => sum + one.afterMs, 0) : 0, platform: 'a', body: events }
}
