// Platform B: finds the execution in what was posted. The only strict part: a person typed this wrapper.
import { Problem, quoted } from '../errors.ts'
import { depthOf, MAX_DEPTH } from './body.ts'
import { isObject } from './platform-b-errors.ts'

type Fields = Record<string, unknown>

/** The execution and the workflow beside it, or why there is none, with the fix in the sentence. */
export function unwrap(
  item: unknown,
  pointer: string,
  label: string,
): { execution: Fields; workflow: Fields } | Problem {
  const refuse = (code: string, sentence: string, field = 'execution') => {
    const detail = `${label}${sentence} No event was recorded.`
    return new Problem('invalid_payload', detail, [{ pointer: `${pointer}/${field}`, field, code, detail }])
  }
  if (!isObject(item)) {
    return refuse('not_an_object', `The body must be {"execution": {"id": ..}}, not ${quoted(item)}.`)
  }
  let execution = Object.hasOwn(item, 'execution') ? item.execution : unflatten(item)
  if (typeof execution === 'string') {
    if (depthOf(execution) > MAX_DEPTH)
      return refuse('too_deep', `execution is text of JSON nested deeper than ${MAX_DEPTH} levels.`)
    try {
      execution = JSON.parse(execution)
    } catch {
      return refuse(
        'not_an_object',
        `execution is text that is not JSON (${quoted(execution)}); send the object itself.`,
      )
    }
  }
  if (execution === undefined || execution === null) {
    if (Array.isArray(item.data)) {
      return refuse(
        'list_of_executions',
        'This is the answer of a list call ({"data": [..]}); send each execution as {"execution": {..}}, or a list of such objects.',
      )
    }
    if (isObject(item.trigger)) {
      return refuse(
        'no_execution_id',
        'A trigger failed before there was an execution, so there is no execution.id to record it under; let an IF node pass on only items that have one.',
      )
    }
    const isBare =
      Object.hasOwn(item, 'id') &&
      ['workflowId', 'status', 'data', 'startedAt', 'mode'].some((key) => Object.hasOwn(item, key))
    const fix = isBare ? 'This looks like a bare execution; wrap it:' : 'The field execution is missing; send'
    return refuse('missing_wrapper', `${fix} {"execution": {"id": .., "workflowId": .., "status": ..}}.`)
  }
  if (!isObject(execution)) {
    return refuse(
      'not_an_object',
      `execution must be an object like {"id": "15", "workflowId": ".."}, not ${quoted(execution)}.`,
    )
  }
  const id = execution.id
  const isUsable =
    (typeof id === 'string' && id.trim() !== '' && id.trim().length <= 128 && id.trim() !== '__UNKNOWN__') ||
    Number.isSafeInteger(id)
  if (!isUsable) {
    const came = id === undefined || id === null || id === '' ? 'is missing or empty' : `cannot be ${quoted(id)}`
    return refuse(
      'bad_execution_id',
      `execution.id ${came}; send the id of the run as text of 1 to 128 characters or a whole number (in an expression: $execution.id).`,
      'execution/id',
    )
  }
  return { execution, workflow: isObject(item.workflow) ? item.workflow : {} }
}

/** `{"execution.id": "5"}` as older HTTP nodes send their fields. */
function unflatten(item: Fields): Fields | undefined {
  const dotted = Object.keys(item).filter((key) => key.startsWith('execution.'))
  if (dotted.length === 0) return undefined
  const execution: Fields = Object.create(null)
  for (const key of dotted) execution[key.slice('execution.'.length)] = item[key]
  return execution
}
