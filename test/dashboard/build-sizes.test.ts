// What a browser loads, packed as it is sent: the first page stays small, and so does every page that is opened later.
// What a later page takes from Svelte is in the first page's script all the same: spread or rest attributes of an element
// cost 1.7 KB there.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { DASHBOARD_FOLDER } from '../../server/dashboard-build.ts'

const KB = 1_000
const assets = join(DASHBOARD_FOLDER, 'assets')
const files = readdirSync(assets).map((name) => ({ name, size: gzipSync(readFileSync(join(assets, name))).length }))
const html = readFileSync(join(DASHBOARD_FOLDER, 'index.html'), 'utf8')
const isFirst = (name: string) => html.includes(`/assets/${name}`)
const sum = (some: typeof files) => some.reduce((total, { size }) => total + size, 0)
const scripts = files.filter(({ name }) => name.endsWith('.js'))
const later = scripts.filter(({ name }) => !isFirst(name))

test.each<[string, typeof files, number]>([
  ['the first page', scripts.filter(({ name }) => isFirst(name)), 50],
  ['all scripts', scripts, 211],
  ['the style sheet', files.filter(({ name }) => name.endsWith('.css')), 8],
  ['the fonts', files.filter(({ name }) => name.endsWith('.woff2')), 60],
  ...later.map((one): [string, typeof files, number] => [one.name.replace(/-[\w-]{8}\.js$/, ''), [one], 20]),
])('%s fits', (_what, some, mostKb) => {
  expect(some.length).toBeGreaterThan(0)
  expect(sum(some)).toBeLessThanOrEqual(mostKb * KB)
})
