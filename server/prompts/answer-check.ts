// What a model proposed, checked before a person sees it: it was given texts of strangers, and may say what they want. Pure.
import { z } from 'zod'
import { MAX_PROMPT } from './prompt.ts'

export interface CheckedAnswer {
  prompt: string
  rewrite: string | null
  reason: string | null
}

const MAX_REWRITE = 16_000
const MAX_REASON = 600

const answer = z.object({
  prompt: z.string(),
  reason: z.string().nullish(),
  rewrite: z.string().nullish(),
})

/** Signs that are not seen, or turn the direction of what is: nobody could read what they activate. */
const INVISIBLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0f]{2}/u
/** Joiners where a script or a picture is written with them; anywhere else they only hide. */
const JOINERS =
  /(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}])[\u200c\u200d](?![\u200c\u200d])|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu
const HOST = String.raw`(?<![\w.@-])(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}`
const ENDINGS = 'com|net|org|io|ai|co|dev|app|biz|xyz|example|onion|ru|su|cn|de|ch|fr|uk|eu|nl|pl|br|jp|kr|tk|gg|ly|cc'
const ADDRESS = new RegExp(
  [
    String.raw`\b[a-z][a-z0-9+.-]{1,20}:\/\/\S+`,
    String.raw`\bwww\.\S+`,
    String.raw`\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,}`,
    String.raw`\b(?:\d{1,3}\.){3}\d{1,3}\b`,
    String.raw`\bdata:[a-z]+\/[a-z]`,
    String.raw`${HOST}(?:(?:${ENDINGS})(?![\w-])(?:[/:?#]\S*)?|[a-z]{2,24}\/\S+)`,
  ].join('|'),
  'gi',
)
/** Marks that end a part of a conversation. */
const MARKS =
  /<\|[a-z_]+\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:system|assistant|user|instructions?)>|^\s*(?:system|assistant|developer|user|human|ai)\s*:/im
/** Words that try to take over a conversation, in a text of one line. */
const TAKEOVER = new RegExp(
  [
    String.raw`\b(?:ignore|disregard|forget|override)\b[^.]{0,40}\b(?:previous|prior|above|earlier|all|any|other|following|system)\b[^.]{0,20}\b(?:instructions?|prompts?|rules|messages)\b`,
    String.raw`\b(?:ignore|disregard|forget|override)\b[^.]{0,20}\b(?:instructions?|prompts?|rules|messages|everything|anything|all)\b[^.]{0,30}\b(?:above|below|before|after|earlier|previously|follows?|following|told|said)\b`,
    String.raw`\bdo not (?:tell|inform|alert) (?:the |any )?(?:user|owner|person|anyone|admin)`,
  ].join('|'),
  'i',
)

/**
 * @param text what the model answered
 * @param given all that it was given, so that an address which it did not make up may stay
 * @returns the answer, or in a sentence why it is not shown
 */
export function checkAnswer(
  text: string,
  { instructionSeen, allowed }: { instructionSeen: string | null; allowed: string },
): CheckedAnswer | { problem: string } {
  const read = readJson(text)
  if (read === null) return { problem: 'The model did not answer in the form that was asked for.' }
  const prompt = withoutInstruction(read.prompt.trim(), instructionSeen)
  if (prompt === '') return { problem: 'The model proposed an empty text.' }
  if (prompt.length > MAX_PROMPT)
    return {
      problem: `The model proposed ${prompt.length.toLocaleString('en-US')} characters; ${MAX_PROMPT.toLocaleString('en-US')} are allowed.`,
    }
  const fault = faultIn(prompt, allowed)
  if (fault !== null) return { problem: `The proposal of the model was refused: ${fault}.` }
  if (repeats(prompt, instructionSeen))
    return { problem: 'The proposal of the model was refused: it repeats the instruction of the workflow.' }
  const rewrite = read.rewrite?.trim() || null
  const reason = read.reason?.trim().slice(0, MAX_REASON).toWellFormed() || null
  return {
    prompt,
    // Beside the proposal: where something is wrong with it, the proposal stands alone.
    rewrite:
      rewrite !== null &&
      rewrite.length <= MAX_REWRITE &&
      faultIn(rewrite, `${allowed}\n${instructionSeen ?? ''}`) === null
        ? rewrite
        : null,
    reason: reason !== null && faultIn(reason, allowed) === null ? reason : null,
  }
}

function readJson(text: string): z.infer<typeof answer> | null {
  const bare = text
    .trim()
    // Models that think aloud before they answer.
    .replace(/^<think>[\s\S]*?<\/think>\s*/i, '')
    .replace(/^```(?:json)?\s*/i, '')
    .replace(/\s*```$/, '')
  try {
    const { success, data } = answer.safeParse(JSON.parse(bare))
    return success ? data : null
  } catch {
    return null
  }
}

/** What makes a text unfit to be put before an instruction; null where nothing does. */
export function faultIn(text: string, allowed: string): string | null {
  if (INVISIBLE.test(text.replace(JOINERS, '')) || !text.isWellFormed()) return 'it holds signs that cannot be seen'
  const known = addressesIn(allowed)
  // A part of a known address may be another one: https://a.example.co is not https://a.example.com.
  for (const host of known.flatMap((address) => /\/\/([^/?#\s]+)/.exec(address)?.[1] ?? [])) known.push(host)
  if (addressesIn(text).some((address) => !known.includes(address)))
    return 'it names an address that is not in the instruction of the workflow'
  if (MARKS.test(text) || TAKEOVER.test(text.normalize('NFKC').replace(/\s+/g, ' ')))
    return 'it tries to take over other instructions'
  return null
}

/** Without the signs that end a sentence about them. */
const addressesIn = (text: string) =>
  [...text.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?'"`*_)\]}>\u2019\u201d\u00bb]+$/, ''))

/** Models like to answer with the whole: what they were asked for stands before it. */
function withoutInstruction(prompt: string, instruction: string | null): string {
  if (instruction === null || instruction.length < 20) return prompt
  const at = prompt.indexOf(instruction.trim())
  return at < 0 ? prompt : (prompt.slice(0, at) + prompt.slice(at + instruction.trim().length)).trim()
}

const REPEATED = 80

function repeats(prompt: string, instruction: string | null): boolean {
  if (instruction === null) return false
  const flat = (text: string) => text.replace(/\s+/g, ' ').toLowerCase()
  const [own, known] = [flat(prompt), flat(instruction)]
  for (let i = 0; i + REPEATED <= own.length; i += 20) if (known.includes(own.slice(i, i + REPEATED))) return true
  return false
}
