// Rules that read errors: what threw, grouped so that the same error of one run is one failure. Pure.
import type { EventType } from '../sessions/session.ts'
import { adviceFor } from './causes.ts'
import { describeError } from './fingerprint.ts'
import type { FailureCategory, Verdict, Found, Rule, Run, RunEvent, Severity } from './failure.ts'
import { countOf } from './words.ts'

const NOTHING = { found: [], measured: null, threshold: null, unit: null }

const severityOfError = ({ session }: Run): Severity => (session.status === 'FAILED' ? 'HIGH' : 'MEDIUM')
/** Said only of runs that are known to have come to their end. */
const wentOn = ({ session: { platform, status, reportedStatus } }: Run) =>
  status === 'COMPLETED' && (platform === 'PLATFORM_A' || reportedStatus?.toLowerCase() === 'success')
    ? ' The run went on.'
    : ''

/** Platform A reads `error` and nothing else. */
export function eventErrors(category: FailureCategory, what: string, isOfType: (type: EventType) => boolean): Rule {
  return {
    category,
    platform: 'PLATFORM_A',
    looksFor: `an event of type ${what} with the text of an error`,
    cannotTell: () => null,
    find: (run) => {
      const failed = run.events.filter((event) => event.error !== null && isOfType(event.type))
      const found = groupErrors(category, failed, run, whatFailed)
      return { ...NOTHING, found, sentence: `No event of type ${what} carries the text of an error.` }
    },
  }
}

function whatFailed({ type, name, model }: RunEvent): string {
  if (type === 'TOOL_CALL') return name === null ? 'A tool without a name' : `Tool "${name}"`
  if (type === 'LLM_CALL') return (model ?? name) === null ? 'A model call' : `The call of model "${model ?? name}"`
  if (type === 'RETRIEVAL') return name === null ? 'A retrieval' : `Retrieval "${name}"`
  return name === null ? 'The run' : `"${name}"`
}

export function findNodeErrors(run: Run): Verdict {
  const failed = ownErrors(run)
  const messages = new Map<string, Set<string>>()
  for (const { parentKey, error } of failed) {
    if (parentKey === null) continue
    const inner = messages.get(parentKey)
    if (inner) inner.add(error!.message)
    else messages.set(parentKey, new Set([error!.message]))
  }
  // An agent that only hands on what its model or tool said is not to blame for it.
  const handsOn = ({ key, error }: RunEvent) => saysTheSame(error!.message, messages.get(key))
  const blamed = failed.filter((event) => !handsOn(event))
  const found = groupErrors('TOOL_FAILURE', blamed.length > 0 ? blamed : failed, run, ({ name }) => `"${name ?? ''}"`)
  return { ...NOTHING, found, sentence: `None of ${countOf(run.events.length, 'step')} carries an error.` }
}

/** What a retry took over from the run before failed there. */
function ownErrors({ events, session: { mode, startedAt } }: Run): RunEvent[] {
  const isCopied = (event: RunEvent) =>
    mode === 'retry' && startedAt !== null && (event.occurredAt ?? Infinity) < startedAt
  return events.filter((event) => event.error !== null && !isCopied(event))
}

const MAX_COMPARED = 50

function saysTheSame(outer: string, inner: Set<string> | undefined): boolean {
  if (!inner) return false
  if (inner.has(outer)) return true
  let compared = 0
  for (const one of inner) {
    if (outer.includes(one) || one.includes(outer)) return true
    if (++compared === MAX_COMPARED) break
  }
  return false
}

/** One failure for each error that is the same: a node that fails for each of 12 items failed once, with 12 places. */
function groupErrors(
  category: FailureCategory,
  failed: RunEvent[],
  run: Run,
  who: (event: RunEvent) => string,
): Found[] {
  const groups = new Map<string, { found: Found; first: RunEvent }>()
  for (const event of failed) {
    const error = event.error!
    const subject = event.name ?? (event.type === 'LLM_CALL' ? event.model : null)
    const { cause, fingerprint } = describeError(category, subject, error)
    const group = groups.get(fingerprint)
    if (group) {
      group.found.evidence.push(event.key)
      continue
    }
    const found: Found = {
      category,
      severity: severityOfError(run),
      cause,
      subject,
      sentence: '',
      advice: adviceFor(cause),
      fingerprint,
      errorText: error.message,
      measured: null,
      threshold: null,
      unit: null,
      evidence: [event.key],
    }
    groups.set(fingerprint, { found, first: event })
  }
  return [...groups.values()].map(({ found, first }) => {
    const count = found.evidence.length
    const times = count > 1 ? ` ${count.toLocaleString('en-US')} times` : ''
    found.sentence = `${who(first)} failed${times}: ${firstWords(found.errorText!)}${wentOn(run)}`
    return found
  })
}

/** One line, ended like a sentence. */
function firstWords(text: string): string {
  const line = text
    .replace(/<\/?[a-z][^<>]{0,300}>/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
  if (line === '') return 'its error has no words.'
  const short = line.length > 300 ? `${line.slice(0, 299).toWellFormed()}…` : line
  return /[.!?…]$/.test(short) ? short : `${short}.`
}

export function findRunError(run: Run): Verdict {
  const { session } = run
  if (session.status !== 'FAILED') return { ...NOTHING, found: [], sentence: 'The run was not reported as failed.' }
  if (ownErrors(run).length > 0)
    return { ...NOTHING, found: [], sentence: 'The run failed because of a node: see there.' }
  const category = 'RUN_FAILURE'
  const error = session.errorMessage && { message: session.errorMessage, name: null, httpStatus: null }
  const { cause, fingerprint } = error
    ? describeError(category, null, error)
    : { cause: null, fingerprint: `${category}\nno text` }
  const found: Found = {
    category,
    severity: 'HIGH',
    cause,
    subject: null,
    sentence: error
      ? `The run failed: ${firstWords(error.message)}`
      : 'The run was reported as failed, and nothing said why.',
    advice: cause
      ? adviceFor(cause)
      : 'Send the error text too: the body of an error workflow holds it, or the whole execution with its data.',
    fingerprint,
    errorText: error && error.message,
    measured: null,
    threshold: null,
    unit: null,
    evidence: [],
  }
  return { ...NOTHING, found: [found], sentence: '' }
}
