// What arrives of recorded n8n executions that failed, read as by somebody who is woken by it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { platformBRecordings, recording } from '../fixtures/recordings.ts'
import { failed, ruleStand } from '../support/rule-stand.ts'

const REFUSED = 'The service refused the connection - perhaps it is offline'
/** file, agent, how bad, what kind, which node, and the words of its error */
const RECORDED = [
  ['02-code-error', 'Price calculator (code error)', 'HIGH', 'INVALID_INPUT', 'Calculate Price', "reading 'price'"],
  ['04-http-error-404', 'CRM sync (http 404)', 'HIGH', 'NOT_FOUND', 'Push to CRM', 'lab says 404'],
  ['04-http-error-500', 'CRM sync (http 500)', 'HIGH', 'PROVIDER_ERROR', 'Push to CRM', 'lab nested 500'],
  ['04-http-error-refused', 'CRM sync (http refused)', 'HIGH', 'CONNECTION', 'Push to CRM', REFUSED],
  ['06-runaway-loop-61', 'Runaway loop (IF never true)', 'HIGH', null, 'Check Status', '61 rounds'],
  ['10-subworkflow-child-failed', 'Child: fails', 'HIGH', 'OTHER', 'Refuse', 'Company is blocked'],
  [
    '16-agent-tool-error',
    'Support agent (tool fails)',
    'MEDIUM',
    'PROVIDER_ERROR',
    'broken_tool',
    'Inventory database is down',
  ],
  ['18-agent-model-429', 'Support agent (model 429)', 'HIGH', 'RATE_LIMIT', 'OpenAI Chat Model', 'Rate limit reached'],
  [
    '30-continue-on-fail-success',
    'Continue on fail (three ways)',
    'MEDIUM',
    'NOT_FOUND',
    'HTTP continue (regular)',
    'lab says 404',
  ],
  ['43-crashed', 'Slow job (for cancel / crash / running)', 'MEDIUM', 'OTHER', 'Slow Call', 'run out of memory'],
  [
    '47-expression-error',
    'Expression error (missing node)',
    'HIGH',
    'NOT_FOUND',
    'Bad Reference',
    "node doesn't exist",
  ],
] as const

let stand: Awaited<ReturnType<typeof ruleStand>>
let sent: { type: string; timestamp: string; data: any }[]
let texts: string[]
beforeAll(async () => {
  stand = await ruleStand()
  const rule = await stand.rule({ platform: 'PLATFORM_B' })
  const { channel } = await stand.channel('SLACK', { name: 'slack', url: `${stand.receiver.url}/slack` })
  const slack = await stand.rule({ channels: [channel.id] })
  for (const [file] of RECORDED) await stand.postB({ execution: recording(platformBRecordings, `${file}.json`).value })
  await stand.postA([
    failed('two', 'Two at once', { status: undefined }),
    failed('two', 'Two at once', { tool_name: 'billing', error: 'card declined' }),
  ])
  await rule.settled()
  await slack.settled()
  sent = rule.messages()
  texts = stand.receiver.received.filter(({ path }) => path === '/slack').map(({ body }) => body.text as string)
}, 60_000)
afterAll(() => stand.stop())

const messageOf = (agent: string) => sent.find(({ data }) => data.agent === agent)!
const textOf = (agent: string) => texts.find((text) => text.includes(`Agent: ${agent}\n`))!

describe.each(RECORDED)('%s', (_file, agent, severity, cause, subject, words) => {
  test('says which agent, what, how bad, where, since when, and links to its session', async () => {
    const { type, timestamp, data } = messageOf(agent)
    expect(type).toBe('alert.failure')
    expect(data).toMatchObject({ agent, severity, cause, subject, project: 'default', platform: 'PLATFORM_B' })
    expect(data.title.startsWith(`${agent}: `)).toBe(true)
    for (const said of [data.sentence, data.evidence.join(' ')]) expect(said).toContain(words)
    expect(data.sentence).toContain(`"${subject}"`)
    expect(data.advice).toMatch(/^[A-Z].{20,}\.$/)
    expect([new Date(timestamp).toISOString(), new Date(data.since.at).toISOString()]).toEqual([
      timestamp,
      data.since.at,
    ])
    expect(data.since.what).toBe('first seen')
    const { session } = await stand.ask(
      `query ($id: String!, $agent: String!) { session(platform: PLATFORM_B, externalId: $id) { id }
        sessions(filter: { agents: [$agent] }) { nodes { id externalId agent } } }`,
      { id: data.session.externalId, agent },
    )
    expect(stand.uuidOf(session.id)).toBe(data.session.id)
    expect(data.url).toBe(`${stand.server.url}/sessions/${data.session.id}`)
    expect((await fetch(data.url)).status).toBe(200)
  })

  test('gives its evidence in at most two lines that fit a screen', () => {
    const { evidence } = messageOf(agent).data
    expect(evidence.length).toBeGreaterThan(0)
    expect(evidence.length).toBeLessThanOrEqual(2)
    for (const line of evidence) expect([line.includes('\n'), line.length < 330]).toEqual([false, true])
  })

  test('has no markup in what people read', () => {
    const { title, sentence, evidence } = messageOf(agent).data
    for (const text of [title, sentence, ...evidence]) expect(text).not.toMatch(/<\/?a\b/)
  })
})

test('steps are counted in plain English', () => {
  const lines = sent.flatMap(({ data }) => data.evidence as string[])
  expect(lines.filter((line) => /^1 of \d+ steps shows/.test(line))).toEqual([])
})

test('each was told of once', () => {
  expect(sent.map(({ data }) => data.agent).toSorted()).toEqual(RECORDED.map(([, agent]) => agent).toSorted())
})

test('the text for small screens begins with what, and names agent, severity, session and link', () => {
  for (const [, agent, severity] of RECORDED) {
    const text = textOf(agent)
    expect(text.split('\n')[0]).toContain(`${agent}: `)
    expect(text).toContain(`Severity: ${severity.toLowerCase()}`)
    expect(text).toMatch(/^Open the session: http/m)
  }
})

test('of a run with more failures than one it is said that there are more', () => {
  expect(textOf('Two at once')).toMatch(/more failure/)
})

test('it is said when this run failed', async () => {
  await stand.postA(failed('two-again', 'Two at once'))
  await stand.sql`update failures set seen_at = seen_at - interval '3 days' where session_id in (
    select id from sessions where external_id = 'two')`
  const rule = await stand.rule({ agents: ['Two at once'] })
  await stand.postA(failed('two-now', 'Two at once'))
  await rule.settled()
  const [{ timestamp, data }] = rule.messages()
  expect(Date.parse(data.since.at)).toBeLessThan(Date.parse(timestamp) - 2 * 86_400_000)
  const text = stand.receiver.received
    .filter(({ path }) => path === '/slack')
    .map(({ body }) => body.text as string)
    .find((one) => one.includes('Session: two-now'))
  expect(text).toContain(timestamp.slice(0, 10))
})
