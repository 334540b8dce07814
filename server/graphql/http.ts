// GraphQL over HTTP and server-sent events: yoga, with one place where errors are masked and limits are set.
import { GraphQLError, Kind, type ASTVisitor, type ValidationContext } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { Problem } from '../errors.ts'
import type { Context } from './context.ts'
import { schema } from './schema.ts'

const MAX_ALIASES = 50
const MAX_QUERY_LENGTH = 20_000

/** A Problem as a GraphQL error: same sentence, its code in capitals. */
export function graphqlErrorOf(problem: Problem): GraphQLError {
  const code =
    problem.status === 401 ? 'UNAUTHENTICATED' : problem.status === 403 ? 'FORBIDDEN' : problem.code.toUpperCase()
  return new GraphQLError(problem.detail, {
    extensions: { code, http: { status: problem.status, headers: problem.headers } },
  })
}

export const notSignedIn = () =>
  new Problem(
    'not_signed_in',
    'Sign in, or send an API key with the scope read as "Authorization: Bearer" or X-API-Key.',
    [],
    {
      'www-authenticate': 'Bearer realm="runwatch"',
    },
  )

/** A query of many aliases is one request for many times the work. */
function limitAliases(context: ValidationContext): ASTVisitor {
  let aliases = 0
  return {
    Field(node) {
      if (node.alias && ++aliases === MAX_ALIASES + 1) {
        context.reportError(
          new GraphQLError(`The query has more than ${MAX_ALIASES} aliases.`, {
            extensions: { code: 'QUERY_TOO_COSTLY' },
          }),
        )
      }
    },
    Document(node) {
      const length = node.loc?.end ?? 0
      const isTooLong =
        length > MAX_QUERY_LENGTH && node.definitions.some((one) => one.kind === Kind.OPERATION_DEFINITION)
      if (isTooLong)
        context.reportError(
          new GraphQLError(`The query has more than ${MAX_QUERY_LENGTH} characters.`, {
            extensions: { code: 'QUERY_TOO_COSTLY' },
          }),
        )
    },
  }
}

const limits: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(limitAliases)
  },
}

/** Postgres holds no U+0000: what it refuses with 22021 is the caller's text. */
export const UNSTORABLE_TEXT = 'A text holds the character U+0000, which can neither be stored nor found.'

/** What yoga is given by the HTTP route and by the socket: the context that was made for this actor. */
export interface ServerContext {
  runwatch: Context
}

export function makeYoga(onUnexpected: (error: unknown) => void) {
  return createYoga<ServerContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    cors: false,
    logging: false,
    context: ({ runwatch }) => runwatch,
    plugins: [limits],
    maskedErrors: { maskError: (error) => maskError(error, onUnexpected) },
  })
}

function withCode(error: GraphQLError): GraphQLError {
  if (error.extensions.code) return error
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    path: error.path,
    extensions: { ...error.extensions, code: 'BAD_USER_INPUT' },
  })
}

/** What of an error may leave the server: its own sentences, those of graphql-js about the query, and nothing else. */
export function maskError(error: unknown, onUnexpected: (error: unknown) => void): GraphQLError {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error
  if (original instanceof Problem) return graphqlErrorOf(original)
  // Errors of graphql-js itself (syntax, validation, variables) have no original error.
  if (error instanceof GraphQLError && (!error.originalError || error.originalError instanceof GraphQLError))
    return withCode(error)
  if ((original as { code?: string }).code === '22021')
    return new GraphQLError(UNSTORABLE_TEXT, { extensions: { code: 'BAD_USER_INPUT' } })
  if (original instanceof RangeError && /call stack/.test(original.message))
    return new GraphQLError('The query is nested too deep.', { extensions: { code: 'QUERY_TOO_COSTLY' } })
  onUnexpected(original)
  return new GraphQLError('Something went wrong on the server.', { extensions: { code: 'INTERNAL_SERVER_ERROR' } })
}
