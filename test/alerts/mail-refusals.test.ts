// Mail servers that refuse, hang, are away or cannot be trusted: what is tried again, what is given up, what is said.
import net, { type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { testMessage } from '../../server/alerts/message.ts'
import { Sender } from '../../server/alerts/send.ts'
import { readConfig } from '../../server/config.ts'
import { smtpError, startMailReceiver, type MailReceiver } from '../support/mail-receiver.ts'
import { freePort } from '../support/process.ts'
import { until } from '../support/until.ts'

const message = testMessage('default', 'Ops', 'http://runwatch', 'an-id', new Date(0))
const ends: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function receiver(...settings: Parameters<typeof startMailReceiver>): Promise<MailReceiver> {
  const mails = await startMailReceiver(...settings)
  ends.push(() => mails.close())
  return mails
}
const send = (url: string, to = ['ops@example.com'], signal?: AbortSignal) =>
  new Sender(readConfig({ SMTP_URL: url, SMTP_FROM: 'runwatch@example.com' })).send(
    { kind: 'EMAIL', to },
    message,
    'msg_1',
    signal,
  )
/** Refuses recipients whose name begins with the digits of an answer. */
const byName = {
  onRcptTo: ({ address }: { address: string }, _session: unknown, callback: (error?: Error | null) => void) => {
    const [code] = /^[45]\d\d/.exec(address) ?? []
    callback(code ? smtpError(Number(code), 'Not here') : null)
  },
}

test.each([421, 450, 451, 452])('a mail that is refused with %i is tried again', async (code) => {
  const { port } = await receiver({}, () => smtpError(code, 'Later please'))
  expect(await send(`smtp://127.0.0.1:${port}`)).toMatchObject({
    isDelivered: false,
    isFinal: false,
    status: code,
    answer: `${code} Later please`,
    problem: `The mail server answered ${code}.`,
  })
})

test.each([550, 552, 553, 554])('a mail that is refused with %i is given up', async (code) => {
  const { port } = await receiver({}, () => smtpError(code, 'Never <b>ever</b>'))
  expect(await send(`smtp://127.0.0.1:${port}`)).toMatchObject({
    isDelivered: false,
    isFinal: true,
    status: code,
    answer: `${code} Never <b>ever</b>`,
    problem: `The mail server answered ${code}.`,
  })
})

test('of several recipients one that is refused does not keep the mail from the others, and is named', async () => {
  const mails = await receiver(byName)
  const to = ['ops@example.com', '550gone@example.com', 'boss@example.com']
  const result = await send(`smtp://127.0.0.1:${mails.port}`, to)
  expect(result).toMatchObject({ isDelivered: true, status: 250, problem: 'Not taken for 1 of 3 addresses.' })
  expect(mails.received[0]!.to).toEqual(['ops@example.com', 'boss@example.com'])
})

test('where every recipient is refused for good it is given up', async () => {
  const { port } = await receiver(byName)
  const result = await send(`smtp://127.0.0.1:${port}`, ['550a@example.com', '551b@example.com'])
  expect(result).toMatchObject({ isDelivered: false, isFinal: true })
})

test.each([
  ['the first', ['450a@example.com', '550b@example.com']],
  ['the last', ['550b@example.com', '450a@example.com']],
])('where %s of the refused recipients may take it later, it is tried again', async (_which, to) => {
  const { port } = await receiver(byName)
  expect(await send(`smtp://127.0.0.1:${port}`, to)).toMatchObject({ isDelivered: false, isFinal: false })
})

test('a sender that is refused is told of', async () => {
  const { port } = await receiver({
    onMailFrom: (_from, _session, callback) => callback(smtpError(553, 'Who are you')),
  })
  const result = await send(`smtp://127.0.0.1:${port}`)
  expect(result).toMatchObject({ isDelivered: false, status: 553, answer: '553 Who are you' })
})

test('nobody at the address of the mail server is said in words, and tried again', async () => {
  const result = await send(`smtp://127.0.0.1:${await freePort()}`)
  expect(result).toMatchObject({ isDelivered: false, isFinal: false, status: null })
  expect(result.problem).toBe('Nothing listens at its address.')
})

test('a mail server whose name is not known is said in words, and tried again', async () => {
  const result = await send('smtp://mail.example.invalid')
  expect(result).toMatchObject({ isDelivered: false, isFinal: false, status: null })
  expect(result.problem).toMatch(/^The name of its host (is not known|could not be looked up)\.$/)
})

test('a mail server that closes the connection is said in words, and tried again', async () => {
  const port = await bare((socket) => socket.end())
  const result = await send(`smtp://127.0.0.1:${port}`)
  expect(result).toMatchObject({ isDelivered: false, isFinal: false, status: null })
  expect(result.problem).toBe('It closed the connection without an answer.')
})

/** A server of bytes. */
async function bare(onSocket: (socket: net.Socket) => void): Promise<number> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('mail servers that say nothing, or a word now and then, are left after 10 s', async () => {
  const silent = await bare(() => {})
  // Each word begins the wait of the library anew.
  let isOpen = false
  const slow = await bare((socket) => {
    isOpen = true
    socket.write('220 here\r\n')
    const timer = setInterval(() => socket.write('250-wait\r\n'), 500)
    socket.on('close', () => {
      clearInterval(timer)
      isOpen = false
    })
  })
  const results = await Promise.all([silent, slow].map((port) => send(`smtp://127.0.0.1:${port}`)))
  for (const result of results) {
    expect(result).toMatchObject({ isDelivered: false, isFinal: false, problem: 'It did not answer within 10 s.' })
    expect(result.durationMs).toBeGreaterThan(9_000)
    expect(result.durationMs).toBeLessThan(14_000)
  }
  // Nor does a connection stay behind, over which the mail could still go out.
  await until(() => !isOpen, Boolean, 4_000)
})

test('a mail that is not begun when the server stops is not sent', async () => {
  const mails = await receiver()
  const result = await send(`smtp://127.0.0.1:${mails.port}`, ['ops@example.com'], AbortSignal.abort())
  expect(result).toMatchObject({ isDelivered: false, problem: 'The server was stopped during the attempt.' })
})

const closed = {
  authOptional: false,
  allowInsecureAuth: true,
  onAuth: ({ username, password }: any, _session: unknown, callback: (error: Error | null, answer?: object) => void) =>
    password === 'p@ss:w/rd' ? callback(null, { user: username }) : callback(new Error('Invalid login')),
}

test('the user and password of SMTP_URL are used', async () => {
  const mails = await receiver(closed)
  const result = await send(`smtp://runwatch:p%40ss%3Aw%2Frd@127.0.0.1:${mails.port}`)
  expect(result).toMatchObject({ isDelivered: true })
  expect(mails.received[0]!.user).toBe('runwatch')
})

test('a password that is refused is said so, without it, and tried again: the operator can mend it', async () => {
  const { port } = await receiver(closed)
  const result = await send(`smtp://runwatch:wrong-password-42@127.0.0.1:${port}`)
  expect(result).toMatchObject({
    isDelivered: false,
    status: 535,
    problem: 'The mail server refused the user or password of SMTP_URL.',
  })
  expect(JSON.stringify(result)).not.toMatch(/wrong-password-42|d3JvbmctcGFzc3dvcmQtNDI/)
  expect(result.isFinal).toBe(false)
})

test('a certificate that nobody vouches for is not trusted, with STARTTLS and with smtps', async () => {
  const starts = await receiver({ disabledCommands: [] })
  const secure = await receiver({ secure: true })
  for (const url of [`smtp://127.0.0.1:${starts.port}`, `smtps://127.0.0.1:${secure.port}`]) {
    const result = await send(url)
    expect(result).toMatchObject({ isDelivered: false, isFinal: false, status: null })
    expect(result.problem).toMatch(/certificate/i)
  }
  expect([...starts.received, ...secure.received]).toEqual([])
})

test('where the operator says that such a certificate will do, mail goes out encrypted', async () => {
  const starts = await receiver({ disabledCommands: [] })
  const secure = await receiver({ secure: true })
  const lenient = 'tls.rejectUnauthorized=false'
  for (const url of [`smtp://127.0.0.1:${starts.port}/?${lenient}`, `smtps://127.0.0.1:${secure.port}/?${lenient}`])
    expect(await send(url)).toMatchObject({ isDelivered: true })
  expect([...starts.received, ...secure.received].map(({ isEncrypted }) => isEncrypted)).toEqual([true, true])
})
