// What an alert rule does, as a sentence that people check before they switch it on. Pure.
import { CATEGORY_WORDS, type RuleConditions } from './alert.ts'

const PLATFORMS = { PLATFORM_A: 'Zapier', PLATFORM_B: 'n8n' }
const HOW_BAD = { LOW: '', MEDIUM: '', HIGH: 'high or critical ', CRITICAL: 'critical ' }

/** @param channels names of those that are told */
export function ruleSentence(rule: RuleConditions, channels: string[]): string {
  const { kind, agents, platform, cooldownMinutes } = rule
  const tell = channels.length > 0 ? `tell ${list(channels.map(quoted), 'and')}` : 'tell nobody yet'
  const often = (how: string) => (channels.length > 0 ? `, ${how}.` : '.')
  const on = platform ? ` on ${PLATFORMS[platform]}` : ''
  const named = list(agents.map(quoted), 'or')
  if (kind === 'FAILURE_RATE') {
    const share = rule.failureShare ?? 0
    const runs = `${share === 1 ? 'all' : `${percent(share)} or more of the`} runs of ${named || 'an agent'}${on}`
    const window = minutes(rule.windowMinutes ?? 0)
    const least = (rule.minRuns ?? 1) > 1 ? `, of at least ${rule.minRuns} runs` : ''
    const failed = isAnyFailure(rule) ? 'fail' : `have ${failureWords(rule)}`
    return `When ${runs} ${failed} within ${window}${least}, ${tell}${often(`at most once in ${window} for each agent`)}`
  }
  if (kind === 'NEW_PATTERN') {
    const what = `${failureWords(rule)}${named && ` of ${named}`}${on}`
    return `When ${what} comes up for the first time, or again after it was resolved, ${tell}${often('once')}`
  }
  const pause = cooldownMinutes > 0 ? `, and of the same failure at most once in ${minutes(cooldownMinutes)}` : ''
  return `When a run of ${named || 'any agent'}${on} has ${failureWords(rule)}, ${tell}${often(`once for each run${pause}`)}`
}

const isAnyFailure = ({ minSeverity, categories }: RuleConditions) => minSeverity === 'LOW' && categories.length === 0

/** "a high or critical failure (tool failure or slow run)" */
function failureWords({ minSeverity, categories }: RuleConditions): string {
  const kinds =
    categories.length > 0
      ? ` (${list(
          categories.map((one) => CATEGORY_WORDS[one]),
          'or',
        )})`
      : ''
  return `a ${HOW_BAD[minSeverity]}failure${kinds}${minSeverity === 'MEDIUM' ? ' that is at least medium' : ''}`
}

const quoted = (name: string) => `"${name.replaceAll('"', "'")}"`

function list(words: string[], last: 'and' | 'or'): string {
  if (words.length < 2) return words[0] ?? ''
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

export const percent = (share: number) => `${Number((share * 100).toFixed(2))} %`

/** In the largest unit that holds it without a rest. */
function minutes(count: number): string {
  if (count > 1_440 && count % 1_440 === 0) return `${count / 1_440} days`
  if (count > 60 && count % 60 === 0) return `${count / 60} hours`
  return count === 60 ? 'an hour' : count === 1 ? 'a minute' : `${count} minutes`
}
