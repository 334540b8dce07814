// Executions of platform B made step by step in the shape that n8n records, with or without what tells a batch.

/** What came with the execution. The API sends all of it; other ways to send one leave parts out. */
export interface Shape {
  /** workflowData.nodes with the type of each node */
  types: boolean
  /** pairedItem, and sourceOverwrite on later batches */
  pairs: boolean
  /** which run led to which */
  sources: boolean
}
export const AS_RECORDED: Shape = { types: true, pairs: true, sources: true }
export const UNTYPED: Shape = { ...AS_RECORDED, types: false }
export const BARE: Shape = { types: false, pairs: false, sources: true }

export interface Ref {
  node: string
  run: number
}

export interface Step {
  /** n8n's node type without its package */
  type?: string
  /** what led to it: the step before unless told otherwise */
  from?: Ref | Ref[] | null
  /** json of its output items */
  json?: unknown[]
  /** input item that the first output item is paired with */
  paired?: number
  /** the items were handed out again from an earlier node, as a batch node does */
  overwrites?: boolean
  error?: string
  metadata?: object
  ms?: number
}

const LANGCHAIN = /^(agent|agentTool|chain.*|lm.*|tool.*|text.*|vectorStore.*|information.*)$/
const START = Date.UTC(2026, 10, 21)

export class GeneratedExecution {
  readonly runData: Record<string, any[]> = Object.create(null)
  private readonly typeOf = new Map<string, string>()
  private clock = START
  private index = 0
  last: Ref | null = null

  /** @param tick milliseconds from one step's start to the next */
  constructor(
    private readonly shape: Shape = AS_RECORDED,
    private readonly tick = 10,
  ) {
    this.step('Webhook', { type: 'webhook', from: null })
  }

  /** A step on the main line; the next one follows it. */
  step(name: string, { type = 'code', from = this.last, json = [{ ok: true }], ...rest }: Step = {}): Ref {
    const items = json.map((one, i) => ({ json: one, ...this.pair((rest.paired ?? 0) + i, rest.overwrites ?? false) }))
    const sources = from === null ? [] : [from].flat()
    this.last = this.add(name, type, {
      source: sources.map(({ node, run }) => ({ previousNode: node, previousNodeOutput: 0, previousNodeRun: run })),
      ...(rest.error === undefined ? { data: { main: [items] } } : { error: errorOf(rest.error) }),
      ...(rest.metadata && { metadata: rest.metadata }),
      executionStatus: rest.error === undefined ? 'success' : 'error',
      executionTime: rest.ms ?? Math.min(5, this.tick),
    })
    return this.last
  }

  /** Announces an agent's run, whose own task is recorded after what ran inside it. */
  nextRun(name: string): Ref {
    return { node: name, run: this.runData[name]?.length ?? 0 }
  }

  model(parent: Ref, said: unknown, name = 'Model', type = 'lmChatOpenAi'): void {
    this.add(name, type, {
      source: [{ previousNode: parent.node, previousNodeRun: parent.run }],
      inputOverride: { ai_languageModel: [[{ json: { messages: [`Human: ${said}`], options: { model: 'gpt-4o' } } }]] },
      data: { ai_languageModel: [[{ json: { response: { generations: [[{ text: `Answer ${said}` }]] } } }]] },
      executionStatus: 'success',
      executionTime: 5,
    })
  }

  tool(parent: Ref, asked: unknown, answered: unknown, name = 'search', type = 'toolHttpRequest'): void {
    this.add(name, type, {
      source: [{ previousNode: parent.node, previousNodeRun: parent.run }],
      inputOverride: { ai_tool: [[{ json: asked }]] },
      data: { ai_tool: [[{ json: answered }]] },
      executionStatus: 'success',
      executionTime: 5,
    })
  }

  /** A retry and the resumption of a wait count their steps from 0 again. */
  restartIndex(): void {
    this.index = 0
  }

  /** Time that passes outside of any step. */
  pass(ms: number): void {
    this.clock += ms
  }

  execution(own: object = {}): any {
    return {
      id: '1',
      workflowId: 'w',
      mode: 'webhook',
      status: 'success',
      startedAt: new Date(START).toISOString(),
      stoppedAt: new Date(this.clock).toISOString(),
      data: { resultData: { runData: this.runData } },
      ...(this.shape.types && {
        workflowData: { id: 'w', name: 'W', nodes: [...this.typeOf].map(([name, type]) => ({ name, type })) },
      }),
      ...own,
    }
  }

  private add(name: string, type: string, task: any): Ref {
    this.typeOf.set(name, `${LANGCHAIN.test(type) ? '@n8n/n8n-nodes-langchain' : 'n8n-nodes-base'}.${type}`)
    if (!this.shape.sources && !('inputOverride' in task)) task.source = [null]
    const runs = (this.runData[name] ??= [])
    runs.push({ startTime: this.clock, executionIndex: this.index++, hints: [], ...task })
    this.clock += this.tick
    return { node: name, run: runs.length - 1 }
  }

  private pair(item: number, overwrites: boolean): object {
    if (!this.shape.pairs) return {}
    const sourceOverwrite = { previousNode: 'Make Items', previousNodeOutput: 0, previousNodeRun: 0 }
    return { pairedItem: overwrites ? { item, sourceOverwrite } : { item } }
  }
}

const errorOf = (message: string) => ({ level: 'warning', name: 'NodeOperationError', message, messages: [] })

export type OutputOf = (round: number) => unknown
export const changing: OutputOf = (round) => round
export const equal: OutputOf = () => 'the same'

/** The same steps again and again, each with the output of its round. */
export function rounds(run: GeneratedExecution, names: string[], times: number, output: OutputOf): void {
  for (let round = 0; round < times; round++) for (const name of names) run.step(name, { json: [{ n: output(round) }] })
}

/** A batch over so many items, as Loop Over Items is recorded: a run for each batch, and one when it is done. */
export function batch(
  run: GeneratedExecution,
  count: number,
  body: (item: number) => void,
  { name = 'Loop Over Items', size = 1 } = {},
): void {
  run.step('Make Items', { json: Array.from({ length: count }, (_, item) => ({ item })) })
  for (let item = 0; item < count; item += size) {
    const json = Array.from({ length: Math.min(size, count - item) }, (_, i) => ({ item: item + i }))
    run.step(name, { type: 'splitInBatches', json, paired: item, overwrites: item > 0 })
    body(item)
  }
  run.step(name, { type: 'splitInBatches', json: [{ done: true }], overwrites: true })
}

/** An agent or chain: its model and tools are recorded before its own task. */
export function agent(
  run: GeneratedExecution,
  inside: (parent: Ref) => void,
  { type = 'agent', items = 1, ...own }: Step & { items?: number } = {},
): void {
  const name = type === 'agent' ? 'AI Agent' : 'Chain'
  inside(run.nextRun(name))
  run.step(name, { type, json: Array.from({ length: items }, (_, item) => ({ item })), ...own })
}
