// What Postgres itself can take: COPY of rows like those of the product, 1,000 events and their sessions a transaction.
import { randomBytes } from 'node:crypto'
import net from 'node:net'
import { finished } from 'node:stream/promises'
import postgres from 'postgres'
import type { Column } from '../../server/database/columns.ts'
import { parsePlatformA } from '../../server/ingest/platform-a.ts'
import { EVENT_COLUMNS, SESSION_COLUMNS } from '../../server/sessions/columns.ts'
import { priceTokens } from '../../server/sessions/prices.ts'
import { foldEvents } from '../../server/sessions/session.ts'
import { parseContext } from '../support/parse-context.ts'
import { runOf, SHAPES } from './events.ts'
import { positions } from './requests.ts'

const SESSIONS = SHAPES.array1000.events / SHAPES.array1000.perSession
const VARIANTS = 4

interface RenderedRows {
  sessions: Buffer
  events: Buffer
  /** where the ids of each session stand in both, and where the keys of the events do */
  ids: { inSessions: number[]; inEvents: number[] }[]
  keys: number[]
}

/** Copies for so long; only the transactions themselves are timed, making the next rows is not. */
export async function copyRows(
  databaseUrl: string,
  { warmUpMs, measureMs }: { warmUpMs: number; measureMs: number },
  tell: (what: 'begin' | 'end') => void,
): Promise<{ events: number; seconds: number }> {
  const sql = connect(databaseUrl)
  const variants = Array.from({ length: VARIANTS }, (_, i) => render(i))
  const copyFor = async (spanMs: number) => {
    let copied = 0
    let spent = 0
    while (spent < spanMs) {
      const rows = variants[copied % VARIANTS]!
      renew(rows)
      const before = performance.now()
      await sql.begin(async (tx) => {
        await copy(tx, 'sessions', SESSION_NAMES, rows.sessions)
        await copy(tx, 'events', EVENT_NAMES, rows.events)
      })
      spent += performance.now() - before
      copied += 1
    }
    return { events: copied * SHAPES.array1000.events, seconds: spent / 1000 }
  }
  await copyFor(warmUpMs)
  tell('begin')
  const result = await copyFor(measureMs)
  tell('end')
  await sql.end()
  return result
}

/** With Nagle's algorithm the end of each COPY would wait some 40 ms for an acknowledgement, as psql's does not. */
function connect(databaseUrl: string): postgres.Sql {
  const { hostname, port } = new URL(databaseUrl)
  const socket = () =>
    new Promise<net.Socket>((resolve, reject) => {
      const opened = net.connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(opened))
      opened.once('error', reject)
    })
  return postgres(databaseUrl, { max: 1, onnotice: () => {}, socket } as postgres.Options<{}>)
}

const SESSION_NAMES = ['revision', 'content_revision', ...SESSION_COLUMNS.map((column) => column.name)].join(', ')
const EVENT_NAMES = ['day', 'revision', ...EVENT_COLUMNS.map((column) => column.name)].join(', ')

async function copy(tx: postgres.TransactionSql, table: string, names: string, rows: Buffer): Promise<void> {
  const stream = await tx.unsafe(`copy ${table} (${names}) from stdin`).writable()
  stream.end(rows)
  await finished(stream)
}

function render(variant: number): RenderedRows {
  const receivedAt = Date.now()
  const body = Array.from({ length: SESSIONS }, (_, s) =>
    runOf(SHAPES.array1000.perSession, variant * 1000 + s, `copied-${variant}-${s}`),
  ).flat()
  const { sessions } = parsePlatformA(
    body,
    parseContext({
      receivedAt,
      arrivalUs: receivedAt * 1000,
      price: (model, prompt, completion, at) => priceTokens(undefined, model, prompt, completion, at),
    }),
  )
  const day = new Date(receivedAt).toISOString().slice(0, 10)
  const sorted = sessions.toSorted((a, b) => (a.identity.id < b.identity.id ? -1 : 1))
  const sessionRows = sorted.map(({ identity, events }) =>
    line(['1', '1'], SESSION_COLUMNS, foldEvents(identity, events)),
  )
  const eventRows = sorted.flatMap(({ identity, events }) =>
    events.map((event) => line([day, '1'], EVENT_COLUMNS, { sessionId: identity.id, event })),
  )
  const rendered = { sessions: Buffer.from(sessionRows.join('')), events: Buffer.from(eventRows.join('')) }
  return {
    ...rendered,
    ids: sorted.map(({ identity }) => ({
      inSessions: positions(rendered.sessions, identity.id),
      inEvents: positions(rendered.events, identity.id),
    })),
    keys: sorted.flatMap(({ events }) => events.flatMap((event) => positions(rendered.events, event.key))),
  }
}

function renew({ sessions, events, ids, keys }: RenderedRows): void {
  // In order, as the product's flush writes them.
  const fresh = ids.map(() => newUuid()).sort()
  ids.forEach(({ inSessions, inEvents }, i) => {
    for (const place of inSessions) sessions.write(fresh[i]!, place, 'latin1')
    for (const place of inEvents) events.write(fresh[i]!, place, 'latin1')
  })
  for (const place of keys) events.write(newUuid(), place, 'latin1')
}

function newUuid(): string {
  const hex = randomBytes(16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function line<R>(before: string[], columns: Column<R>[], row: R): string {
  const cells = columns.map(({ value }) => {
    const cell = value(row)
    return cell === null ? '\\N' : String(cell).replace(/[\\\t\n\r]/g, (character) => ESCAPED[character]!)
  })
  return `${[...before, ...cells].join('\t')}\n`
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
