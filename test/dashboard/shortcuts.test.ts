// The sheet of shortcuts against what the pages listen for: every key is listed where it works, and none where it does not.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { shortcutGroups } from '../../dashboard/rules/shortcut-list.ts'

const folder = fileURLToPath(new URL('../../dashboard', import.meta.url))
const sources = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.svelte'))
    .map((path) => [path.split(/[\\/]/).at(-1)!.replace('.svelte', ''), readFileSync(join(folder, path), 'utf8')]),
)

/** Which components listen while a page is open; with `LiveGrid` those of the list in it. */
const LISTENERS: Record<string, string[]> = {
  Everywhere: ['Shell'],
  Sessions: ['SessionsPage', 'SessionTable', 'LiveGrid'],
  'One session': ['SessionPage', 'Timeline'],
  Failures: ['FailuresPage', 'ListPage', 'PatternTable', 'LiveGrid'],
  Prompts: ['PromptAgentsSection', 'ListPage', 'PromptAgentPage', 'LiveGrid'],
  'Deliveries of alerts': ['DeliveriesSection', 'ListPage', 'DeliveryTable', 'LiveGrid'],
  'Ingest log': ['IngestLogPage', 'ListPage', 'IngestLogTable', 'LiveGrid'],
}
const OF_A_FOCUSED_LIST = ['ArrowDown', 'ArrowUp', 'Home', 'End', 'PageDown', 'PageUp']

/** The names of an object that is written out, from its brace on. */
function namesOf(text: string): string[] {
  const names: string[] = []
  let depth = 0
  let isName = false
  for (const [token] of text.matchAll(/'[^'\n]*'|[\w$]+|[{}()[\],:]|=>|./g)) {
    if (/^[{([]$/.test(token)) {
      depth += 1
      isName = depth === 1
    } else if (/^[})\]]$/.test(token)) {
      depth -= 1
      if (depth === 0) return names
    } else if (token === ',' && depth === 1) isName = true
    else if (isName && depth === 1 && /\S/.test(token)) {
      // What is spread into it has its names elsewhere.
      if (token !== '.') names.push(token.replaceAll("'", ''))
      isName = false
    }
  }
  return names
}

function keysOf(component: string): string[] {
  const source = sources.get(component)!
  const literals = [...source.matchAll(/(?:onShortcut\(|const pages = |keys=\{)(?=\{)/g)]
  return literals.flatMap(({ index, 0: { length } }) => namesOf(source.slice(index + length)))
}

test('every component that listens for keys is known here', () => {
  const listening = [...sources].flatMap(([name, source]) =>
    /\bonShortcut\(|<LiveGrid/.test(source) && name !== 'LiveGrid' ? [name] : [],
  )
  const known = new Set(Object.values(LISTENERS).flat())
  expect(listening.filter((name) => !known.has(name))).toEqual([])
})

test.each(shortcutGroups.map((group) => [group.title, group] as const))(
  '%s: what is listed is what is heard',
  (title, group) => {
    const heard = new Set(LISTENERS[title]!.flatMap(keysOf))
    for (const key of [...OF_A_FOCUSED_LIST, 'Escape']) heard.delete(key)
    const listed = new Set(group.keys.flatMap(([keys]) => keys.split(' ')))
    for (const key of ['↑', '↓', 'Home', 'End', 'Esc']) listed.delete(key)
    expect([...listed].sort()).toEqual([...heard].sort())
  },
)

test('each page that has a list of keys is in the sheet', () => {
  expect(Object.keys(LISTENERS).sort()).toEqual(shortcutGroups.map(({ title }) => title).sort())
})
