// A recording with secrets in all the places where real executions have them, and what to search for afterwards.

export const CANARY = 'canary-7f3a91'

/** The same execution with a canary in everything that must never be stored. */
export function withSecrets(execution: any): any {
  const copy = structuredClone(execution)
  const data = copy.data
  data.resumeToken = `${CANARY}-resume-token`
  data.resultData.pinData = { Webhook: [{ json: { pinned: `${CANARY}-pinned` } }] }
  data.executionData ??= {}
  data.executionData.nodeExecutionStack = [{ node: copy.workflowData.nodes[0], data: {}, source: null }]
  for (const node of copy.workflowData.nodes) {
    plantInParameters(node.parameters)
    node.credentials = { httpHeaderAuth: { id: `${CANARY}-credential-id`, name: `${CANARY}-credential` } }
  }
  for (const tasks of Object.values<any>(data.resultData.runData)) for (const task of tasks) plantInTask(task)
  plantInError(data.resultData.error)
  return copy
}

function plantInTask(task: any): void {
  task.metadata = {
    ...task.metadata,
    resumeUrl: `http://localhost:5678/webhook-waiting/1?signature=${CANARY}-resume`,
    resumeFormUrl: `http://localhost:5678/form-waiting/1?signature=${CANARY}-form`,
  }
  plantInError(task.error)
  for (const outputs of Object.values<any>(task.data ?? {}))
    for (const item of outputs.flatMap((output: any) => output ?? [])) {
      item.json = {
        ...item.json,
        headers: {
          ...item.json?.headers,
          authorization: `Bearer ${CANARY}-bearer`,
          Cookie: `sid=${CANARY}-cookie`,
          'X-API-Key': `${CANARY}-api-key`,
        },
      }
    }
}

function plantInError(error: any): void {
  if (!error || typeof error !== 'object') return
  if (error.node?.parameters) plantInParameters(error.node.parameters)
  error.context = {
    ...error.context,
    request: {
      ...error.context?.request,
      body: { secret: `${CANARY}-request-body` },
      headers: { authorization: `Bearer ${CANARY}-request-bearer` },
    },
  }
}

/** Only the model may be read from a node's parameters. */
function plantInParameters(parameters: any): void {
  for (const [name, value] of Object.entries<any>(parameters ?? {})) {
    if (name === 'model' || name === 'modelId') continue
    if (typeof value === 'string') parameters[name] = `${value} ${CANARY}-parameter-${name}`
    else if (value && typeof value === 'object') plantInParameters(value)
  }
}
