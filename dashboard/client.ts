// Owns queries and mutations over HTTP: one function that answers data or throws a sentence.
import { Client, CombinedError, fetchExchange } from '@urql/core'
import type { TadaDocumentNode } from './graphql.ts'
import { clock } from './state/clock.svelte.ts'

const answerWithinMs = 30_000

const client = new Client({
  url: '/graphql',
  exchanges: [fetchExchange],
  preferGetMethod: false,
  requestPolicy: 'network-only',
  fetchOptions: { credentials: 'same-origin' },
  fetch: async (input, init) => {
    // A connection that died unnoticed would keep a page waiting for ever.
    const response = await fetch(input, { ...init, signal: AbortSignal.timeout(answerWithinMs) })
    clock.learnServerTime(response.headers.get('date'))
    return response
  },
})

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

type Variables = Record<string, unknown>

export async function query<Data, Vars extends Variables>(
  document: TadaDocumentNode<Data, Vars>,
  variables: Vars,
): Promise<Data> {
  return answer(await client.query(document as never, variables).toPromise()) as Data
}

export async function mutate<Data, Vars extends Variables>(
  document: TadaDocumentNode<Data, Vars>,
  variables: Vars,
): Promise<Data> {
  return answer(await client.mutation(document as never, variables).toPromise()) as Data
}

function answer(result: { data?: unknown; error?: CombinedError }): unknown {
  if (!result.error) return result.data
  if (isSignedOut(result.error)) onSignedOut()
  throw requestError(result.error)
}

export const hasSignedOutCode = (errors: readonly { extensions?: unknown }[]) =>
  errors.some((error) => (error.extensions as { code?: string } | undefined)?.code === 'UNAUTHENTICATED')

const isSignedOut = (error: CombinedError) =>
  (error.response as Response | undefined)?.status === 401 || hasSignedOutCode(error.graphQLErrors)

function requestError(error: CombinedError): RequestError {
  const first = error.graphQLErrors[0]
  if (first) {
    const { requestId, code } = first.extensions ?? {}
    return new RequestError(first.message, typeof requestId === 'string' ? requestId : null, false, code)
  }
  const status = (error.response as Response | undefined)?.status
  if (status && status >= 400) return new RequestError(`The server answered ${status}. Try again in a moment.`)
  return new RequestError('The server cannot be reached. Check the connection and try again.', null, true)
}

export function sentenceOf(error: unknown): string {
  const request = error instanceof RequestError && error.requestId ? ` Request ${error.requestId}.` : ''
  return (error instanceof Error ? error.message : String(error)) + request
}
