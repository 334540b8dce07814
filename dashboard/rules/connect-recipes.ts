// Owns the recipes that send the runs of n8n and Zapier here: nodes to paste, and what stands in which field.
import { ingestEndpoint } from './first-events.ts'

/** Nodes that are pasted look for a credential of this name, so that no key is in a workflow. */
export const credentialName = 'Runwatch'
interface Node {
  name: string
  type: string
  typeVersion: number
  parameters: object
  position: [x: number, y: number]
  [setting: string]: unknown
}
type Connections = Record<string, { main: { node: string; type: 'main'; index: number }[][] }>

/** Ids of nodes are only their own within one workflow; n8n makes new ones when it pastes. */
const pasted = (idStart: string, nodes: readonly Node[], connections: Connections = {}) =>
  JSON.stringify(
    { nodes: nodes.map((node, index) => ({ id: `${idStart}${index + 1}`, ...node })), connections },
    null,
    2,
  )

const to = (...names: string[]) => names.map((node) => ({ node, type: 'main' as const, index: 0 }))
const expression = (lines: readonly string[]) => `={{ {\n${lines.map((line) => `  ${line}`).join('\n')}\n} }}`

/** One post for any number of items, and the key from the credential. */
const post = (address: string, name: string, jsonBody: string, position: Node['position']): Node => ({
  name,
  type: 'n8n-nodes-base.httpRequest',
  typeVersion: 4.2,
  parameters: {
    method: 'POST',
    url: ingestEndpoint(address, 'platform-b'),
    authentication: 'genericCredentialType',
    genericAuthType: 'httpHeaderAuth',
    sendBody: true,
    specifyBody: 'json',
    jsonBody,
    options: { timeout: 10_000 },
  },
  credentials: { httpHeaderAuth: { id: null, name: credentialName } },
  retryOnFail: true,
  maxTries: 3,
  waitBetweenTries: 2000,
  position,
})

const clockNode = 'Runwatch start'
const endNode = 'Send to Runwatch'

/** Notes when the run began: a running workflow of n8n does not know it. */
export const n8nClock = (): string =>
  pasted('0d3b8f5e-6a51-4a3e-9a0e-3c1f5b7e000', [
    {
      name: clockNode,
      type: 'n8n-nodes-base.set',
      typeVersion: 3.4,
      parameters: {
        assignments: {
          assignments: [
            {
              id: 'b8f3c1d2-5a4e-4f7b-8c2d-1e0f9a8b7c6d',
              name: 'runStartedAt',
              value: '={{ $now.toISO() }}',
              type: 'string',
            },
          ],
        },
        includeOtherFields: true,
        options: {},
      },
      position: [0, 0],
    },
  ])

/** At the end of a workflow: a run that gets there has succeeded. A refusal never fails it. */
export const n8nEnd = (address: string): string =>
  pasted('1f0c2a6d-3b7e-4c58-8d21-6e9a4b5c000', [
    {
      ...post(
        address,
        endNode,
        expression([
          'execution: {',
          '  id: $execution.id,',
          '  workflowId: $workflow.id,',
          '  workflowName: $workflow.name,',
          '  status: "success",',
          `  startedAt: (() => { try { return $('${clockNode}').first().json.runStartedAt } catch { return undefined } })(),`,
          '  stoppedAt: $now,',
          '  mode: $execution.mode',
          '}',
        ]),
        [0, 0],
      ),
      executeOnce: true,
      onError: 'continueRegularOutput',
    },
  ])

const errorTrigger: Node = {
  name: 'When a run fails',
  type: 'n8n-nodes-base.errorTrigger',
  typeVersion: 1,
  parameters: {},
  position: [0, 0],
}

/** A workflow of its own, named as the error workflow of others. A trigger that fails has no execution. */
export const n8nErrorWorkflow = (address: string): string =>
  pasted(
    '2a9d4e7f-8c1b-4d36-b5f0-7d2e8a3b000',
    [
      errorTrigger,
      post(
        address,
        'Send failure to Runwatch',
        expression([
          'execution: {',
          '  id: $json.execution?.id ?? "trigger-" + $execution.id,',
          '  workflowId: $json.workflow.id,',
          '  workflowName: $json.workflow.name,',
          '  status: "error",',
          '  mode: ($json.execution ?? $json.trigger)?.mode,',
          '  lastNodeExecuted: $json.execution?.lastNodeExecuted,',
          '  retryOf: $json.execution?.retryOf,',
          '  url: $json.execution?.url,',
          '  error: {',
          '    name: ($json.execution ?? $json.trigger)?.error?.name,',
          '    message: ($json.execution ?? $json.trigger)?.error?.message,',
          '    description: ($json.execution ?? $json.trigger)?.error?.description,',
          '    httpCode: ($json.execution ?? $json.trigger)?.error?.httpCode',
          '  }',
          '}',
        ]),
        [240, 0],
      ),
    ],
    { [errorTrigger.name]: { main: [to('Send failure to Runwatch')] } },
  )

const waitNode = 'Wait for its end'
const getNode = 'Get the run with its data'
const endedNode = 'Has it ended?'
const wholeNode = 'Send the whole run to Runwatch'

/** A workflow of its own, called at the end of others and named as their error workflow. */
export const n8nFollowUp = (address: string): string =>
  pasted(
    '3c5b9f1a-2e6d-4b80-a7c4-9f1d0e2c000',
    [
      {
        name: 'When a run calls it',
        type: 'n8n-nodes-base.executeWorkflowTrigger',
        typeVersion: 1.1,
        parameters: { inputSource: 'passthrough' },
        position: [0, 0],
      },
      { ...errorTrigger, position: [0, 180] },
      {
        name: waitNode,
        type: 'n8n-nodes-base.wait',
        typeVersion: 1.1,
        parameters: { amount: 5, unit: 'seconds' },
        position: [240, 80],
      },
      {
        name: getNode,
        type: 'n8n-nodes-base.n8n',
        typeVersion: 1,
        parameters: {
          resource: 'execution',
          operation: 'get',
          executionId: '={{ $json.executionId ?? $json.execution?.id ?? $json.id }}',
          options: { activeWorkflows: true },
          requestOptions: {},
        },
        position: [480, 80],
      },
      {
        name: endedNode,
        type: 'n8n-nodes-base.if',
        typeVersion: 2.2,
        parameters: {
          conditions: {
            options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
            conditions: [
              {
                id: '6e2f7a10-4d93-4b5c-9c1e-8a7b6c5d4e3f',
                leftValue: '={{ !!$json.stoppedAt || $runIndex >= 60 }}',
                rightValue: '',
                operator: { type: 'boolean', operation: 'true', singleValue: true },
              },
            ],
            combinator: 'and',
          },
          options: {},
        },
        position: [720, 80],
      },
      post(address, wholeNode, '={{ { execution: $json } }}', [960, 0]),
    ],
    {
      'When a run calls it': { main: [to(waitNode)] },
      [errorTrigger.name]: { main: [to(waitNode)] },
      [waitNode]: { main: [to(getNode)] },
      [getNode]: { main: [to(endedNode)] },
      [endedNode]: { main: [to(wholeNode), to(waitNode)] },
    },
  )

const idNode = 'This run'

/** At the end of a workflow: calls the follow-up without waiting for it. */
export const n8nCall = (): string =>
  pasted(
    '4d7e0a3b-5f9c-4a12-8b6d-0c3f1e4d000',
    [
      {
        name: idNode,
        type: 'n8n-nodes-base.set',
        typeVersion: 3.4,
        parameters: { mode: 'raw', jsonOutput: '={{ { executionId: $execution.id } }}', options: {} },
        executeOnce: true,
        position: [0, 0],
      },
      {
        name: 'Call the follow-up',
        type: 'n8n-nodes-base.executeWorkflow',
        typeVersion: 1.2,
        parameters: {
          workflowId: { __rl: true, mode: 'list', value: '' },
          options: { waitForSubWorkflow: false },
        },
        onError: 'continueRegularOutput',
        position: [240, 0],
      },
    ],
    { [idNode]: { main: [to('Call the follow-up')] } },
  )

/** A row of a form in Zapier: a value to copy as it is, or what to put there. */
export type ZapierRow = { field: string; value: string } | { field: string; from: string }

export const zapierSetUp = (address: string, key: string): ZapierRow[] => [
  { field: 'URL', value: ingestEndpoint(address, 'platform-a') },
  { field: 'Payload Type', value: 'json' },
  { field: 'Headers, name', value: 'X-API-Key' },
  { field: 'Headers, value', value: key },
]

const runId: ZapierRow = { field: 'session_id', from: 'insert an ID of the trigger that is new with each run' }

/** After the AI step. */
export const zapierRun: ZapierRow[] = [
  runId,
  { field: 'type', value: 'llm.call' },
  { field: 'agent_name', from: 'type the name of the Zap, the same in all of its runs' },
  { field: 'model', from: 'type the model of the AI step, such as gpt-4o' },
  { field: 'input', from: 'insert the prompt of the AI step' },
  { field: 'output', from: 'insert the answer of the AI step' },
  { field: 'prompt_tokens', from: 'insert the tokens of the prompt, where the AI step gives them' },
  { field: 'completion_tokens', from: 'insert the tokens of the answer, where the AI step gives them' },
  { field: 'status', value: 'success' },
]

/** On the error path of a step. */
export const zapierFailure: ZapierRow[] = [
  runId,
  { field: 'type', value: 'span' },
  { field: 'agent_name', from: 'type the name of the Zap, as in the other step' },
  { field: 'error', from: 'insert the error message of the failed step' },
  { field: 'status', value: 'error' },
]
