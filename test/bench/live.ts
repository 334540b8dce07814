// Live: the time from sending a POST to its change arriving at the subscribers of sessionChanged.
import http from 'node:http'
import { clockId } from './clock-id.ts'
import { closingEvent } from './events.ts'
import { cpuSeconds, machineFacts } from './machine.ts'
import { ms, met, spread, whole, type Row, type Section } from './report.ts'
import { KEY, nextMessage, stop, type Stand } from './stand.ts'
import type { Received, SubscribersOptions } from './subscribers.ts'

const SUBSCRIBERS = [100, 1000]
const PROCESSES = 4
const POSTS_PER_SECOND = 20
const SECONDS = 15
const WARM_UP_POSTS = 20
const SETTLE_MS = 1_000
const TARGET_P99_MS = 50

interface Answer {
  ms: number
  isAccepted: boolean
}

export async function benchLive(stand: Stand): Promise<{ facts: string[]; section: Section }> {
  await stand.start()
  const database = await stand.database('live')
  const facts = await machineFacts(database.sql, stand.folder)
  const server = await stand.server(database.url)
  const rows: Row[] = []
  for (const subscribers of SUBSCRIBERS) {
    const helpers = await Promise.all(
      Array.from({ length: PROCESSES }, () => {
        const options: SubscribersOptions = { url: server.url.href, key: KEY, count: subscribers / PROCESSES }
        return stand.helper<number>('./subscribers.ts', options)
      }),
    )
    const before = cpuSeconds(server.child.pid!)
    const answers = await post(server.url)
    await sleep(SETTLE_MS)
    const after = cpuSeconds(server.child.pid!)
    const received = await Promise.all(
      helpers.map(async ({ child }) => {
        const answer = nextMessage<Received>(child)
        child.send('report')
        return answer
      }),
    )
    await Promise.all(helpers.map(({ child }) => stop(child)))
    rows.push(rowOf(subscribers, received, answers, before !== null && after !== null ? after - before : null))
    console.log(`live: ${subscribers} subscribers: ${rows.at(-1)!.figure}`)
  }
  return {
    facts,
    section: {
      title: 'Live',
      rows,
      notes: [
        `${POSTS_PER_SECOND} posts a second for ${SECONDS} s, each opening and closing a session; from before the post is sent to after the message was received, every message of every subscriber counted. ${PROCESSES} processes hold the sockets and share the cores with server and Postgres.`,
      ],
    },
  }
}

/** Evenly spaced, whether the answers are there or not; the first ones only warm up and are named otherwise. */
async function post(url: URL): Promise<Answer[]> {
  const agent = new http.Agent({ keepAlive: true, noDelay: true } as http.AgentOptions)
  const answers: Promise<Answer>[] = []
  const total = WARM_UP_POSTS + POSTS_PER_SECOND * SECONDS
  const began = performance.now()
  for (let i = 0; i < total; i++) {
    await sleep(began + (i * 1000) / POSTS_PER_SECOND - performance.now())
    const isWarmUp = i < WARM_UP_POSTS
    const sent = send(url, agent, isWarmUp ? `warm-up-${i}-${Math.trunc(began)}` : null, i)
    if (!isWarmUp) answers.push(sent)
  }
  const answered = await Promise.all(answers)
  agent.destroy()
  return answered
}

function send(url: URL, agent: http.Agent, sessionId: string | null, seed: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const before = performance.now()
    const body = JSON.stringify(closingEvent(seed, sessionId ?? clockId()))
    const request = http.request(
      new URL('/api/ingest/platform-a', url),
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-api-key': KEY },
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve({ ms: performance.now() - before, isAccepted: response.statusCode === 200 }))
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

function rowOf(subscribers: number, received: Received[], answers: Answer[], cpu: number | null): Row {
  const latencies = received.flatMap((one) => [...one.latenciesMs])
  const sum = (name: 'resyncs' | 'closed') => received.reduce((all, one) => all + one[name], 0)
  const { p50, p95, p99, max } = spread(latencies)
  const expected = subscribers * POSTS_PER_SECOND * SECONDS
  const refused = answers.filter((answer) => !answer.isAccepted).length
  const answered = spread(answers.map((answer) => answer.ms))
  return {
    what: `${subscribers} subscribers`,
    figure: `p50 ${ms(p50)}, p95 ${ms(p95)}, p99 ${ms(p99)}, max ${ms(max)}`,
    beside: `the POST's own answer: p50 ${ms(answered.p50)}, p99 ${ms(answered.p99)}`,
    ...(subscribers === 100 && { target: met(p99 < TARGET_P99_MS, `p99 < ${TARGET_P99_MS} ms`) }),
    note:
      `${whole(latencies.length)} of ${whole(expected)} messages, ${sum('resyncs')} resyncs, ${sum('closed')} sockets lost, ${refused} posts refused` +
      (cpu === null ? '' : `; ${((cpu / latencies.length) * 1e6).toFixed(0)} us of server time per message`),
  }
}

const sleep = (time: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, time)))
