// The rule-built maker: an instruction that guards against a repeated failure, by its category, cause and tool. Pure.
import type { Cause } from '../failures/failure.ts'
import { maskSecrets } from '../ingest/mask.ts'
import { faultIn } from './answer-check.ts'
import { hintsOf, sentencesOf, type Hints } from './hints.ts'
import type { Evidence } from './prompt.ts'

export interface Guard {
  prompt: string
  /** what a prompt cannot do about this failure, for people; null where it can do all */
  caution: string | null
}

/**
 * The text stands before an instruction that it does not know: it speaks of one thing only, says what to do instead, and
 * takes over nothing of an error but words of fixed forms. It forbids nothing that another task may need.
 * @param hasModel whether a model was called in the runs that show it
 */
export function guardFor(evidence: Evidence, hasModel = true): Guard {
  const { prompt, caution } = guardOf(evidence)
  if (hasModel) return { prompt, caution }
  return { prompt, caution: caution === null || caution === NO_MODEL_BEFORE ? NO_MODEL : `${NO_MODEL} ${caution}` }
}

const NO_MODEL =
  'No model call was seen in these runs, so there may be nobody who could follow an instruction: look at the step itself first.'
const NO_MODEL_BEFORE =
  'No model call was seen before this step, so an instruction changes little about it: see its error, and mend the step itself.'
const NOT_BLAMED =
  'Nothing says which step failed. Where steps are sent as events of their own, the error belongs to the event of its step.'

function guardOf({ category, cause, subject, role, errorTexts }: Evidence): Guard {
  const hints = hintsOf(errorTexts)
  const name = nameIn(subject)
  switch (category) {
    case 'INFINITE_LOOP':
      return {
        prompt:
          'Do not go in circles. Before you call a tool, compare the call with those you have made: do not repeat one with the same input unless something has changed since. ' +
          'After each round ask whether it brought anything new; if two rounds in a row did not, stop. ' +
          'When you stop without a result, say what you tried and what is missing, so that a person can go on from there.',
        caution:
          'An instruction ends only the rounds that a model decides about. If nodes of the workflow form the loop, set its condition right there, and a maximum of rounds for the agent.',
      }
    case 'LATENCY_SPIKE':
      return {
        prompt:
          'Work in as few steps as the task needs. Plan first which tools you need, ask each the narrowest question that serves, and do not check again what you know already. ' +
          'Collect no more than is asked for, and answer as soon as you can answer well. If a tool fails twice, go on without it and say what is missing.',
        caution:
          'An instruction shortens only what the model decides about. See first which step took the time: a slow service stays slow.',
      }
    case 'COST_ANOMALY':
      return {
        prompt:
          'Save tokens. Ask tools for little and quote only the lines that you need; do not repeat the question, the documents or what was said before. ' +
          'Do not work through the same thing twice, and answer in as few words as the task allows: no introduction, no summary of your own answer, no alternatives that nobody asked for.',
        caution:
          'Most of the cost may be what the workflow sends: see the findings of this agent for prompts that repeat or grow.',
      }
    case 'MODEL_FAILURE':
      return modelGuard(cause, hints)
    default:
      if (role === 'MODEL') return modelGuard(cause, hints)
      if (role === 'TOOL') return toolGuard(name, cause, hints, category === 'RETRIEVAL_FAILURE')
      if (role === 'NO_MODEL') return otherGuard(name, cause, hints, NO_MODEL_BEFORE)
      if (subject !== null || cause === 'INVALID_INPUT') return stepGuard(name, cause, hints)
      return cause === 'CONTEXT_LENGTH' || cause === 'CONTENT_FILTER'
        ? modelGuard(cause, hints)
        : otherGuard(null, cause, hints, NOT_BLAMED)
  }
}

/** A name as people give it; what could be more than a name is left out. */
export function nameIn(subject: string | null): string | null {
  const name = subject?.replace(/\s+/g, ' ').trim() ?? ''
  const isPlain = /^[\p{L}\p{N}\p{Emoji_Presentation} _.:&+()/#-]{1,60}$/u.test(name) && !maskSecrets(name).masked
  // A model may call a tool that there is not, by a name that somebody talked it into. "Monday.com" is one, a path is none.
  return isPlain && faultIn(name, /\/|www\./i.test(name) ? '' : name) === null ? `"${name}"` : null
}

const THEN_SAY = 'Never present as looked up or done what you could not look up or do.'
const VALID_JSON =
  'one valid JSON value and nothing else: no text before or behind it, no code fence, names and texts in double quotes, no comma behind the last element'
const NO_INVENTING =
  'Bring what you were given into that form (a weekday into a date, a word into a number), and never invent an id, a name, a date or an amount.'

function toolGuard(name: string | null, cause: Cause | null, hints: Hints, isRetrieval: boolean): Guard {
  const tool = name === null ? 'a tool' : `the ${isRetrieval ? 'document search' : 'tool'} ${name}`
  const Tool = name === null ? 'One of your tools' : upper(tool)
  const it = name ?? 'it'
  const exact = sentencesOf(hints)
  switch (cause) {
    case 'INVALID_INPUT':
      return {
        prompt:
          `Before you call ${tool}, check what you are about to send: every field that it requires is there, and each value has the type and the form that it asks for.${exact}${hints.isJson || hints.buildsJson ? ' Send valid JSON.' : ''} ` +
          `${NO_INVENTING} If a value is missing or unclear, ask for it where somebody can answer, else say that it is missing. ` +
          'If the call is refused, read what is wrong, correct exactly that, and call once more. After a second refusal stop calling it and say what was refused and why.',
        caution: null,
      }
    case 'NOT_FOUND':
      return {
        prompt:
          `When you call ${tool}, name things exactly as you were given them or as another tool returned them; never guess, translate or shorten an id or a name. ` +
          'If nothing is found, do not repeat the same call: correct an obvious slip, or search more broadly, once. If that finds nothing either, say that it was not found and what you looked for, and do not go on as if it existed. ' +
          THEN_SAY,
        caution: null,
      }
    case 'TIMEOUT':
      return {
        prompt:
          `${Tool} does not always answer in time. Ask it for as little as the task needs: a narrow question, a short span of time, few results.${exact} ` +
          'If a call times out, make it once more, with less where that is possible; where it changes something, look first whether it did so after all. If that fails too, go on without it and say what is missing for that reason. ' +
          THEN_SAY,
        caution:
          'A prompt makes calls smaller, not the service faster: look whether it is slow for everybody, or raise the timeout of the step.',
      }
    case 'RATE_LIMIT':
      return {
        prompt:
          `${Tool} takes only a limited number of calls. Plan before you call: get what you need with as few calls as possible, several things in one call where it allows that, and never the same thing twice.${exact} ` +
          'If it says that there were too many requests, do not call it again in this run: go on with what you have and say what is missing. ' +
          THEN_SAY,
        caution:
          'Several runs at once share one limit: an instruction for one of them does not know of the others. Space the runs, or ask for a higher limit.',
      }
    case 'AUTHENTICATION':
      return {
        prompt:
          `${Tool} may refuse access. If it does, do not call it again, and do not look for another way to the same data. Say that access to ${name ?? 'that tool'} was refused and that a person has to renew it, and do the parts of the task that do not need it. ` +
          THEN_SAY,
        caution:
          'A prompt cannot renew a credential: connect it again in the workflow. This text only keeps the agent from trying again and from guessing until then.',
      }
    case 'CONNECTION':
    case 'PROVIDER_ERROR':
      return {
        prompt:
          `${Tool} ${cause === 'CONNECTION' ? 'cannot always be reached' : 'is sometimes out of order'}. If a call fails for that reason, make it once more; where it changes something, look first whether it did so after all. If it fails again, stop calling it, go on without its data and say that ${it} ${cause === 'CONNECTION' ? 'could not be reached' : 'did not work'}. ` +
          THEN_SAY,
        caution:
          'The fault lies with the service or the way to it, and a prompt mends neither. This text only keeps the agent from trying again and again and from guessing.',
      }
    case 'CONTEXT_LENGTH':
      return {
        prompt:
          `Keep what you send to ${tool} short: only what it needs for this call, long texts summed up in a few sentences, and never the whole conversation.${exact} ` +
          'If it says that the input is too long, send half as much once; if that is too long too, say so and go on without it.',
        caution: null,
      }
    case 'CONTENT_FILTER':
      return {
        prompt:
          `Do not hand offensive, violent or sexual passages on to ${tool} word for word: describe in neutral words what they are about. ` +
          'If it refuses the content, do not try other wordings of the same: say that this part cannot be handled here and that a person should look at it.',
        caution: 'The provider decides what it refuses; keep such input away from this agent where it need not see it.',
      }
    default:
      return {
        prompt:
          `${Tool} fails now and then. If a call fails, read the error before you do anything else: change what it complains about and call once more, or, if it names nothing that you can change, do not call it again.${exact} ` +
          'Then go on without it and say what is missing. ' +
          THEN_SAY,
        caution: null,
      }
  }
}

/** Why a step fails, behind its name. */
const WHY: Record<Cause, string> = {
  TIMEOUT: 'does not always answer in time',
  RATE_LIMIT: 'is sometimes refused because there were too many requests',
  AUTHENTICATION: 'is sometimes refused access',
  NOT_FOUND: 'does not always find what it looks for',
  INVALID_INPUT: 'refuses what does not have the form that it needs',
  CONNECTION: 'cannot always reach the service that it needs',
  CONTEXT_LENGTH: 'is sometimes given more than it can take',
  CONTENT_FILTER: 'sometimes has its input refused by a content filter',
  PROVIDER_ERROR: 'sometimes gets an error from the service that it calls',
  OTHER: 'fails now and then',
}

/** A step that works with what a model answered before it. */
function stepGuard(name: string | null, cause: Cause | null, hints: Hints): Guard {
  const step = name === null ? 'a later step of this workflow' : `the step ${name}`
  const exact = sentencesOf(hints)
  switch (cause) {
    case 'INVALID_INPUT':
      if (hints.isJson)
        return {
          prompt: `Your final answer is read by a program (${step}), which stops at anything that it cannot read. Give it as ${VALID_JSON}.${exact} Where you do not know a value, write null; do not leave its field out and do not invent one.`,
          caution:
            'Where the platform can ask the model for JSON by itself (a response format, an output parser), that is surer than an instruction.',
        }
      return {
        prompt: `Your answer is handed on to ${step}, which ${WHY.INVALID_INPUT}. Give every value that is asked of you in exactly the form that is asked for.${exact} Where you do not know a value, say so in its place; do not leave it out and do not invent one.`,
        caution: hints.buildsJson
          ? 'The step puts the answer into JSON, where quotes and line breaks break it. Let the step escape it, in n8n {{ JSON.stringify(..) }} without quotes around it: that is surer than an instruction.'
          : null,
      }
    case 'NOT_FOUND':
      return {
        prompt: `What you name in your answer may be looked up by ${step}, which ${WHY.NOT_FOUND}. Use ids, names and addresses exactly as they were given to you; never guess, translate or shorten one. Where you were given none, say so instead of naming one.`,
        caution: null,
      }
    case 'TIMEOUT':
      return {
        prompt: `${upper(step)} works with what you answer, and does not always finish in time. Answer with no more items and no longer texts than the task asks for.${exact}`,
        caution: 'A prompt makes the work smaller, not the service faster: look at the timeout of the step too.',
      }
    case 'RATE_LIMIT':
      return {
        prompt: `${upper(step)} works with what you answer, and calls a service that takes only so many requests. Name each thing once, and no more things than the task needs.${exact}`,
        caution: 'A pause or a batch size in the step itself is surer than an instruction.',
      }
    case 'CONTEXT_LENGTH':
      return {
        prompt: `Your answer is handed on to ${step}, which takes only so much at once. Keep it short: what is asked for and nothing beside it, long material summed up.${exact}`,
        caution: null,
      }
    default:
      return {
        prompt: `After you, ${step} may still fail: it ${WHY[cause ?? 'OTHER']}. Do not write that what it does has been done; speak of it as still to come, and leave out nothing that it or a person needs to do it.${exact}`,
        caution: 'No answer of a model changes why the step fails: see its error, and mend the step or its connection.',
      }
  }
}

/** A step of which it is not known that it works with what a model answered. */
function otherGuard(name: string | null, cause: Cause | null, hints: Hints, caution: string): Guard {
  const step = name === null ? 'A step of this workflow' : `The step ${name} of this workflow`
  if (cause === 'INVALID_INPUT')
    return {
      prompt: `${step} ${WHY.INVALID_INPUT}. Where a value that you write is meant for it, write it in exactly that form.${sentencesOf(hints)} Where you do not know a value, say so; do not invent one.`,
      caution,
    }
  return {
    prompt: `${step} ${WHY[cause ?? 'OTHER']}. If something that you need is missing, empty or an error message for that reason, say what is missing and do what can be done without it; never make it up.`,
    caution,
  }
}

function modelGuard(cause: Cause | null, hints: Hints): Guard {
  switch (cause) {
    case 'CONTEXT_LENGTH':
      return {
        prompt:
          'Keep the conversation within what the model can hold. Ask tools for little: few results, only the fields that you need. Sum up a long document in a few sentences before you go on, and never repeat a document or an earlier answer word for word.',
        caution:
          'What the workflow itself sends in is not changed by an instruction: shorten the input or the history there, or use a model with a longer context.',
      }
    case 'CONTENT_FILTER':
      return {
        prompt:
          'Some input touches what the provider of the model refuses. Speak of it in neutral and factual words, and never repeat such passages word for word. Where you cannot answer, say in one sentence that this part cannot be handled here and that a person should look at it.',
        caution:
          'Input that the provider refuses outright never reaches the instruction: keep it away from the model where you can.',
      }
    case 'RATE_LIMIT':
    case 'TIMEOUT':
      return {
        prompt:
          'Work in as few model calls as the task needs: plan first, ask tools for several things at once where they allow it, and give your answer as soon as it is complete. Keep it short: what is asked for and nothing beside it.',
        caution:
          'A prompt lowers how much is asked of the model; the limit or the time of the provider stays what it is. Space the runs, or retry with a pause.',
      }
    case 'INVALID_INPUT':
      return hints.isJson
        ? {
            prompt: `Your final answer is read by a program, which stops at anything that it cannot read. Give it as ${VALID_JSON}.${sentencesOf(hints)} Where you do not know a value, write null; do not leave its field out and do not invent one.`,
            caution: null,
          }
        : {
            prompt:
              'When you call a tool, give its input exactly in the form that the tool describes: valid JSON, every field that it requires, no field that it does not know. Never call a tool that is not listed.',
            caution:
              'If the request of the workflow itself is wrong (a model name, a parameter, the description of a tool), it must be mended in the model step.',
          }
    case 'AUTHENTICATION':
    case 'NOT_FOUND':
      return {
        prompt: FEW_STEPS,
        caution:
          'No instruction helps where the model cannot be asked at all: check the credential and the name of the model in the model step, then reject this.',
      }
    default:
      return {
        prompt: FEW_STEPS,
        caution:
          'The model or the way to it failed, and an instruction is read only where the model answers: see the error of the model step first.',
      }
  }
}

const FEW_STEPS =
  'Each further call may be the one that fails: do the task in as few steps as it needs, and answer as soon as you can answer well. If something that you need is missing, say what it is instead of going on without it.'

const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
