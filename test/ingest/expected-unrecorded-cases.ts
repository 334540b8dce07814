// Shapes that PLATFORMS.md describes and no file of the folder has, made from a recording by one change.
import { platformBRecordings, recording } from '../fixtures/recordings.ts'

export interface UnrecordedCase {
  execution: any
  session?: Record<string, unknown>
  /** step -> what it must look like, in GraphQL's fields */
  steps?: Record<string, unknown>
  /** step -> part of its error text; no other step has an error */
  errors?: Record<string, string>
}

const changed = (file: string, change: (execution: any, runData: any) => void): any => {
  const execution = structuredClone(recording(platformBRecordings, `${file}.json`).value)
  change(execution, execution.data.resultData.runData)
  return execution
}

const named = (file: string, from: string, to: string): any =>
  JSON.parse(recording(platformBRecordings, `${file}.json`).text.replaceAll(`"${from}"`, `"${to}"`)).execution

const placeholder = ({ inputOverride, source }: any) => ({
  inputOverride,
  source,
  executionIndex: 0,
  executionTime: 0,
  startTime: 0,
})

export const unrecordedCases: Record<string, UnrecordedCase> = {
  'a tool of n8n 1.x that only answers "There was an error:"': {
    execution: changed('v1-05-agent-v22', (_, runData) => {
      runData.get_weather[0].data.ai_tool[0][0].json = { response: 'There was an error: "Weather service is down"' }
    }),
    session: { status: 'COMPLETED', errorCount: 1 },
    errors: { 'get_weather #0': 'Weather service is down' },
  },
  'an error that the workflow redacts': {
    execution: changed('04-http-error-404', (execution, runData) => {
      const redactedError = { type: 'NodeApiError', httpCode: '404' }
      const [task] = runData['Push to CRM']
      delete task.error
      task.redactedError = redactedError
      runData.Webhook[0].data.main[0][0].json = {}
      runData.Webhook[0].data.main[0][0].redaction = { redacted: true, reason: 'workflow_redaction_policy' }
      delete execution.data.resultData.error
      execution.data.resultData.redactedError = redactedError
    }),
    session: { status: 'FAILED', errorCount: 1 },
    steps: { 'Push to CRM #0': { status: 'error', error: { httpStatus: '404' } } },
    errors: { 'Push to CRM #0': '' },
  },
  'an agent that is missing and a tool that was never reached': {
    execution: changed('11-agent-v3-tools-memory', (_, runData) => {
      delete runData['AI Agent']
      runData.calculate_discount = [placeholder(runData.calculate_discount[0])]
    }),
    session: { eventCount: 7, promptTokens: 517, completionTokens: 57 },
    steps: {
      'calculate_discount #0': { occurredAt: null, durationMs: null, status: null, parentName: 'AI Agent' },
      'OpenAI Chat Model #1': { parentName: 'AI Agent', promptTokens: 334 },
    },
    errors: {},
  },
  'an error that n8n takes for a cancellation': {
    execution: changed('04-http-error-500', (execution) => (execution.status = 'canceled')),
    session: { status: 'COMPLETED', reportedStatus: 'canceled', errorCount: 1 },
    errors: { 'Push to CRM #0': 'lab nested 500' },
  },
  'a failed model in an agent that went on': {
    execution: changed('18-agent-model-429', (execution, runData) => {
      execution.status = 'success'
      delete execution.data.resultData.error
      delete runData['AI Agent'][0].error
      runData['AI Agent'][0].executionStatus = 'success'
      runData['AI Agent'][0].data = { main: [[{ json: { error: 'Rate limit reached for fail-429' } }]] }
    }),
    session: { status: 'COMPLETED', errorCount: 2 },
    errors: {
      'AI Agent #0': 'Rate limit reached for fail-429',
      'OpenAI Chat Model #0': 'Rate limit reached for fail-429',
    },
  },
  'an error that is only text': {
    execution: changed('02-code-error', (execution, runData) => {
      runData['Calculate Price'][0].error = 'boom'
      execution.data.resultData.error = 'boom'
    }),
    session: { status: 'FAILED', errorMessage: 'boom' },
    errors: { 'Calculate Price #0': 'boom' },
  },
  'an error that has nothing but messages': {
    execution: changed('04-http-error-refused', (execution, runData) => {
      for (const error of [runData['Push to CRM'][0].error, execution.data.resultData.error]) {
        error.description = null
        error.message = ''
      }
    }),
    session: { errorMessage: 'connect ECONNREFUSED 127.0.0.1:9' },
    errors: { 'Push to CRM #0': 'connect ECONNREFUSED 127.0.0.1:9' },
  },
  'runs of an old n8n without executionIndex, all in one millisecond': {
    execution: changed('01-basic-success', (_, runData) => {
      for (const [task] of Object.values<any>(runData)) {
        delete task.executionIndex
        task.startTime = 1795219248973
      }
    }),
    session: { eventCount: 5 },
  },
  'an agent of which nothing but the run data came': {
    execution: changed('11-agent-v3-tools-memory', (execution) => delete execution.workflowData),
    session: {
      agent: 'labAgentTools000',
      promptTokens: 517,
      completionTokens: 57,
      models: ['gpt-4o-mini'],
      llmCalls: 2,
    },
    steps: {
      'OpenAI Chat Model #0': { kind: 'LLM', kindSource: 'data' },
      'get_weather #0': { kind: 'TOOL', kindSource: 'data' },
      'AI Agent #0': { kind: 'AGENT', kindSource: 'data' },
    },
    errors: {},
  },
  'vendor nodes of which nothing but the run data came': {
    execution: changed('27-vendor-nodes', (execution) => delete execution.workflowData),
    session: { promptTokens: 63, completionTokens: 40, models: ['gpt-4o-mini-2024-07-18'], llmCalls: 5 },
    steps: { 'Anthropic message #0': { kind: 'LLM', kindSource: 'data', model: null } },
    errors: {},
  },
  'vendor nodes of n8n 1.x, whose raw answers alone carry usage': {
    execution: changed('27-vendor-nodes', (_, runData) => {
      for (const [task] of Object.values<any>(runData)) delete task.metadata
    }),
    session: { promptTokens: 27, completionTokens: 16 },
    errors: {},
  },
  'a node named __proto__': {
    execution: named('01-basic-success', 'Approve', '__proto__'),
    session: { eventCount: 5 },
  },
  'a node named constructor': {
    execution: named('02-code-error', 'Webhook', 'constructor'),
    session: { eventCount: 2 },
  },
}
