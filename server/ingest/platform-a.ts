// Platform A: flat events. Strict, because a person mapped these fields once and a mistake must show on the first test.
import { Problem, type FieldProblem } from '../errors.ts'
import { contentEventKey, namedEventKey, sessionId } from '../sessions/identity.ts'
import type { EventDraft } from '../sessions/session.ts'
import type { ParseContext, ParsedRequest, ParsedSession, Warning } from './parsed.ts'
import { ALIASES, EventFields, isSkewed } from './platform-a-fields.ts'

export const MAX_EVENTS = 10_000
/**
 * @param body one event object or an array of them
 * @throws Problem invalid_payload with everything that is wrong; nothing of the request may then be recorded
 */
export function parsePlatformA(body: unknown, context: ParseContext): ParsedRequest {
  const list = Array.isArray(body) ? body : [body]
  if (list.length > MAX_EVENTS) {
    throw new Problem(
      'body_too_large',
      `The request holds ${list.length} events; at most ${MAX_EVENTS} are allowed. Send them in several requests. No event was recorded.`,
    )
  }
  const problems: FieldProblem[] = []
  const warnings: Warning[] = []
  const sessions = new Map<string, ParsedSession>()
  list.forEach((item, place) => {
    const pointer = Array.isArray(body) ? `/${place}` : ''
    const label = list.length > 1 ? `Event ${place + 1} of ${list.length}: ` : ''
    const reader = new EventFields(item, pointer, label, problems, warnings, context.mask)
    const before = problems.length
    const read = readEvent(reader, place, context)
    if (!read || problems.length > before) return
    const id = sessionId(context.projectId, 'PLATFORM_A', null, read.externalId)
    let session = sessions.get(id)
    if (!session) {
      session = {
        identity: {
          id,
          projectId: context.projectId,
          platform: 'PLATFORM_A',
          externalId: read.externalId,
          workflowId: null,
          agent: null,
        },
        events: [],
        execution: null,
        repeats: null,
      }
      sessions.set(id, session)
    }
    session.identity.agent ??= read.agent
    session.events.push(read.event)
  })
  if (problems.length > 0) {
    const more = problems.length > 1 ? ` (${problems.length - 1} more in errors.)` : ''
    throw new Problem('invalid_payload', `${problems[0]!.detail} No event was recorded.${more}`, problems)
  }
  return { sessions: [...sessions.values()], isList: Array.isArray(body), accepted: list.length, warnings }
}

function readEvent(reader: EventFields, place: number, context: ParseContext) {
  if (!reader.isObject()) return null
  const externalId = reader.sessionId()
  const agent = reader.name('agent_name')
  const model = reader.name('model')
  const toolName = reader.name('tool_name')
  const input = reader.text('input', ALIASES.input)
  const output = reader.text('output', ALIASES.output)
  const promptTokens = reader.tokens('prompt_tokens')
  const completionTokens = reader.tokens('completion_tokens')
  const sentCost = reader.cost()
  const durationMs = reader.duration()
  const error = reader.error()
  const status = reader.status(error !== null)
  const time = reader.timestamp(context.receivedAt)
  const eventId = reader.eventId()
  const type =
    reader.type() ??
    reader.inferredType(toolName !== null, model !== null || promptTokens !== null || completionTokens !== null)
  if (externalId === null) return null

  const attributes = reader.attributes()
  const skewed = time !== null && isSkewed(time, context.receivedAt)
  const priced =
    sentCost === null && model !== null
      ? context.price(model, promptTokens, completionTokens, time?.ms ?? context.receivedAt)
      : null
  const event: EventDraft = {
    key:
      eventId !== null
        ? namedEventKey('event', eventId)
        : context.requestKey !== null
          ? namedEventKey('request', context.requestKey, place)
          : contentEventKey(
              JSON.stringify([
                agent,
                type,
                toolName,
                model,
                input,
                output,
                promptTokens,
                completionTokens,
                sentCost,
                durationMs,
                error,
                status,
                time?.us,
                attributes,
              ]),
              context.mergesEqualEvents && time !== null,
            ),
    type,
    kind: type === 'LLM_CALL' ? 'LLM' : type === 'TOOL_CALL' ? 'TOOL' : null,
    kindSource: type === 'LLM_CALL' || type === 'TOOL_CALL' ? 'type' : null,
    name: toolName,
    runIndex: null,
    parentKey: null,
    parentName: null,
    model,
    input,
    output,
    promptTokens,
    completionTokens,
    tokensEstimated: false,
    costUsd: sentCost ?? priced,
    costSource: sentCost !== null ? 'REPORTED' : priced !== null ? 'PRICED' : null,
    durationMs,
    status,
    error: error === null ? null : { message: error, name: null, cause: null, httpStatus: null },
    occurredAt: time?.ms ?? null,
    receivedAt: context.receivedAt,
    orderUs: time !== null && !skewed ? time.us : context.arrivalUs,
    sequence: context.arrivalUs,
    place,
    skewed,
    masked: reader.isMasked,
    attributes,
    closes:
      status !== null
        ? { reported: true, outcome: status === 'error' ? 'FAILED' : 'COMPLETED' }
        : type === 'SESSION_END'
          ? { reported: false, outcome: error !== null ? 'FAILED' : 'COMPLETED' }
          : null,
  }
  return { externalId, agent, event }
}
