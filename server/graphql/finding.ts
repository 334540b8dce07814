// Findings in GraphQL: those of a session with their evidence, and summed up per agent, ranked by what they would save.
import type { FindingRow, FindingSummaryRow } from '../findings/read.ts'
import { readFindingSummaries } from '../findings/read.ts'
import { Agent } from './agent.ts'
import { builder } from './builder.ts'
import { startOfRange, TimeRange } from './enums.ts'
import { eventGlobalId } from './ids.ts'
import { Session } from './session.ts'

const FindingKind = builder.enumType('FindingKind', {
  description: 'What could be better although nothing went wrong.',
  values: {
    REPEATED_PROMPT: { description: 'A prompt was sent again that had been answered in the run.' },
    RETRIES: { description: 'A step failed and was tried again, or the run repeats another.' },
    DEARER_MODEL: { description: 'Other agents use a cheaper model for such work with the same success.' },
    FIXED_BEGINNING: { description: 'The same long beginning of a prompt is sent run after run: caching would save.' },
    GROWING_CONTEXT: { description: 'The prompt of a step grows with each call.' },
    UNUSED_TOOL_ANSWER: { description: 'No later step shows anything of what a tool answered.' },
    CUT_OFF_OUTPUT: { description: 'An answer ended before it was whole.' },
    UNUSUAL_COST: { description: "The run cost far more than the agent's median." },
    UNUSUAL_DURATION: { description: "The run took far longer than the agent's median." },
    UNPRICED_MODEL: { description: 'Calls with tokens of a model without a known price.' },
  } as const,
})

const savings = {
  savingUsd: 'USD that could have been saved at most, estimated; null where it cannot be known.',
  savingTokens: 'Tokens that could have been saved at most, estimated; null where it cannot be known.',
  savingMs: 'Milliseconds that could have been saved at most, estimated; null where it cannot be known.',
}

// prettier-ignore
const Finding = builder.objectRef<FindingRow>('Finding').implement({
  description: 'Something about a session that could be better; not a failure.',
  fields: (t) => ({
    id: t.id({ description: 'Its id: the same for as long as it is found.', resolve: ({ sessionId, findingKey }) => `${sessionId}/${findingKey}` }),
    kind: t.expose('kind', { type: FindingKind, description: 'What kind.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The step, tool or model it is about; null where it is about the run.' }),
    sentence: t.exposeString('sentence', { description: 'What was seen, for people.' }),
    advice: t.exposeString('advice', { description: 'What to change.' }),
    savingUsd: t.expose('savingUsd', { type: 'Decimal', nullable: true, description: savings.savingUsd }),
    savingTokens: t.expose('savingTokens', { type: 'BigInt', nullable: true, description: savings.savingTokens }),
    savingMs: t.exposeFloat('savingMs', { nullable: true, description: savings.savingMs }),
    evidence: t.idList({
      description: 'Ids of the events that show it, at most 100.',
      resolve: ({ sessionId, day, evidence }) => evidence.map((eventKey) => eventGlobalId({ sessionId, day, eventKey })),
    }),
    evidenceCount: t.exposeInt('evidenceCount', { description: 'How many events show it.' }),
    seenAt: t.expose('seenAt', { type: 'DateTime', description: 'When the last of its session had arrived as it was found.' }),
  }),
})

builder.objectField(Session, 'findings', (t) =>
  t.field({
    type: [Finding],
    complexity: { field: 5, multiplier: 5 },
    description:
      'What could be better, what would save most first; known some moments after the run was closed or turned quiet.',
    resolve: ({ id }, _args, context) => context.findings.load(id),
  }),
)

// prettier-ignore
const FindingSummary = builder.objectRef<FindingSummaryRow>('FindingSummary').implement({
  description: "One kind of finding about one step of an agent's runs, over a range of time.",
  fields: (t) => ({
    id: t.id({ description: 'The same for as long as the range has such findings.', resolve: ({ projectId, agent, findingKey }) => `${projectId}/${findingKey}/${agent ?? ''}` }),
    project: t.string({ description: 'The project.', resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '' }),
    agent: t.exposeString('agent', { nullable: true, description: 'The agent; null stands for sessions without a name.' }),
    kind: t.expose('kind', { type: FindingKind, description: 'What kind.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The step, tool or model it is about; null where it is about whole runs.' }),
    sessions: t.exposeInt('sessions', { description: 'Sessions that carry it.' }),
    savingUsd: t.expose('savingUsd', { type: 'Decimal', nullable: true, description: 'Sum of the savings in USD that are known; null where none is.' }),
    savingTokens: t.expose('savingTokens', { type: 'BigInt', nullable: true, description: 'Sum of the savings in tokens that are known; null where none is.' }),
    savingMs: t.exposeFloat('savingMs', { nullable: true, description: 'Sum of the savings in milliseconds that are known; null where none is.' }),
    pricedSessions: t.exposeInt('pricedSessions', { description: 'Of how many of the sessions the saving in USD is known.' }),
    sentence: t.exposeString('sentence', { description: 'What was seen in the newest of them.' }),
    advice: t.exposeString('advice', { description: 'What to change.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When it was last seen.' }),
    latestSession: t.field({ type: Session, nullable: true, description: 'The newest session that carries it.', resolve: ({ lastSessionId }, _args, context) => context.sessions.load(lastSessionId) }),
  }),
})

const WEEK_MS = 7 * 86_400_000
const since = (range: Parameters<typeof startOfRange>[0]) => startOfRange(range) ?? new Date(Date.now() - WEEK_MS)
const ranked = 'what saves most money first, then tokens, then time; at most 200.'

builder.queryField('findingSummaries', (t) =>
  t.field({
    type: [FindingSummary],
    description: `Findings of all agents, or of one, ${ranked}`,
    args: {
      agent: t.arg.string({ description: 'Only of this agent.' }),
      range: t.arg({ type: TimeRange, defaultValue: 'LAST_7_DAYS' }),
    },
    complexity: { field: 100, multiplier: 50 },
    resolve: (_root, { agent, range }, context) =>
      readFindingSummaries(context.sql, context.projectIds, agent ?? undefined, since(range)),
  }),
)

builder.objectField(Agent, 'findings', (t) =>
  t.field({
    type: [FindingSummary],
    description: `What could be better in its runs, ${ranked}`,
    args: { range: t.arg({ type: TimeRange, defaultValue: 'LAST_7_DAYS' }) },
    complexity: { field: 100, multiplier: 50 },
    resolve: ({ projectId, name }, { range }, context) =>
      readFindingSummaries(context.sql, [projectId], name, since(range)),
  }),
)
