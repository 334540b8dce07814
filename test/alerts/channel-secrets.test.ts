// Addresses and signing secrets of channels: who made them knows them, and nothing tells them again.
import { getNamedType, isLeafType, isNonNullType, isObjectType, type GraphQLObjectType } from 'graphql'
import { buildClientSchema, getIntrospectionQuery, type GraphQLSchema } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { failedStep } from '../support/failed-runs.ts'
import { startReceiver, type Answer, type Received, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const TOKEN = 'T0KENof9thePath7xyzQ'
const QUERY = 'Q5ecretOfTheQuery88w'
const SECRET = `whsec_${Buffer.from('thirty-two bytes of a own secret').toString('base64')}`
const SLACK = '/services/T0ABCDEF1/B0ABCDEF2/aB3dE5fG7hI9jK1lM3nO5pQ7'
const DEAD = 'D3adReceiver0Token99'

let stand: Awaited<ReturnType<typeof alertStand>>
let receiver: Receiver
let made: string
const ids: string[] = []

/** Repeats all that it was sent, in the ways of servers that people test with. */
const echo: Answer = (response, { path, headers, text }) => {
  const url = new URL(path, 'http://here')
  const all = { path, parts: url.pathname.split('/'), query: Object.fromEntries(url.searchParams), headers }
  response.writeHead(path.includes('refuses') ? 500 : 200, { 'x-path': path }).end(JSON.stringify(all) + text)
}

beforeAll(async () => {
  stand = await alertStand()
  receiver = await startReceiver()
  receiver.answers(echo)
  const add = async (kind: 'WEBHOOK' | 'SLACK', input: object) => {
    const { channel, secret } = await stand.channel(kind, input)
    ids.push(channel.id)
    return secret
  }
  made = (await add('WEBHOOK', { name: 'Own secret made', url: `${receiver.url}/hooks/${TOKEN}?key=${QUERY}` }))!
  const given = await add('WEBHOOK', { name: 'Given', url: `${receiver.url}/refuses/${TOKEN}`, secret: SECRET })
  expect(given).toBeNull()
  await add('SLACK', { name: 'Slack', url: `${receiver.url}${SLACK}` })
  await add('SLACK', { name: 'Dead', url: `http://127.0.0.1:1/${DEAD}` })
  await stand.rule({ channels: ids })
  await stand.server.ingestA(failedStep('told-of'))
  await until(
    () => stand.deliveries(),
    (all) => all.length === 4 && all.every(({ lastStatus, lastProblem }) => lastStatus ?? lastProblem),
  )
})
afterAll(async () => {
  await stand.server.stop()
  await receiver.close()
})

const secrets = () => [
  TOKEN,
  QUERY,
  SECRET.slice('whsec_'.length),
  made.slice('whsec_'.length),
  SLACK,
  SLACK.split('/').at(-1)!,
  DEAD,
]

/** In the text, as it is and where JSON or base64 hides it. */
function found(text: string): string[] {
  const inside = [...text.matchAll(/[\w+/=-]{40,}/g)].map(([piece]) => Buffer.from(piece, 'base64').toString('latin1'))
  const all = [text, text.replaceAll('\\/', '/'), ...inside].join('\n')
  return secrets().filter((secret) => all.includes(secret))
}

async function walked(): Promise<string> {
  const schema: GraphQLSchema = buildClientSchema(await stand.ask(getIntrospectionQuery()))
  const selection = (type: GraphQLObjectType, depth: number): string =>
    Object.values(type.getFields())
      .filter(({ args }) => args.every((arg) => !isNonNullType(arg.type)))
      .flatMap((field) => {
        const named = getNamedType(field.type)
        if (isLeafType(named)) return [field.name]
        return isObjectType(named) && depth > 0 ? [`${field.name} { __typename ${selection(named, depth - 1)} }`] : []
      })
      .join(' ')
  const answers: string[] = []
  for (const field of Object.values(schema.getQueryType()!.getFields())) {
    const named = getNamedType(field.type)
    if (field.args.some((arg) => isNonNullType(arg.type))) continue
    const inner = isObjectType(named) ? `{ ${selection(named, field.name === 'channels' ? 3 : 2)} }` : ''
    const { body } = await stand.server.graphql(`{ ${field.name} ${inner} }`, {}, stand.headers)
    answers.push(JSON.stringify(body))
  }
  for (const type of ['Channel', 'AlertRule', 'Delivery'])
    answers.push(
      JSON.stringify(
        await stand.ask(
          `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${type} { ${selection(schema.getType(type) as GraphQLObjectType, 2)} } } }`,
          {
            ids: [
              ...ids,
              ...(await stand.deliveries()).map(({ id }) => id),
              ...(await stand.rules()).map(({ id }) => id),
            ],
          },
        ),
      ),
    )
  return answers.join('\n')
}

test('the secret that is looked for would be found', () => {
  expect(found(`{"a":"\\/hooks\\/${TOKEN}"}`)).toEqual([TOKEN])
  expect(found(Buffer.from(`some bytes before ${made}`).toString('base64url'))).toEqual([made.slice(6)])
})

test('no answer of the API holds an address or a signing secret', async () => {
  const text = await walked()
  for (const one of ['Own secret made', 'A rule', 'told-of', '"answer":"']) expect(text).toContain(one)
  expect(found(text)).toEqual([])
  const channels = (await stand.ask('{ channels { name address secretSuffix } }')).channels
  expect(channels).toContainEqual({
    name: 'Own secret made',
    address: `${receiver.url}/…${QUERY.slice(-4)}`,
    secretSuffix: made.slice(-4),
  })
})

test('a change shows neither, but for a secret that it made', async () => {
  const change = `mutation ($id: ID!, $input: ChannelInput!) { updateChannel(id: $id, input: $input) { secret channel { address secretSuffix } } }`
  const { channel } = await stand.channel('WEBHOOK', { name: 'To change', url: `${receiver.url}/a/${TOKEN}` })
  const changed = async (input: object) => (await stand.ask(change, { id: channel.id, input })).updateChannel
  for (const input of [{ name: 'Renamed' }, { url: `${receiver.url}/b/${TOKEN}` }, { secret: SECRET }]) {
    const saved = await changed(input)
    expect(saved.secret).toBeNull()
    expect(found(JSON.stringify(saved))).toEqual([])
  }
  const rotate = `mutation ($id: ID!) { rotateChannelSecret(id: $id) { secret channel { secretSuffix } } }`
  const { secret, channel: after } = (await stand.ask(rotate, { id: channel.id })).rotateChannelSecret
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(after.secretSuffix).toBe(secret.slice(-4))
  await stand.ask('mutation ($id: ID!) { deleteChannel(id: $id) }', { id: channel.id })
})

test('no table holds them, in no column', async () => {
  const { sql } = stand.server.database
  const tables = await sql`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`
  let text = ''
  for (const { schema, name } of tables)
    text += (await sql`select t::text as row from ${sql(`${schema}.${name}`)} t`)
      .map(({ row }) => row as string)
      .join('\n')
  expect(text).toContain('Own secret made')
  expect(text).toContain('Nothing listens at its address.')
  expect(found(text)).toEqual([])
})

test('no secret of a channel that is gone is left', async () => {
  const { channel } = await stand.channel('WEBHOOK', { name: 'Gone', url: `${receiver.url}/c/${TOKEN}` })
  await stand.ask('mutation ($id: ID!) { deleteChannel(id: $id) }', { id: channel.id })
  const [row] = await stand.server.database.sql`select sealed, secret_suffix from channels where name = 'Gone'`
  expect(row).toEqual({ sealed: '', secret_suffix: null })
})

test('no log line and no metric holds them, also when everything goes wrong', async () => {
  const { sql } = stand.server.database
  const url = `${receiver.url}/hooks/${TOKEN}?key=${QUERY}`
  const make = `mutation ($input: ChannelInput!) { createChannel(kind: WEBHOOK, input: $input) { secret } }`
  const tries = async () => {
    for (const query of [
      make,
      make.replace('secret }', 'nothing }'),
      `mutation { createChannel(kind: WEBHOOK, input: { name: "x", url: "${url}", secret: "${SECRET}" }) { secret } }`,
      `mutation { createChannel(kind: WEBHOOK, input: { url: "${url}" ${SECRET}`,
    ])
      for (const input of [
        { name: 'x', url, secret: SECRET },
        { name: 'x', url: [url] },
        { nothing: url, secret: SECRET },
      ])
        await stand.server.graphql(query, { input }, stand.headers)
    for (const id of ids)
      await stand.server.graphql('mutation ($id: ID!) { testChannel(id: $id) { status } }', { id }, stand.headers)
  }
  await tries()
  const before = stand.server.log().length
  await sql`alter table channels add constraint no_more check (name <> 'x') not valid`
  await sql`delete from channels where name = 'x'`
  await tries()
  await sql`alter table channels rename column sealed to renamed`
  await stand.server.ingestA(failedStep('told-of-later'))
  await tries()
  const log = stand.server.log()
  expect(log.slice(before)).toMatch(/a GraphQL resolver failed/)
  expect(found(log)).toEqual([])
  await sql`alter table channels rename column renamed to sealed`
  expect(found(await (await fetch(`${stand.server.url}/metrics`)).text())).toEqual([])
})

type Echo = (received: Received) => string
const queryOf = ({ path }: Received) => path.split('?')[1] ?? ''
const ECHOES: [what: string, path: string, secret: string, how: Echo][] = [
  ['a path as it is', `/hooks/${TOKEN}`, TOKEN, ({ path }) => `Cannot POST ${path}`],
  ['a path with escaped strokes', `/hooks/${TOKEN}/x`, TOKEN, ({ path }) => path.replaceAll('/', '\\/')],
  ['a token of letters alone', '/hooks/abcdefghijklmnopqrstuvwx', 'ghijklmnop', ({ path }) => path.split('/')[2]!],
  ['a Slack-like token in JSON', SLACK, 'aB3dE5fG7h', ({ path }) => JSON.stringify(path.split('/'))],
  ['a word as a key in a query', '/hook?key=onlylettersinhere', 'onlyletters', (received) => `?${queryOf(received)}`],
  ['an encoded key in a query', '/hook?sig=aB3%2BcD4%2FeF5', 'aB3%2BcD4', (received) => queryOf(received)],
  [
    'a decoded key in a query',
    '/hook?sig=aB3%2BcD4%2FeF5',
    'aB3+cD4',
    (received) => decodeURIComponent(queryOf(received)),
  ],
  ['a query in HTML', '/h?a=1&sig=S1gnature9', 'S1gnature9', ({ path }) => path.replaceAll('&', '&amp;')],
  [
    'a token that is cut at the end of what is kept',
    `/hooks/${TOKEN}`,
    TOKEN.slice(0, 12),
    ({ path }) => '-'.repeat(482) + path.split('/')[2]!,
  ],
  [
    'a path that is cut at the end of what is kept',
    `/hooks/${TOKEN}`,
    TOKEN.slice(0, 12),
    ({ path }) => '-'.repeat(476) + path,
  ],
]

test.each(ECHOES)(
  'a receiver that repeats %s does not show it to whoever reads its answer',
  async (what, path, secret, how) => {
    receiver.answers((response, received) => response.writeHead(400).end(how(received)))
    const { channel } = await stand.channel('SLACK', { name: what, url: receiver.url + path })
    const result = await stand.test(channel.id)
    expect(result).toMatchObject({ status: 400, problem: 'It answered 400.' })
    expect(result.answer).not.toBe('')
    expect(result.answer).not.toContain(secret)
  },
)
