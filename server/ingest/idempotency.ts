// Idempotency-Key: reading the header, and one request at a time under each key.
import { Problem, quoted } from '../errors.ts'
import type { Warning } from './parsed.ts'

const WAIT_MS = 5_000

/**
 * @param headers all that came of this name: bare, or quoted as the draft standard has it; a blank one is none
 * @throws Problem invalid_payload where it is no key
 */
export function readIdempotencyKey(headers: string[] = []): string | null {
  if (new Set(headers).size > 1) throw badKey('was sent more than once, each time another')
  const text = (headers[0] ?? '').trim()
  if (text === '' || text === '""') return null
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"')
  const key = isQuoted ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw badKey(`must be 1 to 255 printable ASCII characters, not ${quoted(key)}`)
}

function badKey(what: string): Problem {
  const detail = `The header Idempotency-Key ${what}.`
  return new Problem('invalid_payload', `${detail} No event was recorded.`, [
    { pointer: '', field: 'Idempotency-Key', code: 'bad_idempotency_key', detail },
  ])
}

/** An expression that came out empty: the mistake must show on the first test. */
export const blankKeyWarning = (): Warning => ({
  pointer: '',
  field: 'Idempotency-Key',
  code: 'blank_idempotency_key',
  detail: 'The header Idempotency-Key was empty, so a repeat of this request will count again.',
})

/** Requests with one key follow each other: the second finds what became of the first. */
export class OneAtATime {
  private running = new Map<string, Promise<unknown>>()

  /** @throws Problem request_in_progress where another with this key has not ended in 5 s */
  async run<T>(id: string, work: () => Promise<T>): Promise<T> {
    let isLate = false
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => resolve(void (isLate = true)), WAIT_MS)
    })
    for (let before = this.running.get(id); before && !isLate; before = this.running.get(id)) {
      await Promise.race([before.catch(() => {}), late])
    }
    clearTimeout(timer)
    if (this.running.has(id)) throw inProgress()
    const own = work().finally(() => this.running.delete(id))
    this.running.set(id, own)
    return own
  }
}

const inProgress = () =>
  new Problem(
    'request_in_progress',
    'A request with this Idempotency-Key is still being recorded. Send this one again in a second to get its receipt.',
    [],
    { 'retry-after': '1' },
  )

/** Platform A: a key stands for one request, so another body under it is a mistake in the mapping. */
export const keyReused = () => {
  const detail =
    'The header Idempotency-Key was sent before with another body. Use a key of its own for each request, such as an id of the run and the step.'
  return new Problem('idempotency_key_reused', `${detail} No event was recorded.`, [
    { pointer: '', field: 'Idempotency-Key', code: 'idempotency_key_reused', detail },
  ])
}
