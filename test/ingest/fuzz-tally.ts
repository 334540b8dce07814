// What the fuzz test counts on its own: which sessions and events must be stored after what was accepted, no more and
// no less.
import { expect } from 'vitest'
import type { TestDatabase } from '../support/database.ts'

interface Receipt {
  accepted: number
  sessions: { session_id: string; url: string }[]
}

type Fields = Record<string, unknown>

export class Tally {
  /** uuid of a session -> the keys of its events */
  private readonly events = new Map<string, Set<string>>()
  /** Sessions of which a list held several posts: the receipt does not say which was whose. */
  private readonly unclear = new Set<string>()
  private unnamed = 0

  constructor(private readonly sql: TestDatabase['sql']) {}

  get sessionCount(): number {
    return this.events.size
  }

  /** @param body what was sent, as JSON.parse reads it */
  add(platform: 'A' | 'B', body: unknown, receipt: Receipt): void {
    const list = Array.isArray(body) ? body : [body]
    expect(receipt.accepted).toBe(list.length)
    const ids = receipt.sessions.map(({ url }) => url.split('/').at(-1)!)
    for (const id of ids) if (!this.events.has(id)) this.events.set(id, new Set())
    if (platform === 'A') this.addEvents(list as Fields[], receipt, ids)
    else this.addExecutions(list as Fields[], ids)
  }

  private addEvents(list: Fields[], receipt: Receipt, ids: string[]): void {
    const idOf = new Map(receipt.sessions.map(({ session_id }, i) => [session_id, ids[i]!]))
    expect([...idOf.keys()].sort()).toEqual([...new Set(list.map((event) => String(event.session_id)))].sort())
    for (const { session_id, event_id } of list) {
      const isNamed = event_id !== undefined && event_id !== null && String(event_id).trim() !== ''
      this.events.get(idOf.get(String(session_id))!)!.add(isNamed ? `named ${event_id}` : `unnamed ${this.unnamed++}`)
    }
  }

  private addExecutions(list: Fields[], ids: string[]): void {
    if (ids.length !== list.length) for (const id of ids) this.unclear.add(id)
    list.forEach((item, i) => {
      for (const key of ids.length === list.length ? nodeRunsOf(item) : []) this.events.get(ids[i]!)!.add(key)
    })
  }

  /** Compares with what is stored, after every request. */
  async compare(): Promise<void> {
    for (const id of this.unclear) {
      const stored = await this.sql`select event_key from events where session_id = ${id}`
      this.events.set(id, new Set(stored.map((row) => row.event_key as string)))
    }
    const [row] = await this.sql`
      select (select count(*) from sessions)::int as sessions, (select count(*) from events)::int as events`
    const events = [...this.events.values()].reduce((sum, keys) => sum + keys.size, 0)
    expect({ ...row }).toEqual({ sessions: this.events.size, events })
  }

  /** Every total of a session is the sum of its events. */
  async compareTotals(): Promise<void> {
    const wrong = await this.sql`
      select s.external_id, to_jsonb(s) as session, to_jsonb(t) as events from sessions s
      left join lateral (
        select count(*) as event_count, count(e.error) as error_count,
          count(*) filter (where type = 'LLM_CALL') as llm_calls, count(*) filter (where type = 'TOOL_CALL') as tool_calls,
          sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(e.cost_usd) as cost_usd
        from events e where e.session_id = s.id
      ) t on true
      where (s.event_count, s.error_count, s.llm_calls, s.tool_calls) <>
          (t.event_count, t.error_count, t.llm_calls, t.tool_calls)
        or (s.prompt_tokens, s.completion_tokens, s.cost_usd) is distinct from
          (t.prompt_tokens, t.completion_tokens, t.cost_usd)`
    expect([...wrong]).toEqual([])
    for (const [id, keys] of this.events) {
      const [row] = await this.sql`select event_count from sessions where id = ${id}`
      expect([id, row!.event_count]).toEqual([id, keys.size])
    }
  }
}

/** Node and run of everything that ran in a posted execution, in whichever of its forms it came. */
function nodeRunsOf(item: Fields): string[] {
  const dotted = Object.entries(item).filter(([name]) => name.startsWith('execution.'))
  const wrapped = Object.hasOwn(item, 'execution')
    ? item.execution
    : Object.fromEntries(dotted.map(([name, value]) => [name.slice('execution.'.length), value]))
  const execution = typeof wrapped === 'string' ? JSON.parse(wrapped) : wrapped
  const runData = objectOf(objectOf(objectOf(execution).data).resultData).runData
  return Object.entries(objectOf(runData)).flatMap(([name, runs]) =>
    Array.isArray(runs)
      ? runs.flatMap((run, i) => (typeof run === 'object' && run && !Array.isArray(run) ? [`${i} ${name}`] : []))
      : [],
  )
}

const objectOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
