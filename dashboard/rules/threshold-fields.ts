// Owns the limits a person can fix: their words and units, reading what was typed, and where a refusal belongs.
import type { EffectiveThreshold, FixedThresholds } from '../queries-thresholds.ts'
import { formatCost, formatCount, formatDuration, plural } from './format.ts'

export type Measure = EffectiveThreshold['measure']
export type LimitName = 'latencyMs' | 'costUsd' | 'tokens' | 'loopRounds'
export type Limits = Pick<FixedThresholds, LimitName>

export interface LimitField {
  name: LimitName
  measure: Measure
  label: string
  /** What is measured. */
  help: string
  /** What is typed. */
  unit: string
  /** One of what is typed, in what is stored. */
  stored: number
  isWhole: boolean
}

export const limitFields: readonly LimitField[] = [
  {
    name: 'latencyMs',
    measure: 'LATENCY',
    label: 'Duration',
    help: 'From start to end, without the time in wait nodes. A longer run is a slow run.',
    unit: 'seconds',
    stored: 1000,
    isWhole: false,
  },
  {
    name: 'costUsd',
    measure: 'COST',
    label: 'Cost',
    help: 'What the models of one run cost together. More is a costly run.',
    unit: 'USD',
    stored: 1,
    isWhole: false,
  },
  {
    name: 'tokens',
    measure: 'TOKENS',
    label: 'Tokens',
    help: 'Compared in place of the cost where the price of a model is not known.',
    unit: 'tokens',
    stored: 1,
    isWhole: true,
  },
  {
    name: 'loopRounds',
    measure: 'LOOP_ROUNDS',
    label: 'Loop rounds',
    help: 'How often the same nodes ran one after the other. So many or more are an endless loop.',
    unit: 'rounds',
    stored: 1,
    isWhole: true,
  },
]

export const noLimits: Limits = { latencyMs: null, costUsd: null, tokens: null, loopRounds: null }

/** What stands in a field: null where the limit is left to what is usual. */
export type Typed = Record<LimitName, string | null>

const typedOf = ({ name, stored }: LimitField, limits: Limits): string | null => {
  const value = limits[name]
  // Not in powers of ten, which nobody types.
  return value === null
    ? null
    : (value / stored).toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 9 })
}
export const typedLimits = (limits: Limits): Typed => ({
  latencyMs: typedOf(limitFields[0]!, limits),
  costUsd: typedOf(limitFields[1]!, limits),
  tokens: typedOf(limitFields[2]!, limits),
  loopRounds: typedOf(limitFields[3]!, limits),
})

export type Wrong = Partial<Record<LimitName, string>>

/** What was typed as limits, or what is wrong with it. What a limit may be is for the server to say. */
export function readLimits(typed: Typed): { limits: Limits; wrong: Wrong } {
  const limits: Limits = { ...noLimits }
  const wrong: Wrong = {}
  for (const { name, stored, isWhole, unit } of limitFields) {
    const text = typed[name]?.trim()
    if (text === undefined) continue
    const value = /^\d*\.?\d+$/.test(text.replace(',', '.')) ? Number(text.replace(',', '.')) * stored : NaN
    if (!Number.isFinite(value)) wrong[name] = `Give a number of ${unit}, such as ${isWhole ? '30' : '2.5'}`
    else if (isWhole && !Number.isInteger(value)) wrong[name] = `Give whole ${unit}`
    else limits[name] = value
  }
  return { limits, wrong }
}

/** The field that a refusal of the server is about, and its sentence in the words of this page. */
export function refusalOf(message: string): Wrong | null {
  const field = limitFields.find(({ name }) => new RegExp(`(^|thresholds\\.)${name}\\b`).test(message))
  if (!field) return null
  // What the schema itself refuses is written for programs.
  const sentence = message.startsWith(field.name)
    ? message.replace(field.name, field.label).replace(/ in milliseconds, not .*$/, '.')
    : `${field.label} must be a smaller number.`
  return { [field.name]: sentence }
}

export const isSameLimits = (one: Limits, other: Limits) => limitFields.every(({ name }) => one[name] === other[name])

export function limitWords(value: number, unit: EffectiveThreshold['unit']): string {
  if (unit === 'MS') return formatDuration(value)
  if (unit === 'USD') return formatCost(String(value))
  return plural(value, unit === 'TOKENS' ? 'token' : 'round')
}

const unitOf = { latencyMs: 'MS', costUsd: 'USD', tokens: 'TOKENS', loopRounds: 'ROUNDS' } as const
/** A fixed limit with its unit; null where it is left to what is usual. */
export const fixedWords = (limits: Limits, name: LimitName): string | null =>
  limits[name] === null ? null : limitWords(limits[name], unitOf[name])

export const sourceWords: Record<EffectiveThreshold['source'], string> = {
  ADAPTIVE: 'usual for this agent',
  DEFAULT: 'by default',
  FIXED_FOR_AGENT: 'fixed for this agent',
  FIXED_FOR_PROJECT: 'fixed for the project',
}
export const isFixedSource = (source: EffectiveThreshold['source']) => source.startsWith('FIXED')

const outcomeOf = (count: number) => (count === 0 ? 'none' : formatCount(count))

/** "Of 1,204 runs of the last 30 days 3 would gain a failure and 17 would lose one." */
export function trialSentence({ checked, gained, lost }: { checked: number; gained: number; lost: number }): string {
  if (checked === 0) return 'No run of the last 30 days can be compared with these limits.'
  return `Of ${plural(checked, 'run')} of the last 30 days ${outcomeOf(gained)} would gain a failure and ${outcomeOf(lost)} would lose one.`
}
