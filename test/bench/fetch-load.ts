// A process that asks for the same thing again and again: keep-alive connections on bare sockets, one request at a time on each.
import net from 'node:net'
import { quantile } from './report.ts'

export interface FetchJob {
  port: number
  path: string
  headers: Record<string, string>
  connections: number
  /** how the status line of each answer must begin */
  status: string
  warmUpMs: number
  measureMs: number
}

export interface FetchResult {
  answers: number
  seconds: number
  /** answers with another status */
  refused: number
  p50: number
  p99: number
}

async function run(job: FetchJob, tell: () => void): Promise<FetchResult> {
  const lines = Object.entries({ host: `127.0.0.1:${job.port}`, ...job.headers }).map(([k, v]) => `${k}: ${v}\r\n`)
  const request = `GET ${job.path} HTTP/1.1\r\n${lines.join('')}\r\n`
  const latencies: number[] = []
  const result: FetchResult = { answers: 0, seconds: 0, refused: 0, p50: NaN, p99: NaN }
  let isMeasuring = false
  const sockets = Array.from({ length: job.connections }, () => {
    const socket = net.connect(job.port, '127.0.0.1')
    socket.setNoDelay(true)
    let came = ''
    let askedAt = 0
    const ask = () => {
      askedAt = performance.now()
      socket.write(request)
    }
    socket.on('connect', ask)
    socket.on('error', (error) => {
      throw error
    })
    socket.on('data', (data) => {
      came += data.toString('latin1')
      const end = came.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/^content-length: (\d+)\r$/im.exec(came)?.[1] ?? 0)
      if (came.length < end + 4 + length) return
      if (isMeasuring) {
        result.answers++
        latencies.push(performance.now() - askedAt)
        if (!came.startsWith(`HTTP/1.1 ${job.status}`)) result.refused++
      }
      came = ''
      ask()
    })
    return socket
  })
  await new Promise((resolve) => setTimeout(resolve, job.warmUpMs))
  tell()
  isMeasuring = true
  const began = performance.now()
  await new Promise((resolve) => setTimeout(resolve, job.measureMs))
  isMeasuring = false
  result.seconds = (performance.now() - began) / 1000
  tell()
  for (const socket of sockets) socket.destroy()
  return { ...result, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
}

process.on('message', (job: FetchJob) => {
  void run(job, () => process.send!({ event: 'mark' })).then((result) => process.send!({ result }))
})
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
process.send!({ ready: true })
