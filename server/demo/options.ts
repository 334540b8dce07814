// What `npm run demo -- ..` was asked for.
import { parseArgs } from 'node:util'

export interface DemoOptions {
  seconds: number
  sessionsPerMinute: number
  history: number
  seed: number
  isDelete: boolean
  /** null: one is made in the server's database */
  key: string | null
  /** null: this machine, on the server's port */
  url: string | null
}

export const USAGE = `npm run demo -- [options]
  --seconds N   stops after N seconds (without it: on Ctrl-C)
  --rate N      sessions a minute, 20 by default
  --history N   first posts N sessions that are over
  --seed N      the same sessions again for the same N
  --url, --key  of the Runwatch to post to
  --delete      removes the project "demo" with all its sessions, events and keys`

export class OptionError extends Error {}

/** @throws OptionError with a sentence */
export function readOptions(args: string[]): DemoOptions {
  try {
    const { values } = parseArgs({
      args,
      options: {
        seconds: { type: 'string' },
        rate: { type: 'string' },
        history: { type: 'string' },
        seed: { type: 'string' },
        url: { type: 'string' },
        key: { type: 'string' },
        delete: { type: 'boolean' },
      },
    })
    if (values.url !== undefined && !/^https?:\/\//.test(values.url)) {
      throw new Error(`--url must be an address like http://127.0.0.1:4000, not "${values.url}"`)
    }
    return {
      seconds: whole('seconds', values.seconds, 1, 604_800) ?? Infinity,
      sessionsPerMinute: whole('rate', values.rate, 1, 6_000) ?? 20,
      history: whole('history', values.history, 0, 100_000) ?? 0,
      seed: whole('seed', values.seed, 0, 2 ** 32 - 1) ?? Date.now() % 2 ** 32,
      isDelete: values.delete ?? false,
      key: values.key ?? null,
      url: values.url?.replace(/\/+$/, '') ?? null,
    }
  } catch (error) {
    throw new OptionError(`${(error as Error).message}\n\n${USAGE}`)
  }
}

function whole(name: string, value: string | undefined, from: number, to: number): number | null {
  if (value === undefined) return null
  if (/^\d+$/.test(value) && Number(value) >= from && Number(value) <= to) return Number(value)
  throw new Error(`--${name} must be a whole number from ${from} to ${to}, not "${value}"`)
}
