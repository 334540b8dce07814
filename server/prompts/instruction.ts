// The instruction that a workflow gives its model, as far as the prompts of its runs show it. Pure.

const MAX_INSTRUCTION = 8_000
/** A shorter common beginning may be chance. */
const MIN_COMMON = 40

/**
 * @param prompts of the same step in several runs, the newest first
 * @param served the versions that workflows fetched: what they put before the instruction is not theirs
 * @returns null where none shows an instruction
 */
export function instructionSeen(prompts: string[], served: string[] = []): string | null {
  const seen = seenIn(prompts)
  if (seen === null) return null
  const before = served.filter((prompt) => seen.startsWith(prompt)).sort((a, b) => b.length - a.length)[0]
  // Longer than what is kept, it hides all that is behind it.
  const isHidden = served.some((prompt) => prompt.startsWith(seen))
  return (isHidden ? '' : seen.slice(before?.length ?? 0)).trim() || null
}

function seenIn(prompts: string[]): string | null {
  for (const prompt of prompts) {
    const system = systemOf(prompt)
    if (system !== null) return system.slice(0, MAX_INSTRUCTION).toWellFormed()
  }
  return commonBeginning([...new Set(prompts.flatMap((prompt) => firstTextOf(prompt) ?? []))])
}

const isJson = (text: string) => /^\s*[[{]/.test(text)

/** The messages of a request, or of a bare list of them. @throws SyntaxError where it is no JSON, or was cut */
function messagesOf(json: string): { role?: unknown; content?: unknown }[] {
  const value: unknown = JSON.parse(json)
  const messages: unknown = Array.isArray(value) ? value : (value as { messages?: unknown }).messages
  return Array.isArray(messages) ? messages.filter((one) => typeof one === 'object' && one !== null) : []
}

/** The system message of a list of messages, or of the text that n8n makes of one ("System: ..\nHuman: .."). */
function systemOf(prompt: string): string | null {
  if (isJson(prompt)) {
    try {
      return textOf(messagesOf(prompt).find(({ role }) => /^(system|developer)$/i.test(String(role)))?.content)
    } catch {
      return systemOfCut(prompt)
    }
  }
  const found = /^System: ([\s\S]*?)(?:\n+(?:Human|AI|Tool|User|Assistant): |$)/.exec(prompt.trimStart())
  return found?.[1]?.trim() || null
}

/** The same of a list that was too long to be read whole. Within texts a quote has a backslash before it. */
function systemOfCut(json: string): string | null {
  const found = /"role"\s*:\s*"(?:system|developer)"\s*,\s*"content"\s*:\s*"((?:[^"\\]|\\.)*)/i.exec(json)
  try {
    return found && textOf(JSON.parse(`"${found[1]!.replace(/\\u[0-9a-f]{0,3}$/i, '')}"`))
  } catch {
    return null
  }
}

/** What the model is sent first. */
function firstTextOf(prompt: string): string | null {
  if (!isJson(prompt)) return prompt
  try {
    return textOf(messagesOf(prompt)[0]?.content)
  } catch {
    return null
  }
}

function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content.trim() || null
  if (!Array.isArray(content)) return null
  const texts = content.flatMap((part) => {
    const text = (part as { text?: unknown } | null)?.text
    return typeof text === 'string' ? text : []
  })
  return texts.join('\n').trim() || null
}

/** What different prompts begin with, up to the end of a line, a sentence or a word. */
function commonBeginning(prompts: string[]): string | null {
  if (prompts.length < 2) return null
  let length = Math.min(MAX_INSTRUCTION, ...prompts.map((prompt) => prompt.length))
  for (const prompt of prompts.slice(1)) {
    let same = 0
    while (same < length && prompt[same] === prompts[0]![same]) same++
    length = same
  }
  const common = prompts[0]!.slice(0, length)
  const end = Math.max(common.lastIndexOf('\n'), common.lastIndexOf('. ') + 1, common.lastIndexOf(': ') + 1)
  const whole = common.slice(0, end > 0 ? end : common.lastIndexOf(' ')).trim()
  return whole.length >= MIN_COMMON ? whole.toWellFormed() : null
}
