// What people decide about prompt versions: edit, activate, reject, retire, and write one by hand. Admins alone.
import { MAX_PROMPT, MAX_REASON } from '../prompts/prompt.ts'
import {
  activatePrompt,
  createByHand,
  editPrompt,
  endPrompt,
  type PromptNotice,
  type Refusal,
} from '../prompts/store.ts'
import { builder, failure } from './builder.ts'
import { whoAsks, type Context } from './context.ts'
import { promptUuid } from './ids.ts'
import { projectNamed } from './project.ts'
import { PromptVersion } from './prompt.ts'

const MAX_AGENT = 500

function readPrompt(text: string): string {
  const prompt = text.replace(/\r\n?/g, '\n').trim()
  if (prompt === '')
    throw failure('BAD_USER_INPUT', 'prompt must not be empty: retire the active version to serve none.')
  if (prompt.length > MAX_PROMPT)
    throw failure('BAD_USER_INPUT', `prompt takes at most ${MAX_PROMPT} characters, not ${prompt.length}.`)
  if (/\0/.test(prompt) || !prompt.isWellFormed())
    throw failure('BAD_USER_INPUT', 'prompt holds a character that cannot be stored (U+0000 or half a pair).')
  return prompt
}

function readReason(text: string | null | undefined): string | null {
  const reason = text?.trim() ?? ''
  if (reason.length > MAX_REASON)
    throw failure('BAD_USER_INPUT', `reason takes at most ${MAX_REASON} characters, not ${reason.length}.`)
  if (/\0/.test(reason) || !reason.isWellFormed())
    throw failure('BAD_USER_INPUT', 'reason holds a character that cannot be stored (U+0000 or half a pair).')
  return reason === '' ? null : reason
}

function neededReason(text: string): string {
  const reason = readReason(text)
  if (reason === null) throw failure('BAD_USER_INPUT', 'reason must not be empty: whoever comes later will ask why.')
  return reason
}

const WORDS = { SHADOW: 'a candidate', ACTIVE: 'active', REJECTED: 'rejected', RETIRED: 'retired' }

async function decided(context: Context, id: string, result: PromptNotice[] | Refusal) {
  if (Array.isArray(result)) {
    await context.promptsChanged(result)
    return (await context.prompts.load(id))!
  }
  switch (result.refused) {
    case 'not-there':
      throw failure('NOT_FOUND', 'There is no such prompt version.')
    case 'state':
      throw failure('CONFLICT', `This version is ${WORDS[result.state]}: that cannot be done with it.`)
    case 'changed':
      throw failure('CONFLICT', 'Somebody changed this version since you read it. Read it again, then decide.')
    case 'other-active':
      throw failure(
        'CONFLICT',
        `${result.version === null ? 'No version' : `Version ${result.version}`} is active by now. Compare with it, then decide.`,
      )
  }
}

const revision = { required: true, description: 'Of the version as you read it.' } as const
const reasonArg = { required: true, description: `Why, 1 to ${MAX_REASON} characters.` } as const

builder.mutationField('editPrompt', (t) =>
  t.field({
    type: PromptVersion,
    description: 'Changes the text of a candidate. Other versions stay as they were fetched.',
    args: {
      id: t.arg.id({ required: true }),
      revision: t.arg.int(revision),
      prompt: t.arg.string({ required: true, description: `1 to ${MAX_PROMPT} characters.` }),
      reason: t.arg.string({ description: `Why, up to ${MAX_REASON} characters.` }),
    },
    resolve: async (_root, args, context) => {
      const id = promptUuid(args.id)
      const decision = { revision: args.revision, by: whoAsks(context), reason: readReason(args.reason) }
      return decided(
        context,
        id,
        await editPrompt(context.jobs, context.projectIds, id, readPrompt(args.prompt), decision),
      )
    },
  }),
)

builder.mutationField('activatePrompt', (t) =>
  t.field({
    type: PromptVersion,
    description:
      'Makes a candidate, or a retired version (roll back), the one that workflows fetch from now on. The active one retires. Nothing is sent to any platform.',
    args: {
      id: t.arg.id({ required: true }),
      revision: t.arg.int(revision),
      activeVersion: t.arg.int({
        description: 'Number of the version that you saw active; null for none. Refused where it is another by now.',
      }),
      reason: t.arg.string(reasonArg),
    },
    resolve: async (_root, args, context) => {
      const id = promptUuid(args.id)
      const decision = { revision: args.revision, by: whoAsks(context), reason: neededReason(args.reason) }
      const { jobs, projectIds } = context
      return decided(context, id, await activatePrompt(jobs, projectIds, id, decision, args.activeVersion ?? null))
    },
  }),
)

for (const [name, how, description] of [
  [
    'rejectPrompt',
    'REJECTED',
    'Decides against a candidate. Another is made only when enough new sessions show the failure.',
  ],
  ['retirePrompt', 'RETIRED', 'Takes the active version away: workflows fetch an empty prompt from now on.'],
] as const) {
  builder.mutationField(name, (t) =>
    t.field({
      type: PromptVersion,
      description,
      args: { id: t.arg.id({ required: true }), revision: t.arg.int(revision), reason: t.arg.string(reasonArg) },
      resolve: async (_root, args, context) => {
        const id = promptUuid(args.id)
        const decision = { revision: args.revision, by: whoAsks(context), reason: neededReason(args.reason) }
        return decided(context, id, await endPrompt(context.jobs, context.projectIds, id, how, decision))
      },
    }),
  )
}

builder.mutationField('createPrompt', (t) =>
  t.field({
    type: PromptVersion,
    description: 'Writes a version by hand: a candidate until somebody activates it.',
    args: {
      project: t.arg.string({ defaultValue: 'default' }),
      agent: t.arg.string({ required: true, description: `The agent by its name, 1 to ${MAX_AGENT} characters.` }),
      prompt: t.arg.string({ required: true, description: `1 to ${MAX_PROMPT} characters.` }),
      reason: t.arg.string({ description: `Why, up to ${MAX_REASON} characters.` }),
    },
    resolve: async (_root, { project, agent, prompt, reason }, context) => {
      if (agent.trim() === '' || agent.length > MAX_AGENT || /\0/.test(agent) || !agent.isWellFormed())
        throw failure('BAD_USER_INPUT', `agent must be 1 to ${MAX_AGENT} characters.`)
      const { id: projectId } = projectNamed(context, project ?? 'default')
      const version = { projectId, agent, prompt: readPrompt(prompt), reason: readReason(reason), by: whoAsks(context) }
      const made = await createByHand(context.jobs, version)
      return decided(context, made.id, [made])
    },
  }),
)
