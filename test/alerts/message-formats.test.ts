// One message in three forms: within the limits of Slack, without mentions, and whole for those who read plain text.
import { expect, test } from 'vitest'
import type { AlertMessage } from '../../server/alerts/alert.ts'
import { mailOf, slackBody, webhookBody } from '../../server/alerts/formats.ts'
import { testMessage } from '../../server/alerts/message.ts'

const plain: AlertMessage = {
  kind: 'FAILURE',
  alertId: '7c1c1d0a-0000-4000-8000-000000000001',
  at: '2026-11-20T10:00:00.000Z',
  project: 'default',
  rule: 'High and critical failures',
  agent: 'Desk',
  platform: 'PLATFORM_A',
  severity: 'HIGH',
  category: 'TOOL_FAILURE',
  cause: 'CONNECTION' as AlertMessage['cause'],
  subject: 'crm.lookup',
  title: 'Desk: crm.lookup could not be reached',
  sentence: 'The tool crm.lookup could not be reached.',
  advice: 'Look whether the service runs.',
  evidence: ['Error: connect ECONNREFUSED', '1 of 3 steps shows it: "crm.lookup"'],
  since: { at: '2026-11-19T08:00:00.123Z', what: 'first seen' },
  session: {
    id: '7c1c1d0a-0000-4000-8000-000000000002',
    externalId: 'run-1',
    externalUrl: null,
    at: '2026-11-20T10:00:03.120Z',
  },
  otherFailures: 0,
  seenInLast7Days: 3,
  rate: null,
  url: 'https://runwatch.example.com/sessions/7c1c1d0a-0000-4000-8000-000000000002',
}

/** The same text wherever a run has a say. */
const saying = (text: string): AlertMessage => ({
  ...plain,
  rule: text.slice(0, 100),
  agent: text.slice(0, 500),
  subject: text,
  title: text,
  sentence: text,
  advice: text,
  evidence: [text, text],
  session: { ...plain.session!, externalId: text.slice(0, 500) },
})

const MENTIONS =
  '<!channel> <!here|here> <@U012ABCDEF> <!subteam^S01|@ops> <#C01|x> <https://evil.example|Open the session>'
const HOSTILE: [what: string, text: string][] = [
  ['10,000 letters', 'x'.repeat(10_000)],
  ['10,000 ampersands', '&'.repeat(10_000)],
  ['10,000 emoji', '🔥'.repeat(10_000)],
  ['an odd number of units before emoji', `x${'👩‍👩‍👧‍👦'.repeat(2_000)}`],
  ['mentions', MENTIONS],
  ['many mentions', MENTIONS.repeat(100)],
  ['mentions that are escaped already', '&lt;!channel&gt; &amp;lt;!here&amp;gt; &#60;!channel&#62;'],
  ['line breaks of all kinds', 'a\r\nb\rc\nd\u2028e\u2029f\u0085g\vh'.repeat(50)],
  ['NULs and control characters', 'a\0b\x1b[31mc\x07d\x7f'.repeat(50)],
  ['lone surrogates', 'a\ud83d b\ude00 \udfff'.repeat(50)],
  ['turned text', '\u202eevil\u202c\u200b\ufeff'],
  ['markup', '*bold* _it_ ~no~ `code` ```block``` > quote <b>html</b> <script>alert(1)</script> "quoted" \'single\''],
  ['JSON', '{"text":"x","blocks":[{"type":"header"}]}\\u0000\\'],
  ['a closing mark', '> </td></table></html> --> ]]>'],
  ['Japanese', '予約システムの問い合わせ窓口'.repeat(800)],
  ['one letter', 'x'],
  ['nothing but blanks', '   '],
]

interface Text {
  type: string
  text: string
  verbatim?: boolean
}
/** All text objects of the blocks, each with the most that Slack takes there. */
function textsOf(blocks: any[]): [Text, number][] {
  return blocks.flatMap((block): [Text, number][] => [
    ...(block.text ? [[block.text, block.type === 'header' ? 150 : 3_000] as [Text, number]] : []),
    ...(block.fields ?? []).map((field: Text) => [field, 2_000]),
    ...(block.elements ?? []).map((element: Text) => [element, 3_000]),
  ])
}
const OWN_LINK = /<https:\/\/runwatch\.example\.com\/[^<>|]*\|Open [A-Za-z ]+>/g

test.each(HOSTILE)('Slack takes a message with %s: no limit is passed, and nobody is called', (_what, text) => {
  for (const message of [
    saying(text),
    { ...saying(text), kind: 'NEW_PATTERN' as const },
    { ...saying(text), advice: null },
  ]) {
    const json = slackBody(message)
    const body = JSON.parse(json)
    expect(Buffer.from(json).toString('utf8')).toBe(json)
    expect(body.blocks.length).toBeLessThanOrEqual(50)
    expect(body.text.length).toBeGreaterThan(0)
    expect(body.text.length).toBeLessThanOrEqual(40_000)
    expect(body.text).not.toMatch(/[<>]/)
    for (const [one, most] of textsOf(body.blocks)) {
      expect(one.text.length).toBeGreaterThan(0)
      expect(one.text.length).toBeLessThanOrEqual(most)
      if (one.type === 'plain_text') continue
      // A quote of its own is the only mark that begins a line.
      expect(one.text.replace(OWN_LINK, '').replace(/^> /gm, '')).not.toMatch(/[<>]/)
      expect(one.text).not.toMatch(/&(?!amp;|lt;|gt;)(?![a-z]{0,3}…$)/)
    }
    for (const { fields = [] } of body.blocks) expect(fields.length).toBeLessThanOrEqual(10)
  }
})

test('Slack does not look for names to call or link in what a run said', () => {
  const { blocks } = JSON.parse(slackBody(saying('@channel @here #general https://evil.example')))
  // Without it "certain mentions will be automatically parsed" in plain words (Slack, text object, verbatim).
  for (const [one] of textsOf(blocks)) if (one.type === 'mrkdwn') expect(one).toMatchObject({ verbatim: true })
})

test.each([
  ['Japanese', '予'.repeat(500)],
  ['emoji', '🔥'.repeat(250)],
])('a link to the sessions of an agent with a long name of %s stays within the limit of a section', (_what, agent) => {
  const query = new URLSearchParams({ agent, from: plain.at })
  const rate = {
    ...plain,
    kind: 'FAILURE_RATE' as const,
    agent,
    session: null,
    rate: { runs: 9, failed: 6, minutes: 60 },
  }
  const { blocks } = JSON.parse(slackBody({ ...rate, url: `https://runwatch.example.com/sessions?${query}` }))
  for (const [one, most] of textsOf(blocks)) expect(one.text.length).toBeLessThanOrEqual(most)
})

test('what people need to know stands in every form, and in the plain text of Slack and mail too', () => {
  const { text, blocks } = JSON.parse(slackBody(plain))
  const mail = mailOf(plain)
  const told = [
    'Desk',
    'high',
    'tool failure',
    'The tool crm.lookup could not be reached.',
    'Error: connect ECONNREFUSED',
    '1 of 3 steps shows it',
    '2026-11-19 08:00:00 UTC',
    '3 sessions of the last 7 days',
    'Look whether the service runs.',
    plain.url,
    'run-1',
    'High and critical failures',
  ]
  for (const form of [text, JSON.stringify(blocks).replaceAll('\\"', '"'), mail.text, mail.html])
    for (const one of told) expect(form).toContain(one)
  const { agent, severity, sentence, evidence, since, session, url } = JSON.parse(webhookBody(plain)).data
  expect({ agent, severity, sentence, evidence, since, session, url }).toEqual({
    agent: plain.agent,
    severity: plain.severity,
    sentence: plain.sentence,
    evidence: plain.evidence,
    since: plain.since,
    session: plain.session,
    url: plain.url,
  })
})

test('a test says that it is one, in every form and before anything else', () => {
  const message = testMessage('default', 'Ops', 'https://runwatch.example.com', 'an-id', new Date(0))
  const { text, blocks } = JSON.parse(slackBody(message))
  expect(text).toMatch(/^\[TEST\] /)
  expect(blocks[0].text.text).toMatch(/^\[TEST\] /)
  expect(JSON.parse(webhookBody(message))).toMatchObject({ type: 'alert.test', data: { isTest: true } })
  const mail = mailOf(message)
  expect(mail.subject).toMatch(/^\[TEST\] /)
  expect(mail.text).toMatch(/^\[TEST\] /)
  expect(mail.html).toMatch(/<h1[^>]*>\[TEST\] /)
  for (const form of [text, mail.text, mail.html]) expect(form).toContain('This is a test. Nothing has failed.')
})

test.each([
  ['FAILURE', 'alert.failure'],
  ['NEW_PATTERN', 'alert.new_pattern'],
  ['FAILURE_RATE', 'alert.failure_rate'],
] as const)('an alert of the kind %s is not marked as a test, whatever its texts say', (kind, type) => {
  const message = { ...saying('A test'), kind }
  expect(JSON.parse(webhookBody(message))).toMatchObject({ type, timestamp: plain.at, data: { isTest: false } })
  expect(slackBody(message)).not.toContain('[TEST]')
  expect(JSON.stringify(mailOf(message))).not.toContain('[TEST]')
})

test.each(HOSTILE)('a webhook carries %s as it is', (_what, text) => {
  const body = webhookBody(saying(text))
  const sent = JSON.parse(Buffer.from(body).toString('utf8'))
  expect(sent.data.sentence.toWellFormed()).toBe(text.toWellFormed())
  expect(sent.data.evidence).toHaveLength(2)
})

test.each(HOSTILE)('a mail with %s has one line of subject and no markup but its own', (_what, text) => {
  const { subject, html, text: words } = mailOf(saying(text))
  expect(subject.length).toBeLessThanOrEqual(150)
  expect(subject).not.toMatch(/[\r\n\v\f\u2028\u2029]/)
  const tags = [...html.matchAll(/<\/?([a-z!][a-z0-9]*)/gi)].map(([, name]) => name!.toLowerCase())
  expect(new Set(tags)).toEqual(
    new Set(['!doctype', 'html', 'body', 'h1', 'p', 'ul', 'li', 'table', 'tr', 'th', 'td', 'b', 'a', 'small']),
  )
  expect(html.match(/<a href="[^"]*">/g)).toEqual([`<a href="${plain.url}">`])
  expect(html).not.toMatch(/&(?!amp;|lt;|gt;|quot;)/)
  expect(words).toContain(plain.url)
})
