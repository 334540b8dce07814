// Rules of the repository, each with its reason.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { ERROR_TABLE } from '../server/errors.ts'
import { FINDING_RULES } from '../server/findings/analyse.ts'
import { RULES } from '../server/failures/rules.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ['.ts', '.svelte'].includes(extname(entry.name)))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))

const server = filesIn('server')
const written = [...server, ...filesIn('dashboard'), ...filesIn('test')].filter((file) => !file.endsWith('env.d.ts'))

/** Relative imports of a file, as paths from the root; types too, unless asked otherwise. */
function importsOf(file: string, { types = true } = {}): string[] {
  const pattern = /^\s*(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'/gm
  return [...read(file).matchAll(pattern)]
    .filter((match) => types || !match[1])
    .map((match) => relative(ROOT, resolve(ROOT, dirname(file), (match[2] ?? match[3])!)))
}

describe('layers', () => {
  test('database knows connections only, so that no domain hides in it', () => {
    for (const file of server.filter((one) => one.startsWith('server/database/'))) {
      expect(
        importsOf(file).filter((one) => !one.startsWith('server/database/')),
        file,
      ).toEqual([])
    }
  })

  test('rules and transitions are pure: no clock, no I/O, no randomness', () => {
    const pure = [
      'sessions/session.ts',
      'sessions/execution.ts',
      'ingest/platform-a.ts',
      'ingest/platform-a-fields.ts',
      'ingest/field-reader.ts',
      'ingest/timestamp.ts',
      'ingest/mask.ts',
      ...['failure', 'causes', 'fingerprint', 'loops', 'rounds', 'rules', 'rules-of-errors', 'rules-of-measures'].map(
        (name) => `failures/${name}.ts`,
      ),
      ...['thresholds', 'classify', 'words'].map((name) => `failures/${name}.ts`),
      ...['finding', 'analyse', 'rules-of-steps', 'rules-of-usual'].map((name) => `findings/${name}.ts`),
      ...['prompt', 'guard', 'hints', 'instruction', 'answer-check'].map((name) => `prompts/${name}.ts`),
      ...server.filter((one) => one.includes('ingest/platform-b')).map((one) => one.slice('server/'.length)),
    ]
    for (const file of pure) {
      expect(read(`server/${file}`), file).not.toMatch(
        /Date\.now|new Date\(\)|Math\.random|performance\.now|from 'node:(fs|net|http)|process\./,
      )
    }
  })

  test('nothing imports main, and the rim is imported by the composition root alone', () => {
    for (const file of server) {
      const imports = importsOf(file)
      expect(imports, file).not.toContain('server/main.ts')
      if (/^server\/(ingest|sessions|access|live|database)\/(?!routes)/.test(file)) {
        expect(
          imports.filter((one) => one.startsWith('server/graphql/') || one === 'server/app.ts'),
          file,
        ).toEqual([])
      }
    }
  })

  test('there are no cycles but among the types of the GraphQL schema, which refer to each other', () => {
    const graph = new Map(server.map((file) => [file, importsOf(file, { types: false })]))
    const cycles: string[] = []
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file)) {
        const cycle = path.slice(path.indexOf(file))
        if (!cycle.every((one) => one.startsWith('server/graphql/'))) cycles.push([...cycle, file].join(' > '))
        return
      }
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    }
    for (const file of ['server/main.ts', 'server/reset-admin.ts', 'server/demo.ts']) visit(file, [])
    expect(cycles).toEqual([])
  })

  test('the dashboard knows the schema and nothing of the server', () => {
    for (const file of filesIn('dashboard'))
      expect(
        importsOf(file).filter((one) => one.startsWith('server')),
        file,
      ).toEqual([])
  })
})

describe('files', () => {
  test('only config.ts reads the environment, so that every setting is in one place', () => {
    const readers = server.filter((file) => /process\.env/.test(read(file).replaceAll(/\/\/.*$/gm, '')))
    // The embedded Postgres hands the environment on to its programs and reads nothing from it.
    expect(readers).toEqual(['server/config.ts', 'server/database/embedded-process.ts'])
  })

  test('no drawer: names say what a file owns', () => {
    const drawers = /(^|[-.])(utils?|helpers?|common|misc|manager|service|types|index|base|impl)$/
    expect(
      written.filter((file) =>
        drawers.test(
          file
            .split('/')
            .at(-1)!
            .replace(/(\.test|\.svelte)?\.(ts|svelte)$/, ''),
        ),
      ),
    ).toEqual([])
  })

  test('a file does one thing: none is longer than 320 lines', () => {
    expect(written.filter((file) => read(file).split('\n').length > 321)).toEqual([])
  })

  test('the first line of every file says what it owns', () => {
    expect(
      written.filter((file) => !/^(\/\/|<!--|\/\*)/.test(read(file)) && !file.startsWith('test/fixtures')),
    ).toEqual([])
  })

  test('the lock file holds no address of a registry', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved":/)
  })
})

describe('the README', () => {
  const readme = read('README.md')

  test('lists every error of the API with its status', () => {
    const rows = [...readme.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \|/gm)].map((match) => [match[1], Number(match[2])])
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(Object.entries(ERROR_TABLE).map(([code, { status }]) => [code, status])),
    )
  })

  test('lists every kind of finding with what it looks for', () => {
    for (const { kind, looksFor } of FINDING_RULES) expect(readme).toContain(`| ${kind} | ${looksFor} |`)
  })

  test('lists every failure rule with what it looks for', () => {
    for (const { category, platform, looksFor } of RULES) {
      expect(readme).toContain(`| ${category} | ${platform.at(-1)} | ${looksFor} |`)
    }
  })

  test('lists every setting', () => {
    const settings = [...read('server/config.ts').matchAll(/^ {4}([A-Z_]{3,}):/gm)].map((match) => match[1])
    expect(settings.filter((name) => !readme.includes(`\`${name}\``))).toEqual([])
  })

  test('names every dependency with its reason', () => {
    const { dependencies } = JSON.parse(read('package.json'))
    expect(Object.keys(dependencies).filter((name) => !readme.includes(`\`${name}\``))).toEqual([])
  })

  test('shows every picture that is kept, each with words for those who do not see it', () => {
    const shown = [
      ...readme.matchAll(/!\[([^\]]+)\]\(([^)]+\.png)\)/g),
      ...readme.matchAll(/<img(?=[^>]*alt="([^"]+)")(?=[^>]*src="([^"]+\.png)")/g),
    ]
    const darkOnes = [...readme.matchAll(/<source[^>]*srcset="([^"]+\.png)"/g)].map((match) => match[1]!)
    const kept = readdirSync(join(ROOT, '.github')).filter((name) => name.endsWith('.png'))
    expect(kept.length).toBeGreaterThan(0)
    expect([...shown.map((match) => match[2]!), ...darkOnes].toSorted()).toEqual(
      kept.map((name) => `.github/${name}`).toSorted(),
    )
    for (const [, words] of shown) expect(words!.length).toBeGreaterThan(20)
  })

  test('has the two commands, and CI runs the one for tests', () => {
    expect(readme).toContain('npm install && npm start')
    expect(readme).toContain('npm install && npm test')
    expect(read('.ci/run')).toContain('npm install && npm test')
  })
})
