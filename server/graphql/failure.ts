// Failures in GraphQL: those of a session with their evidence, and what each rule says of it.
import type { Explanation } from '../failures/classify.ts'
import { severityOf, type FailureCategory as Category } from '../failures/failure.ts'
import type { FailureRow } from '../failures/read.ts'
import { builder } from './builder.ts'
import { FailureCategory, FailureCause, MeasureUnit, RuleOutcome, Severity, ThresholdSource } from './failure-enums.ts'
import { eventGlobalId } from './ids.ts'
import { FailurePattern } from './pattern.ts'
import { Session } from './session.ts'

export const Failure = builder.objectRef<FailureRow>('Failure')

// prettier-ignore
Failure.implement({
  description: 'Something that a rule found in a closed session.',
  fields: (t) => ({
    id: t.id({ description: 'Its id: the same for as long as it is found.', resolve: ({ sessionId, failureKey }) => `${sessionId}/${failureKey}` }),
    category: t.expose('category', { type: FailureCategory, description: 'What kind.' }),
    severity: t.field({ type: Severity, description: 'How bad.', resolve: ({ severity }) => severityOf(severity) }),
    isPrimary: t.boolean({ description: 'The worst of its session, the one that lists show.', resolve: ({ place }) => place === 0 }),
    cause: t.expose('cause', { type: FailureCause, nullable: true, description: 'Why; null where no error tells.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The node, tool or model it is about.' }),
    sentence: t.exposeString('sentence', { description: 'What happened, for people.' }),
    advice: t.exposeString('advice', { description: 'What to do about it.' }),
    errorText: t.exposeString('errorText', { nullable: true, description: 'The error as it came, cut at 2,000 characters.' }),
    measured: t.exposeFloat('measured', { nullable: true, description: 'The measured value, in unit; null where the rule reads errors.' }),
    threshold: t.exposeFloat('threshold', { nullable: true, description: 'What it was compared with, in unit.' }),
    unit: t.expose('unit', { type: MeasureUnit, nullable: true, description: 'Of measured and threshold.' }),
    thresholdSource: t.expose('thresholdSource', { type: ThresholdSource, nullable: true, description: 'Where the threshold came from.' }),
    thresholdRuns: t.exposeInt('thresholdRuns', { nullable: true, description: 'Earlier runs of the agent that were known, at most 200.' }),
    evidence: t.idList({
      description: 'Ids of the events that show it, at most 100.',
      resolve: ({ sessionId, day, evidence }) => evidence.map((eventKey) => eventGlobalId({ sessionId, day, eventKey })),
    }),
    evidenceCount: t.exposeInt('evidenceCount', { description: 'How many events show it.' }),
    seenAt: t.expose('seenAt', { type: 'DateTime', description: 'When the last of its session had arrived as it was found.' }),
    session: t.field({ type: Session, nullable: true, description: 'Whose it is.', resolve: ({ sessionId }, _args, context) => context.sessions.load(sessionId) }),
    pattern: t.field({
      type: FailurePattern, nullable: true, complexity: 20,
      description: 'The same failure seen again, counted over the last 7 days.',
      resolve: ({ patternId }, _args, context) => context.patterns.load(patternId),
    }),
  }),
})

const RuleExplanation = builder.objectRef<Explanation>('RuleExplanation').implement({
  description: 'What one rule says of a session.',
  fields: (t) => ({
    category: t.expose('category', { type: FailureCategory, description: 'What it would find.' }),
    looksFor: t.exposeString('looksFor', { description: 'What it looks for.' }),
    outcome: t.expose('outcome', { type: RuleOutcome, description: 'Whether it found it.' }),
    sentence: t.exposeString('sentence', { description: 'What it measured and what it would have taken.' }),
    measured: t.exposeFloat('measured', { nullable: true, description: 'The measured value, in unit.' }),
    threshold: t.float({
      nullable: true,
      description: 'From which value on it would find something.',
      resolve: ({ threshold }) => threshold && threshold.value,
    }),
    unit: t.expose('unit', { type: MeasureUnit, nullable: true, description: 'Of measured and threshold.' }),
    thresholdSource: t.field({
      type: ThresholdSource,
      nullable: true,
      description: 'Where the threshold comes from.',
      resolve: ({ threshold }) => threshold && threshold.source,
    }),
  }),
})

const WORDS: Record<Category, string> = {
  TOOL_FAILURE: 'failed tools',
  MODEL_FAILURE: 'failed model calls',
  RETRIEVAL_FAILURE: 'failed retrievals',
  RUN_FAILURE: 'failed runs',
  INFINITE_LOOP: 'endless loops',
  LATENCY_SPIKE: 'slow runs',
  COST_ANOMALY: 'costly runs',
}

const RuleNotRun = builder.objectRef<Category>('RuleNotRun').implement({
  description: 'A rule that a fault of its own kept from looking at a session.',
  fields: (t) => ({
    category: t.field({ type: FailureCategory, description: 'Which.', resolve: (category) => category }),
    sentence: t.string({
      description: 'The same for people.',
      resolve: (category) =>
        `The rule for ${WORDS[category]} could not run on this session: whether it would find something is not known.`,
    }),
  }),
})

// prettier-ignore
builder.objectFields(Session, (t) => ({
  classified: t.exposeBoolean('classified', { description: 'What is said of failures holds for the session as it stands; false while it runs and for a moment after.' }),
  failureCount: t.exposeInt('failureCount', { description: 'Failures that the rules found.' }),
  failureCategories: t.expose('failureCategories', { type: [FailureCategory], description: 'Their categories, each once, the primary first.' }),
  severity: t.field({ type: Severity, nullable: true, description: 'Of the primary failure; null where there is none.', resolve: ({ severity }) => (severity === null ? null : severityOf(severity)) }),
  failures: t.field({ type: [Failure], complexity: { field: 5, multiplier: 50 }, description: 'The primary one first.', resolve: (session, _args, context) => context.failures.load(session.id) }),
  primaryFailure: t.field({
    type: Failure, nullable: true, complexity: 5, description: 'The worst.',
    resolve: (session, _args, context) => (session.failureCount === 0 ? null : context.primaryFailures.load(session.id)),
  }),
  rulesNotRun: t.field({ type: [RuleNotRun], description: 'Rules that could not look at it.', resolve: ({ rulesNotRun }) => rulesNotRun }),
  hint: t.string({
    nullable: true,
    description: 'What to send so that more can be said; null where nothing is missing.',
    resolve: ({ platform, status, errorCount }) =>
      platform === 'PLATFORM_A' && status === 'FAILED' && errorCount === 0
        ? 'The run was reported as failed without a text. Send the field error with the reason, in the failing step or with the status, and the failure is classified.'
        : null,
  }),
  explain: t.field({
    type: [RuleExplanation], complexity: 2_000,
    description: 'What each rule of the platform says of it: what was found, and for those that found nothing what they measured and what it would have taken.',
    resolve: async (session, _args, context) => context.classifier.explain(session.id, await context.failures.load(session.id)),
  }),
}))
