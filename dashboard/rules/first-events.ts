// Owns the first events of an installation: the two curl lines, and what the dashboard itself posts to try it out.
const bodyA =
  '{"session_id":"run-1","type":"llm.call","agent_name":"Support triage","model":"gpt-4o","input":"My invoice is wrong","output":"billing","prompt_tokens":120,"completion_tokens":3,"duration_ms":1850,"status":"success"}'
const bodyB =
  '{"execution":{"id":"1","workflowId":"wf1","workflowName":"Invoice intake","status":"success","startedAt":"2026-11-20T10:00:00.000Z","stoppedAt":"2026-11-20T10:00:02.500Z","mode":"webhook"}}'

export const keyPlaceholder = 'YOUR_API_KEY'

export type IngestPath = 'platform-a' | 'platform-b'

/** @param address where Runwatch is reached, like https://runwatch.example.com */
export const ingestEndpoint = (address: string, platform: IngestPath) =>
  `${address.replace(/\/+$/, '')}/api/ingest/${platform}`

export function firstEventCommand(platform: IngestPath, origin: string, key: string): string {
  const body = platform === 'platform-a' ? bodyA : bodyB
  return [
    `curl -X POST ${ingestEndpoint(origin, platform)}`,
    `-H 'Content-Type: application/json'`,
    `-H 'X-API-Key: ${key}'`,
    `-d '${body}'`,
  ].join(' ')
}

/** Everything that the dashboard posts by itself says so by its agent. */
const sampleAgent = 'Sample from the Connect page'

/** One event, or one execution, of a run that is over. */
export function testEvent(platform: IngestPath, id: string, nowMs: number): object {
  const at = (agoMs: number) => new Date(nowMs - agoMs).toISOString()
  if (platform === 'platform-b')
    return {
      execution: {
        id,
        workflowId: 'runwatch-sample',
        workflowName: sampleAgent,
        status: 'success',
        startedAt: at(1200),
        stoppedAt: at(0),
        mode: 'manual',
      },
    }
  return {
    session_id: id,
    event_id: id,
    type: 'span',
    agent_name: sampleAgent,
    input: 'A test event, sent from the Connect page.',
    status: 'success',
  }
}

/** A whole run in five steps: what was asked, looked up and answered. */
export function sampleSession(id: string, nowMs: number): object[] {
  const steps = [
    {
      type: 'llm.call',
      agoMs: 9000,
      duration_ms: 1400,
      model: 'gpt-4o-mini',
      input: 'Which tool answers this? "Where is my parcel 4711?"',
      output: 'orders.find',
      prompt_tokens: 212,
      completion_tokens: 6,
    },
    {
      type: 'tool.call',
      agoMs: 7500,
      duration_ms: 640,
      tool_name: 'orders.find',
      input: '{"order":"4711"}',
      output: '{"order":"4711","state":"shipped"}',
    },
    {
      type: 'retrieval',
      agoMs: 6800,
      duration_ms: 310,
      input: 'How long does shipping take?',
      output: 'Parcels arrive within two working days.',
    },
    {
      type: 'llm.call',
      agoMs: 6400,
      duration_ms: 2900,
      model: 'gpt-4o-mini',
      input: 'Answer the customer from what was found.',
      output: 'Your parcel is on its way and arrives within two working days.',
      prompt_tokens: 486,
      completion_tokens: 58,
    },
    { type: 'session.end', agoMs: 3400, status: 'success' },
  ]
  return steps.map(({ agoMs, ...step }, index) => ({
    session_id: id,
    event_id: `${id}-${index + 1}`,
    agent_name: sampleAgent,
    timestamp: new Date(nowMs - agoMs).toISOString(),
    ...step,
  }))
}
