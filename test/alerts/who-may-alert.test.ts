// Who may see and change where people are told: admins who are signed in, and of the log whoever may read the project.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { failedStep } from '../support/failed-runs.ts'
import { ADMIN } from '../support/secrets.ts'
import { startMailReceiver, smtpError, type MailReceiver } from '../support/mail-receiver.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'

let stand: Awaited<ReturnType<typeof alertStand>>
let receiver: Receiver
let mails: MailReceiver
const callers: Record<string, Record<string, string>> = {}
let channel: any
let rule: any
let foreign: { channel: any; rule: any }
let delivery: any
let mailDelivery: any
let patternId: string

beforeAll(async () => {
  receiver = await startReceiver()
  mails = await startMailReceiver({
    onRcptTo: ({ address }, _session, callback) =>
      callback(address.startsWith('gone') ? smtpError(550, `No ${address} here`) : null),
  })
  stand = await alertStand({ env: { SMTP_URL: `smtp://127.0.0.1:${mails.port}`, SMTP_FROM: 'runwatch@example.com' } })
  const { server } = stand
  const key = async (scopes: string, project: string) =>
    (
      await stand.ask(
        `mutation { createApiKey(input: { name: "x", scopes: [${scopes}], project: "${project}" }) { secret } }`,
      )
    ).createApiKey.secret as string
  callers.reader = { 'x-api-key': await key('READ', 'default') }
  callers.ingester = { 'x-api-key': await key('INGEST', 'default') }
  callers.both = { 'x-api-key': await key('READ, INGEST', 'default') }
  callers.stranger = { authorization: `Bearer ${await key('READ', 'other')}` }
  callers.nobody = {}
  await server.database.sql`
    insert into people (id, email, password_hash, role)
    select gen_random_uuid(), 'viewer@example.com', password_hash, 'VIEWER' from people`
  const response = await fetch(`${server.url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...ADMIN, email: 'viewer@example.com' }),
  })
  callers.viewer = { cookie: response.headers.get('set-cookie')!.split(';')[0]! }

  receiver.answers(answer(410, 'told to the admin alone'))
  channel = (await stand.channel('WEBHOOK', { name: 'Told', url: `${receiver.url}/hooks/a0b1c2d3e4f5` })).channel
  const mail = (
    await stand.channel('EMAIL', { name: 'Mail', to: ['secret.person@example.com', 'gone.person@example.com'] })
  ).channel
  rule = await stand.rule({ name: 'Tells', channels: [channel.id, mail.id] })
  const url = 'http://127.0.0.1:1/foreign'
  const other = (await stand.channel('SLACK', { name: 'Foreign channel', url }, 'other')).channel
  foreign = { channel: other, rule: await stand.rule({ name: 'Foreign rule', channels: [other.id] }, 'other') }
  await server.ingestA(failedStep('told-of'))
  const all = await stand.settled()
  delivery = all.find((one) => one.channelKind === 'WEBHOOK')
  mailDelivery = all.find((one) => one.channelKind === 'EMAIL')
  patternId = (await stand.ask('{ failurePatterns { nodes { id } } }')).failurePatterns.nodes[0].id
})
afterAll(async () => {
  await stand.server.stop()
  await receiver.close()
  await mails.close()
})

const WHO = ['nobody', 'ingester', 'reader', 'both', 'viewer', 'stranger']
const ask = (who: string, query: string, variables: object = {}) => stand.server.graphql(query, variables, callers[who])

/** What only an admin may, with arguments that would do. */
const GUARDED: Record<string, () => [query: string, variables: object]> = {
  channels: () => ['{ channels { id name address } }', {}],
  createChannel: () => [
    `mutation { createChannel(kind: SLACK, input: { name: "By a stranger", url: "http://127.0.0.1:1/" }) { secret } }`,
    {},
  ],
  updateChannel: () => [
    'mutation ($id: ID!) { updateChannel(id: $id, input: { name: "Taken over", url: "http://127.0.0.1:1/" }) { secret } }',
    channel,
  ],
  rotateChannelSecret: () => ['mutation ($id: ID!) { rotateChannelSecret(id: $id) { secret } }', channel],
  testChannel: () => ['mutation ($id: ID!) { testChannel(id: $id) { answer } }', channel],
  deleteChannel: () => ['mutation ($id: ID!) { deleteChannel(id: $id) }', channel],
  createAlertRule: () => ['mutation { createAlertRule(input: { name: "By a stranger" }) { id } }', {}],
  updateAlertRule: () => [
    'mutation ($id: ID!) { updateAlertRule(id: $id, input: { name: "Taken over" }) { id } }',
    rule,
  ],
  deleteAlertRule: () => ['mutation ($id: ID!) { deleteAlertRule(id: $id) }', rule],
  muteAgent: () => ['mutation { muteAgent(agent: "Desk", days: 1) { agent } }', {}],
  unmuteAgent: () => ['mutation { muteAgent(agent: "Desk") { agent } }', {}],
  muteFailurePattern: () => ['mutation ($id: ID!) { muteFailurePattern(id: $id, days: 1) { id } }', { id: patternId }],
  sendDeliveryAgain: () => ['mutation ($id: ID!) { sendDeliveryAgain(id: $id) { id } }', delivery],
}

const state = async () =>
  JSON.stringify([
    await stand.server.database.sql`select to_jsonb(c) from channels c order by id`,
    await stand.server.database.sql`select to_jsonb(r) from alert_rules r order by id`,
    await stand.server.database.sql`select to_jsonb(m) from muted_agents m`,
    await stand.server.database.sql`select id, muted_until from failure_patterns order by id`,
    await stand.server.database.sql`select id, state, attempt_count from deliveries order by id`,
  ])

test.each(Object.keys(GUARDED))(
  '%s is for admins who are signed in alone, and does nothing for others',
  async (name) => {
    const [query, { id }] = GUARDED[name]!() as [string, { id?: string }]
    const before = [await state(), receiver.received.length]
    for (const who of WHO) {
      const { status, body } = await ask(who, query, { id })
      expect([who, body.data ?? null]).toEqual([who, null])
      if (who === 'nobody') expect(status).toBe(401)
      else if (who === 'ingester') expect(status).toBe(403)
      else expect([who, body.errors[0].extensions.code]).toEqual([who, 'FORBIDDEN'])
      expect(JSON.stringify(body)).not.toMatch(/Told|a0b1c2d3|secret\.person/)
    }
    expect([await state(), receiver.received.length]).toEqual(before)
  },
)

test('the key that a server is started with is no admin either', async () => {
  for (const name of Object.keys(GUARDED)) {
    const [query, { id }] = GUARDED[name]!() as [string, { id?: string }]
    const { body } = await stand.server.graphql(query, { id })
    expect([name, body.errors[0].extensions.code]).toEqual([name, 'FORBIDDEN'])
  }
})

test('a channel is nothing to others by its id, and a rule does not tell them where it tells', async () => {
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Channel { name address }
    ... on AlertRule { name sentence channels { name address } updatedBy } } }`
  for (const who of ['reader', 'both', 'viewer', 'stranger']) {
    const { body } = await ask(who, query, { ids: [channel.id, rule.id] })
    expect([who, body.errors]).toEqual([who, undefined])
    const [one, two] = body.data.nodes
    expect([who, one]).toEqual([who, null])
    if (who === 'stranger') expect(two).toBeNull()
    else expect(two).toMatchObject({ name: 'Tells', channels: null })
    expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|secret\.person/)
  }
})

test('what a receiver answered, and whom a mail goes to, is for admins alone', async () => {
  const fields = 'state lastStatus lastProblem attempts { status answer problem }'
  const query = `{ deliveries { nodes { channel ${fields} } } alertRules { name } }`
  const seen = JSON.stringify((await stand.ask(query)).deliveries.nodes)
  expect(seen).toContain('told to the admin alone')
  expect(mailDelivery.lastProblem).toBe('Not taken for 1 of 2 addresses.')
  expect(seen).toContain('gone.person@example.com')
  for (const who of ['reader', 'both', 'viewer']) {
    const { body } = await ask(who, query)
    expect(body.data.deliveries.nodes).toHaveLength(2)
    for (const { attempts } of body.data.deliveries.nodes)
      for (const one of attempts) expect([who, one.answer]).toEqual([who, null])
    expect(JSON.stringify(body)).not.toContain('told to the admin alone')
    expect(JSON.stringify(body)).not.toMatch(/(gone|secret)\.person/)
  }
})

test('a stranger sees no rule, delivery or mute of another project', async () => {
  const query = `query ($id: ID!) { deliveries { nodes { id } } alertRules { name } node(id: $id) { __typename } }`
  const { data } = (await ask('stranger', query, { id: delivery.id })).body
  expect(data.deliveries.nodes).toEqual([])
  expect(data.node).toBeNull()
  expect(data.alertRules.map(({ name }: any) => name)).toContain('Foreign rule')
  expect(data.alertRules.map(({ name }: any) => name)).not.toContain('Tells')
})

test('a rule tells through no channel of another project, and a changed one neither', async () => {
  const make = 'mutation ($input: AlertRuleInput!) { createAlertRule(input: $input) { id } }'
  const input = { name: 'Across', isEnabled: true, channels: [foreign.channel.id] }
  expect((await stand.refusal(make, { input }))?.message).toMatch(/of another project/)
  const change = 'mutation ($id: ID!, $input: AlertRuleInput!) { updateAlertRule(id: $id, input: $input) { id } }'
  expect((await stand.refusal(change, { id: rule.id, input: { channels: [foreign.channel.id] } }))?.message).toMatch(
    /of another project/,
  )
})

test('an admin may do all of it', async () => {
  for (const name of Object.keys(GUARDED)) {
    if (name.startsWith('delete')) continue
    const [query, { id }] = GUARDED[name]!() as [string, { id?: string }]
    expect([name, await stand.refusal(query, { id })]).toEqual([name, undefined])
  }
  for (const name of ['deleteAlertRule', 'deleteChannel']) {
    const [query, { id }] = GUARDED[name]!() as [string, { id?: string }]
    expect([name, await stand.refusal(query, { id })]).toEqual([name, undefined])
  }
})
