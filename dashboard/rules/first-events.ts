// Owns the two curl lines with which an empty installation gets its first sessions.
const bodyA =
  '{"session_id":"run-1","type":"llm.call","agent_name":"Support triage","model":"gpt-4o","input":"My invoice is wrong","output":"billing","prompt_tokens":120,"completion_tokens":3,"duration_ms":1850,"status":"success"}'
const bodyB =
  '{"execution":{"id":"1","workflowId":"wf1","workflowName":"Invoice intake","status":"success","startedAt":"2026-11-20T10:00:00.000Z","stoppedAt":"2026-11-20T10:00:02.500Z","mode":"webhook"}}'

export const keyPlaceholder = 'YOUR_API_KEY'

export function firstEventCommand(platform: 'platform-a' | 'platform-b', origin: string, key: string): string {
  const body = platform === 'platform-a' ? bodyA : bodyB
  return [
    `curl -X POST ${origin}/api/ingest/${platform}`,
    `-H 'Content-Type: application/json'`,
    `-H 'X-API-Key: ${key}'`,
    `-d '${body}'`,
  ].join(' ')
}
