// Owns queries and mutations over HTTP: one function that answers data or throws a sentence.
import { documentText, type TadaDocumentNode } from './graphql.ts'
import { clock } from './state/clock.svelte.ts'

const answerWithinMs = 30_000

/** What a person reads when a request failed. */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly requestId: string | null = null,
    readonly isUnreachable = false,
    readonly code: unknown = null,
  ) {
    super(message)
  }
}

let onSignedOut = () => {}
export const whenSignedOut = (listener: () => void) => (onSignedOut = listener)
let onForbidden = () => {}
/** What the page offered is not allowed: the role may be another by now. */
export const whenForbidden = (listener: () => void) => (onForbidden = listener)

type Variables = Record<string, unknown>

interface Answer {
  data?: unknown
  errors?: readonly { message: string; extensions?: { requestId?: unknown; code?: unknown } }[]
}

/** @throws RequestError */
export async function query<Data, Vars extends Variables>(
  document: TadaDocumentNode<Data, Vars>,
  variables: Vars,
): Promise<Data> {
  const response = await post({ query: documentText(document), variables })
  clock.learnServerTime(response.headers.get('date'))
  const { data, errors = [] } = await response.json().then(
    (answer: Answer) => answer,
    (): Answer => ({}),
  )
  if (response.status === 401 || hasSignedOutCode(errors)) onSignedOut()
  const first = errors[0]
  if (first) {
    const { requestId, code } = first.extensions ?? {}
    if (code === 'FORBIDDEN') onForbidden()
    throw new RequestError(first.message, typeof requestId === 'string' ? requestId : null, false, code)
  }
  if (response.status >= 400) throw new RequestError(`The server answered ${response.status}. Try again in a moment.`)
  if (!data) throw unreachable()
  return data as Data
}

/** The words of a page say which it is; on the wire they are alike. */
export const mutate = query

const post = (body: object) =>
  fetch('/graphql', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { accept: 'application/graphql-response+json, application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
    // A connection that died unnoticed would keep a page waiting for ever.
    signal: AbortSignal.timeout(answerWithinMs),
  }).catch(() => {
    throw unreachable()
  })

const unreachable = () =>
  new RequestError('The server cannot be reached. Check the connection and try again.', null, true)

export const hasSignedOutCode = (errors: readonly { extensions?: unknown }[]) =>
  errors.some((error) => (error.extensions as { code?: string } | undefined)?.code === 'UNAUTHENTICATED')

export function sentenceOf(error: unknown): string {
  const request = error instanceof RequestError && error.requestId ? ` Request ${error.requestId}.` : ''
  return (error instanceof Error ? error.message : String(error)) + request
}
