// Sums of agents: what ingest loses by them, and how far behind they are.
import { compare } from './compare.ts'
import { machineFacts } from './machine.ts'
import { met, whole, type Row, type Section } from './report.ts'
import type { Stand } from './stand.ts'

export async function benchSums(stand: Stand): Promise<{ facts: string[]; section: Section }> {
  await stand.start()
  const { url, sql } = await stand.database('sums')
  const facts = await machineFacts(sql, stand.folder)
  const left = async () => {
    const [row] = await sql`
      select (select count(*) from sessions)::int - coalesce(sum(runs), 0)::int as left from agent_rollups where grain = 'HOUR'`
    return row!.left as number
  }
  const compared = await compare(stand, { url, sql, without: './without-sums.ts', left })
  const rows = compared.map(({ load, withRate, withoutRate, mostLeft }): Row => {
    const ratio = withRate / withoutRate
    return {
      what: `${load}, added up`,
      figure: `${whole(withRate)}/s`,
      beside: `${ratio.toFixed(2)} of the same without the sums (${whole(withoutRate)}/s)`,
      target: met(ratio >= 0.9, '>= 0.9'),
      note: `at most ${whole(mostLeft)} sessions not in the sums when the load ended`,
    }
  })
  return { facts, section: { title: 'Sums of agents', rows, notes: [] } }
}
