// `npm run bench [-- ingest|live|list|delete|classify|alerts|findings|prompts|sums] [--profile]`: measures on this machine and prints a table. It asserts nothing.
import { topFunctions } from './profile.ts'
import { benchAlerts } from './alerts.ts'
import { benchClassify } from './classify.ts'
import { benchDelete } from './delete.ts'
import { benchFindings } from './findings.ts'
import { benchSums } from './sums.ts'
import { benchIngest } from './ingest.ts'
import { benchList } from './list.ts'
import { benchLive } from './live.ts'
import { benchPrompts } from './prompts.ts'
import { markdown, type Section } from './report.ts'
import { Stand } from './stand.ts'

const PARTS = {
  ingest: benchIngest,
  live: benchLive,
  list: benchList,
  delete: benchDelete,
  classify: benchClassify,
  alerts: benchAlerts,
  findings: benchFindings,
  sums: benchSums,
  prompts: benchPrompts,
}
type Part = keyof typeof PARTS

const asked = process.argv.slice(2)
const profile = asked.includes('--profile')
const names = asked.filter((argument) => argument !== '--profile')
const unknown = names.find((name) => !(name in PARTS))
if (unknown !== undefined) {
  console.error(`There is no part "${unknown}". Parts: ${Object.keys(PARTS).join(', ')}; option: --profile.`)
  process.exit(2)
}

let stand: Stand | null = null
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A Ctrl-C comes twice where npm passes it on.
    if (interrupted) return
    interrupted = true
    console.error('Stopping and cleaning up.')
    void (stand?.close() ?? Promise.resolve()).finally(() => process.exit(130))
  })
}

const sections: Section[] = []
let facts: string[] = []
try {
  for (const name of (names.length > 0 ? names : Object.keys(PARTS)) as Part[]) {
    stand = new Stand()
    const result = await PARTS[name](stand, { profile })
    facts = result.facts
    if (profile && name === 'ingest') {
      result.section.notes.push(...(await topFunctions(stand.folder)))
    }
    sections.push(result.section)
    await stand.close()
  }
  console.log(`\n${markdown(facts, sections)}`)
} catch (error) {
  if (!interrupted) {
    console.error(error)
    await stand?.close()
    process.exitCode = 1
  }
}
