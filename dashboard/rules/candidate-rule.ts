// Owns when candidate prompts are made, in words and as it is typed, and where a refusal of the server belongs.
import type { CandidateRuleRow, PromptModel } from '../queries-candidate-rules.ts'
import { formatCost, formatCount, plural } from './format.ts'

export type CandidateRule = Pick<CandidateRuleRow, 'isEnabled' | 'sessions' | 'days'>
export type CandidateField = 'sessions' | 'days'
export type WrongRule = Partial<Record<CandidateField, string>>

/** What holds where nobody has set anything. */
export const defaultRule: CandidateRule = { isEnabled: true, sessions: 5, days: 7 }

/** What is chosen in the form: left to what stands above it, or a rule of its own. */
export type RuleChoice = 'left' | 'made' | 'none'
export const choiceOf = (own: CandidateRule | null): RuleChoice =>
  own === null ? 'left' : own.isEnabled ? 'made' : 'none'

const labels = { sessions: 'Sessions', days: 'Days' }

/** What was typed as a rule, or what is wrong with it. What a rule may be is for the server to say. */
export function readRule(typed: Record<CandidateField, string>): { rule: CandidateRule; wrong: WrongRule } {
  const rule = { ...defaultRule }
  const wrong: WrongRule = {}
  for (const field of ['sessions', 'days'] as const) {
    const text = typed[field].trim()
    if (/^-?\d+$/.test(text)) rule[field] = Number(text)
    else wrong[field] = `Give a whole number of ${field}, such as ${defaultRule[field]}`
  }
  return { rule, wrong }
}

/** The field that a refusal of the server is about, and its sentence in the words of this page; null for others. */
export function ruleRefusalOf(message: string): WrongRule | null {
  for (const field of ['sessions', 'days'] as const) {
    if (message.startsWith(field)) return { [field]: message.replace(field, labels[field]) }
    // What the schema itself refuses is written for programs.
    if (message.includes(`rule.${field}`)) return { [field]: `${labels[field]} must be a number nearer to 0.` }
  }
  return null
}

export const isSameRule = (one: CandidateRule | null, other: CandidateRule | null) =>
  one === other ||
  (one !== null &&
    other !== null &&
    one.isEnabled === other.isEnabled &&
    one.sessions === other.sessions &&
    one.days === other.days)

/** 5 sessions in 7 days */
export const ruleWords = ({ isEnabled, sessions, days }: CandidateRule) =>
  isEnabled ? `${plural(sessions, 'session')} in ${plural(days, 'day')}` : 'none are made'

/** Who proposes, and what it may still spend. Null stands for no model. */
export function modelSentence(model: PromptModel | null): string {
  if (!model) return 'No model is configured: candidates are built by rules only.'
  const { tokensToday, tokensPerDay, costUsdToday, usdPerDay } = model
  const tokens = `${formatCount(tokensToday)} of ${formatCount(tokensPerDay)} tokens`
  const spent =
    costUsdToday === null
      ? `${tokens}. Its price is not known, so the tokens alone limit it`
      : `${tokens} and ${formatCost(costUsdToday)} of ${formatCost(usdPerDay)}`
  return `${model.model} proposes beside the rules. Spent or reserved today (UTC), over all projects: ${spent}.`
}
