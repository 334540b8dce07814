// Owns the words for channels, and reading what is typed of one.
import type { Channel, ChannelInput, ChannelTest } from '../queries-alerts.ts'
import { formatCount } from './format.ts'

export type ChannelKind = Channel['kind']

export const channelKinds: readonly { value: ChannelKind; label: string; field: string; example: string }[] = [
  { value: 'WEBHOOK', label: 'Webhook', field: 'Address to post to', example: 'https://example.com/alerts' },
  {
    value: 'SLACK',
    label: 'Slack',
    field: 'Address of the incoming webhook',
    example: 'https://hooks.slack.com/services/…',
  },
  { value: 'EMAIL', label: 'E-mail', field: 'Addresses, with commas between', example: 'ops@example.com' },
]
export const channelKind = (kind: ChannelKind) => channelKinds.find(({ value }) => value === kind)!

/** @param address what was typed; of a change nothing leaves it as it is */
export function readChannel(kind: ChannelKind, name: string, address: string): ChannelInput {
  const input: ChannelInput = { name: name.trim() }
  const typed = address.trim()
  if (typed === '') return input
  if (kind !== 'EMAIL') return { ...input, url: typed }
  const to = typed.split(/[\s,;]+/).filter(Boolean)
  return { ...input, to }
}

export type ChannelFieldName = 'name' | 'address'

/** The field that a refusal of the server is about, in the words of the form. */
export function channelRefusal(message: string): Partial<Record<ChannelFieldName, string>> | null {
  if (/^There is a channel "/.test(message)) return { name: message }
  if (/^name\b/.test(message)) return { name: message.replace(/^name/, 'The name') }
  if (/^url\b/.test(message)) return { address: message.replace(/^url/, 'It') }
  if (/e-mail/.test(message)) return { address: message }
  return null
}

/** "Delivered in 34 ms, answer 200", or "Not delivered after 34 ms. It answered 503." */
export function testWords({ isDelivered, durationMs, status, problem }: ChannelTest): string {
  const time = durationMs < 1 ? '<1 ms' : `${formatCount(Math.round(durationMs))} ms`
  const isSaid = status === null || problem?.includes(String(status))
  const answered = isSaid ? '' : `, answer ${status}`
  return isDelivered
    ? `Delivered in ${time}${answered}`
    : `Not delivered after ${time}${answered}. ${problem ?? ''}`.trim()
}
