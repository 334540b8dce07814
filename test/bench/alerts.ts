// Alerts: the time from sending the POST that closes a failed session to the first byte at a receiver, and what a burst does.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { machineFacts } from './machine.ts'
import { met, ms, spread, whole, type Row, type Section } from './report.ts'
import { ADMIN, KEY, type Stand } from './stand.ts'

const WARM_UP = 30
const ROUNDS = 200
const BURST = 500
const TARGET_P50_MS = 250
const GIVE_UP_MS = 60_000
const json = { 'content-type': 'application/json' }

export async function benchAlerts(stand: Stand): Promise<{ facts: string[]; section: Section }> {
  await stand.start()
  const { url: databaseUrl, sql } = await stand.database('alerts')
  const facts = await machineFacts(sql, stand.folder)
  const server = await stand.server(databaseUrl, [], { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  const [quick, hangs] = [await receiver(stand, true), await receiver(stand, false)]
  await tellEverything(server.url, [quick.url, hangs.url])

  const rows: Row[] = []
  const measure = async (shape: 'A' | 'B') => {
    const waits: number[] = []
    for (let i = 0; i < WARM_UP + ROUNDS; i++) {
      const id = `${shape}-${i}`
      const arrives = quick.arrival(shape === 'A' ? id : `${i + 1}`)
      const began = performance.now()
      await post(server.url, shape === 'A' ? failedRun(id) : failedExecution(i + 1))
      waits.push((await arrives) - began)
    }
    const { p50, p95, max } = spread(waits.slice(WARM_UP))
    rows.push({
      what: `POST of a failed ${shape === 'A' ? 'run (platform A)' : 'execution (platform B)'} to the first byte at a webhook`,
      figure: `p50 ${ms(p50)}`,
      beside: `p95 ${ms(p95)}, most ${ms(max)}`,
      target: met(p50 < TARGET_P50_MS, `p50 < ${TARGET_P50_MS} ms`),
      note: 'a second channel whose receiver never answers hangs all the while',
    })
  }
  await measure('A')
  await measure('B')

  const ids = Array.from({ length: BURST }, (_, i) => `burst-${i}`)
  const all = Promise.all(ids.map((id) => quick.arrival(id)))
  const began = performance.now()
  await Promise.all(ids.map((id) => post(server.url, failedRun(id))))
  const posted = performance.now() - began
  const lastAt = Math.max(...(await all))
  const twice = ids.filter((id) => quick.counts.get(id) !== 1).length
  rows.push({
    what: `${whole(BURST)} failed runs at once`,
    figure: `all told after ${ms(lastAt - began)}`,
    beside: `acknowledged after ${ms(posted)}`,
    note: `${twice} of them told more than once`,
  })
  return { facts, section: { title: 'Alerts', rows, notes: [] } }
}

/** @param answers false: it takes what comes and never answers */
async function receiver(stand: Stand, answers: boolean) {
  const counts = new Map<string, number>()
  const waiting = new Map<string, (at: number) => void>()
  const server = http.createServer((request, response) => {
    const at = performance.now()
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      if (!answers) return
      const { session } = JSON.parse(Buffer.concat(parts).toString('utf8')).data
      const id = session.externalId as string
      counts.set(id, (counts.get(id) ?? 0) + 1)
      waiting.get(id)?.(at)
      response.end('ok')
    })
    request.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stand.onClose(async () => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    counts,
    /** When the first byte of the message about a session arrived. */
    arrival: (id: string) =>
      new Promise<number>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`nobody was told of ${id} within 60 s`)), GIVE_UP_MS)
        waiting.set(id, (at) => {
          clearTimeout(timer)
          resolve(at)
        })
      }),
  }
}

async function tellEverything(server: URL, urls: string[]): Promise<void> {
  const signedIn = await fetch(new URL('/api/auth/sign-in', server), {
    method: 'POST',
    headers: json,
    body: JSON.stringify(ADMIN),
  })
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const ask = async (query: string, variables: object) => {
    const response = await fetch(new URL('/graphql', server), {
      method: 'POST',
      headers: { ...json, cookie },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = (await response.json()) as any
    if (errors) throw new Error(JSON.stringify(errors))
    return data
  }
  const channels: string[] = []
  for (const url of urls) {
    const { createChannel } = await ask(
      `mutation ($input: ChannelInput!) { createChannel(kind: WEBHOOK, input: $input) { channel { id } } }`,
      { input: { name: `to ${url}`, url } },
    )
    channels.push(createChannel.channel.id)
  }
  await ask(`mutation ($input: AlertRuleInput!) { createAlertRule(input: $input) { id } }`, {
    input: { name: 'All failures', isEnabled: true, channels },
  })
}

async function post(server: URL, { path, body }: { path: string; body: object }): Promise<void> {
  const response = await fetch(new URL(path, server), {
    method: 'POST',
    headers: { ...json, 'x-api-key': KEY },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(`a post was answered ${response.status}: ${await response.text()}`)
}

const failedRun = (session_id: string) => ({
  path: '/api/ingest/platform-a',
  body: {
    session_id,
    type: 'tool.call',
    tool_name: 'crm.lookup',
    agent_name: 'Desk',
    error: 'connect ECONNREFUSED 10.0.0.7:443',
    status: 'error',
  },
})

const failedExecution = (id: number) => ({
  path: '/api/ingest/platform-b',
  body: {
    execution: {
      id: String(id),
      workflowId: 'wf',
      workflowName: 'Invoice intake',
      status: 'error',
      startedAt: '2026-11-20T10:00:00.000Z',
      stoppedAt: '2026-11-20T10:00:02.500Z',
      data: { resultData: { error: { message: 'The service was not able to process your request' } } },
    },
  },
})
