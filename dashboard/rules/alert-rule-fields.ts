// Owns the form of an alert rule: what is typed, what is sent of it, and which field a refusal of the server is about.
import type { AlertRule, AlertRuleInput } from '../queries-alerts.ts'
import type { Category, Severity } from './failure-words.ts'
import { formatCount, plural } from './format.ts'
import type { Platform } from './session-filter.ts'

export type RuleKind = AlertRule['kind']

export const ruleKinds: readonly { value: RuleKind; label: string; noun: string; help: string }[] = [
  {
    value: 'FAILURE',
    label: 'A run has a failure',
    noun: 'Failures of runs',
    help: 'Tells once for each run that has such a failure.',
  },
  {
    value: 'NEW_PATTERN',
    label: 'A failure is new',
    noun: 'New failures',
    help: 'Tells once of a failure that was never seen before, or not since it was resolved.',
  },
  {
    value: 'FAILURE_RATE',
    label: 'Many runs fail',
    noun: 'Share of failed runs',
    help: 'Tells when the share of failed runs of an agent is too large.',
  },
]
export const ruleKindWords = (kind: RuleKind) => ruleKinds.find(({ value }) => value === kind)!

/** As it stands in the fields. */
export interface TypedRule {
  name: string
  kind: RuleKind
  isEnabled: boolean
  minSeverity: Severity
  categories: Category[]
  agents: string[]
  platform: Platform | null
  channels: string[]
  /** Null tells of each run. */
  cooldown: string | null
  /** In percent. */
  share: string
  minRuns: string
  window: string
}

export const newRule: TypedRule = {
  name: '',
  kind: 'FAILURE',
  isEnabled: true,
  minSeverity: 'HIGH',
  categories: [],
  agents: [],
  platform: null,
  channels: [],
  cooldown: null,
  share: '50',
  minRuns: '10',
  window: '60',
}

export const typedRule = (rule: AlertRule): TypedRule => ({
  name: rule.name,
  kind: rule.kind,
  isEnabled: rule.isEnabled,
  minSeverity: rule.minSeverity,
  categories: rule.categories,
  agents: rule.agents,
  platform: rule.platform,
  channels: rule.channels?.map(({ id }) => id) ?? [],
  cooldown: rule.cooldownMinutes > 0 ? String(rule.cooldownMinutes) : null,
  share: rule.failureShare === null ? newRule.share : String(Number((rule.failureShare * 100).toFixed(3))),
  minRuns: rule.minRuns === null ? newRule.minRuns : String(rule.minRuns),
  window: rule.windowMinutes === null ? newRule.window : String(rule.windowMinutes),
})

const fields = {
  name: { label: 'The name', sent: 'name' },
  agents: { label: 'Agents', sent: 'agents' },
  channels: { label: 'Channels', sent: 'channels' },
  cooldown: { label: 'The time', sent: 'cooldownMinutes', unit: 'minutes' },
  share: { label: 'The share', sent: 'failureShare', unit: '%' },
  minRuns: { label: 'The number', sent: 'minRuns', unit: 'runs' },
  window: { label: 'The time', sent: 'windowMinutes', unit: 'minutes' },
} as const
export type RuleFieldName = keyof typeof fields
export type WrongRule = Partial<Record<RuleFieldName, string>>

const wholeOf = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : null)
const numberOf = (text: string) => (/^\d*[.,]?\d+$/.test(text.trim()) ? Number(text.replace(',', '.')) : null)

/** What is sent of a rule; what cannot be a number is wrong. How much it may be is for the server to say. */
export function readRule(typed: TypedRule): { input: AlertRuleInput; wrong: WrongRule } {
  const { kind, minSeverity, categories, agents, platform, channels, isEnabled } = typed
  const wrong: WrongRule = {}
  const input: AlertRuleInput = { kind, isEnabled, minSeverity, categories, agents, platform, channels }
  input.name = typed.name.trim()
  if (input.name === '') wrong.name = 'Give the rule a name'
  if (isEnabled && channels.length === 0) wrong.channels = 'Choose where it tells, or leave it switched off'
  if (kind === 'FAILURE') {
    const minutes = typed.cooldown === null ? 0 : wholeOf(typed.cooldown)
    if (minutes === null) wrong.cooldown = 'Give whole minutes, such as 30'
    else input.cooldownMinutes = minutes
  } else input.cooldownMinutes = 0
  if (kind === 'FAILURE_RATE') {
    const [share, runs, minutes] = [numberOf(typed.share), wholeOf(typed.minRuns), wholeOf(typed.window)]
    if (share === null) wrong.share = 'Give a number of percent, such as 50'
    else input.failureShare = share / 100
    if (runs === null) wrong.minRuns = 'Give whole runs, such as 10'
    else input.minRuns = runs
    if (minutes === null) wrong.window = 'Give whole minutes, such as 60'
    else input.windowMinutes = minutes
  }
  return { input, wrong }
}

/** The field that a refusal of the server is about, and its sentence in the words and units of the form. */
export function ruleRefusal(message: string): WrongRule | null {
  const names = Object.keys(fields) as RuleFieldName[]
  const name = names.find((each) => new RegExp(`(^|input\\.)${fields[each].sent}\\b`).test(message))
  if (!name) return null
  const field = fields[name]
  if (!('unit' in field)) return { [name]: message.replace(/^\w+/, field.label) }
  const [, least, most] = /from (\S+) to (\d+)/.exec(message) ?? []
  // What the schema itself refuses is written for programs.
  if (least === undefined) return { [name]: `${field.label} must be a smaller number.` }
  const shown = (value: string) => formatCount(Number(value) * (name === 'share' ? 100 : 1))
  return { [name]: `${field.label} must be ${shown(least)} to ${shown(most!)} ${field.unit}.` }
}

/** "once for each run", or "of the same failure at most once in 2 hours" while it can be read. */
export function cooldownWords(cooldown: string | null): string {
  const minutes = cooldown === null ? 0 : wholeOf(cooldown)
  return minutes ? `Of the same failure it tells at most once in ${minutesWords(minutes)}.` : 'It tells of each run.'
}

export function minutesWords(minutes: number): string {
  if (minutes % 1440 === 0) return plural(minutes / 1440, 'day')
  if (minutes % 60 === 0) return plural(minutes / 60, 'hour')
  return plural(minutes, 'minute')
}

/** How often a rule would have told; null where that cannot be counted. */
export function occasionWords(rule: { kind: RuleKind; cooldown: string | null }, occasions: number | null): string {
  if (occasions === null) return 'How often it would have told is not worked out for shares of runs.'
  const often = occasions === 0 ? 'on no occasion' : `on ${plural(occasions, 'occasion')}`
  const leftOut = rule.kind === 'FAILURE' && rule.cooldown !== null ? 'mutes and the pause between' : 'mutes'
  return `In the last 7 days it would have told ${often}, not counting ${leftOut}.`
}

type Standing = Pick<AlertRule, 'isEnabled' | 'channels' | 'updatedBy' | 'sentence'>
/** It came with the project, and nobody has decided about it yet. */
export const isReady = ({ isEnabled, updatedBy }: Standing) => !isEnabled && updatedBy === null

/** What stands beside its name in the list. */
export function ruleState(rule: Standing): string {
  const tellsNobody = rule.channels ? rule.channels.length === 0 : rule.sentence.includes('tell nobody yet')
  if (rule.isEnabled) return tellsNobody ? 'On, but without a channel: it tells nobody' : 'On'
  return isReady(rule) ? 'Off, ready to switch on' : 'Off'
}

/** For how many days an agent is muted, as it was typed. */
export function mutedDays(text: string): { count: number | null; wrong: string } {
  const count = wholeOf(text)
  return count !== null && count >= 1 && count <= 365
    ? { count, wrong: '' }
    : { count: null, wrong: 'Give 1 to 365 days' }
}
