// Who may do what: every field of the schema's roots, asked by each kind of caller.
import {
  isNonNullType,
  getNamedType,
  isLeafType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
} from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertsOf } from '../support/alert-stand.ts'
import { secretPeople } from '../support/people-stand.ts'
import { promptsToDecide } from '../support/prompt-stand.ts'
import { rolled } from '../support/rolled.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { ADMIN_ONLY, OF_A_PROJECT, schema } from './root-fields.ts'

let server: TestServer
const callers: Record<string, Record<string, string>> = {}
let sessionId: string, eventId: string, keyId: string
let refusedId: string, patternId: string, deliveryId: string
let channelId: string, goingChannelId: string, ruleId: string, goingRuleId: string
let promptIds: Record<string, string>
let people: Awaited<ReturnType<typeof secretPeople>>

beforeAll(async () => {
  server = await startServer()
  const cookie = await server.signIn()
  const key = async (scopes: string, project: string) => {
    const { body } = await server.graphql(
      `mutation { createApiKey(input: { name: "x", scopes: [${scopes}], project: "${project}" }) { secret apiKey { id } } }`,
      {},
      { cookie },
    )
    keyId = body.data.createApiKey.apiKey.id
    return body.data.createApiKey.secret
  }
  callers.admin = { cookie }
  callers.reader = { 'x-api-key': await key('READ', 'default') }
  callers.ingester = { 'x-api-key': await key('INGEST', 'default') }
  callers.stranger = { authorization: `Bearer ${await key('READ', 'other')}` }
  callers.nobody = {}
  await server.database.sql`
    insert into people (id, email, password_hash, role)
    select gen_random_uuid(), 'viewer@example.com', password_hash, 'VIEWER' from people`
  const response = await fetch(`${server.url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'viewer@example.com', password: 'correct horse battery' }),
  })
  callers.viewer = { cookie: response.headers.get('set-cookie')!.split(';')[0]! }
  people = await secretPeople(server, cookie)
  await server.ingestA({
    session_id: 'secret-run',
    type: 'llm.call',
    agent_name: 'Secret agent',
    input: 'secret text',
    status: 'success',
  })
  const { session } = await server.query(
    `{ session(platform: PLATFORM_A, externalId: "secret-run") { id events { nodes { id } } } }`,
  )
  sessionId = session.id
  await server.ingestA({ session_id: 'secret run', input: 'secret text' })
  refusedId = await until<string>(
    async () =>
      (await server.query(`{ ingestLog(filter: { refused: true }) { nodes { id } } }`)).ingestLog.nodes[0]?.id,
    Boolean,
  )
  eventId = session.events.nodes[0].id
  await rolled(server)
  const alerts = await alertsOf(server)
  const rooms = await Promise.all(
    ['Secret room', 'Room that goes'].map((name) =>
      alerts.channel('WEBHOOK', { name, url: 'http://127.0.0.1:1/secret' }),
    ),
  )
  ;[channelId, goingChannelId] = rooms.map(({ channel }) => channel.id) as [string, string]
  const rules = await Promise.all(
    ['Secret rule', 'Rule that goes'].map((name) => alerts.rule({ name, channels: [channelId] })),
  )
  ;[ruleId, goingRuleId] = rules.map(({ id }) => id) as [string, string]
  await server.ingestA({
    session_id: 'secret-failure',
    type: 'tool.call',
    tool_name: 'Secret tool',
    agent_name: 'Secret agent',
    error: 'Secret failure text',
    status: 'error',
  })
  patternId = await until<string>(
    async () => (await server.query('{ failurePatterns { nodes { id } } }')).failurePatterns.nodes[0]?.id,
    Boolean,
  )
  // Private addresses are not posted to: it is given up at once.
  deliveryId = (await alerts.settled({ rule: ruleId }))[0].id
  promptIds = await promptsToDecide(server, callers.admin)
  await server.query('mutation { muteAgent(agent: "Secret agent", days: 1) { agent } }', {}, callers.admin)
  await server.query(
    'mutation { setThresholds(agent: "Secret agent", thresholds: { latencyMs: 1000 }) { agent } }',
    {},
    callers.admin,
  )
})
afterAll(() => server.stop())

const DEPTH = 2

/** All that can be read without arguments, so many levels deep. */
function selectionOf(type: GraphQLObjectType, depth: number): string {
  const readable = Object.values(type.getFields()).filter(({ name, args }) => args.length === 0 && name !== 'body')
  const parts = readable.flatMap((field) => {
    const named = getNamedType(field.type)
    if (!isObjectType(named)) return isLeafType(named) ? [field.name] : []
    return depth > 1 ? [`${field.name} { __typename ${selectionOf(named, depth - 1)} }`] : []
  })
  return parts.join(' ')
}

/** A query for one root field with arguments that find the secret session. */
function documentFor(kind: 'query' | 'mutation', field: GraphQLField<unknown, unknown>): string {
  const values: Record<string, string> = {
    'node.id': `"${sessionId}"`,
    'nodes.ids': `["${[sessionId, eventId, refusedId, patternId, channelId, ruleId, deliveryId, promptIds.read, people.person, people.invitation].join('", "')}"]`,
    'createAlertRule.input': '{ name: "Secret" }',
    'updateAlertRule.id': `"${ruleId}"`,
    'updateAlertRule.input': '{ name: "Secret" }',
    'deleteAlertRule.id': `"${goingRuleId}"`,
    'describeAlertRule.input': '{ name: "Secret" }',
    'createChannel.kind': 'WEBHOOK',
    'createChannel.input': '{ name: "Secret", url: "https://example.com/secret" }',
    'updateChannel.id': `"${channelId}"`,
    'updateChannel.input': '{ name: "Secret channel" }',
    'rotateChannelSecret.id': `"${channelId}"`,
    'deleteChannel.id': `"${goingChannelId}"`,
    'testChannel.id': `"${channelId}"`,
    'muteAgent.agent': '"Secret agent"',
    'sendDeliveryAgain.id': `"${deliveryId}"`,
    'effectiveThresholds.agent': '"Secret agent"',
    'thresholdPreview.thresholds': '{ latencyMs: 1 }',
    'setThresholds.agent': '"Secret agent"',
    'setThresholds.thresholds': '{ latencyMs: 2000 }',
    'resolveFailurePattern.id': `"${patternId}"`,
    'reopenFailurePattern.id': `"${patternId}"`,
    'muteFailurePattern.id': `"${patternId}"`,
    'retentionPreview.days': '30',
    'sendIngestRequestAgain.id': `"${refusedId}"`,
    'sendIngestRequestAgain.body': '"{}"',
    'updateProject.settings': '{ retentionDays: 365 }',
    'deleteSession.id': `"${sessionId}"`,
    'deleteAgentSessions.agent': '"Nobody"',
    'session.id': `"${sessionId}"`,
    'event.id': `"${eventId}"`,
    'agent.name': '"Secret agent"',
    'createApiKey.input': '{ name: "by the test", scopes: [READ] }',
    'revokeApiKey.id': `"${keyId}"`,
    ...people.values,
    'setModelPrice.model': '"m"',
    'setModelPrice.inputUsdPerMillion': '"1"',
    'setModelPrice.outputUsdPerMillion': '"1"',
    'removeModelPrice.model': '"m"',
    'tablePrice.model': '"m"',
    'createPrompt.agent': '"Secret agent"',
    'createPrompt.prompt': '"Secret prompt"',
    'editPrompt.id': `"${promptIds.edit}"`,
    'editPrompt.revision': '1',
    'editPrompt.prompt': '"Secret text"',
    'activatePrompt.id': `"${promptIds.activate}"`,
    'activatePrompt.revision': '1',
    'activatePrompt.reason': '"Secret reason"',
    'rejectPrompt.id': `"${promptIds.reject}"`,
    'rejectPrompt.revision': '1',
    'rejectPrompt.reason': '"Secret reason"',
    'retirePrompt.id': `"${promptIds.retire}"`,
    'retirePrompt.revision': '2',
    'retirePrompt.reason': '"Secret reason"',
    'setCandidateRule.agent': '"Secret agent"',
    'setCandidateRule.rule': '{ sessions: 5, days: 7 }',
  }
  const wanted = field.args.filter((arg) => isNonNullType(arg.type) || values[`${field.name}.${arg.name}`])
  const given = wanted.map((arg) => `${arg.name}: ${values[`${field.name}.${arg.name}`]}`).join(', ')
  const type = getNamedType(field.type)
  const selection = isLeafType(type) ? '' : `{ __typename ${isObjectType(type) ? selectionOf(type, DEPTH) : ''} }`
  return `${kind} { ${field.name}${given ? `(${given})` : ''} ${selection} }`
}

const roots = [
  ...Object.values(schema.getQueryType()!.getFields()).map((field) => ['query', field.name, field] as const),
  ...Object.values(schema.getMutationType()!.getFields()).map((field) => ['mutation', field.name, field] as const),
]

test.each([
  'failurePatterns',
  'fixedThresholds',
  'sessions',
  'session',
  'agents',
  'alertRules',
  'deliveries',
  'mutedAgents',
  'promptVersions',
])('what a stranger does not see of %s is there for a reader of the project', async (name) => {
  const document = documentFor('query', schema.getQueryType()!.getFields()[name]!)
  const seen = async (caller: string) => JSON.stringify((await server.graphql(document, {}, callers[caller])).body)
  expect(await seen('reader')).toMatch(/secret/i)
  expect(await seen('stranger')).not.toMatch(/secret/i)
})

test.each(roots)('%s %s', async (kind, name, field) => {
  const document = documentFor(kind, field)
  const ask = (caller: string) => server.graphql(document, {}, callers[caller])
  const codeOf = (answer: { body: any }) => answer.body.errors?.[0]?.extensions?.code ?? null

  for (const caller of ['nobody', 'ingester']) {
    const answer = await ask(caller)
    expect([caller, answer.status]).toEqual([caller, caller === 'nobody' ? 401 : 403])
    expect(answer.body.data).toBeUndefined()
  }
  for (const caller of ['reader', 'viewer', 'stranger']) {
    const answer = await ask(caller)
    const refusal = ADMIN_ONLY.has(name)
      ? 'FORBIDDEN'
      : caller === 'stranger' && OF_A_PROJECT.has(name)
        ? 'NOT_FOUND'
        : null
    expect([caller, codeOf(answer)]).toEqual([caller, refusal])
  }
  const stranger = JSON.stringify((await ask('stranger')).body.data ?? null)
  expect(stranger).not.toMatch(/secret/i)
  expect(codeOf(await ask('admin'))).toBeNull()
})

test.each(['key', 'person', 'invitation'] as const)(
  'a %s is not shown to a reader who asks for one by its id',
  async (what) => {
    const id = { ...people, key: keyId }[what]
    for (const caller of [callers.reader, callers.viewer])
      expect(await server.query(`query ($id: ID!) { node(id: $id) { __typename } }`, { id }, caller)).toEqual({
        node: null,
      })
  },
)

test.each([
  ['nobody', {}, 4401],
  ['a wrong key', { 'x-api-key': 'nope' }, 4401],
  ['a key that may only post', 'ingester', 4403],
])('the socket is closed for %s', async (_who, parameters, code) => {
  const connectionParams = typeof parameters === 'string' ? callers[parameters] : parameters
  const client = socketClient(server.url, { connectionParams })
  const ended = (await subscribe(client, 'subscription { sessionChanged { resync } }').ended) as { code: number }
  expect(ended.code).toBe(code)
  await client.dispose()
})

test('a page of another site can neither ask nor open a socket with the cookie of this one', async () => {
  const headers = { ...callers.admin, origin: 'https://evil.example' }
  expect((await server.graphql('{ viewer { email } }', {}, headers)).status).toBe(403)
  const { default: WebSocket } = await import('ws')
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers })
  const status = await new Promise((resolve) =>
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode)),
  )
  expect(status).toBe(403)
  socket.on('error', () => {})
  socket.terminate()
})

test.each([
  ['somebody signs out', 4401],
  ['a key is revoked', 4403],
])('an open socket is closed when %s', async (what, code) => {
  const { default: WebSocket } = await import('ws')
  const cookie = what.includes('key') ? '' : await server.signIn()
  const created = await server.graphql(
    'mutation { createApiKey(input: { name: "short lived", scopes: [READ] }) { secret apiKey { id } } }',
    {},
    callers.admin,
  )
  const { secret, apiKey } = created.body.data.createApiKey
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers: { cookie },
  })
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise((resolve) => socket.on('open', resolve))
  socket.send(JSON.stringify({ type: 'connection_init', payload: what.includes('key') ? { 'x-api-key': secret } : {} }))
  await new Promise((resolve) => socket.once('message', resolve))
  if (what.includes('key'))
    await server.graphql(`mutation { revokeApiKey(id: "${apiKey.id}") { id } }`, {}, callers.admin)
  else await fetch(`${server.url}/api/auth/sign-out`, { method: 'POST', headers: { cookie } })
  expect(await closed).toBe(code)
})

test.each([
  ['a search', '{ sessions(filter: { search: "a\\u0000" }) { nodes { id } } }'],
  ['an external id', '{ session(platform: PLATFORM_A, externalId: "a\\u0000") { id } }'],
  [
    'the day of an event id',
    `{ event(id: "${Buffer.from('Event:00000000-0000-0000-0000-000000000000/9999-99-99/00000000-0000-0000-0000-000000000000').toString('base64')}") { id } }`,
  ],
])("%s that cannot be stored is the caller's fault, in words", async (_what, query) => {
  const { body } = await server.graphql(query, {}, callers.reader)
  expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT')
})
