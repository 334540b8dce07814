// Platform B: the runs of an execution's nodes as events. Lenient: what cannot be read is said, never refused.
import { namedEventKey } from '../sessions/identity.ts'
import type { EventDraft, EventError } from '../sessions/session.ts'
import { cleanText, cutText } from './clean-text.ts'
import type { ParseContext } from './parsed.ts'
import {
  isObject,
  maskError,
  nonBlank,
  readItemError,
  readTaskError,
  readToolResponseError,
} from './platform-b-errors.ts'
import { connectionOf, kindOfNode } from './platform-b-kinds.ts'
import { readModelCall } from './platform-b-models.ts'
import { itemsOf, maskedText, payloadText, type Item } from './platform-b-payload.ts'
import { readTimestamp } from './timestamp.ts'

type Fields = Record<string, unknown>

/** What is known of the workflow's nodes beside their runs. */
export interface NodeTypes {
  typeOf: Map<string, string>
  modelOf: Map<string, string>
}

interface Run {
  name: string
  index: number
  task: Fields
  place: number
  connection: string | null
}

export interface ReadNodes {
  events: EventDraft[]
  unreadable: number
  neverRan: number
  redacted: number
  secondsTimes: boolean
  /** kinds that rest on data or names, not on node types */
  guessedKinds: number
  missingParents: string[]
}

/** @param runData node name -> list of runs */
export function readNodes(
  runData: Fields,
  nodes: NodeTypes,
  context: ParseContext & { endedAt: number | null },
): ReadNodes {
  const result: ReadNodes = {
    events: [],
    unreadable: 0,
    neverRan: 0,
    redacted: 0,
    secondsTimes: false,
    guessedKinds: 0,
    missingParents: [],
  }
  const runs: Run[] = []
  for (const [name, list] of Object.entries(runData)) {
    if (!Array.isArray(list)) {
      result.unreadable += 1
      continue
    }
    list.forEach((task, index) => {
      if (isObject(task)) runs.push({ name, index, task, place: runs.length, connection: connectionOf(task) })
      else if (task !== null) result.unreadable += 1
    })
  }
  const taskOf = new Map(runs.map((run) => [`${run.index}:${run.name}`, run.task]))
  const parentNames = new Set(runs.flatMap((run) => (run.connection ? [sourceOf(run.task)?.node ?? ''] : [])))
  const eventOf = new Map<string, EventDraft>()
  for (const run of runs) {
    const event = readRun(run, nodes, taskOf, parentNames.has(run.name), context, result)
    eventOf.set(event.key, event)
    result.events.push(event)
  }
  spanParents(result.events, eventOf)
  const missing = result.events.filter((event) => event.parentKey !== null && !eventOf.has(event.parentKey))
  result.missingParents = [...new Set(missing.map((event) => event.parentName!))]
  const lastUs = result.events.reduce((last, event) => Math.max(last, event.orderUs), 0)
  for (const event of result.events) {
    // What never ran has no time: it stands at the end.
    if (event.occurredAt === null)
      event.orderUs = lastUs > 0 ? lastUs + 1 : (context.endedAt ?? context.receivedAt) * 1000
  }
  return result
}

function readRun(
  { name, index, task, place, connection }: Run,
  nodes: NodeTypes,
  taskOf: Map<string, Fields>,
  isParent: boolean,
  context: ParseContext,
  result: ReadNodes,
): EventDraft {
  const nodeType =
    nodes.typeOf.get(name) ??
    (isObject(task.error) && isObject(task.error.node) ? nonBlank(task.error.node.type) : null)
  const { kind, source: kindSource, type } = kindOfNode(name, nodeType, task, connection, isParent)
  if (kindSource !== 'type') result.guessedKinds += 1

  const startedAt = readStart(task.startTime, result)
  const status = nonBlank(task.executionStatus)
  const source = sourceOf(task)
  const sourceTask = source && taskOf.get(`${source.run}:${source.node}`)
  const items = itemsOf(task.data)
  if (items.some((item) => isObject(item.redaction))) result.redacted += 1
  const call = kind === 'LLM' ? readModelCall(task, connection, items, sourceTask ?? null) : null
  const named = call?.model ?? (kind === 'LLM' ? (nodes.modelOf.get(name) ?? null) : null)
  const model = named && cutText(cleanText(named), 500)
  const priced =
    model !== null && call
      ? context.price(model, call.promptTokens, call.completionTokens, startedAt ?? context.receivedAt)
      : null
  const { mask } = context
  const input = call ? maskedText(call.prompt, mask) : payloadText(itemsOf(task.inputOverride), mask)
  const output = call?.completion != null ? maskedText(call.completion, mask) : payloadText(items, mask)
  const durationMs =
    startedAt !== null && status !== 'crashed' && isDuration(task.executionTime) ? task.executionTime : null
  const read = readTaskError(task) ?? itemError(items, sourceTask) ?? (kind === 'TOOL' ? toolError(items) : null)
  const { error, masked: isErrorMasked } = maskError(read, mask)
  const parent = connection !== null ? source : null
  return {
    key: namedEventKey('node', name, index),
    type,
    kind,
    kindSource,
    name: cutText(cleanText(name), 500),
    runIndex: index,
    parentKey: parent && namedEventKey('node', parent.node, parent.run),
    parentName: parent && cutText(cleanText(parent.node), 500),
    model,
    input: input.text,
    output: output.text,
    promptTokens: call?.promptTokens ?? null,
    completionTokens: call?.completionTokens ?? null,
    tokensEstimated: call?.estimated ?? false,
    costUsd: priced,
    costSource: priced === null ? null : 'PRICED',
    durationMs,
    status,
    error,
    occurredAt: startedAt,
    receivedAt: context.receivedAt,
    orderUs: (startedAt ?? 0) * 1000,
    sequence: isCount(task.executionIndex) ? task.executionIndex : 0,
    place,
    skewed: false,
    masked: input.masked || output.masked || isErrorMasked,
    attributes: attributesOf(task, items, nodeType, call?.finishReason ?? null),
    closes: null,
  }
}

/** Milliseconds; seconds in runs recovered after a crash; 0 for a placeholder of what never ran. */
function readStart(value: unknown, result: ReadNodes): number | null {
  if (value === 0) result.neverRan += 1
  if (value === undefined || value === null || value === '' || value === 0) return null
  const read = readTimestamp(value)
  if ('problem' in read || !read.time) {
    result.unreadable += 1
    return null
  }
  if (typeof value === 'number' && value < 1e11) result.secondsTimes = true
  return Math.trunc(read.time.ms)
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isDuration = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1e12

/** Redacted, or made up after a crash of the platform. */
const isReplaced = (item: Item) =>
  isObject(item.redaction) || (isObject(item.json) && item.json.isArtificialRecoveredEventItem === true)

/** The first item's pair, in whichever of its forms it came. */
function pairOf(value: unknown): Fields | null {
  const pair = Array.isArray(value) ? value[0] : value
  return isObject(pair) ? pair : isCount(pair) ? { item: pair } : null
}

/** Where a run's data came from; older versions leave out zeros. */
function sourceOf(task: Fields): { node: string; run: number; output: number } | null {
  const first = Array.isArray(task.source) ? task.source.find(isObject) : null
  if (!first || typeof first.previousNode !== 'string') return null
  const count = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : 0)
  return { node: first.previousNode, run: count(first.previousNodeRun), output: count(first.previousNodeOutput) }
}

/** An error item that the node only passed on from its source is not its own. */
function itemError(items: Item[], sourceTask: Fields | null | undefined): EventError | null {
  for (const item of items) {
    const error = readItemError(item)
    if (error && !(sourceTask && errorsOf(sourceTask).has(error.message))) return error
  }
  return null
}

/** Read once for each run, however many others name it as their source. */
const knownErrors = new WeakMap<Fields, Set<string>>()
function errorsOf(task: Fields): Set<string> {
  let errors = knownErrors.get(task)
  if (!errors) {
    errors = new Set(itemsOf(task.data).map((item) => readItemError(item)?.message ?? ''))
    knownErrors.set(task, errors)
  }
  return errors
}

function toolError(items: Item[]): EventError | null {
  for (const item of items) {
    const error = readToolResponseError(item.json)
    if (error) return error
  }
  return null
}

/** An agent's own time is only its last segment: it lasts from its first child's start to the end of all. */
function spanParents(events: EventDraft[], eventOf: Map<string, EventDraft>): void {
  const childrenOf = new Map<EventDraft, EventDraft[]>()
  for (const event of events) {
    const parent = event.parentKey === null ? undefined : eventOf.get(event.parentKey)
    if (!parent || parent === event) continue
    const siblings = childrenOf.get(parent)
    if (siblings) siblings.push(event)
    else childrenOf.set(parent, [event])
  }
  const done = new Set<EventDraft>()
  const widen = (event: EventDraft, depth = 0): void => {
    // Real agents nest two or three deep; the bound is for data that was made to nest.
    if (done.has(event) || depth > 100) return
    done.add(event)
    for (const child of childrenOf.get(event) ?? []) {
      widen(child, depth + 1)
      if (child.occurredAt === null) continue
      const end = Math.max(endOf(event) ?? -Infinity, endOf(child)!)
      event.occurredAt = Math.min(event.occurredAt ?? Infinity, child.occurredAt)
      event.durationMs = end - event.occurredAt
      event.orderUs = event.occurredAt * 1000
    }
  }
  for (const event of events) widen(event)
}

const endOf = (event: EventDraft) => (event.occurredAt === null ? null : event.occurredAt + (event.durationMs ?? 0))

function attributesOf(
  task: Fields,
  items: Item[],
  nodeType: string | null,
  finishReason: string | null,
): Fields | null {
  const attributes: Fields = {}
  if (nodeType) attributes.nodeType = nodeType
  if (Number.isSafeInteger(task.executionIndex)) attributes.executionIndex = task.executionIndex
  const sources = Array.isArray(task.source) ? task.source.filter(isObject) : []
  if (sources.length > 0) {
    attributes.source = sources.map((one) => ({
      node: typeof one.previousNode === 'string' ? one.previousNode : null,
      run: isCount(one.previousNodeRun) ? one.previousNodeRun : 0,
      output: isCount(one.previousNodeOutput) ? one.previousNodeOutput : 0,
    }))
  }
  if (items.length > 0) attributes.items = items.length
  // Tell a batch, whose rounds go along the items of one input, from a loop.
  const paired = pairOf(items[0]?.pairedItem)
  if (paired && isCount(paired.item)) attributes.pairedItem = paired.item
  if (paired?.sourceOverwrite) attributes.nextBatch = true
  // Outputs that are not what the node gave: equal ones say nothing.
  if (items.some(isReplaced)) attributes.redacted = true
  if (finishReason) attributes.finishReason = finishReason
  const binary = items.flatMap((item) =>
    isObject(item.binary)
      ? Object.values(item.binary)
          .filter(isObject)
          .map((file) => ({ fileName: file.fileName, mimeType: file.mimeType, fileSize: file.fileSize }))
      : [],
  )
  if (binary.length > 0) attributes.binary = binary.slice(0, 20)
  const metadata = isObject(task.metadata) ? task.metadata : {}
  for (const key of ['subExecution', 'parentExecution', 'nodeWasResumed']) {
    if (metadata[key] !== undefined) attributes[key] = metadata[key]
  }
  return Object.keys(attributes).length > 0 ? attributes : null
}
