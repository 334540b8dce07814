// Sizes of the built dashboard, packed as they are sent.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { DASHBOARD_FOLDER } from '../../server/dashboard-build.ts'
import { upTo, type Measured } from './dashboard-budget.ts'

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} KB`
const always = (note = '') => ({ isTimed: false, note })

export function measureSizes(): Measured[] {
  const folder = join(DASHBOARD_FOLDER, 'assets')
  const files = readdirSync(folder).map((name) => {
    const content = readFileSync(join(folder, name))
    return { name, bytes: content.length, gz: gzipSync(content).length, text: content }
  })
  const html = readFileSync(join(DASHBOARD_FOLDER, 'index.html'), 'utf8')
  const scripts = files.filter(({ name }) => name.endsWith('.js'))
  const isEntry = ({ name }: { name: string }) => html.includes(`/assets/${name}`)
  const entry = scripts.filter(isEntry)
  const sum = (some: typeof files, size: (file: (typeof files)[number]) => number) =>
    some.reduce((total, file) => total + size(file), 0)

  /** A file with all that it imports and the first page did not bring. */
  const withImports = (name: string, met = new Set<string>()): Set<string> => {
    const file = scripts.find((one) => one.name === name)
    if (!file || isEntry(file) || met.has(name)) return met
    met.add(name)
    for (const [, imported] of file.text.toString().matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) {
      withImports(imported!, met)
    }
    return met
  }
  const later = scripts.filter((file) => !isEntry(file)).toSorted((a, b) => b.gz - a.gz)
  const routes = later
    .filter(({ name }) => /(Page|Section)-/.test(name))
    .map(({ name }) => ({
      name,
      gz: sum(
        [...withImports(name)].map((one) => scripts.find((s) => s.name === one)!),
        (f) => f.gz,
      ),
    }))
    .toSorted((a, b) => b.gz - a.gz)
  const plain = (name: string) => name.replace(/-[\w-]{8}\.js$/, '')
  return [
    upTo(
      'entry script, br',
      sum(entry, ({ text }) => brotliCompressSync(text).length),
      45_000,
      kilobytes,
      always(),
    ),
    upTo(
      'entry script, gz',
      sum(entry, ({ gz }) => gz),
      50_000,
      kilobytes,
      always(),
    ),
    upTo('largest lazy script, gz', later[0]!.gz, 20_000, kilobytes, always(plain(later[0]!.name))),
    upTo(
      'largest lazy page with all that it imports, gz',
      routes[0]!.gz,
      20_000,
      kilobytes,
      always(plain(routes[0]!.name)),
    ),
    upTo(
      'all scripts, gz',
      sum(scripts, ({ gz }) => gz),
      160_000,
      kilobytes,
      always(`${scripts.length} files`),
    ),
    upTo(
      'style sheet, gz',
      sum(
        files.filter(({ name }) => name.endsWith('.css')),
        ({ gz }) => gz,
      ),
      8_000,
      kilobytes,
      always(),
    ),
    upTo(
      'fonts',
      sum(
        files.filter(({ name }) => name.endsWith('.woff2')),
        ({ bytes }) => bytes,
      ),
      60_000,
      kilobytes,
      always(),
    ),
  ]
}
