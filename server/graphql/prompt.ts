// Prompt versions in GraphQL: what was proposed, by whom and why, what became of it, and what changes.
import { resolveCursorConnection } from '@pothos/plugin-relay'
import type { Delivery } from '../live/conflated-queue.ts'
import {
  readEffect,
  readPromptAgents,
  readPrompts,
  type DecisionRow,
  type PatternRate as Rate,
  type PromptAgentRow,
  type PromptFilter as Filter,
  type PromptRow,
  type ProposalRow,
} from '../prompts/read.ts'
import { builder, failure, MAX_PAGE, pageSize } from './builder.ts'
import { FailureCategory, FailureCause } from './failure-enums.ts'
import { isUuid, patternUuid, promptUuid } from './ids.ts'
import { FailurePattern } from './pattern.ts'
import { Session } from './session.ts'

const PromptState = builder.enumType('PromptState', {
  description: 'Where a prompt version stands. Only a person moves it.',
  values: {
    SHADOW: { description: 'A candidate: it serves nobody until a person activates it.' },
    ACTIVE: { description: 'The one version of its agent that workflows may fetch.' },
    REJECTED: { description: 'A person decided against it.' },
    RETIRED: { description: 'It was active; it can be rolled back to.' },
  } as const,
})

const PromptMaker = builder.enumType('PromptMaker', {
  description: 'Whose text it is.',
  values: {
    RULES: { description: 'Built by the rules of Runwatch, by cause and tool.' },
    MODEL: { description: 'Proposed by the model that is configured.' },
    PERSON: { description: 'Written or edited by a person.' },
  } as const,
})

const PromptAction = builder.enumType('PromptAction', {
  description: 'What happened to a prompt version.',
  values: {
    CREATED: { description: 'It was made.' },
    PROPOSED: { description: 'The model proposed a text.' },
    EDITED: { description: 'A person changed the text.' },
    ACTIVATED: { description: 'It became the active one.' },
    REJECTED: { description: 'A person decided against it.' },
    RETIRED: { description: 'It stopped being active.' },
    ROLLED_BACK: { description: 'It became the active one again.' },
  } as const,
})

export const PromptVersion = builder.objectRef<PromptRow>('PromptVersion')

// prettier-ignore
const PromptProposal = builder.objectRef<ProposalRow>('PromptProposal').implement({
  description: 'What one of the two makers proposed.',
  fields: (t) => ({
    maker: t.expose('maker', { type: PromptMaker, description: 'RULES or MODEL.' }),
    prompt: t.exposeString('prompt', { nullable: true, description: 'The text to put before the instruction; null where there is none (yet).' }),
    rewrite: t.exposeString('rewrite', { nullable: true, description: 'A whole instruction to paste in place of the one that was seen. Nothing fetches it.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it should help, in the words of the model.' }),
    model: t.exposeString('model', { nullable: true, description: 'The model that was asked.' }),
    problem: t.exposeString('problem', { nullable: true, description: 'Why there is no text, for people.' }),
    attempts: t.exposeInt('attempts', { description: 'How often it was asked.' }),
    nextAttemptAt: t.expose('nextAttemptAt', { type: 'DateTime', nullable: true, description: 'When it is asked (again) at the latest; null where it is not.' }),
    promptTokens: t.expose('promptTokens', { type: 'BigInt', nullable: true, description: 'Tokens that were sent, as the provider counts.' }),
    completionTokens: t.expose('completionTokens', { type: 'BigInt', nullable: true, description: 'Tokens that were answered, as the provider counts.' }),
    costUsd: t.expose('costUsd', { type: 'Decimal', nullable: true, description: 'What that cost by the price table; null where the price is not known.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it came.' }),
  }),
})

const PromptDecision = builder.objectRef<DecisionRow>('PromptDecision').implement({
  description: 'Who decided what about a prompt version, when and why.',
  fields: (t) => ({
    action: t.expose('action', { type: PromptAction, description: 'What was done.' }),
    decidedBy: t.string({
      nullable: true,
      description: 'By whom; null for what Runwatch did itself, and for keys.',
      resolve: ({ decidedBy }, _args, { actor }) => (actor.kind === 'PERSON' ? decidedBy : null),
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why.' }),
    prompt: t.exposeString('prompt', { nullable: true, description: 'The text as it stood after an edit.' }),
    decidedAt: t.expose('decidedAt', { type: 'DateTime', description: 'When.' }),
  }),
})

const PatternRate = builder.objectRef<Rate>('PatternRate').implement({
  description: 'How often a pattern was seen in a span of time.',
  fields: (t) => ({
    since: t.expose('since', { type: 'DateTime', description: 'Where the span begins.' }),
    until: t.expose('until', { type: 'DateTime', description: 'Where it ends.' }),
    runs: t.exposeInt('runs', { description: 'Closed runs of the agent that were first seen in it.' }),
    sessions: t.exposeInt('sessions', { description: 'Of these, those that carry the pattern.' }),
    per100Runs: t.float({
      nullable: true,
      description: 'Sessions per 100 runs; null without runs.',
      resolve: ({ runs, sessions }) => (runs === 0 ? null : (100 * sessions) / runs),
    }),
  }),
})

const PromptEffect = builder.objectRef<{ before: Rate; after: Rate }>('PromptEffect').implement({
  description: "The pattern's rate before and after a version was activated. What else changed meanwhile is not known.",
  fields: (t) => ({
    before: t.expose('before', {
      type: PatternRate,
      description: 'As long before as after: a week at least, 30 days at most.',
    }),
    after: t.expose('after', { type: PatternRate, description: 'Since it was activated, while it was active.' }),
  }),
})

// prettier-ignore
builder.node(PromptVersion, {
  description: 'A text that a workflow puts before its own, unchanged instruction. Runwatch applies it nowhere: workflows fetch the active one.',
  id: { resolve: ({ id }) => id, description: 'Global id.' },
  loadMany: (ids, context) => Promise.all(ids.map((id) => context.prompts.load(promptUuid(id)))),
  fields: (t) => ({
    project: t.string({ description: 'The project.', resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '' }),
    agent: t.exposeString('agent', { description: 'The agent it is for.' }),
    version: t.exposeInt('version', { description: 'Counts up within the agent.' }),
    state: t.expose('state', { type: PromptState, description: 'Where it stands.' }),
    prompt: t.exposeString('prompt', { description: 'The text.' }),
    maker: t.expose('maker', { type: PromptMaker, description: 'Whose text it is now.' }),
    category: t.expose('category', { type: FailureCategory, nullable: true, description: 'The failure it guards against; null where a person wrote it.' }),
    cause: t.expose('cause', { type: FailureCause, nullable: true, description: 'Why that failed; null where no error tells.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The tool, node or model it is about.' }),
    title: t.exposeString('title', { nullable: true, description: 'The failure as it was called when this was made.' }),
    caution: t.exposeString('caution', { nullable: true, description: 'What a prompt cannot do about this failure.' }),
    instructionSeen: t.exposeString('instructionSeen', { nullable: true, description: "The workflow's own instruction, as far as its runs show it, cut at 8,000 characters." }),
    evidenceCount: t.exposeInt('evidenceCount', { description: 'Sessions with the failure when this was made.' }),
    evidenceDays: t.exposeInt('evidenceDays', { nullable: true, description: 'Within how many days.' }),
    evidence: t.field({
      type: [Session], complexity: { field: 5, multiplier: 20 },
      description: 'The newest of these sessions that are still kept, at most 50.',
      resolve: async ({ evidence }, _args, context) => (await Promise.all(evidence.map((id) => context.sessions.load(id)))).filter((row) => row !== null),
    }),
    pattern: t.field({
      type: FailurePattern, nullable: true, complexity: 20,
      description: 'The pattern, counted over the last 7 days; null where no session of it is kept.',
      resolve: ({ patternId }, _args, context) => (patternId === null ? null : context.patterns.load(patternId)),
    }),
    proposals: t.field({ type: [PromptProposal], complexity: { field: 5, multiplier: 2 }, description: 'What the makers proposed, the rules first.', resolve: ({ id }, _args, context) => context.proposals.load(id) }),
    decisions: t.field({ type: [PromptDecision], complexity: { field: 5, multiplier: 5 }, description: 'Its history, the newest first.', resolve: ({ id }, _args, context) => context.decisions.load(id) }),
    effect: t.field({ type: PromptEffect, nullable: true, complexity: 50, description: 'What came of activating it; null where it never was, or is about no pattern.', resolve: (prompt, _args, context) => readEffect(context.sql, prompt) }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    createdBy: t.string({ nullable: true, description: 'The person who wrote it; null where Runwatch made it, and for keys.', resolve: ({ createdBy }, _args, { actor }) => (actor.kind === 'PERSON' ? createdBy : null) }),
    decidedAt: t.expose('decidedAt', { type: 'DateTime', nullable: true, description: 'When its state last changed.' }),
    activatedAt: t.expose('activatedAt', { type: 'DateTime', nullable: true, description: 'When it was last activated.' }),
    retiredAt: t.expose('retiredAt', { type: 'DateTime', nullable: true, description: 'When it stopped being active.' }),
    fetchCount: t.expose('fetchCount', { type: 'BigInt', description: 'How often workflows fetched it since it was last activated, some seconds late.' }),
    lastFetchedAt: t.expose('lastFetchedAt', { type: 'DateTime', nullable: true, description: 'When it was last fetched.' }),
    revision: t.exposeInt('revision', { description: 'Rises with every change of text or state: decide with the one you read.' }),
  }),
})

const PromptAgent = builder.objectRef<PromptAgentRow>('PromptAgent').implement({
  description: 'An agent that has prompt versions.',
  fields: (t) => ({
    id: t.id({ description: 'Its id.', resolve: ({ projectId, agent }) => `${projectId}/${agent}` }),
    project: t.string({
      description: 'The project.',
      resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '',
    }),
    agent: t.exposeString('agent', { description: 'Its name.' }),
    active: t.field({
      type: PromptVersion,
      nullable: true,
      description: 'The version that workflows fetch; null for none.',
      resolve: ({ activeId }, _args, context) => (activeId === null ? null : context.prompts.load(activeId)),
    }),
    candidates: t.exposeInt('candidates', { description: 'Candidates that wait for a decision.' }),
    versions: t.exposeInt('versions', { description: 'All of its versions.' }),
    changedAt: t.expose('changedAt', { type: 'DateTime', description: 'When the last was made or decided about.' }),
  }),
})

builder.queryField('promptAgents', (t) =>
  t.field({
    type: [PromptAgent],
    description: 'Agents with prompt versions: those with candidates first, then the last changed; at most 500.',
    complexity: { field: 20, multiplier: 20 },
    resolve: (_root, _args, context) => readPromptAgents(context.sql, context.projectIds),
  }),
)

const PromptVersionFilter = builder.inputType('PromptVersionFilter', {
  description: 'All that is given must hold.',
  fields: (t) => ({
    agents: t.stringList({ description: 'Of any of these.' }),
    states: t.field({ type: [PromptState], description: 'In any of these.' }),
    pattern: t.id({ description: 'Made for this failure pattern.' }),
  }),
})

function readFilter(input: typeof PromptVersionFilter.$inferInput | null | undefined): Filter {
  if ((input?.agents?.length ?? 0) > MAX_PAGE)
    throw failure('BAD_USER_INPUT', `agents takes at most ${MAX_PAGE} names.`)
  const patternId = input?.pattern == null ? null : patternUuid(input.pattern)
  return { agents: input?.agents, states: input?.states, patternId }
}

/** Whatever its state: a list hears of those that leave it. */
const concerns = ({ agents, patternId }: Filter, row: PromptRow) =>
  (!agents?.length || agents.includes(row.agent)) && (patternId == null || patternId === row.patternId)

function readCursor(cursor: string): { at: string; id: string } {
  const [at = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('/')
  if (Number.isNaN(Date.parse(at)) || !/^[12]\d{3}-[\dT:.-]+Z$/.test(at) || !isUuid(id))
    throw failure('BAD_USER_INPUT', 'This cursor did not come from a list of prompt versions.')
  return { at, id }
}

builder.queryField('promptVersions', (t) =>
  t.connection({
    type: PromptVersion,
    description: 'Prompt versions, newest first. Pages of at most 100, read forward.',
    args: { filter: t.arg({ type: PromptVersionFilter }) },
    complexity: ({ first }) => ({ field: 1, multiplier: Math.min(first ?? 50, MAX_PAGE) }),
    resolve: (_root, args, context) => {
      if (args.last != null || args.before != null)
        throw failure('BAD_USER_INPUT', 'Prompt versions are read forward: use first and after.')
      pageSize(args.first, 50, MAX_PAGE)
      const filter = readFilter(args.filter)
      return resolveCursorConnection<Promise<PromptRow[]>>(
        {
          args,
          defaultSize: 50,
          maxSize: MAX_PAGE,
          toCursor: ({ createdAt, id }) => Buffer.from(`${createdAt.toISOString()}/${id}`).toString('base64url'),
        },
        ({ after, limit }) =>
          readPrompts(context.sql, context.projectIds, filter, { limit, after: after ? readCursor(after) : null }),
      )
    },
  }),
)

const PromptVersionChange = builder.objectRef<Delivery<PromptRow>>('PromptVersionChange').implement({
  description: 'A prompt version as it stands after a change.',
  fields: (t) => ({
    promptVersion: t.field({
      type: PromptVersion,
      nullable: true,
      description: 'Null where this says resync. A new candidate is in state SHADOW with revision 1.',
      resolve: (delivery) => ('value' in delivery ? delivery.value : null),
    }),
    resync: t.boolean({
      description: 'Changes were dropped for this subscriber: read the list again.',
      resolve: (delivery) => 'resync' in delivery,
    }),
  }),
})

builder.subscriptionField('promptVersionChanged', (t) =>
  t.field({
    type: PromptVersionChange,
    description:
      'New candidates, and versions that were edited, decided about or fetched, whatever the states of the filter.',
    args: { filter: t.arg({ type: PromptVersionFilter }) },
    subscribe: (_root, { filter }, context) => {
      const wanted = readFilter(filter)
      return context.promptFeed.subscribe(
        () => context.projectIds,
        (row) => concerns(wanted, row),
      )
    },
    resolve: (delivery) => delivery,
  }),
)
