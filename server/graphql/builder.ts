// The schema builder: plugins, scalars, limits and who may ask. It holds no types of its own.
import SchemaBuilder from '@pothos/core'
import ComplexityPlugin, { complexityFromQuery } from '@pothos/plugin-complexity'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import Big from 'big.js'
import { getOperationAST, GraphQLError, Kind, valueFromASTUntyped, type ExecutionArgs } from 'graphql'
import { isAdmin, type Context } from './context.ts'

export const MAX_PAGE = 100
export const MAX_EVENT_PAGE = 1_000
export const MAX_NODES = 500

/** Enough for a page of 1,000 thin events with all their fields, or 100 sessions with a few events each. */
const LIMITS = { depth: 15, breadth: 300, complexity: 60_000 }

export const builder = new SchemaBuilder<{
  Context: Context
  AuthScopes: { read: boolean; admin: boolean }
  Scalars: {
    BigInt: { Input: string; Output: string | number }
    DateTime: { Input: Date; Output: Date }
    Decimal: { Input: string; Output: string }
    JSON: { Input: unknown; Output: unknown }
  }
  DefaultFieldNullability: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
}>({
  plugins: [ScopeAuthPlugin, ComplexityPlugin, RelayPlugin],
  defaultFieldNullability: false,
  scopeAuth: {
    authScopes: (context) => ({ read: true, admin: isAdmin(context) }),
    unauthorizedError: () => failure('FORBIDDEN', 'Only a signed-in admin may do this.'),
  },
  complexity: {
    limit: LIMITS,
    defaultListMultiplier: 1,
    complexityError: (kind, result) => {
      const limit = kind.toLowerCase() as keyof typeof LIMITS
      return tooCostly(limit, result[limit])
    },
  },
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    nodesOnConnection: true,
    nodeFieldOptions: { nullable: false },
    nodesQueryOptions: {
      description: 'Several objects by their global ids, at most 500; null where there is none to be seen.',
      complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
      resolve: (_root, { ids }, _context, _info, resolveNodes) => {
        if (ids.length > MAX_NODES)
          throw failure('BAD_USER_INPUT', `nodes takes at most ${MAX_NODES} ids, not ${ids.length}.`)
        return resolveNodes(ids)
      },
    },
    nodeQueryOptions: { description: 'One object by its global id, or null where there is none to be seen.' },
  },
})

builder.queryType({ authScopes: { read: true } })
builder.mutationType({ authScopes: { admin: true } })
builder.subscriptionType({ authScopes: { read: true } })

/** An expected error: its code and sentence reach the caller, everything else is masked. */
export function failure(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } })
}

const tooCostly = (limit: keyof typeof LIMITS, asked: number) =>
  failure(
    'QUERY_TOO_COSTLY',
    `The query's ${limit} is ${asked}; at most ${LIMITS[limit]} is allowed. Ask for less at once.`,
  )

/** Why a subscription would be refused at every change, and so is at its start; null where it may run. */
export function costError({ schema, document, operationName, ...args }: ExecutionArgs): GraphQLError | null {
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== 'subscription') return null
  const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION)
  const cost = complexityFromQuery(
    { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] },
    { schema, ctx: args.contextValue as object, variables: { ...args.variableValues } },
  )
  const limit = (['depth', 'breadth', 'complexity'] as const).find((one) => cost[one] > LIMITS[one])
  return limit ? tooCostly(limit, cost[limit]) : null
}

/** @returns a page size within its limits, or throws BAD_USER_INPUT */
export function pageSize(asked: number | null | undefined, fallback: number, most: number): number {
  const size = asked ?? fallback
  if (size < 0 || size > most) throw failure('BAD_USER_INPUT', `A page holds 0 to ${most} rows, not ${size}.`)
  return size
}

const bad = (what: string) => failure('BAD_USER_INPUT', what)

builder.scalarType('BigInt', {
  description: 'A whole number of any size: a JSON number up to 2^53-1, beyond it text of its digits.',
  serialize: (value) => {
    const digits = Big(value as string).toFixed(0)
    return Number.isSafeInteger(Number(digits)) ? Number(digits) : digits
  },
  parseValue: (value) => readBigInt(value),
  parseLiteral: (node) =>
    node.kind === Kind.INT || node.kind === Kind.STRING ? readBigInt(node.value) : readBigInt(undefined),
})

function readBigInt(value: unknown): string {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text === 'string' && /^-?\d{1,18}$/.test(text)) return text
  throw bad('A BigInt is a whole number, or text of at most 18 digits.')
}

builder.scalarType('DateTime', {
  description: 'A time in UTC, ISO 8601 with milliseconds: 2026-11-21T10:15:30.000Z. As input any offset is taken.',
  serialize: (value) => (value as Date).toISOString(),
  parseValue: (value) => {
    const isTime =
      typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(value)
    const date = new Date(isTime ? value : NaN)
    if (!(date.getTime() >= 0 && date.getUTCFullYear() <= 9999))
      throw bad('A DateTime is ISO 8601 with a time zone, like 2026-11-21T10:15:30Z.')
    return date
  },
})

builder.scalarType('Decimal', {
  description: 'An exact decimal number as text: "0.000132".',
  // With the digits it was given; only an exponent is written out.
  serialize: (value) => (/e/i.test(value as string) ? Big(value as string).toFixed() : (value as string)),
  parseValue: (value) => {
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && /^-?\d{1,30}(\.\d{1,30})?$/.test(text)) return text
    throw bad('A Decimal is text like "2.50".')
  },
})

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
})
