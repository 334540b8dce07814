// Posts runs to a Runwatch: each post waits for its time and for the answer to the one before it.
import type { Run } from './platform-a-run.ts'

export interface Counts {
  begun: number
  finished: number
  cut: number
  posts: number
  refused: number
}

const ANSWER_WITHIN_MS = 30_000
const TRIES = 4

export class Poster {
  readonly counts: Counts = { begun: 0, finished: 0, cut: 0, posts: 0, refused: 0 }
  /** the last thing that went wrong, for people */
  lastProblem: string | null = null
  private running = new Set<Promise<void>>()

  /** @param stop ends waiting; a post that is under way is still answered */
  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly stop: AbortSignal,
  ) {}

  get runningCount(): number {
    return this.running.size
  }

  /** Begins a run and does not wait for it. */
  begin(run: Run): void {
    const done = this.play(run).finally(() => this.running.delete(done))
    this.running.add(done)
  }

  async play({ posts }: Run): Promise<void> {
    this.counts.begun += 1
    for (const { afterMs, platform, body } of posts) {
      if (!(await pause(afterMs, this.stop))) {
        this.counts.cut += 1
        return
      }
      await this.post(`/api/ingest/platform-${platform}`, JSON.stringify(body))
    }
    this.counts.finished += 1
  }

  async settled(): Promise<void> {
    await Promise.all(this.running)
  }

  private async post(path: string, body: string): Promise<void> {
    for (let left = TRIES; left > 0; left--) {
      const { isRecorded, retryAfterMs } = await this.send(path, body)
      if (isRecorded) {
        this.counts.posts += 1
        return
      }
      if (retryAfterMs === null || left === 1 || !(await pause(retryAfterMs, this.stop))) break
    }
    this.counts.refused += 1
  }

  private async send(path: string, body: string): Promise<{ isRecorded: boolean; retryAfterMs: number | null }> {
    try {
      const response = await fetch(this.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': this.key },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      })
      const text = await response.text()
      if (response.ok) return { isRecorded: true, retryAfterMs: null }
      this.lastProblem = `${response.status}: ${detailOf(text)}`
      const isPassing = response.status === 429 || response.status === 503
      return {
        isRecorded: false,
        retryAfterMs: isPassing ? Number(response.headers.get('retry-after') ?? 1) * 1_000 : null,
      }
    } catch (error) {
      const { message, cause } = error as Error
      this.lastProblem = `${this.url} cannot be reached: ${(cause as Error | undefined)?.message || message}`
      return { isRecorded: false, retryAfterMs: 1_000 }
    }
  }
}

/** @returns false where it was stopped */
export function pause(ms: number, stop: AbortSignal): Promise<boolean> {
  if (stop.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onStop = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      stop.removeEventListener('abort', onStop)
      resolve(true)
    }, ms)
    stop.addEventListener('abort', onStop, { once: true })
  })
}

function detailOf(text: string): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail).replace(/\.$/, '')
  } catch {
    return text.slice(0, 200)
  }
}
