// Owns the typed `graphql` tag: the schema's types and what its scalars are in the browser.
import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './graphql-env.d.ts'

/** A whole number: a JSON number up to 2^53-1, beyond it text of its digits. */
export type BigIntValue = number | string

export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: { BigInt: BigIntValue; DateTime: string; Decimal: string; JSON: unknown; ID: string }
}>()

export type { FragmentOf, ResultOf, VariablesOf, TadaDocumentNode } from 'gql.tada'
