// A whole Runwatch in this process on a free port, and what tests do with it over real sockets.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { readConfig } from '../../server/config.ts'
import { DASHBOARD_FOLDER } from '../../server/dashboard-build.ts'
import type { Rule } from '../../server/failures/failure.ts'
import { makeLogger } from '../../server/log.ts'
import { startRunwatch, type Runwatch } from '../../server/runwatch.ts'
import { newDatabase, type TestDatabase } from './database.ts'
import { ADMIN, KEY } from './secrets.ts'

export { ADMIN, KEY }

export interface TestServer {
  runwatch: Runwatch
  database: TestDatabase
  url: string
  /** POSTs JSON (text as it is) with the test key and reads the answer. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  ingestA(body: unknown, headers?: Record<string, string>): Promise<Answer>
  ingestB(body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Runs a query with the test key and fails on errors. */
  query<T = any>(query: string, variables?: object, headers?: Record<string, string>): Promise<T>
  /** The same without failing: status and body as they came. */
  graphql(query: string, variables?: object, headers?: Record<string, string>): Promise<Answer>
  /** What it logged so far. */
  log(): string
  /** Cookie of the signed-in admin. */
  signIn(): Promise<string>
  stop(): Promise<void>
}

export interface Answer {
  status: number
  headers: Headers
  body: any
}

export async function startServer(
  options: { env?: Record<string, string>; database?: TestDatabase; rules?: Rule[] } = {},
): Promise<TestServer> {
  const database = options.database ?? (await newDatabase())
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: database.url,
    INIT_API_KEY: KEY,
    INIT_ADMIN_EMAIL: ADMIN.email,
    INIT_ADMIN_PASSWORD: ADMIN.password,
    LOG_LEVEL: 'trace',
    SECRET_KEY: 'a key for tests alone, 32 long',
    ...options.env,
  })
  const logFile = join(inject('logFolder'), `${randomUUID()}.log`)
  const log = makeLogger(config.logLevel, logFile)
  const { rules } = options
  const runwatch = await startRunwatch(config, { log, dashboardFolder: DASHBOARD_FOLDER, ...(rules && { rules }) })
  const url = runwatch.address
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(url + path, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY, ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    })
  const graphql = (query: string, variables: object = {}, headers: Record<string, string> = { 'x-api-key': KEY }) =>
    send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    })
  return {
    runwatch,
    database,
    url,
    post,
    ingestA: (body, headers) => post('/api/ingest/platform-a', body, headers),
    ingestB: (body, headers) => post('/api/ingest/platform-b', body, headers),
    graphql,
    query: async (query, variables, headers) => {
      const { body } = await graphql(query, variables, headers)
      if (body.errors) throw new Error(JSON.stringify(body.errors))
      return body.data
    },
    log: () => readFileSync(logFile, 'utf8'),
    signIn: async () => {
      const { status, headers } = await send('/api/auth/sign-in', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(ADMIN),
      })
      if (status !== 200) throw new Error(`sign-in answered ${status}`)
      return headers.get('set-cookie')!.split(';')[0]!
    },
    stop: async () => {
      await runwatch.close()
      if (!options.database) await database.drop()
    },
  }
}
