// GraphQL over HTTP and server-sent events: yoga, with one place where errors are masked and limits are set.
import type { IncomingMessage } from 'node:http'
import {
  GraphQLError,
  parse,
  validate,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type ParseOptions,
  type ValidationContext,
  type ValidationRule,
} from 'graphql'
import { createLRUCache, createYoga, type Plugin } from 'graphql-yoga'
import { Problem } from '../errors.ts'
import { readJsonBody } from '../ingest/body.ts'
import { costError, failure } from './builder.ts'
import type { Context } from './context.ts'
import { schema } from './schema.ts'

const MAX_BODY_BYTES = 1024 * 1024
const MAX_ALIASES = 50
const MAX_QUERY_LENGTH = 20_000
const MAX_TOKENS = 2_000
const MAX_SENTENCE = 500
const MAX_KEPT_QUERIES = 50

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

/** @throws Problem where the body is not one operation in JSON */
export async function readOperation(request: IncomingMessage): Promise<object> {
  if (request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== 'application/json')
    throw new Problem('unsupported_media_type', 'GraphQL is taken as application/json.')
  const value = await readJsonBody(request, MAX_BODY_BYTES)
  if (typeof value === 'object' && value !== null && typeof (value as { query?: unknown }).query === 'string')
    return value
  throw new Problem('invalid_payload', 'The body is a JSON object with the text "query", and one operation at a time.')
}

const tooCostly = (sentence: string) => failure('QUERY_TOO_COSTLY', sentence)

function parseWithin(source: string, options?: ParseOptions): DocumentNode {
  try {
    return parse(source, { ...options, maxTokens: MAX_TOKENS })
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    if (/tokens\. Parsing aborted/.test(error.message))
      throw tooCostly(`The query has more than ${MAX_TOKENS} words and signs.`)
    error.extensions.code = 'GRAPHQL_PARSE_FAILED'
    throw error
  }
}

/** A query of many aliases is one request for many times the work. */
function limitAliases(context: ValidationContext): ASTVisitor {
  let aliases = 0
  return {
    Field(node) {
      if (node.alias && ++aliases === MAX_ALIASES + 1)
        context.reportError(tooCostly(`The query has more than ${MAX_ALIASES} aliases.`))
    },
  }
}

function refuseIntrospection(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      if (node.name.value !== '__schema' && node.name.value !== '__type') return
      context.reportError(failure('INTROSPECTION_DISABLED', 'This server does not describe its schema.'))
    },
  }
}

const limits = ({ introspection }: { introspection: boolean }): Plugin => ({
  onParse({ params, setParseFn }) {
    // Before it is read: a parsed query takes a hundred times its length, and is kept for the next time.
    if (params.source.toString().length > MAX_QUERY_LENGTH)
      throw tooCostly(`The query has more than ${MAX_QUERY_LENGTH} characters.`)
    setParseFn(parseWithin)
  },
  onValidate({ addValidationRule, setValidationFn }) {
    addValidationRule(limitAliases)
    if (introspection) return
    addValidationRule(refuseIntrospection)
    // "Did you mean ..?" would tell the names one by one.
    setValidationFn((schema: GraphQLSchema, document: DocumentNode, rules: ValidationRule[]) =>
      validate(schema, document, rules, { hideSuggestions: true }),
    )
  },
  /** Each change executes a subscription: what would be refused then is refused at the start. */
  onSubscribe({ args, setResultAndStopExecution }) {
    const error = costError(args)
    if (error) setResultAndStopExecution({ errors: [error] })
  },
})

/** Postgres holds no U+0000: what it refuses with 22021 is the caller's text. */
export const UNSTORABLE_TEXT = 'A text holds the character U+0000, which can neither be stored nor found.'

/** What yoga is given by the HTTP route and by the socket: the context that was made for this actor. */
export interface ServerContext {
  runwatch: Context
}

export function makeYoga(options: { introspection: boolean }, onUnexpected: (error: unknown) => void) {
  return createYoga<ServerContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    cors: false,
    logging: false,
    context: ({ runwatch }) => runwatch,
    parserAndValidationCache: {
      documentCache: createLRUCache({ max: MAX_KEPT_QUERIES }),
      errorCache: createLRUCache({ max: MAX_KEPT_QUERIES }),
    },
    plugins: [limits(options)],
    maskedErrors: { maskError: (error) => maskError(error, onUnexpected) },
  })
}

function withCode(error: GraphQLError): GraphQLError {
  if (error.extensions.code) return error
  // It repeats what came, which may be long.
  const message = error.message.length > MAX_SENTENCE ? `${error.message.slice(0, MAX_SENTENCE)}…` : error.message
  return new GraphQLError(message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    path: error.path,
    extensions: { ...error.extensions, code: 'BAD_USER_INPUT' },
  })
}

/** What a socket sends of an error: the status and headers in it are for HTTP. */
export function withoutHttp(error: GraphQLError): GraphQLFormattedError {
  const { extensions: { http: _http, ...extensions } = {}, ...rest } = error.toJSON()
  return { ...rest, extensions }
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
