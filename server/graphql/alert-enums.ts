// The enums of alerts; their values are the words of the database.
import { builder } from './builder.ts'

export const AlertRuleKind = builder.enumType('AlertRuleKind', {
  description: 'On what occasion a rule tells.',
  values: {
    FAILURE: { description: 'A run carries a failure.' },
    NEW_PATTERN: { description: 'A failure is seen that was never seen before, or not since it was resolved.' },
    FAILURE_RATE: { description: "A share of an agent's runs failed." },
  } as const,
})

export const ChannelKind = builder.enumType('ChannelKind', {
  description: 'How a channel tells.',
  values: {
    WEBHOOK: { description: 'A POST signed as Standard Webhooks say.' },
    SLACK: { description: "A post to one of Slack's incoming webhooks." },
    EMAIL: { description: 'A mail.' },
  } as const,
})

export const DeliveryState = builder.enumType('DeliveryState', {
  description: 'What became of a delivery.',
  values: {
    QUEUED: { description: 'It waits for an attempt, or one is made.' },
    SENT: { description: 'The receiver has taken it.' },
    FAILED: { description: 'Given up after all attempts.' },
    SUPPRESSED: { description: 'Nobody was told, for a reason.' },
  } as const,
})

export const SuppressedBy = builder.enumType('SuppressedBy', {
  description: 'Why nobody was told.',
  values: {
    PATTERN_MUTED: { description: 'The pattern of the failure was muted.' },
    AGENT_MUTED: { description: 'The agent was muted.' },
    COOLDOWN: { description: 'The rule told of the same pattern a short while before.' },
    CHANNEL_OFF: { description: 'The channel was switched off or deleted.' },
    RULE_OFF: { description: 'The rule was switched off or deleted before.' },
    FAILURE_GONE: {
      description: 'The run was classified anew before anybody was told, and the failure was not found again.',
    },
  } as const,
})
