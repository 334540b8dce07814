// An execution of platform B as n8n has it: nodes with their runs, an agent with its sub-nodes, failures and loops.
import type { Run } from './platform-a-run.ts'
import type { Random } from './random.ts'
import { filled, RATE_LIMIT, vocabulary, type Vocabulary } from './scripts.ts'

interface Node {
  name: string
  type: string
}

/** What rules find on runs that completed: a request that hangs, far too long a contract, an agent that asks on and on. */
const TROUBLES = ['SLOW', 'COSTLY', 'STUCK'] as const
type Trouble = (typeof TROUBLES)[number]

interface Workflow {
  id: string
  name: string
  /** which of them it has at times */
  trouble?: Trouble
  nodes: Node[]
  work(execution: Execution): void
}

const WEBHOOK = { name: 'Webhook', type: 'n8n-nodes-base.webhook' }
const SCHEDULE = { name: 'Schedule Trigger', type: 'n8n-nodes-base.scheduleTrigger' }
const AGENT = { name: 'AI Agent', type: '@n8n/n8n-nodes-langchain.agent' }
const HTTP = { name: 'HTTP Request', type: 'n8n-nodes-base.httpRequest' }
const CODE = { name: 'Code', type: 'n8n-nodes-base.code' }
const LOOP = { name: 'Loop Over Items', type: 'n8n-nodes-base.splitInBatches' }
const OPENAI = { name: 'OpenAI Chat Model', type: '@n8n/n8n-nodes-langchain.lmChatOpenAi' }
const ANTHROPIC = { name: 'Anthropic Chat Model', type: '@n8n/n8n-nodes-langchain.lmChatAnthropic' }
const SEARCH_TOOL = { name: 'search_orders', type: 'n8n-nodes-base.httpRequestTool' }
const CLAUSE_TOOL = { name: 'find_clause', type: '@n8n/n8n-nodes-langchain.toolVectorStore' }

const WORKFLOWS: Workflow[] = [
  {
    id: 'demoInvoice00001',
    name: 'Invoice extractor',
    trouble: 'SLOW',
    nodes: [WEBHOOK, HTTP, AGENT, OPENAI, CODE],
    work(run) {
      run.node(WEBHOOK, { body: { file: 'invoice-{order}.pdf', from: '{company}' } }, [2, 12])
      if (
        !run.node(
          HTTP,
          { text: 'Invoice {order} of {company}, total {amount} EUR, due in {days} days' },
          run.trouble === 'SLOW' ? [95_000, 160_000] : [200, 1400],
          'The service was not able to process your request: 502 Bad Gateway',
        )
      )
        return
      const prompt =
        'System: Extract the fields of this invoice as JSON.\nHuman: Invoice {order} of {company}, total {amount} EUR'
      if (
        !run.agent([
          {
            model: 'gpt-4o-mini',
            node: OPENAI,
            prompt,
            answer: '{"number": "{order}", "supplier": "{company}", "total": {amount}, "currency": "EUR"}',
          },
        ])
      )
        return
      run.node(
        CODE,
        { number: '{order}', supplier: '{company}', total: '{amount}', isValid: true },
        [3, 30],
        "Cannot read properties of undefined (reading 'total') [line 4]",
      )
    },
  },
  {
    id: 'demoContract0001',
    name: 'Contract reviewer',
    trouble: 'COSTLY',
    nodes: [WEBHOOK, AGENT, ANTHROPIC, CLAUSE_TOOL, CODE],
    work(run) {
      run.node(WEBHOOK, { body: { contract: '{company} framework agreement', requestedBy: '{person}' } }, [2, 12])
      const reads: Turn['reads'] = run.trouble === 'COSTLY' ? [280_000, 420_000] : undefined
      const prompt =
        'System: You review contracts for {company}.\nHuman: List the clauses that deviate from our standard.'
      const isDone = run.agent([
        {
          model: 'claude-sonnet-4-5',
          node: ANTHROPIC,
          reads,
          prompt,
          answer: '',
          tool: {
            node: CLAUSE_TOOL,
            asked: { query: 'limitation of liability' },
            found: { response: '12.3 Liability is limited to {amount} EUR.' },
            error: 'The vector store did not answer: ECONNREFUSED',
          },
        },
        {
          model: 'claude-sonnet-4-5',
          node: ANTHROPIC,
          reads,
          prompt: `${prompt}\nTool: 12.3 Liability is limited to {amount} EUR.`,
          answer:
            '1. **Liability (12.3)** is limited to {amount} EUR; our standard is twice the yearly fee.\n2. **Notice period (15.1)** is {days} days; our standard is 90.\n\nI recommend to negotiate both.',
        },
      ])
      if (isDone) run.node(CODE, { deviations: 2, reviewer: '{person}' }, [2, 15])
    },
  },
  {
    id: 'demoOrders000001',
    name: 'Order status agent',
    trouble: 'STUCK',
    nodes: [WEBHOOK, AGENT, OPENAI, SEARCH_TOOL, HTTP],
    work(run) {
      run.node(WEBHOOK, { body: { question: 'Where is order {order}?', name: '{person}' } }, [2, 12])
      const prompt = 'System: You answer questions about orders.\nHuman: Where is order {order}?'
      const isStuck = run.trouble === 'STUCK'
      const search: Turn = {
        model: 'gpt-4o',
        node: OPENAI,
        isSure: isStuck,
        prompt,
        answer: '',
        tool: {
          node: SEARCH_TOOL,
          asked: { order: '{order}' },
          found: isStuck ? { orders: [] } : { status: 'in transit', days_late: '{days}' },
          error: 'Request failed with status code 404: order {order} not found',
        },
      }
      const isDone = run.agent([
        ...Array<Turn>(isStuck ? run.random.between(24, 40) : 1).fill(search),
        {
          model: 'gpt-4o',
          node: OPENAI,
          prompt: `${prompt}\nTool: {"status": "in transit"}`,
          answer: 'Hi {person}, your order {order} is on its way and should be there within {days} days.',
        },
      ])
      if (isDone)
        run.node(HTTP, { delivered: true, channel: 'e-mail' }, [150, 900], 'connect ECONNREFUSED 10.0.4.17:443')
    },
  },
  {
    id: 'demoSync00000001',
    name: 'Nightly CRM sync',
    nodes: [SCHEDULE, LOOP, HTTP, CODE],
    work(run) {
      run.node(SCHEDULE, { timestamp: 'every night' }, [0, 3])
      const isRunaway = run.random.chance(0.2)
      const rounds = isRunaway ? run.random.between(30, 60) : run.random.between(4, 9)
      for (let round = 0; round < rounds; round++) {
        run.node(LOOP, { page: isRunaway ? 1 : round + 1 }, [0, 2])
        const isLast = round === rounds - 1
        const error = isLast ? 'The service is receiving too many requests from you' : undefined
        if (!run.node(HTTP, { page: isRunaway ? 1 : round + 1, updated: 25, hasMore: true }, [60, 400], error)) return
      }
      run.node(CODE, { pages: rounds }, [1, 10])
    },
  },
]

interface Turn {
  model: string
  node: Node
  /** tokens of its prompt, where they are not as usual */
  reads?: [from: number, to: number] | undefined
  /** neither the model nor the tool fails */
  isSure?: boolean
  prompt: string
  answer: string
  tool?: { node: Node; asked: object; found: object; error: string }
}

/** How many executions there are for one of each trouble: more of them would be what is usual. */
const RARE = 120
const NODE_FAILURE_SHARE = 0.09
const TOOL_FAILURE_SHARE = 0.12
const MODEL_FAILURE_SHARE = 0.04

/** Nodes run one after the other on a clock of the execution's own. */
class Execution {
  readonly runData: Record<string, object[]> = {}
  readonly words: Vocabulary
  failed: { node: string; message: string } | null = null
  lastNode = ''
  private index = 0

  constructor(
    readonly random: Random,
    public nowMs: number,
    readonly trouble: Trouble | null,
  ) {
    this.words = vocabulary(random)
  }

  /** @returns false where the node failed, which ends the execution */
  node(node: Node, json: object, takes: [number, number], mayFail?: string): boolean {
    const error = mayFail !== undefined && this.random.chance(NODE_FAILURE_SHARE) ? mayFail : null
    const source = this.lastNode ? [{ previousNode: this.lastNode }] : []
    this.add(node, takes, source, error === null ? { data: { main: [[{ json }]] } } : { error: nodeError(node, error) })
    this.lastNode = node.name
    if (error !== null) this.failed = { node: node.name, message: error }
    return error === null
  }

  /** An agent's turns: a model call each, and the tool that it asked for. The agent's own run comes last. */
  agent(turns: Turn[]): boolean {
    const source = [{ previousNode: AGENT.name, previousNodeRun: 0 }]
    const began = this.nowMs
    for (const turn of turns) {
      const asked = { ai_languageModel: [[{ json: { messages: [turn.prompt], options: { model: turn.model } } }]] }
      if (!turn.isSure && this.random.chance(MODEL_FAILURE_SHARE)) {
        const message = `Request failed with status code 429: ${RATE_LIMIT}`
        this.add(turn.node, [200, 900], source, {
          inputOverride: asked,
          error: { message, name: 'Error', description: null, httpCode: '429' },
        })
        this.failed = { node: AGENT.name, message }
        this.add(AGENT, [1, 9], [{ previousNode: this.lastNode }], { error: nodeError(AGENT, message) }, began)
        this.lastNode = AGENT.name
        return false
      }
      const promptTokens = this.random.between(...(turn.reads ?? [250, 5_200]))
      const completionTokens = this.random.between(20, 650)
      const answered = {
        response: {
          generations: [[{ text: turn.answer, generationInfo: { finish_reason: turn.tool ? 'tool_calls' : 'stop' } }]],
        },
        tokenUsage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
      }
      this.add(turn.node, [700, 4_500], source, {
        inputOverride: asked,
        data: { ai_languageModel: [[{ json: answered }]] },
      })
      if (!turn.tool) continue
      const { node, asked: input, found, error } = turn.tool
      const result =
        !turn.isSure && this.random.chance(TOOL_FAILURE_SHARE)
          ? { error: { message: error, name: 'NodeApiError', description: null } }
          : { data: { ai_tool: [[{ json: found }]] } }
      this.add(node, [100, 1_200], source, { inputOverride: { ai_tool: [[{ json: input }]] }, ...result })
    }
    const output = turns.at(-1)!.answer
    this.add(AGENT, [5, 60], [{ previousNode: this.lastNode }], { data: { main: [[{ json: { output } }]] } }, began)
    this.lastNode = AGENT.name
    return true
  }

  private add(node: Node, takes: [number, number], source: object[], rest: object, startTime = this.nowMs): void {
    const executionTime = this.random.between(...takes)
    const task = {
      startTime,
      executionIndex: this.index++,
      executionTime,
      executionStatus: 'error' in rest ? 'error' : 'success',
      source,
      hints: [],
      ...rest,
    }
    ;(this.runData[node.name] ??= []).push(filledIn(task, this.words))
    this.nowMs += executionTime
  }
}

const nodeError = ({ name, type }: Node, message: string) => ({
  message: 'The node could not do its work',
  description: message,
  name: 'NodeApiError',
  node: { name, type },
})

/** Texts inside a task get the run's particulars; everything else stays. */
function filledIn(task: object, words: Vocabulary): object {
  return JSON.parse(JSON.stringify(task), (_key, value: unknown) =>
    typeof value === 'string' ? filled(value, words) : value,
  ) as object
}

/** @param startedAt of an execution that is over, epoch milliseconds; null for one that runs from now on */
export function platformBRun(random: Random, number: number, startedAt: number | null, now: number): Run {
  const trouble = TROUBLES[((number % RARE) * TROUBLES.length) / RARE] ?? null
  const workflow = WORKFLOWS.find((one) => trouble !== null && one.trouble === trouble) ?? random.pick(WORKFLOWS)
  const began = startedAt ?? now
  const execution = new Execution(random, began, trouble)
  workflow.work(execution)
  const failed = execution.failed && { ...execution.failed, message: filled(execution.failed.message, execution.words) }
  const head = {
    id: String(number),
    workflowId: workflow.id,
    mode: workflow.nodes[0] === SCHEDULE ? 'trigger' : 'webhook',
    startedAt: new Date(began).toISOString(),
  }
  const whole = {
    ...head,
    finished: failed === null,
    retryOf: null,
    status: failed === null ? 'success' : 'error',
    stoppedAt: new Date(execution.nowMs).toISOString(),
    data: {
      version: 1,
      resultData: {
        runData: execution.runData,
        lastNodeExecuted: execution.lastNode,
        ...(failed && { error: { message: failed.message, node: { name: failed.node } } }),
      },
    },
    workflowData: { id: workflow.id, name: workflow.name, nodes: workflow.nodes },
  }
  const title = failed === null ? workflow.name : `${workflow.name} (fails)`
  const last = {
    afterMs: startedAt === null ? execution.nowMs - began : 0,
    platform: 'b' as const,
    body: { execution: whole },
  }
  // A workflow may report itself when it starts, and be fetched whole when it is over.
  if (startedAt !== null || random.chance(0.5)) return { title, posts: [last] }
  const first = { execution: { ...head, workflowName: workflow.name, status: 'running' } }
  return { title, posts: [{ afterMs: 0, platform: 'b', body: first }, last] }
}
