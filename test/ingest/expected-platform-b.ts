// What PLATFORMS.md and DESIGN.md say a recorded execution must become, read from the recording by itself.

export interface ExpectedEvent {
  name: string
  runIndex: number
  kind: string
  /** null: it never ran */
  startMs: number | null
  /** exact where both are equal; an agent's lies between its children's span and that together with its own */
  duration: { least: number; most: number } | null
  status: string | null
  parent: { name: string; runIndex: number } | null
  error: string | null
  httpStatus: string | null
  model: string | null
  promptTokens: number | null
  completionTokens: number | null
  tokensEstimated: boolean
}

export interface ExpectedSession {
  status: 'FAILED' | 'COMPLETED'
  agent: string
  startedAt: string | null
  durationMs: number | null
  durationSource: string | null
  errorMessage: string | null
  models: string[]
  promptTokens: number | null
  completionTokens: number | null
  tokensEstimated: boolean
}

interface Run extends ExpectedEvent {
  task: any
  executionIndex: number
  place: number
  endMs: number | null
}

export function expectedEvents(execution: any): ExpectedEvent[] {
  const runs = readRuns(execution)
  for (const agent of runs) {
    const children = runs.filter(
      (one) => one.parent?.name === agent.name && one.parent.runIndex === agent.runIndex && one.startMs !== null,
    )
    if (children.length === 0) continue
    const first = Math.min(...children.map((one) => one.startMs!))
    const last = Math.max(...children.map((one) => one.endMs!))
    const ownStart = agent.startMs ?? first
    const ownEnd = agent.endMs ?? last
    agent.startMs = Math.min(first, ownStart)
    agent.duration = { least: last - first, most: Math.max(last, ownEnd) - agent.startMs }
  }
  return runs.sort(
    (one, other) =>
      (one.startMs ?? Infinity) - (other.startMs ?? Infinity) ||
      one.executionIndex - other.executionIndex ||
      one.place - other.place ||
      0,
  )
}

export function expectedSession(execution: any): ExpectedSession {
  const events = expectedEvents(execution)
  const started = time(execution.startedAt)
  const stopped = time(execution.stoppedAt)
  const ran = readRuns(execution).filter((one) => one.startMs !== null)
  const reported = started !== null && stopped !== null
  const failed = events.filter((one) => one.error !== null)
  return {
    status: execution.status === 'error' ? 'FAILED' : 'COMPLETED',
    agent: execution.workflowName ?? execution.workflowData?.name ?? execution.workflowId,
    startedAt: started === null ? null : new Date(started).toISOString(),
    durationMs: reported
      ? stopped - started
      : ran.length > 0
        ? Math.max(...ran.map((one) => one.endMs!)) - Math.min(...ran.map((one) => one.startMs!))
        : null,
    durationSource: reported ? 'REPORTED' : ran.length > 0 ? 'SPAN' : null,
    errorMessage: errorText(execution.data?.resultData?.error) ?? failed.at(-1)?.error ?? null,
    models: [...new Set(events.flatMap((one) => one.model ?? []))].sort(),
    promptTokens: sum(events.map((one) => one.promptTokens)),
    completionTokens: sum(events.map((one) => one.completionTokens)),
    tokensEstimated: events.some((one) => one.tokensEstimated),
  }
}

/** Description, then message, then messages[0]; a class name as description stands before the message. */
export function errorText(error: any): string | null {
  if (!error) return null
  if (typeof error === 'string') return error
  const description = typeof error.description === 'string' ? error.description : ''
  if (/^[A-Z]\w*Error$/.test(description) && error.message) return `${description}: ${error.message}`
  return description || error.message || error.messages?.[0] || null
}

export function tasksOf(execution: any): [name: string, runIndex: number, task: any][] {
  return Object.entries<any[]>(execution.data?.resultData?.runData ?? {}).flatMap(([name, tasks]) =>
    tasks.map((task, runIndex): [string, number, any] => [name, runIndex, task]),
  )
}

function readRuns(execution: any): Run[] {
  return tasksOf(execution).map(([name, runIndex, task], place) => {
    const node = execution.workflowData?.nodes?.find((one: any) => one.name === name)
    const connection = Object.keys({ ...task.data, ...task.inputOverride }).find((key) => key.startsWith('ai_'))
    const items = itemsOf(task)
    const ran = task.startTime > 0
    const startMs = ran ? (task.startTime < 1e11 ? task.startTime * 1000 : task.startTime) : null
    const error = task.error ?? items.map((item) => item.json?.error ?? item.error).find(Boolean)
    const kind = kindOf(node?.type ?? '')
    return {
      name,
      runIndex,
      kind,
      startMs,
      endMs: startMs === null ? null : startMs + task.executionTime,
      duration: ran ? { least: task.executionTime, most: task.executionTime } : null,
      status: task.executionStatus ?? null,
      parent: connection ? { name: task.source[0].previousNode, runIndex: task.source[0].previousNodeRun ?? 0 } : null,
      error: errorText(error),
      httpStatus: task.error?.httpCode ?? null,
      ...usageOf(task, items, node, connection, kind),
      task,
      executionIndex: task.executionIndex ?? 0,
      place,
    }
  })
}

function itemsOf(task: any): any[] {
  return Object.values<any>(task.data ?? {}).flatMap((outputs) =>
    (outputs ?? []).flatMap((output: any) => output ?? []),
  )
}

function usageOf(task: any, items: any[], node: any, connection: string | undefined, kind: string) {
  const none = { model: null, promptTokens: null, completionTokens: null, tokensEstimated: false }
  if (connection === 'ai_languageModel') {
    const answer = task.data?.ai_languageModel?.[0]?.[0]?.json
    const usage = answer?.tokenUsage ?? answer?.tokenUsageEstimate
    return {
      model: task.inputOverride.ai_languageModel[0][0].json.options.model as string,
      promptTokens: usage?.promptTokens ?? null,
      completionTokens: usage?.completionTokens ?? null,
      tokensEstimated: Boolean(usage && !answer.tokenUsage),
    }
  }
  if (connection || kind !== 'LLM') return none
  const raw = items[0]?.json
  const usage = task.metadata?.tokenUsage
  return {
    model: raw?.model ?? node.parameters.modelId.value,
    promptTokens: usage?.inputTokens ?? raw?.usage?.prompt_tokens ?? raw?.usage?.input_tokens ?? null,
    completionTokens: usage?.outputTokens ?? raw?.usage?.completion_tokens ?? raw?.usage?.output_tokens ?? null,
    tokensEstimated: false,
  }
}

function kindOf(type: string): string {
  const name = type.split('.').at(-1)!
  const ofLangchain = type.startsWith('@n8n/n8n-nodes-langchain.')
  if (ofLangchain && /^(lm|modelSelector$|openAi$|anthropic$|googleGemini$|ollama$)/.test(name)) return 'LLM'
  if (ofLangchain && /^(agent$|agentTool$|chain|informationExtractor|sentimentAnalysis|textClassifier)/.test(name))
    return 'AGENT'
  if (/^tool|Tool$/.test(name)) return 'TOOL'
  if (/^n8n-nodes-base\.(code|function|functionItem)$/.test(type)) return 'CODE'
  if (type === 'n8n-nodes-base.httpRequest') return 'HTTP_REQUEST'
  if (/Trigger$|^webhook$/.test(name)) return 'TRIGGER'
  return 'OTHER'
}

function time(value: unknown): number | null {
  return typeof value === 'string' && value !== '' ? Date.parse(value) : null
}

function sum(values: (number | null)[]): number | null {
  const known = values.filter((one) => one !== null)
  return known.length === 0 ? null : known.reduce((total, one) => total + one, 0)
}
