// Thresholds in GraphQL: what people fixed, what holds for an agent and why, and trying a change on history.
import type { FixedRow } from '../failures/fixed-thresholds.ts'
import type { MeasureUnit as Unit, Threshold } from '../failures/failure.ts'
import { pastOf } from '../failures/history.ts'
import { previewThresholds, PREVIEW_DAYS, type Preview } from '../failures/preview.ts'
import { NOTHING_FIXED, thresholdsOf, type FixedThresholds } from '../failures/thresholds.ts'
import { builder, failure } from './builder.ts'
import { whoAsks, type Context } from './context.ts'
import { MeasureUnit, ThresholdSource } from './failure-enums.ts'
import { projectNamed } from './project.ts'
import { Session } from './session.ts'

const FixedThresholdsRef = builder.objectRef<FixedRow>('FixedThresholds').implement({
  description: 'Limits that a person fixed for a project or one of its agents; null leaves one to what is usual.',
  fields: (t) => ({
    project: t.string({
      description: 'The project.',
      resolve: ({ projectId }, _args, context) => context.projectNames.get(projectId) ?? '',
    }),
    agent: t.exposeString('agent', { nullable: true, description: 'The agent; null stands for the whole project.' }),
    latencyMs: t.exposeFloat('latencyMs', { nullable: true, description: 'Milliseconds at work.' }),
    costUsd: t.exposeFloat('costUsd', { nullable: true, description: 'USD spent on models.' }),
    tokens: t.exposeFloat('tokens', { nullable: true, description: 'Tokens, where a price is not known.' }),
    loopRounds: t.exposeInt('loopRounds', { nullable: true, description: 'Rounds of one pattern of nodes.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    updatedBy: t.string({
      nullable: true,
      description: 'By whom; null for keys.',
      resolve: ({ updatedBy }, _args, { actor }) => (actor.kind === 'PERSON' ? updatedBy : null),
    }),
  }),
})

builder.queryField('fixedThresholds', (t) =>
  t.field({
    type: [FixedThresholdsRef],
    description: 'All that people fixed; projects before their agents.',
    resolve: (_root, _args, context) => context.fixedThresholds.list(context.projectIds),
  }),
)

const MEASURES: { measure: keyof ReturnType<typeof thresholdsOf>; unit: Unit; description: string }[] = [
  { measure: 'latencyMs', unit: 'MS', description: 'Milliseconds at work, without wait nodes.' },
  { measure: 'costUsd', unit: 'USD', description: 'USD spent on models.' },
  { measure: 'tokens', unit: 'TOKENS', description: 'Tokens, compared where a call has no price.' },
  { measure: 'loopRounds', unit: 'ROUNDS', description: 'Rounds of one pattern of nodes.' },
  { measure: 'equalRounds', unit: 'ROUNDS', description: 'Rounds of it in a row that change nothing.' },
]

const Measure = builder.enumType('Measure', {
  description: 'What of a run is compared with a threshold.',
  values: {
    LATENCY: { value: 'latencyMs', description: MEASURES[0]!.description },
    COST: { value: 'costUsd', description: MEASURES[1]!.description },
    TOKENS: { value: 'tokens', description: MEASURES[2]!.description },
    LOOP_ROUNDS: { value: 'loopRounds', description: MEASURES[3]!.description },
    EQUAL_ROUNDS: { value: 'equalRounds', description: MEASURES[4]!.description },
  } as const,
})

const EffectiveThreshold = builder.objectRef<Threshold & (typeof MEASURES)[number]>('EffectiveThreshold').implement({
  description: 'What the next run of an agent will be compared with.',
  fields: (t) => ({
    measure: t.expose('measure', { type: Measure, description: 'What is compared.' }),
    value: t.exposeFloat('value', { description: 'The limit, in unit.' }),
    unit: t.expose('unit', { type: MeasureUnit, description: 'Its unit.' }),
    source: t.expose('source', { type: ThresholdSource, description: 'Where it comes from.' }),
    runs: t.exposeInt('runs', { description: 'Earlier runs of the agent that are known, at most 200.' }),
    because: t.exposeString('because', { description: 'How it came about, for people.' }),
  }),
})

builder.queryField('effectiveThresholds', (t) =>
  t.field({
    type: [EffectiveThreshold],
    description: 'What holds for an agent now, and why.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      agent: t.arg.string({ description: 'Null stands for sessions without a name.' }),
    },
    complexity: { field: 20 },
    resolve: async (_root, { project, agent }, context) => {
      const { id } = visibleProject(context, project)
      const past = await pastOf(context.jobs, { projectId: id, agent: agent ?? null, firstSeenAt: null })
      const thresholds = thresholdsOf(past, context.fixedThresholds.settingsFor(id, agent ?? null))
      return MEASURES.map((one) => ({ ...one, ...thresholds[one.measure] }))
    },
  }),
)

/** A project that the caller may see; others are not there for them. */
function visibleProject(context: Context, name: string | null | undefined) {
  const wanted = name ?? 'default'
  const id = context.projectIds.find((one) => context.projectNames.get(one) === wanted)
  if (id === undefined) throw failure('NOT_FOUND', `There is no project "${wanted.slice(0, 80)}".`)
  return { id }
}

const ThresholdsInput = builder.inputType('ThresholdsInput', {
  description: 'Null, or not given, leaves a limit to what is usual for the agent.',
  fields: (t) => ({
    latencyMs: t.float({ description: 'Milliseconds, more than 0 and up to a year.' }),
    costUsd: t.float({ description: 'USD, more than 0 and up to 1,000,000.' }),
    tokens: t.float({ description: 'A whole number from 1 to 2^53-1.' }),
    loopRounds: t.int({ description: '2 to 1,000,000.' }),
  }),
})

const YEAR_MS = 365 * 86_400_000

function readFixed(input: typeof ThresholdsInput.$inferInput): FixedThresholds {
  const { latencyMs = null, costUsd = null, tokens = null, loopRounds = null } = { ...NOTHING_FIXED, ...input }
  const refuse = (field: string, allowed: string, came: number) => {
    throw failure('BAD_USER_INPUT', `${field} must be ${allowed}, not ${came}.`)
  }
  if (latencyMs !== null && !(latencyMs > 0 && latencyMs <= YEAR_MS))
    refuse('latencyMs', 'more than 0 and at most a year in milliseconds', latencyMs)
  if (costUsd !== null && !(costUsd > 0 && costUsd <= 1e6))
    refuse('costUsd', 'more than 0 and at most 1,000,000', costUsd)
  if (tokens !== null && !(Number.isSafeInteger(tokens) && tokens >= 1))
    refuse('tokens', 'a whole number from 1 to 2^53-1', tokens)
  if (loopRounds !== null && !(loopRounds >= 2 && loopRounds <= 1e6)) refuse('loopRounds', '2 to 1,000,000', loopRounds)
  return { latencyMs, costUsd, tokens, loopRounds }
}

/** As long as a name is kept when it comes with a run. */
const MAX_AGENT = 500

const thresholdArgs = {
  agent: 'The agent; null stands for the whole project.',
} as const

builder.mutationField('setThresholds', (t) =>
  t.field({
    type: [FixedThresholdsRef],
    description:
      'Fixes the limits of a project or one agent. They hold for what is classified from now on. Answers all that is fixed.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      agent: t.arg.string({ description: thresholdArgs.agent }),
      thresholds: t.arg({ type: ThresholdsInput, required: true }),
    },
    resolve: async (_root, { project, agent, thresholds }, context) => {
      const { id } = projectNamed(context, project ?? 'default')
      if (agent != null && (agent.length < 1 || agent.length > MAX_AGENT))
        throw failure('BAD_USER_INPUT', `agent must be 1 to ${MAX_AGENT} characters.`)
      await context.fixedThresholds.set(id, agent ?? null, readFixed(thresholds), whoAsks(context))
      return context.fixedThresholds.list(context.projectIds)
    },
  }),
)

const ThresholdPreview = builder.objectRef<Preview>('ThresholdPreview').implement({
  description: `What limits would have found in the last ${PREVIEW_DAYS} days, compared with what was found. Nothing is changed.`,
  fields: (t) => ({
    since: t.expose('since', { type: 'DateTime', description: 'Where those days begin.' }),
    checked: t.exposeInt('checked', { description: 'Sessions that were checked.' }),
    isCut: t.exposeBoolean('isCut', { description: 'There were more than 20,000: only the newest were checked.' }),
    gained: t.exposeInt('gained', { description: 'Sessions that would carry a failure more.' }),
    lost: t.exposeInt('lost', { description: 'Sessions that would carry a failure less.' }),
    gainedSessions: t.field({
      type: [Session],
      complexity: { field: 1, multiplier: 100 },
      description: 'The newest of them, at most 100.',
      resolve: ({ gainedIds }, _args, context) => loadAll(context, gainedIds),
    }),
    lostSessions: t.field({
      type: [Session],
      complexity: { field: 1, multiplier: 100 },
      description: 'The newest of them, at most 100.',
      resolve: ({ lostIds }, _args, context) => loadAll(context, lostIds),
    }),
  }),
})

async function loadAll(context: Context, ids: string[]) {
  const rows = await Promise.all(ids.map((id) => context.sessions.load(id)))
  return rows.filter((row) => row !== null)
}

builder.queryField('thresholdPreview', (t) =>
  t.field({
    type: ThresholdPreview,
    description: `Tries limits on the sessions of the last ${PREVIEW_DAYS} days before they are saved. For a project, agents with limits of their own keep those.`,
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      agent: t.arg.string({ description: thresholdArgs.agent }),
      thresholds: t.arg({ type: ThresholdsInput, required: true }),
    },
    complexity: { field: 20_000 },
    resolve: (_root, { project, agent, thresholds }, context) => {
      const { id } = visibleProject(context, project)
      const fixed = readFixed(thresholds)
      return previewThresholds(context.sql, id, agent ?? undefined, (name) => {
        const settings = context.fixedThresholds.settingsFor(id, name)
        return agent == null ? { ...settings, project: fixed } : { ...settings, agent: fixed }
      })
    },
  }),
)
