// Platform B: what kind of node a run belongs to, from its type, else from the shape of its data, else from its name.
import type { EventType, NodeKind } from '../sessions/session.ts'
import { isObject } from './platform-b-errors.ts'

type Fields = Record<string, unknown>

export interface Kind {
  kind: NodeKind | null
  source: 'type' | 'data' | 'name' | null
  type: EventType
}

/** Node type after its package name -> kind, first match. Source: n8n 2.41 and 1.123 node packages. */
const BY_TYPE: [RegExp, NodeKind, EventType][] = [
  [/^(lmChat|lm[A-Z]|modelSelector)/, 'LLM', 'LLM_CALL'],
  [/^(openAi|anthropic|googleGemini|ollama|minimax|moonshot|alibabaCloud)$/, 'LLM', 'LLM_CALL'],
  [/^(agentTool)$/, 'AGENT', 'TOOL_CALL'],
  [/^(agent|chain[A-Z].*|informationExtractor|sentimentAnalysis|textClassifier|openAiAssistant)$/, 'AGENT', 'SPAN'],
  [/^(tool[A-Z].*|mcpClientTool|.*Tool)$/, 'TOOL', 'TOOL_CALL'],
  [/^(vectorStore|retriever|reranker|embeddings)/, 'OTHER', 'RETRIEVAL'],
  [/^(code|function|functionItem)$/, 'CODE', 'SPAN'],
  [/^httpRequest$/, 'HTTP_REQUEST', 'SPAN'],
  [/(Trigger|^webhook|^start)$/, 'TRIGGER', 'SPAN'],
]

/** Connection of a sub-node -> kind. */
const BY_CONNECTION: Record<string, [NodeKind, EventType]> = {
  ai_languageModel: ['LLM', 'LLM_CALL'],
  ai_tool: ['TOOL', 'TOOL_CALL'],
  ai_retriever: ['OTHER', 'RETRIEVAL'],
  ai_vectorStore: ['OTHER', 'RETRIEVAL'],
  ai_embedding: ['OTHER', 'RETRIEVAL'],
  ai_reranker: ['OTHER', 'RETRIEVAL'],
}

const BY_NAME: [RegExp, NodeKind][] = [
  [/^HTTP Request\d*$/, 'HTTP_REQUEST'],
  [/^Code\d*$/, 'CODE'],
  [/^(Webhook\d*|.* Trigger\d*|When (clicking|chat message|Executed|.* received).*|On form submission\d*)$/, 'TRIGGER'],
]

export function kindOfNode(
  name: string,
  nodeType: string | null,
  task: Fields,
  connection: string | null,
  isParent: boolean,
): Kind {
  const connected = connection !== null && Object.hasOwn(BY_CONNECTION, connection) ? BY_CONNECTION[connection]! : null
  if (nodeType !== null) {
    const short = nodeType.slice(nodeType.lastIndexOf('.') + 1).slice(0, 200)
    const row = BY_TYPE.find(([pattern]) => pattern.test(short))
    const [, kind, type] = row ?? [null, 'OTHER' as const, 'SPAN' as const]
    // A vector store used as a tool, or an HTTP node as one: what it did in this run decides the event's type.
    return { kind, source: 'type', type: connection === 'ai_tool' ? 'TOOL_CALL' : type }
  }
  if (connected) return { kind: connected[0], source: 'data', type: connected[1] }
  if (connection !== null) return { kind: 'OTHER', source: 'data', type: 'SPAN' }
  if (isParent || isAgentTask(task)) return { kind: 'AGENT', source: 'data', type: 'SPAN' }
  if (hasVendorUsage(task)) return { kind: 'LLM', source: 'data', type: 'LLM_CALL' }
  if (isWebhookTask(task)) return { kind: 'TRIGGER', source: 'data', type: 'SPAN' }
  const short = name.slice(0, 200)
  const named = BY_NAME.find(([pattern]) => pattern.test(short))
  return named ? { kind: named[1], source: 'name', type: 'SPAN' } : { kind: null, source: null, type: 'SPAN' }
}

/** The ai_* connection of a sub-node's run, or null for a node on the main line. */
export function connectionOf(task: Fields): string | null {
  for (const part of [task.data, task.inputOverride]) {
    if (!isObject(part)) continue
    const key = Object.keys(part).find((name) => name.startsWith('ai_'))
    if (key) return key
  }
  return null
}

function isAgentTask(task: Fields): boolean {
  if (!isObject(task.metadata)) return false
  const { tracing } = task.metadata
  return isObject(task.metadata.subNodeExecutionData) || (isObject(tracing) && 'ai.agent.version' in tracing)
}

function hasVendorUsage(task: Fields): boolean {
  if (isObject(task.metadata) && isObject(task.metadata.tokenUsage)) return true
  const json = firstJson(task)
  return isObject(json?.usage) && ('choices' in json || 'output' in json || 'content' in json)
}

function isWebhookTask(task: Fields): boolean {
  const json = firstJson(task)
  const hasSource = Array.isArray(task.source) && task.source.some(isObject)
  return !hasSource && json !== null && isObject(json.headers) && 'webhookUrl' in json
}

function firstJson(task: Fields): Fields | null {
  const main = isObject(task.data) && Array.isArray(task.data.main) ? task.data.main : []
  for (const output of main) {
    const item = Array.isArray(output) ? output[0] : null
    if (isObject(item) && isObject(item.json)) return item.json
  }
  return null
}
