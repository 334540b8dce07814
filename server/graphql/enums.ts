// The enums of the schema; their values are the words of the database.
import { builder } from './builder.ts'

export const Platform = builder.enumType('Platform', {
  description: 'Which of the two kinds of platform a session came from.',
  values: {
    PLATFORM_A: { description: 'Flat events, as the webhook step of Zapier or Make sends them.' },
    PLATFORM_B: { description: 'Execution objects, as n8n has them.' },
  } as const,
})

export const SessionStatus = builder.enumType('SessionStatus', {
  description: 'The outcome as reported; nothing else moves it.',
  values: {
    RUNNING: { description: 'No closing event has come yet.' },
    COMPLETED: { description: 'Closed without a reported error.' },
    FAILED: { description: 'Closed with a reported error.' },
  } as const,
})

export const EventType = builder.enumType('EventType', {
  description: 'What kind of step an event is.',
  values: {
    LLM_CALL: { description: 'One call of a language model.' },
    TOOL_CALL: { description: 'One use of a tool.' },
    RETRIEVAL: { description: 'A look-up in a store of documents.' },
    SPAN: { description: 'Any other step.' },
    SESSION_END: { description: 'The end of a run of platform A.' },
  } as const,
})

export const NodeKind = builder.enumType('NodeKind', {
  description: 'What kind of node ran.',
  values: {
    LLM: { description: 'A language model.' },
    TOOL: { description: 'A tool of an agent.' },
    CODE: { description: 'Code of the workflow itself.' },
    HTTP_REQUEST: { description: 'An HTTP request.' },
    AGENT: { description: 'An agent or chain that calls models and tools.' },
    TRIGGER: { description: 'What started the run.' },
    OTHER: { description: 'Known, and none of these.' },
  } as const,
})

export const DurationSource = builder.enumType('DurationSource', {
  description: 'Where a duration comes from.',
  values: {
    REPORTED: { description: 'Start and end as the platform reported them.' },
    SPAN: { description: 'From the first to the end of the last step.' },
    STEPS: { description: 'The sum of the steps: no step had a time of its own.' },
  } as const,
})

export const CostSource = builder.enumType('CostSource', {
  description: 'Where a cost comes from.',
  values: {
    REPORTED: { description: 'As the platform sent it.' },
    PRICED: { description: 'Tokens times the price of the model.' },
  } as const,
})

export const KeyScope = builder.enumType('KeyScope', {
  description: 'What an API key may do.',
  values: { INGEST: { description: 'Post events.' }, READ: { description: 'Query and subscribe.' } } as const,
})

export const Role = builder.enumType('Role', {
  description: 'What a signed-in person may do.',
  values: {
    ADMIN: { description: 'Everything.' },
    VIEWER: { description: 'Read everything but keys and people.' },
  } as const,
})

export const TimeRange = builder.enumType('TimeRange', {
  description: 'A span of time up to now, worked out by the server.',
  values: {
    LAST_HOUR: { description: 'The last hour.' },
    LAST_24_HOURS: { description: 'The last 24 hours.' },
    LAST_7_DAYS: { description: 'The last 7 days.' },
    LAST_30_DAYS: { description: 'The last 30 days.' },
  } as const,
})

const HOURS = { LAST_HOUR: 1, LAST_24_HOURS: 24, LAST_7_DAYS: 7 * 24, LAST_30_DAYS: 30 * 24 }

type Range = keyof typeof HOURS | null | undefined

export const hoursOfRange = (range: Range): number | null => (range ? HOURS[range] : null)

export const startOfRange = (range: Range): Date | null =>
  range ? new Date(Date.now() - HOURS[range] * 3_600_000) : null
