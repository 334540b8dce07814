// Who hears what: every subscription of the schema, followed by a reader of the project and by a stranger to it.
import { readFileSync } from 'node:fs'
import { buildSchema, getNamedType, isLeafType, isNonNullType, isObjectType, type GraphQLObjectType } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertsOf } from '../support/alert-stand.ts'
import { KEY, startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))
const fields = Object.values(schema.getSubscriptionType()!.getFields())
const DEPTH = 3

let server: TestServer
let stranger: string
let admin: { cookie: string }
let sessionId: string
beforeAll(async () => {
  server = await startServer()
  admin = { cookie: await server.signIn() }
  const { createApiKey } = await server.query(
    `mutation { createApiKey(input: { name: "x", scopes: [READ], project: "other" }) { secret } }`,
    {},
    admin,
  )
  stranger = createApiKey.secret
  const alerts = await alertsOf(server)
  const { channel } = await alerts.channel('WEBHOOK', { name: 'Secret room', url: 'http://127.0.0.1:1/' })
  await alerts.rule({ channels: [channel.id] })
  await server.ingestA({ session_id: 'secret-run', type: 'span', agent_name: 'Secret agent' })
  const { session } = await server.query(`{ session(platform: PLATFORM_A, externalId: "secret-run") { id } }`)
  sessionId = session.id
})
afterAll(() => server.stop())

/** What only those of its project may hear, and that it is theirs. */
const secret = /secret|"project":"default"/i

/** All that can be read without arguments, a few levels deep. */
function selectionOf(type: GraphQLObjectType, depth: number): string {
  const parts = Object.values(type.getFields()).flatMap((field) => {
    if (field.args.some((arg) => isNonNullType(arg.type)) || (field.name === 'body' && type.name === 'IngestRequest'))
      return []
    const named = getNamedType(field.type)
    if (!isObjectType(named)) return isLeafType(named) ? [field.name] : []
    return depth > 1 ? [`${field.name} ${selectionOf(named, depth - 1)}`] : []
  })
  return `{ ${parts.join(' ') || '__typename'} }`
}

test.each(fields.map((field) => [field.name, field] as const))('%s', async (name, field) => {
  const values: Record<string, string> = { 'eventsChanged.sessionId': `"${sessionId}"`, 'eventsChanged.after': '0' }
  const given = field.args.flatMap((arg) => {
    const value = values[`${name}.${arg.name}`]
    // A new field must not be left out for want of a value.
    if (isNonNullType(arg.type) && value === undefined) throw new Error(`no value for ${name}.${arg.name}`)
    return value === undefined ? [] : `${arg.name}: ${value}`
  })
  const type = getNamedType(field.type) as GraphQLObjectType
  const document = `subscription { ${name}${given.length > 0 ? `(${given})` : ''} ${selectionOf(type, DEPTH)} }`
  const clients = [KEY, stranger].map((key) => socketClient(server.url, { connectionParams: { 'x-api-key': key } }))
  const [reader, other] = clients.map((client) => subscribe(client, document)) as [any, any]
  // The server does not say when a subscription stands: what happens is repeated until the reader hears of it.
  let n = 0
  const heard = await until(
    async () => {
      await server.ingestA({ session_id: 'secret-run', type: 'span', input: 'secret text' })
      await server.ingestA({ session_id: `secret run ${n++}` })
      await server.ingestA({
        session_id: `secret-failure-${n}`,
        type: 'tool.call',
        tool_name: 'Secret tool',
        error: 'Secret failure text',
        status: 'error',
      })
      await server.query('mutation { createPrompt(agent: "Secret agent", prompt: "Secret prompt") { id } }', {}, admin)
      await new Promise((resolve) => setTimeout(resolve, 50))
      return JSON.stringify(reader.waiting)
    },
    (messages) => secret.test(messages),
  )
  expect(heard).toMatch(secret)
  // Long enough for the reader to have heard of all of it several times over.
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(JSON.stringify(other.waiting)).not.toMatch(secret)
  const failed = await Promise.race([other.ended, Promise.resolve(null)])
  if (failed) expect(JSON.stringify(failed)).toContain('NOT_FOUND')
  for (const client of clients) await client.dispose()
})
