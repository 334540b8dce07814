// A real SMTP receiver on loopback that keeps the mails it takes and refuses what the test wants.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  from: string
  to: string[]
  /** as it came, headers and all */
  raw: string
  /** headers by name in small letters, unfolded; one name may come several times */
  headers: Map<string, string[]>
  /** parts by their type, decoded */
  parts: Map<string, string>
  isEncrypted: boolean
  user: string | null
}

export interface MailReceiver {
  port: number
  received: ReceivedMail[]
  /** came whole and were not taken */
  refused: ReceivedMail[]
  close(): Promise<void>
}

/** An error that SMTP answers with this code. */
export const smtpError = (responseCode: number, words: string) => Object.assign(new Error(words), { responseCode })

/**
 * Without options it takes everything, unencrypted and from everybody.
 * @param judge the error that a mail which came whole is answered with, null where it is taken
 */
export async function startMailReceiver(
  options: SMTPServerOptions = {},
  judge: (mail: ReceivedMail) => Error | null = () => null,
): Promise<MailReceiver> {
  const received: ReceivedMail[] = []
  const refused: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    onData: (stream, session, callback) => {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const mail: ReceivedMail = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          isEncrypted: session.secure,
          user: session.user ?? null,
          ...readMail(Buffer.concat(parts).toString('utf8')),
        }
        const error = judge(mail)
        if (error) refused.push(mail)
        else received.push(mail)
        callback(error)
      })
    },
    ...options,
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    refused,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function readMail(raw: string): Pick<ReceivedMail, 'raw' | 'headers' | 'parts'> {
  const { headers, body } = split(raw)
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type')?.[0] ?? '')?.[1]
  const pieces = boundary === undefined ? [raw] : body.split(`--${boundary}`).slice(1, -1)
  const parts = pieces.map((piece): [string, string] => {
    const part = split(piece.trimStart())
    const type = (part.headers.get('content-type')?.[0] ?? '').split(';')[0]!
    return [type, decoded(part.body, part.headers.get('content-transfer-encoding')?.[0] ?? '7bit')]
  })
  return { raw, headers, parts: new Map(parts) }
}

function split(text: string): { headers: Map<string, string[]>; body: string } {
  const end = text.indexOf('\r\n\r\n')
  const headers = new Map<string, string[]>()
  for (const line of text
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  return { headers, body: text.slice(end + 4) }
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return body.replaceAll('\r\n', '\n').trimEnd()
  return fromQuoted(body.replace(/=\r\n/g, '')).replaceAll('\r\n', '\n').trimEnd()
}

const fromQuoted = (text: string) =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')

/** Of a header its encoded words (RFC 2047) as text. */
export const headerText = (value: string) =>
  value
    .replace(/(\?=)\s+(=\?)/g, '$1$2')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_all, kind: string, text: string) =>
      kind.toLowerCase() === 'b' ? Buffer.from(text, 'base64').toString('utf8') : fromQuoted(text.replaceAll('_', ' ')),
    )
