// Looks for keys, cookies, passwords and payload texts in the logs of a test run.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CANARY, KEY } from './secrets.ts'

const TESTS = fileURLToPath(new URL('..', import.meta.url))
/** Shorter ones are words that a log may say too. */
const MIN_TEXT = 25
const PATTERNS: [what: string, pattern: RegExp][] = [
  ['a key', /rw_[A-Za-z0-9_]{40}/],
  ['a cookie', /runwatch=[\w-]{20}/],
  ['a key in a header', /bearer\s+\S{20}/i],
]

/** @returns a function that names the secrets in a text */
export async function secretFinder(): Promise<(text: string) => string[]> {
  const texts = new Map<string, string>([
    [KEY.slice(3), 'a key'],
    [CANARY, "a payload's text"],
  ])
  for (const password of await passwordsInTests()) texts.set(password, 'a password')
  for (const text of await textsInFixtures()) texts.set(text, "a payload's text")
  return (log) => [
    ...PATTERNS.filter(([, pattern]) => pattern.test(log)).map(([what]) => what),
    ...[...texts].filter(([text]) => log.includes(text)).map(([text, what]) => `${what} (${text.slice(0, 40)}…)`),
  ]
}

/** @throws where a file of the folder holds a secret */
export async function checkLogs(folder: string): Promise<void> {
  const secretsIn = await secretFinder()
  const found: string[] = []
  for (const file of await readdir(folder)) {
    const secrets = secretsIn(await readFile(join(folder, file), 'utf8'))
    found.push(...secrets.map((secret) => `${file}: ${secret}`))
  }
  if (found.length > 0) throw new Error(`The logs of the tests hold secrets:\n${found.join('\n')}`)
}

async function filesIn(folder: string, end: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(end))
  return Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')))
}

async function passwordsInTests(): Promise<string[]> {
  const sources = (await filesIn(TESTS, '.ts')).join('\n')
  return [...sources.matchAll(/password(?:: |', )'([^'$]{12,})'/gi)].map((match) => match[1]!)
}

/** Of each text of the fixtures the beginning of its first long piece that a JSON line repeats as it is. */
async function textsInFixtures(): Promise<string[]> {
  const texts: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) return Object.values(value).forEach(collect)
    if (typeof value !== 'string') return
    const piece = value.split(/["\\\p{Cc}]/u).find((one) => one.length >= MIN_TEXT && one.trim().includes(' '))
    if (piece) texts.push(piece.slice(0, 2 * MIN_TEXT))
  }
  for (const json of await filesIn(join(TESTS, 'fixtures'), '.json')) collect(JSON.parse(json))
  return texts
}
