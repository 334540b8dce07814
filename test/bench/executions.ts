// Executions of platform B as the bench posts and classifies them: ten node runs each, one in twenty fails.

const AGENTS = ['Order triage', 'Lead scoring', 'Invoice intake', 'Ticket summary', 'Stock check']
const NODES: [name: string, type: string][] = [
  ['Webhook', 'n8n-nodes-base.webhook'],
  ['Read order', 'n8n-nodes-base.httpRequest'],
  ['Check fields', 'n8n-nodes-base.if'],
  ['Enrich', 'n8n-nodes-base.code'],
  ['Summarise', '@n8n/n8n-nodes-langchain.chainLlm'],
  ['OpenAI Chat Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi'],
  ['Decide', 'n8n-nodes-base.switch'],
  ['Write row', 'n8n-nodes-base.googleSheets'],
  ['Tell the team', 'n8n-nodes-base.slack'],
  ['Answer', 'n8n-nodes-base.respondToWebhook'],
]
const STARTED_AT = 1_795_219_257_000

/** The body of one post. */
export function executionBody(seed: number, id: string) {
  const fails = seed % 20 === 0
  const runData: Record<string, object[]> = {}
  NODES.forEach(([name], i) => {
    const isModel = name === 'OpenAI Chat Model'
    const source = i === 0 ? [] : [{ previousNode: isModel ? 'Summarise' : NODES[i - 1]![0] }]
    const json = isModel
      ? { response: { generations: [[{ text: `Order ${seed} is late.` }]] }, tokenUsage: tokensOf(seed) }
      : { order: seed, note: 'the customer asks when it will arrive', step: i }
    const run = {
      startTime: STARTED_AT + i * 120,
      executionIndex: i,
      executionTime: 90 + ((seed * 7 + i) % 60),
      executionStatus: 'success',
      source,
      data: { [isModel ? 'ai_languageModel' : 'main']: [[{ json, pairedItem: { item: 0 } }]] },
    }
    const error = { name: 'NodeApiError', message: `Sheet ${seed} is locked`, httpCode: '423' }
    runData[name] = [fails && name === 'Write row' ? { ...run, executionStatus: 'error', error } : run]
  })
  const agent = seed % AGENTS.length
  return {
    execution: {
      id,
      workflowId: `wf${agent}`,
      workflowName: AGENTS[agent],
      status: fails ? 'error' : 'success',
      mode: 'webhook',
      startedAt: new Date(STARTED_AT).toISOString(),
      stoppedAt: new Date(STARTED_AT + 1_300 + ((seed * 37) % 900)).toISOString(),
      data: { resultData: { runData } },
      workflowData: { nodes: NODES.map(([name, type]) => ({ name, type })) },
    },
  }
}

const tokensOf = (seed: number) => ({
  promptTokens: 200 + ((seed * 13) % 300),
  completionTokens: 20 + ((seed * 7) % 70),
  totalTokens: 0,
})
