// Findings: processor time of the analysis of one session, and what ingest loses by it, with and without in turns.
import { createHash } from 'node:crypto'
import { analyse } from '../../server/findings/analyse.ts'
import type { Analysed, AnalysedEvent } from '../../server/findings/finding.ts'
import { chainOf, usualOf } from '../../server/findings/rules-of-usual.ts'
import { cacheSaving, priceTokens } from '../../server/sessions/prices.ts'
import { compare } from './compare.ts'
import { machineFacts } from './machine.ts'
import { met, whole, type Row, type Section } from './report.ts'
import type { Stand } from './stand.ts'

export async function benchFindings(stand: Stand): Promise<{ facts: string[]; section: Section }> {
  await stand.start()
  const { url, sql } = await stand.database('analysed')
  const facts = await machineFacts(sql, stand.folder)
  const left = async () => {
    const [row] = await sql`
      select count(*)::int as left from sessions where status <> 'RUNNING' and analysed_content < content_revision`
    return row!.left as number
  }
  const compared = await compare(stand, { url, sql, without: './without-findings.ts', left })
  const rows: Row[] = [10, 50, 1_000].map((steps): Row => {
    const micros = microsOf(runOf(steps))
    const target = steps === 50 ? met(micros < 1_000, '< 1 ms') : ''
    return { what: `analysis of a session of ${whole(steps)} events`, figure: `${micros.toFixed(0)} us`, target }
  })
  for (const { load, withRate, withoutRate, mostLeft } of compared) {
    const ratio = withRate / withoutRate
    rows.push({
      what: `${load}, analysed`,
      figure: `${whole(withRate)}/s`,
      beside: `${ratio.toFixed(2)} of the same without the analysis (${whole(withoutRate)}/s)`,
      target: met(ratio >= 0.9, '>= 0.9'),
      note: `at most ${mostLeft} sessions behind when the load ended`,
    })
  }
  return { facts, section: { title: 'Findings', rows, notes: [] } }
}

/** Processor time of one analysis, in microseconds. */
function microsOf(run: Analysed): number {
  const times = Math.max(20, Math.ceil(20_000 / run.events.length))
  for (let i = 0; i < times; i++) analyse(run)
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) analyse(run)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

const INSTRUCTION = 'You answer for a dentist in Basel, in the language of the caller. '.repeat(60)

/** An agent that calls tools in turns, and says what they answered; texts of the first 200 steps are read. */
function runOf(steps: number): Analysed {
  const at = Date.UTC(2026, 0, 1)
  let said = INSTRUCTION
  const events = Array.from({ length: steps }, (_, i): AnalysedEvent => {
    const isTool = i % 2 === 1
    const answer = JSON.stringify({
      slot: `2026-02-${(i % 28) + 1}`,
      dentist: `Weber ${i}`,
      room: 100 + i,
      note: 'bring the card',
    })
    const output = isTool ? answer : `On day ${i} Weber ${i - 1} has time in room ${99 + i}. `
    const input = isTool ? `{"day": ${i}}` : said
    said += `${output}\n`
    const isRead = i < 200
    const tokens = isTool ? null : Math.round(said.length / 4)
    return {
      key: `event-${i}`,
      type: isTool ? 'TOOL_CALL' : 'LLM_CALL',
      name: isTool ? 'find_slot' : 'Agent',
      model: isTool ? null : 'gpt-4o',
      parentKey: null,
      hasError: i % 17 === 16,
      promptTokens: tokens,
      completionTokens: isTool ? null : 30,
      costUsd: tokens === null ? null : Number(priceTokens(undefined, 'gpt-4o', tokens, 30, at)),
      durationMs: 400,
      occurredAt: at + 500 * i,
      input: isRead ? input.slice(0, 16_384) : null,
      inputLength: isRead ? input.length : null,
      inputDigest: isRead ? createHash('md5').update(input).digest('hex') : null,
      output: isRead ? output : null,
      outputLength: isRead ? output.length : null,
      finishReason: null,
      maxTokens: null,
    }
  })
  const chain = chainOf(INSTRUCTION)
  return {
    session: {
      id: 'measured',
      projectId: 1,
      platform: 'PLATFORM_A',
      agent: 'Desk',
      status: 'COMPLETED',
      firstSeenAt: at,
      startedAt: at,
      durationMs: 500 * steps,
      activeMs: null,
      costUsd: 1,
      unpricedCalls: 0,
      retryOf: null,
    },
    events,
    surroundings: {
      durationMs: usualOf(Array.from({ length: 200 }, (_, i) => 100 + i)),
      costUsd: usualOf(Array.from({ length: 200 }, (_, i) => 0.001 + i / 1e6)),
      beginnings: new Map([['LLM_CALL Agent gpt-4o', Array.from({ length: 8 }, () => ({ at: at - 60_000, chain }))]]),
      own: new Map(),
      others: new Map(),
      retried: null,
    },
    priceOf: (model, prompt, completion) => Number(priceTokens(undefined, model, prompt, completion, at)),
    cacheSavingOf: (model, tokens) => cacheSaving(model, tokens, at),
  }
}
