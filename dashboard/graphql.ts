// Owns the typed `graphql` tag: the schema's types and what its scalars are in the browser.
import type { initGraphQLTada, TadaDocumentNode } from 'gql.tada'
import type { introspection } from './graphql-env.d.ts'

/** A whole number: a JSON number up to 2^53-1, beyond it text of its digits. */
export type BigIntValue = number | string

type Tag = initGraphQLTada<{
  introspection: introspection
  scalars: { BigInt: BigIntValue; DateTime: string; Decimal: string; JSON: unknown; ID: string }
}>

/** Types only: a document is the texts of its definitions, and nothing of it is parsed in the browser. */
type Texts = readonly string[]

// The mark @_unmask is for the types alone; the server does not know it.
const textsOf = (own: string, fragments: readonly Texts[] = []): Texts => [
  ...new Set([own.replace(' @_unmask', ''), ...fragments.flat()]),
]

export const graphql = textsOf as unknown as Tag

/** A document as it is sent. */
export const documentText = (document: TadaDocumentNode<unknown, never>) => (document as unknown as Texts).join('')

export type { FragmentOf, ResultOf, VariablesOf, TadaDocumentNode } from 'gql.tada'
