// A month of runs of five agents on both platforms: what they post, with chance from a seed, and how a day becomes the past.
import { dueFrom } from '../../server/agents/rollups.ts'
import { Random } from '../../server/demo/random.ts'
import type { Sql } from '../../server/database/connect.ts'
import { ensurePartitions } from '../../server/database/partitions.ts'

const DAY_MS = 86_400_000

export interface MonthRun {
  agent: string
  platform: 'a' | 'b'
  body: object
  /** what went wrong, if anything did */
  trouble: string | null
}

/** How often the booking tool refuses a date that is not written as it asks for. */
const REFUSED = 0.3
const REFUSED_WHEN_TOLD = 0.02

export class Month {
  private readonly random: Random
  private count = 0

  constructor(seed: number) {
    this.random = new Random(seed)
  }

  /** Books tables. Its model writes dates as people do, unless its instruction says how to write them. */
  booking(fetchedPrompt: string): MonthRun {
    const { random } = this
    const id = `booking-${++this.count}`
    const own = { session_id: id, agent_name: 'Booking desk' }
    const isRefused = random.chance(fetchedPrompt.includes('YYYY-MM-DD') ? REFUSED_WHEN_TOLD : REFUSED)
    const day = random.pick(['next Friday', '3/9/2026', 'tomorrow', '9. März', 'the 14th'])
    const date = isRefused ? day : `2026-03-${random.between(10, 28)}`
    const guests = random.between(2, 8)
    const error = `Booking refused: date "${day}" is not valid, it must be in the format YYYY-MM-DD`
    const events = [
      {
        ...own,
        type: 'llm.call',
        model: 'gpt-4o-mini',
        input: `System: ${fetchedPrompt}\nYou book tables for a restaurant in Basel and answer in the language of the guest.\nHuman: a table for ${guests}, ${day}, please (${this.count})`,
        output: `create_booking ${date}`,
        prompt_tokens: random.between(300, 600),
        completion_tokens: random.between(20, 60),
        duration_ms: random.between(500, 1_500),
      },
      {
        ...own,
        type: 'tool.call',
        tool_name: 'create_booking',
        input: JSON.stringify({ date, guests }),
        duration_ms: random.between(80, 300),
        ...(isRefused ? { error } : { output: `{"booking": ${random.between(1_000, 9_999)}}` }),
      },
      // What failed the run is told again at its end, as people map it.
      { ...own, type: 'session.end', status: isRefused ? 'error' : 'success', ...(isRefused && { error }) },
    ]
    return { agent: 'Booking desk', platform: 'a', body: events, trouble: isRefused ? 'date' : null }
  }

  /** Sums up mails. One afternoon the provider takes no more requests. */
  digest(isBurst: boolean): MonthRun {
    const { random } = this
    const own = { session_id: `digest-${++this.count}`, agent_name: 'Mail digest' }
    const call = {
      ...own,
      type: 'llm.call',
      model: 'gpt-4o',
      input: `Sum up the mails of today in five lines: ${random.id(300)}`,
      prompt_tokens: random.between(900, 2_000),
      duration_ms: random.between(1_000, 3_000),
    }
    const error = `429 Rate limit reached for gpt-4o on tokens per min: Limit 30000, Used ${random.between(29_000, 30_000)}. Please try again in ${random.between(100, 900)}ms.`
    const body = isBurst
      ? [
          { ...call, error },
          { ...own, type: 'session.end', status: 'error' },
        ]
      : [
          { ...call, output: random.id(200), completion_tokens: 120 },
          { ...own, type: 'session.end', status: 'success' },
        ]
    return { agent: 'Mail digest', platform: 'a', body, trouble: isBurst ? 'burst' : null }
  }

  /** Scores leads. What goes wrong there, now and then, is always something else. */
  lead(error: string | null): MonthRun {
    const own = { session_id: `lead-${++this.count}`, agent_name: 'Lead scorer' }
    const isFailed = error !== null
    const body = [
      { ...own, type: 'llm.call', model: 'gpt-4o-mini', input: `Score lead ${this.count}`, output: '72' },
      {
        ...own,
        type: 'tool.call',
        tool_name: 'crm_update',
        input: `{"lead": ${this.count}}`,
        ...(isFailed && { error }),
      },
      { ...own, type: 'session.end', status: isFailed ? 'error' : 'success' },
    ]
    return { agent: 'Lead scorer', platform: 'a', body, trouble: error }
  }

  /** An agent of platform B with a tool; some of its runs take minutes. */
  order(isSlow: boolean): MonthRun {
    const { random } = this
    const began = Date.now() - 400_000
    const model = (run: number, text: string) => ({
      ...task(began + 1_000 * run, 2 * run + 1, random.between(600, 1_800), 'AI Agent'),
      inputOverride: {
        ai_languageModel: [
          [
            {
              json: {
                messages: [
                  `System: You answer questions about orders.\nHuman: where is order ${this.count}, round ${run}?`,
                ],
                options: { model: 'gpt-4o-mini' },
              },
            },
          ],
        ],
      },
      data: {
        ai_languageModel: [
          [
            {
              json: {
                response: { generations: [[{ text }]] },
                tokenUsage: { promptTokens: 400, completionTokens: 40, totalTokens: 440 },
              },
            },
          ],
        ],
      },
    })
    const runData = {
      Webhook: [{ ...task(began, 0, 3, null), data: { main: [[{ json: { body: { order: this.count } } }]] } }],
      'OpenAI Chat Model': [model(0, ''), model(1, `Order ${this.count} is on its way.`)],
      search_orders: [
        {
          ...task(began + 700, 2, isSlow ? 300_000 : random.between(80, 400), 'AI Agent'),
          inputOverride: { ai_tool: [[{ json: { query: { order: this.count } } }]] },
          data: { ai_tool: [[{ json: { response: `Order ${this.count}: in transit` } }]] },
        },
      ],
      'AI Agent': [
        { ...task(began + 5, 4, 2_500, 'Webhook'), data: { main: [[{ json: { output: 'On its way.' } }]] } },
      ],
    }
    const took = isSlow ? 303_000 : random.between(2_000, 4_000)
    const body = this.execution('Order status agent', runData, began, took, null)
    return { agent: 'Order status agent', platform: 'b', body, trouble: isSlow ? 'slow' : null }
  }

  /** A workflow of platform B without any model, whose request does not always work. */
  sync(isFlaky: boolean): MonthRun {
    const began = Date.now() - 400_000
    const error = {
      message: 'The service was not able to process your request',
      description: '502 Bad Gateway',
      name: 'NodeApiError',
      httpCode: '502',
      node: { name: 'Fetch stock', type: 'n8n-nodes-base.httpRequest' },
    }
    const runData = {
      'Schedule Trigger': [{ ...task(began, 0, 2, null), data: { main: [[{ json: { turn: this.count } }]] } }],
      'Fetch stock': [
        {
          ...task(began + 3, 1, this.random.between(100, 400), 'Schedule Trigger'),
          ...(isFlaky ? { executionStatus: 'error', error } : { data: { main: [[{ json: { items: 40 } }]] } }),
        },
      ],
    }
    const body = this.execution('Nightly stock', runData, began, 500, isFlaky ? 'Fetch stock' : null)
    return { agent: 'Nightly stock', platform: 'b', body, trouble: isFlaky ? 'flaky' : null }
  }

  private execution(name: string, runData: object, began: number, tookMs: number, failedAt: string | null): object {
    const types: Record<string, string> = {
      Webhook: 'n8n-nodes-base.webhook',
      'Schedule Trigger': 'n8n-nodes-base.scheduleTrigger',
      'AI Agent': '@n8n/n8n-nodes-langchain.agent',
      'OpenAI Chat Model': '@n8n/n8n-nodes-langchain.lmChatOpenAi',
      search_orders: 'n8n-nodes-base.httpRequestTool',
      'Fetch stock': 'n8n-nodes-base.httpRequest',
    }
    return {
      execution: {
        id: String(++this.count),
        workflowId: `wf-${name.length}`,
        finished: failedAt === null,
        mode: 'webhook',
        status: failedAt === null ? 'success' : 'error',
        startedAt: new Date(began).toISOString(),
        stoppedAt: new Date(began + tookMs).toISOString(),
        data: { version: 1, resultData: { runData, lastNodeExecuted: failedAt ?? Object.keys(runData).at(-1) } },
        workflowData: {
          id: `wf-${name.length}`,
          name,
          nodes: Object.keys(runData).map((node) => ({ name: node, type: types[node] })),
        },
      },
    }
  }
}

const task = (startTime: number, executionIndex: number, executionTime: number, previousNode: string | null) => ({
  startTime,
  executionIndex,
  executionTime,
  executionStatus: 'success',
  source: previousNode === null ? [] : [{ previousNode }],
})

/** Makes all that is stored as much older, so that windows of days mean what they say. */
export async function letDaysPass(sql: Sql, days: number): Promise<void> {
  for (let back = 4; back >= 0; back--) await ensurePartitions(sql, Date.now() - 8 * back * DAY_MS)
  const older: Record<string, string[]> = {
    sessions: ['first_seen_at', 'started_at', 'last_event_at', 'closed_at'],
    failures: ['seen_at'],
    findings: ['seen_at'],
    prompt_versions: ['created_at', 'decided_at', 'activated_at', 'retired_at', 'last_fetched_at'],
    prompt_decisions: ['decided_at'],
  }
  await sql.begin(async (tx) => {
    await tx`update events set day = day - ${days}::int, occurred_at = occurred_at - ${days} * interval '1 day', received_at = received_at - ${days} * interval '1 day'`
    for (const [table, columns] of Object.entries(older)) {
      const set = columns.map((column) => `${column} = ${column} - interval '${days} days'`)
      await tx.unsafe(`update ${table} set ${set.join(', ')}`)
    }
    await tx`delete from agent_rollups`
    await tx.unsafe(dueFrom('sessions'))
  })
}
