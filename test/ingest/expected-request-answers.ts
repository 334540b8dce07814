// What DESIGN.md sections 2 to 5 answer to each recorded request.

interface Accepted {
  externalId: string
  workflowId: string
  status: 'COMPLETED' | 'FAILED'
  [field: string]: unknown
}

interface Refused {
  status: number
  code: string
  sentence: RegExp
  /** that must be there */
  headers?: string[]
}

const wrongContentTypes = {
  externalId: '6',
  workflowId: 'repForm000000000',
  status: 'COMPLETED',
  reportedStatus: 'success',
} as const

export const acceptedRequests: Record<string, Accepted> = {
  '001-level-template': {
    externalId: '1',
    workflowId: 'repWorkflowLevel',
    status: 'COMPLETED',
    agent: 'Report: workflow level via expressions',
    reportedStatus: 'success',
    mode: 'production',
    startedAt: '2026-11-20T23:59:21.855Z',
    closedAt: '2026-11-20T23:59:22.031Z',
    durationMs: 176,
    durationSource: 'REPORTED',
  },
  '002-level-object': {
    externalId: '2',
    workflowId: 'repObjectExpr000',
    status: 'COMPLETED',
    agent: 'Report: object expression, missing start, Date object',
    reportedStatus: null,
    mode: 'production',
    retryOf: null,
    startedAt: '2026-11-20T04:30:00.000Z',
    closedAt: '2026-11-20T23:59:22.160Z',
    durationMs: 70_162_160,
  },
  '003-level-empty': {
    externalId: '3',
    workflowId: 'repEmptyExpr0000',
    status: 'COMPLETED',
    agent: 'Report: expressions that resolve to nothing',
    startedAt: null,
    durationMs: null,
    eventCount: 0,
  },
  '004-keypair-v42': {
    externalId: '5',
    workflowId: 'repKeypair000000',
    status: 'FAILED',
    agent: 'Report: body fields (keypair)',
    reportedStatus: 'error',
    startedAt: '2026-11-20T23:59:22.680Z',
    durationMs: 28,
  },
  '005-keypair-v3': {
    externalId: '5',
    workflowId: 'repKeypair000000',
    status: 'FAILED',
    agent: 'Report: body fields (keypair)',
    reportedStatus: 'error',
    mode: 'production',
    startedAt: '2026-11-20T23:59:22.810Z',
    durationMs: 0,
  },
  '008-rawjson': {
    ...wrongContentTypes,
    agent: 'Report: wrong content types',
    startedAt: '2026-11-20T23:59:22.948Z',
    closedAt: '2026-11-20T23:59:22.953Z',
    durationMs: 5,
  },
  '010-array': { ...wrongContentTypes, agent: 'Report: wrong content types', durationMs: null },
  '011-doubleenc': { ...wrongContentTypes, agent: 'repForm000000000' },
  '014-handheader': { ...wrongContentTypes, agent: 'Report: wrong content types' },
  '015-peritem': perItem('2026-11-20T23:59:23.423Z', 13),
  '016-peritem': perItem('2026-11-20T23:59:23.430Z', 20),
  '022-retry': retry('2026-11-20T23:59:23.602Z', 4),
  '023-retry': retry('2026-11-20T23:59:24.115Z', 517),
  '025-errorworkflow': {
    ...failing(),
    reportedStatus: 'error',
    startedAt: '2026-11-20T23:59:24.923Z',
    durationMs: 0,
  },
  '026-errorworkflow-raw': failing(),
  '027-followup': {
    externalId: '12',
    workflowId: 'repWorkAgent0000',
    status: 'COMPLETED',
    agent: 'Support agent',
    reportedStatus: 'success',
    mode: 'webhook',
    lastNode: 'AI Agent',
    durationMs: 153,
    eventCount: 3,
    llmCalls: 1,
    models: ['gpt-4o-mini'],
    promptTokens: 104,
    completionTokens: 10,
  },
  '030-selffetch': {
    externalId: '15',
    workflowId: 'repSelfFetch0000',
    status: 'COMPLETED',
    agent: 'Report: execution fetches itself while running',
    reportedStatus: 'running',
    mode: 'webhook',
    startedAt: '2026-11-20T23:59:29.205Z',
    durationMs: null,
    eventCount: 0,
  },
  '040-timeoutretry': timeoutRetry('2026-11-20T23:59:33.824Z', 14),
  '041-timeoutretry': timeoutRetry('2026-11-20T23:59:35.051Z', 1241),
  '048-once': {
    externalId: '25',
    workflowId: 'repOnce000000000',
    status: 'COMPLETED',
    agent: 'Report: execute once',
    durationMs: 13,
  },
  '049-safe': {
    externalId: '2',
    workflowId: 'repSafe000000000',
    status: 'COMPLETED',
    agent: 'Report: "quoted" name \\ and \n newline, recommended body',
    durationMs: 53,
  },
}

export const refusedRequests: Record<string, Refused> = {
  '006-form': { status: 415, code: 'unsupported_media_type', sentence: /form.*JSON|JSON.*form/is },
  '009-get': { status: 405, code: 'method_not_allowed', sentence: /POST/, headers: ['allow'] },
  '012-bare': { status: 422, code: 'invalid_payload', sentence: /"?execution"?.*No event was recorded\./s },
  '013-nokey': {
    status: 401,
    code: 'missing_api_key',
    sentence: /X-API-Key/,
    headers: ['www-authenticate'],
  },
}

function perItem(closedAt: string, durationMs: number): Accepted {
  return { externalId: '7', workflowId: 'repPerItem000000', status: 'COMPLETED', closedAt, durationMs }
}

function retry(closedAt: string, durationMs: number): Accepted {
  return { externalId: '8', workflowId: 'repRetry00000000', status: 'COMPLETED', closedAt, durationMs }
}

function timeoutRetry(closedAt: string, durationMs: number): Accepted {
  return { externalId: '23', workflowId: 'repTimeout000000', status: 'COMPLETED', closedAt, durationMs }
}

function failing(): Accepted {
  return {
    externalId: '9',
    workflowId: 'repFailing000000',
    status: 'FAILED',
    agent: 'Report: failing workflow',
    mode: 'webhook',
    errorMessage: 'Cannot reach billing system [line 1]',
    lastNode: 'Explode',
    externalUrl: 'http://localhost:5695/workflow/repFailing000000/executions/9',
  }
}
