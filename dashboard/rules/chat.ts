// Owns the reading of a prompt as a chat: an array of messages by role, or nothing if the text is none.
export interface ChatMessage {
  role: string
  text: string
}

const prefixRoles: Record<string, string> = {
  system: 'system',
  human: 'user',
  user: 'user',
  ai: 'assistant',
  assistant: 'assistant',
  tool: 'tool',
}

export function chatOf(text: string): ChatMessage[] | null {
  const turns = /^(System|Human): /.test(text) && /^Human: /m.test(text) ? turnsOf(text) : null
  if (turns) return turns as ChatMessage[]
  const start = text.trimStart()[0]
  if (start !== '[' && start !== '{') return null
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return null
  }
  const list = Array.isArray(parsed)
    ? parsed
    : isRecord(parsed) && Array.isArray(parsed.messages)
      ? parsed.messages
      : null
  if (!list || list.length === 0) return null
  const messages = list.flatMap((each) => (typeof each === 'string' ? turnsOf(each) : [messageOf(each)]))
  return messages.every((message) => message !== null) ? messages : null
}

/** n8n sends a whole conversation as one text: "System: ..\nHuman: ..". */
function turnsOf(text: string): (ChatMessage | null)[] {
  const parts = text.split(/^(System|Human|User|AI|Assistant|Tool): ?/m)
  if (parts.length < 3 || parts[0] !== '') return [null]
  const turns: ChatMessage[] = []
  for (let index = 1; index < parts.length; index += 2)
    turns.push({ role: prefixRoles[parts[index]!.toLowerCase()]!, text: parts[index + 1]!.trimEnd() })
  return turns
}

function messageOf(value: unknown): ChatMessage | null {
  if (!isRecord(value) || typeof value.role !== 'string') return null
  if (!('content' in value) && !('tool_calls' in value)) return null
  return { role: value.role, text: contentOf(value.content) + toolCallsOf(value.tool_calls) }
}

function contentOf(content: unknown): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content, null, 2)
  return content
    .map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : JSON.stringify(part)))
    .join('\n')
}

const toolCallsOf = (calls: unknown) => (Array.isArray(calls) && calls.length > 0 ? JSON.stringify(calls, null, 2) : '')

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
