// Mail to a real SMTP receiver: both parts, headers that nobody else writes into, and the same id for each attempt.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { alertStand } from '../support/alert-stand.ts'
import { failedStep } from '../support/failed-runs.ts'
import {
  headerText,
  smtpError,
  startMailReceiver,
  type MailReceiver,
  type ReceivedMail,
} from '../support/mail-receiver.ts'
import { until } from '../support/until.ts'

let stand: Awaited<ReturnType<typeof alertStand>>
let mails: MailReceiver
let judge: (mail: ReceivedMail) => Error | null = () => null
let channel: any
beforeAll(async () => {
  mails = await startMailReceiver({}, (mail) => judge(mail))
  const env = { SMTP_URL: `smtp://127.0.0.1:${mails.port}`, SMTP_FROM: 'Run "watch" <runwatch@alerts.example.com>' }
  stand = await alertStand({ env: { ...env, PUBLIC_URL: 'https://runwatch.example.com' } })
  channel = (await stand.channel('EMAIL', { name: 'Mail', to: ['ops@example.com', ' boss@example.com '] })).channel
  await stand.rule({ name: 'Mail rule', channels: [channel.id] })
})
afterAll(async () => {
  await stand.server.stop()
  await mails.close()
})
beforeEach(() => {
  judge = () => null
  mails.received.length = 0
})

async function mailOfRun(id: string, own: object): Promise<ReceivedMail> {
  expect((await stand.server.ingestA(failedStep(id, own))).status).toBeLessThan(300)
  await until(() => mails.received.length > 0)
  return mails.received[0]!
}
const one = (mail: ReceivedMail, name: string) => {
  expect([name, mail.headers.get(name)]).toEqual([name, [expect.any(String)]])
  return headerText(mail.headers.get(name)![0]!)
}

test('an alert arrives as text and HTML, to all addresses, and says that a machine wrote it', async () => {
  const mail = await mailOfRun('mail-1', {})
  expect(mail).toMatchObject({ from: 'runwatch@alerts.example.com', to: ['ops@example.com', 'boss@example.com'] })
  expect([...mail.parts.keys()]).toEqual(['text/plain', 'text/html'])
  expect(one(mail, 'content-type')).toMatch(/^multipart\/alternative;/)
  expect(one(mail, 'auto-submitted')).toBe('auto-generated')
  expect(one(mail, 'to')).toBe('ops@example.com, boss@example.com')
  expect(one(mail, 'from')).toContain('<runwatch@alerts.example.com>')
  expect(one(mail, 'subject')).toMatch(/^\S+: Desk: /)
  const [delivery] = await stand.settled()
  const uuid = Buffer.from(delivery.id, 'base64').toString().split(':')[1]
  expect(one(mail, 'message-id')).toBe(`<msg_${uuid}@alerts.example.com>`)
  for (const part of mail.parts.values()) {
    expect(part).toContain('Desk')
    expect(part).toContain('ECONNREFUSED 10.0.0.7:443')
    expect(part).toMatch(/https:\/\/runwatch\.example\.com\/sessions\/[0-9a-f-]{36}/)
  }
  expect(delivery).toMatchObject({ state: 'SENT', lastStatus: 250, lastProblem: null })
})

const INJECTIONS: [what: string, text: string][] = [
  ['a Bcc after a line break', 'Desk\r\nBcc: evil@example.com'],
  ['a Bcc after a bare line feed', 'Desk\nBcc: evil@example.com'],
  ['a Bcc after a bare carriage return', 'Desk\rBcc: evil@example.com'],
  ['a body of its own', 'Desk\r\n\r\n<h1>Pay here</h1>'],
  ['the end of the mail', 'Desk\r\n.\r\nMAIL FROM:<evil@example.com>\r\n'],
  ['odd line breaks', 'Desk\u2028Bcc: evil@example.com\u2029x\u0085Bcc: evil@example.com\vy'],
  ['encoded words', '=?utf-8?Q?=0D=0ABcc:=20evil@example.com?='],
  ['emoji beyond a line', '🔥'.repeat(120)],
  ['addresses and quotes', '"a" <evil@example.com>, evil2@example.com; (c) \\'],
  ['markup', '<img src=x onerror=alert(1)><script>alert(1)</script>&lt;b&gt;'],
]

test.each(INJECTIONS)('%s in a name, an id and an error becomes text and nothing else', async (what, text) => {
  const mail = await mailOfRun(`inject-${INJECTIONS.findIndex(([one]) => one === what)}`, {
    agent_name: text,
    tool_name: text,
    error: `${text} failed`,
  })
  expect(mail.to).toEqual(['ops@example.com', 'boss@example.com'])
  expect([...mail.headers.keys()].sort()).toEqual(
    [
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
      'x-runwatch-delivery',
    ].sort(),
  )
  for (const name of mail.headers.keys()) one(mail, name)
  expect(one(mail, 'subject')).not.toMatch(/[\r\n]/)
  for (const line of mail.raw.split('\r\n')) {
    expect(line.length).toBeLessThanOrEqual(998)
    expect(line).not.toMatch(/[\r\n]/)
  }
  const html = mail.parts.get('text/html')!
  expect(html).toMatch(/^<!doctype html>.*<\/html>$/s)
  expect(html).not.toMatch(/<(img|script|h1>Pay)/)
  expect(mail.parts.size).toBe(2)
})

test('each attempt carries the same Message-ID, and the last one counts', async () => {
  judge = () => smtpError(451, 'Greylisted, try again later')
  await stand.server.ingestA(failedStep('again-1'))
  const tried = async (attempts: number) =>
    until(
      async () => (await stand.deliveries({ states: ['QUEUED'] }))[0],
      (delivery) =>
        delivery?.lastStatus != null &&
        delivery.attempts.filter(({ durationMs }: any) => durationMs !== null).length === attempts,
    )
  for (const attempts of [1, 2]) {
    expect(await tried(attempts)).toMatchObject({
      state: 'QUEUED',
      lastStatus: 451,
      lastProblem: 'The mail server answered 451.',
    })
    if (attempts === 2) judge = () => null
    await stand.server.database.sql`update deliveries set next_attempt_at = now() where state = 'QUEUED'`
  }
  await until(() => mails.received.length > 0)
  const ids = [...mails.refused, ...mails.received].map((mail) => one(mail, 'message-id'))
  expect(ids).toHaveLength(3)
  expect(new Set(ids).size).toBe(1)
  expect(ids[0]).toMatch(/^<msg_[0-9a-f-]{36}@alerts\.example\.com>$/)
  expect((await stand.settled())[0]).toMatchObject({ state: 'SENT', attemptCount: 3 })
})

test('a test mail says that it is one, and what the server answered', async () => {
  const result = await stand.test(channel.id)
  expect(result).toMatchObject({ isDelivered: true, status: 250, problem: null })
  expect(result.answer).toMatch(/^250 /)
  expect(result.durationMs).toBeGreaterThan(0)
  const [mail] = mails.received
  expect(one(mail!, 'subject')).toMatch(/^\[TEST\] Test of the channel Mail/)
  for (const part of mail!.parts.values()) expect(part).toContain('This is a test. Nothing has failed.')
})

test.each([
  [[], /1 to 20 addresses, not 0/],
  [Array.from({ length: 21 }, (_, i) => `a${i}@example.com`), /1 to 20 addresses, not 21/],
  [['ops'], /"ops" is not an e-mail address/],
  [['a@example.com, b@example.com'], /is not an e-mail address/],
  [['Ops <ops@example.com>'], /is not an e-mail address/],
  [['ops@example.com\r\nBcc: evil@example.com'], /is not an e-mail address/],
  [['ops@example.com\nRCPT TO:<evil@example.com>'], /is not an e-mail address/],
  [['"a b"@example.com'], /is not an e-mail address/],
  [['a@[127.0.0.1]'], /is not an e-mail address/],
  [['a@b@c'], /is not an e-mail address/],
  [['o\0ps@example.com'], /is not an e-mail address/],
  [['o\x1bps@example.com'], /is not an e-mail address/],
  [[`${'a'.repeat(250)}@example.com`], /is not an e-mail address/],
])('%j are no addresses of a channel', async (to, sentence) => {
  const refusal = await stand.refusal(
    `mutation ($to: [String!]) { createChannel(kind: EMAIL, input: { name: "Odd", to: $to }) { secret } }`,
    { to },
  )
  expect(refusal).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' }, message: expect.stringMatching(sentence) })
})

test('a mail channel takes no url and no secret, and the others no addresses', async () => {
  const make = `mutation ($kind: ChannelKind!, $input: ChannelInput!) { createChannel(kind: $kind, input: $input) { secret } }`
  const url = 'https://example.com/hook'
  for (const [kind, input] of [
    ['EMAIL', { name: 'x', to: ['a@example.com'], url }],
    ['WEBHOOK', { name: 'x', url, to: ['a@example.com'] }],
    ['SLACK', { name: 'x', url, secret: `whsec_${'A'.repeat(32)}` }],
  ])
    expect(await stand.refusal(make, { kind, input })).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
})
