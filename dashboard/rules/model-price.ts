// Owns how prices of models are typed and written: exact decimal text in USD per million tokens, never rounded.
import { formatCount, plural } from './format.ts'

const mostUsdPerMillion = 1_000_000
const mostDecimals = 30
const mostModelLength = 500

export type PriceField = 'model' | 'input' | 'output'

/** Exact decimal text, or what is wrong with what was typed. */
export function readPrice(typed: string): { usd: string; wrong: '' } | { usd: null; wrong: string } {
  const wrong = (sentence: string) => ({ usd: null, wrong: sentence })
  const text = typed.trim().replace(/^\$\s*/, '')
  if (text === '') return wrong('Give a price; 0 where it costs nothing')
  const [, sign, whole = '', decimals = ''] = /^([-+]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole + decimals === '') return wrong('Give a number with a point, like 2.50')
  if (decimals.length > mostDecimals) return wrong(`Give at most ${mostDecimals} decimals`)
  if (sign === '-' || Number(`${whole}.${decimals}`) > mostUsdPerMillion)
    return wrong(`Give a price from 0 to ${formatCount(mostUsdPerMillion)} USD`)
  return { usd: (whole.replace(/^0+(?=\d)/, '') || '0') + (decimals && `.${decimals}`), wrong: '' }
}

/** What is wrong with the name of a model; empty where nothing is. */
export function modelProblem(model: string): string {
  if (model === '') return 'Give the name of the model, exactly as it is sent'
  return model.length > mostModelLength ? `Give at most ${mostModelLength} characters, not ${model.length}` : ''
}

/** With all its digits, at least the cents: $2.50, $0.075, $1,000.00. */
export function formatExactUsd(usd: string): string {
  const [whole = '', decimals = ''] = usd.split('.')
  return `$${formatCount(whole)}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`
}

export const formatPrice = (price: { inputUsdPerMillion: string; outputUsdPerMillion: string }) =>
  `${formatExactUsd(price.inputUsdPerMillion)} input, ${formatExactUsd(price.outputUsdPerMillion)} output per million tokens`

/** The field that a refusal of the server speaks of, null where it is about none. */
export function fieldOfRefusal(sentence: string): PriceField | null {
  if (sentence.includes('$outputUsdPerMillion')) return 'output'
  if (/\$inputUsdPerMillion|^A price /.test(sentence)) return 'input'
  return /\$model\b|^A model /.test(sentence) ? 'model' : null
}

interface Progress {
  sessions: number
  doneSessions: number
  changedSessions: number
}

/** 1,204 of 20,000 sessions, 310 changed */
export const formatProgress = ({ sessions, doneSessions, changedSessions }: Progress) =>
  `${formatCount(doneSessions)} of ${plural(sessions, 'session')}, ${formatCount(changedSessions)} changed`

export const historyChoices = [
  { value: 7, label: '7 days' },
  { value: 30, label: '30 days' },
  { value: 90, label: '90 days' },
  { value: null, label: 'All' },
]

/** Which sessions are meant; null days means all. */
export const whichSessions = (days: number | null) =>
  days === null ? 'all sessions' : `the sessions of the last ${plural(days, 'day')}`

/** They are worked off one at a time, the oldest first: which of them goes on. The list has the newest first. */
export const goingOn = <Row extends { finishedAt: string | null }>(list: readonly Row[]): Row | null =>
  list.findLast((each) => each.finishedAt === null) ?? null
