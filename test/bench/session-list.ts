// What the dashboard's list asks of a session.

export const LIST_FIELDS = `id externalId agent platform status errorMessage firstSeenAt lastEventAt closedAt durationMs
  eventCount llmCalls toolCalls models totalTokens costUsd quietAt revision`
