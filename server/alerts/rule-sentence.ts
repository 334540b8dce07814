// What an alert rule does, as a sentence that people check before they switch it on. Pure.
import { SEVERITIES } from '../failures/failure.ts'
import { CATEGORY_WORDS, type RuleConditions } from './alert.ts'

const PLATFORM_WORDS = { PLATFORM_A: 'platform A', PLATFORM_B: 'platform B' }

/** @param channels names of those that are told */
export function ruleSentence(rule: RuleConditions, channels: string[]): string {
  const tell = channels.length > 0 ? `tell ${list(channels, 'and')}` : 'tell nobody yet'
  const platform = rule.platform ? ` on ${PLATFORM_WORDS[rule.platform]}` : ''
  if (rule.kind === 'FAILURE_RATE') {
    const share = `${percent(rule.failureShare ?? 0)} or more`
    const runs = `of the runs of ${agentsOf(rule, 'an agent')}${platform} fail`
    const window = minutes(rule.windowMinutes ?? 0)
    const what = isAnyFailure(rule) ? '' : `, counting runs with ${failureWords(rule)}`
    return `When ${share} ${runs} within ${window} (of at least ${rule.minRuns} runs)${what}, ${tell}, at most once in ${window} for each agent.`
  }
  if (rule.kind === 'NEW_PATTERN') {
    const whose = rule.agents.length > 0 ? ` of ${agentsOf(rule, '')}` : ''
    return `When ${failureWords(rule)}${whose}${platform} is seen that was never seen before, or not since it was resolved, ${tell}, once.`
  }
  const often =
    rule.cooldownMinutes > 0
      ? `once for each run, and of the same failure at most once in ${minutes(rule.cooldownMinutes)}`
      : 'once for each run'
  return `When a run of ${agentsOf(rule, 'any agent')}${platform} has ${failureWords(rule)}, ${tell}, ${often}.`
}

const isAnyFailure = ({ minSeverity, categories }: RuleConditions) => minSeverity === 'LOW' && categories.length === 0

/** "a high or critical tool failure" */
function failureWords({ minSeverity, categories }: RuleConditions): string {
  const severities = SEVERITIES.slice(SEVERITIES.indexOf(minSeverity)).map((one) => one.toLowerCase())
  const how = severities.length === SEVERITIES.length ? '' : `${list(severities, 'or')} `
  const kinds = categories.length === 0 ? ['failure'] : categories.map((one) => CATEGORY_WORDS[one])
  const first = how || kinds[0]!
  return `${/^[aeiou]/.test(first) ? 'an' : 'a'} ${how}${list(kinds, 'or')}`
}

const agentsOf = ({ agents }: RuleConditions, any: string) =>
  agents.length === 0 ? any : list(agents.map(quoted), 'or')
const quoted = (name: string) => `"${name}"`

export function list(words: string[], last: 'and' | 'or'): string {
  if (words.length < 2) return words[0] ?? ''
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

export const percent = (share: number) => `${Number((share * 100).toFixed(1))} %`

export function minutes(count: number): string {
  if (count % 1_440 === 0) return count === 1_440 ? '24 hours' : `${count / 1_440} days`
  if (count % 60 === 0) return count === 60 ? 'an hour' : `${count / 60} hours`
  return count === 1 ? 'a minute' : `${count} minutes`
}
