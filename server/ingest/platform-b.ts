// Platform B: executions. The wrapper is checked, because a person typed it; what is inside is a machine's and never
// refused: an error there would fail, and in the end switch off, somebody's working automation.
import { Problem, quoted } from '../errors.ts'
import { mergeExecution } from '../sessions/execution.ts'
import { sessionId } from '../sessions/identity.ts'
import { shortError, totalsOf, type CoverageNote, type EventDraft, type SessionWrite } from '../sessions/session.ts'
import { cleanText, cutText } from './clean-text.ts'
import type { ParseContext, ParsedRequest, ParsedSession, Warning } from './parsed.ts'
import { isObject, maskError, nonBlank, readError, readRedactedError } from './platform-b-errors.ts'
import { readNodes, type NodeTypes, type ReadNodes } from './platform-b-nodes.ts'
import { unwrap } from './platform-b-envelope.ts'
import { readTimestamp } from './timestamp.ts'

export const MAX_NODE_RUNS = 20_000
export const MAX_EXECUTIONS = 10_000

type Fields = Record<string, unknown>

/** How final a reported status is: of two posts of one execution the higher rank wins. */
const STATUS_RANK = new Map(
  Object.entries({
    new: 1,
    running: 1,
    waiting: 1,
    unknown: 1,
    success: 2,
    error: 2,
    canceled: 2,
    crashed: 2,
  }),
)
const RANK_OF_OTHER_WORDS = 1

/**
 * @param body what was posted: a wrapped execution, a list of them, or the body of an error workflow
 * @throws Problem invalid_payload where no execution with an id can be found, with the fix in the sentence
 */
export function parsePlatformB(body: unknown, context: ParseContext): ParsedRequest {
  const list = Array.isArray(body) ? body : [body]
  if (list.length > MAX_EXECUTIONS) throw tooLarge(`${list.length} executions`, `${MAX_EXECUTIONS} executions`)
  const warnings: Warning[] = []
  const posts = new Map<string, ParsedSession[]>()
  let nodeRuns = 0
  const refused: Problem[] = []
  list.forEach((item, place) => {
    const pointer = Array.isArray(body) ? `/${place}` : ''
    const label = list.length > 1 ? `Execution ${place + 1} of ${list.length}: ` : ''
    const unwrapped = unwrap(item, pointer, label)
    if (unwrapped instanceof Problem) {
      refused.push(unwrapped)
      return
    }
    const { execution, workflow } = unwrapped
    nodeRuns += countRuns(execution)
    if (nodeRuns > MAX_NODE_RUNS) throw tooLarge(`more than ${MAX_NODE_RUNS} node runs`, `${MAX_NODE_RUNS}`)
    if (refused.length > 0) return
    const parsed = readExecution(execution, workflow, context)
    for (const note of parsed.execution!.coverage) {
      if (note.code === 'unreadable') warnings.push({ pointer: `${pointer}/execution`, field: 'execution', ...note })
    }
    const before = posts.get(parsed.identity.id)
    if (before) {
      before.push(parsed)
      const detail = `${label}it is the same execution as an earlier one in this request and was merged with it.`
      warnings.push({ pointer: `${pointer}/execution`, field: 'execution.id', code: 'already_recorded', detail })
    } else posts.set(parsed.identity.id, [parsed])
  })
  if (refused.length > 0) {
    const more = refused.length > 1 ? ` (${refused.length - 1} more in errors.)` : ''
    throw new Problem(
      'invalid_payload',
      refused[0]!.detail + more,
      refused.flatMap((problem) => problem.fields),
    )
  }
  const sessions = [...posts.values()].map(inOne)
  return { sessions, isList: Array.isArray(body), accepted: list.length, warnings }
}

/** Several posts of one execution in one list. */
function inOne(posts: ParsedSession[]): ParsedSession {
  if (posts.length === 1) return posts[0]!
  const [first, ...later] = posts.map(({ execution, events }) => ({ session: execution!, events }))
  const { session, events } = mergeExecution(first!, ...later)
  return { identity: posts[0]!.identity, execution: session, events, repeats: null }
}

function readExecution(execution: Fields, workflow: Fields, context: ParseContext): ParsedSession {
  const coverage: CoverageNote[] = []
  const note = (code: string, detail: string) => coverage.push({ code, detail })
  const workflowData = isObject(execution.workflowData) ? execution.workflowData : {}
  const resultData = isObject(execution.data) && isObject(execution.data.resultData) ? execution.data.resultData : {}

  const externalId = cleanText(String(execution.id).trim())
  const workflowId = idText(execution.workflowId) ?? idText(workflowData.id) ?? idText(workflow.id)
  const agent = nonBlank(execution.workflowName) ?? nonBlank(workflowData.name) ?? nonBlank(workflow.name) ?? workflowId
  if (workflowId === null)
    note(
      'no_workflow_id',
      'No workflowId came, so runs of other workflows with the same execution id cannot be told apart.',
    )

  const time = (field: string): number | null => {
    const value = execution[field]
    if (value === undefined || value === null || value === '' || value === 0) return null
    const read = readTimestamp(value)
    if (!('problem' in read)) return read.time && Math.trunc(read.time.ms)
    note('unreadable', `${field} ${quoted(value)} is no time that could be read, and was left out.`)
    return null
  }
  const startedAt = time('startedAt')
  const stoppedAt = time('stoppedAt')

  const { error: runError } = maskError(
    readError(resultData.error) ?? readRedactedError(resultData.redactedError) ?? readError(execution.error),
    context.mask,
  )
  const word = nonBlank(execution.status)?.trim() ?? null
  const effective = (word ?? (runError ? 'error' : '')).toLowerCase()
  const status = effective === 'error' ? 'FAILED' : 'COMPLETED'
  const rank = effective === '' ? 0 : (STATUS_RANK.get(effective) ?? RANK_OF_OTHER_WORDS)
  if (['running', 'new', 'waiting'].includes(effective)) {
    note(
      'not_final',
      `The platform reported ${effective}: the run was not over when it was sent. Send it again when it is.`,
    )
  }

  const read = readRunData(execution, resultData, workflowData, { ...context, endedAt: stoppedAt }, note)
  const events = read?.events ?? []
  if (read) describeNodes(read, events, Object.keys(workflowData).length > 0, startedAt, note)

  const session: SessionWrite = {
    id: sessionId(context.projectId, 'PLATFORM_B', workflowId, externalId),
    projectId: context.projectId,
    platform: 'PLATFORM_B',
    externalId,
    workflowId,
    agent: agent && cutText(agent, 500),
    ...totalsOf(events),
    mode: cutOrNull(nonBlank(execution.mode)),
    status,
    reportedStatus: cutOrNull(word),
    errorMessage: shortError(runError?.message ?? lastError(events)),
    lastNode: cutOrNull(nonBlank(resultData.lastNodeExecuted) ?? nonBlank(execution.lastNodeExecuted)),
    externalUrl: webAddress(execution.url),
    retryOf: idText(execution.retryOf),
    firstSeenAt: context.receivedAt,
    startedAt,
    lastEventAt: context.receivedAt,
    closedAt: stoppedAt ?? context.receivedAt,
    ...durationOf(startedAt, stoppedAt, events),
    coverage,
    reported: null,
    ended: null,
    errorPosition: null,
    closedSequence: null,
    spanStart: null,
    spanEnd: null,
    stepsMs: null,
    rank,
    stoppedAt,
    measures: null,
  }
  const { id, projectId, platform } = session
  return {
    identity: { id, projectId, platform, externalId, workflowId, agent: session.agent },
    execution: session,
    events,
    repeats: null,
  }
}

type Note = (code: string, detail: string) => void

function readRunData(
  execution: Fields,
  resultData: Fields,
  workflowData: Fields,
  context: ParseContext & { endedAt: number | null },
  note: Note,
): ReadNodes | null {
  const { runData } = resultData
  if (execution.dataTooLargeToDisplay === true) {
    note(
      'data_too_large',
      'The platform left out the node data because it was too large to display: which nodes ran is unknown.',
    )
  } else if (runData === undefined || runData === null) {
    note(
      'no_run_data',
      'No node data came with this execution: its steps, tokens and cost are unknown. Send the whole execution to see them.',
    )
  } else if (!isObject(runData)) {
    note('unreadable', `data.resultData.runData is ${quoted(runData)}, not an object of nodes, and was left out.`)
  } else if (Object.keys(runData).length === 0) {
    note('empty_run_data', 'The node data is empty. That does not mean that no node ran.')
  }
  return isObject(runData) ? readNodes(runData, nodeTypes(execution, workflowData), context) : null
}

function describeNodes(
  read: ReadNodes,
  events: EventDraft[],
  hasWorkflow: boolean,
  startedAt: number | null,
  note: Note,
): void {
  const copied =
    startedAt === null
      ? 0
      : events.filter((event) => event.occurredAt !== null && event.occurredAt < startedAt && !read.secondsTimes).length
  if (read.unreadable > 0)
    note('unreadable', `${read.unreadable} parts of the node data could not be read and were left out.`)
  if (read.redacted > 0) note('redacted', `The platform redacted the data of ${read.redacted} node runs.`)
  if (read.neverRan > 0) note('never_ran', `${read.neverRan} steps were planned and never ran.`)
  if (read.secondsTimes)
    note(
      'recovered',
      'Recovered after a crash of the platform: times are whole seconds, the data of the nodes is lost.',
    )
  if (copied > 0) note('copied_runs', `${copied} steps were copied from the run that this one retries.`)
  if (read.missingParents.length > 0)
    note(
      'missing_parent',
      `Steps ran inside ${read.missingParents.slice(0, 20).join(', ')}, which is not in the node data.`,
    )
  if (events.some((event) => event.tokensEstimated))
    note('tokens_estimated', 'The platform had no token usage of some model calls and estimated it.')
  if (read.guessedKinds > 0) {
    const because = hasWorkflow ? 'are not in the workflow that was sent' : 'came without the workflow'
    note('kinds_guessed', `${read.guessedKinds} steps ${because}: their kind was read from their data or name.`)
  }
}

/** The types of nodes by name, wherever the execution names them; never their parameters. */
function nodeTypes(execution: Fields, workflowData: Fields): NodeTypes {
  const typeOf = new Map<string, string>()
  const modelOf = new Map<string, string>()
  const executionData =
    isObject(execution.data) && isObject(execution.data.executionData) ? execution.data.executionData : {}
  const runtime = isObject(executionData.runtimeData) ? executionData.runtimeData : {}
  const stack = Array.isArray(executionData.nodeExecutionStack)
    ? executionData.nodeExecutionStack.filter(isObject).map((entry) => entry.node)
    : []
  const nodes = Array.isArray(workflowData.nodes) ? workflowData.nodes : []
  for (const node of [runtime.triggerNode, ...stack, ...nodes]) {
    if (!isObject(node) || typeof node.name !== 'string') continue
    if (typeof node.type === 'string') typeOf.set(node.name, node.type)
    const parameters = isObject(node.parameters) ? node.parameters : {}
    const model = [parameters.modelId, parameters.model]
      .map((value) => nonBlank(value) ?? (isObject(value) ? nonBlank(value.value) : null))
      .find((text) => text !== null)
    if (model && !model.startsWith('=')) modelOf.set(node.name, model)
  }
  return { typeOf, modelOf }
}

function lastError(events: EventDraft[]): string | null {
  const failed = events
    .filter((event) => event.error !== null)
    .sort((a, b) => a.orderUs - b.orderUs || a.sequence - b.sequence)
  return failed.at(-1)?.error?.message ?? null
}

function durationOf(
  startedAt: number | null,
  stoppedAt: number | null,
  events: EventDraft[],
): Pick<SessionWrite, 'durationMs' | 'durationSource'> {
  if (startedAt !== null && stoppedAt !== null && stoppedAt >= startedAt)
    return { durationMs: stoppedAt - startedAt, durationSource: 'REPORTED' }
  let start = Infinity
  let end = -Infinity
  for (const event of events) {
    if (event.occurredAt === null) continue
    start = Math.min(start, event.occurredAt)
    end = Math.max(end, event.occurredAt + (event.durationMs ?? 0))
  }
  return end >= start && events.length > 0
    ? { durationMs: end - start, durationSource: 'SPAN' }
    : { durationMs: null, durationSource: null }
}

const cutOrNull = (text: string | null) => (text === null ? null : cutText(text, 500))

function idText(value: unknown): string | null {
  if (Number.isSafeInteger(value)) return String(value)
  return cutOrNull(nonBlank(value)?.trim() ?? null)
}

function webAddress(value: unknown): string | null {
  return typeof value === 'string' && value.length <= 2000 && /^https?:\/\//i.test(value) && URL.canParse(value)
    ? cleanText(value)
    : null
}

function countRuns(execution: Fields): number {
  const data =
    isObject(execution.data) && isObject(execution.data.resultData) ? execution.data.resultData.runData : null
  return isObject(data)
    ? Object.values(data).reduce((sum: number, runs) => sum + (Array.isArray(runs) ? runs.length : 0), 0)
    : 0
}

const tooLarge = (came: string, allowed: string) =>
  new Problem(
    'body_too_large',
    `The request holds ${came}; at most ${allowed} are allowed in one. No event was recorded.`,
  )
