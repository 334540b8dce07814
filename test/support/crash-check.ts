// What a fault left in the database, held against what the clients were told.
import type postgres from 'postgres'
import { isAccepted, openSender, triesWithoutAnswer, type CrashLoad, type Heard, type Sent } from './crash-load.ts'

export interface Verdict {
  /** everything that was promised and is not so, in words */
  broken: string[]
  /** what was sent, heard and stored, for a person to read */
  line: string
}

/** What the promise allows: committed, not recorded, perhaps recorded, or still being recorded. */
function isAllowed({ status, code, retryAfter }: Heard): boolean {
  if (status === 0) return true
  if (status === 409) return code === 'request_in_progress' && /^\d+$/.test(retryAfter ?? '')
  if (status === 503) return (code === 'unavailable' || code === 'outcome_unknown') && /^\d+$/.test(retryAfter ?? '')
  return status === 200
}

/** @param options isAnswered: no answer may be lost to a request that was recorded */
export async function compare(
  sql: postgres.Sql,
  load: Pick<CrashLoad, 'prefix' | 'sent'>,
  options: { isAnswered: boolean },
): Promise<Verdict> {
  const broken: string[] = []
  const count = { stored: 0, doubled: 0, missing: 0, unfinished: 0 }
  const stored = await storedMarkers(sql, load.prefix)
  for (const request of load.sent) {
    const copies = request.markers.map((marker) => stored.get(marker) ?? 0)
    const most = Math.max(...copies)
    const mayBe = options.isAnswered ? 0 : triesWithoutAnswer(request)
    // Whoever sends something twice that has no name of its own cannot be told from one who means both.
    const allowed =
      request.kind === 'bare' ? mayBe + (request.receipt ? 1 : 0) : Math.min(1, mayBe + (request.receipt ? 1 : 0))
    const isMissing = request.receipt !== null && most === 0
    const isDoubled = most > Math.max(1, allowed)
    count.stored += copies.reduce((sum, copy) => sum + copy, 0)
    count.missing += Number(isMissing)
    count.doubled += Number(isDoubled)
    count.unfinished += Number(request.isUnfinished)
    const wrong = [
      ...request.answers.filter((answer) => !isAllowed(answer)).map((answer) => `heard ${JSON.stringify(answer)}`),
      ...(request.isUnfinished && !options.isAnswered ? ['was never acknowledged'] : []),
      ...(isMissing ? ['was acknowledged and is not stored'] : []),
      ...(isDoubled ? ['was doubled'] : []),
      ...(most > allowed && !isDoubled ? ['was refused and is stored'] : []),
      ...(copies.some((copy) => copy !== most) ? ['is stored in part'] : []),
    ]
    for (const what of wrong) {
      const all = request.answers.map(({ status, code }) => code || status)
      broken.push(`${request.kind} ${request.markers[0]} ${what}; copies ${copies}, answers ${all.join(', ')}`)
    }
  }
  broken.push(...(await wrongSessions(sql, load.prefix)))
  const answers = answersOf(load.sent)
  const { '200': accepted = 0, lost = 0, no_connection: unreachable = 0, ...refused } = answers
  const refusals = Object.entries(refused).map(([code, times]) => `${times} ${code}`)
  const line =
    `sent ${load.sent.length}, acknowledged ${accepted}, refused ${refusals.join(' + ') || 0}, lost answers ${lost}, ` +
    `no connection ${unreachable}, events stored ${count.stored}, requests doubled ${count.doubled}, missing ${count.missing}, ` +
    `given up ${count.unfinished}`
  return { broken, line }
}

/** How often each kind of answer came. */
function answersOf(sent: Sent[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, code } of sent.flatMap(({ answers }) => answers)) {
    const name = code || String(status)
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** How often each event is stored, by the name that its client gave it. */
async function storedMarkers(sql: postgres.Sql, prefix: string): Promise<Map<string, number>> {
  const rows = await sql`
    select case s.platform when 'PLATFORM_A' then e.input else e.name end as marker, count(*)::int as copies
    from events e join sessions s on s.id = e.session_id
    where starts_with(s.external_id, ${`${prefix}-`}) group by 1`
  return new Map(rows.map(({ marker, copies }) => [marker, copies]))
}

/** Sessions whose totals or status are not what their events give. */
async function wrongSessions(sql: postgres.Sql, prefix: string): Promise<string[]> {
  const wrong = await sql`
    with sums as (
      select e.session_id, count(*)::int as events, count(e.error)::int as errors,
        count(*) filter (where e.type = 'LLM_CALL')::int as calls, sum(e.prompt_tokens) as prompt,
        sum(e.completion_tokens) as completion, sum(e.cost_usd) as cost, count(*) filter (where e.name = 'Start') as starts,
        (array_agg(e.status order by e.order_us desc, e.sequence desc, e.place desc) filter (where e.status is not null))[1] as told,
        (array_agg(e.error is not null order by e.sequence, e.place) filter (where e.type = 'SESSION_END'))[1] as ended_with_error
      from events e group by e.session_id
    ), meant as (
      select session_id, starts, events, errors, calls, prompt, completion, cost, case
        when told = 'error' or (told is null and ended_with_error) then 'FAILED'
        when told is not null or ended_with_error is not null then 'COMPLETED' else 'RUNNING' end as status
      from sums
    )
    select s.external_id, to_jsonb(m) as meant, to_jsonb(s) - 'coverage' as stored
    from sessions s full join meant m on m.session_id = s.id
    where (s.id is null or starts_with(s.external_id, ${`${prefix}-`})) and (
      (s.event_count, s.error_count, s.llm_calls, s.prompt_tokens, s.completion_tokens, s.cost_usd)
        is distinct from (m.events, m.errors, m.calls, m.prompt, m.completion, m.cost)
      or s.status is distinct from (case s.platform when 'PLATFORM_A' then m.status
        else case s.reported_status when 'error' then 'FAILED' else 'COMPLETED' end end)
      or (s.platform = 'PLATFORM_B' and m.starts <> 1))`
  return wrong.map(
    ({ external_id: name, meant, stored }) =>
      `session ${name}: its events give ${JSON.stringify(meant)}, stored is ${JSON.stringify(stored)}`,
  )
}

const MOST_REPLAYS = 150

/**
 * Sends what was acknowledged once more: it must be called a repeat, and who has a key hears the first receipt. A key of
 * which every try was refused serves as if it were new.
 */
export async function replay(url: string, load: CrashLoad): Promise<{ replayed: number; broken: string[] }> {
  const broken: string[] = []
  const sender = openSender(url)
  const isKeyed = ({ headers }: Sent) => 'idempotency-key' in headers
  const spread = (requests: Sent[]) => {
    const step = Math.ceil(requests.length / MOST_REPLAYS)
    return requests.filter((_, place) => place % step === 0)
  }
  const acknowledged = load.sent.filter(({ receipt }) => receipt)
  const again = [
    ...spread(acknowledged.filter(isKeyed)),
    ...spread(acknowledged.filter((request) => request.kind === 'named' && !isKeyed(request))),
  ]
  await Promise.all(
    again.map(async (request) => {
      const { status, body, isReplayed } = await sender.send(request)
      const says = JSON.stringify([status, body.duplicate, isReplayed, isKeyed(request) && body.sessions])
      const first = request.receipt!.body.sessions
      const meant = JSON.stringify([200, true, isKeyed(request), isKeyed(request) && first])
      if (says !== meant) broken.push(`${request.kind} ${request.markers[0]} again: ${says}, not ${meant}`)
    }),
  )
  const refused = spread(
    load.sent.filter((request) => isKeyed(request) && !request.receipt && triesWithoutAnswer(request) === 0),
  )
  await Promise.all(
    refused.map(async (request) => {
      const heard = await sender.send(request)
      const isNew = isAccepted(heard) && !heard.isReplayed
      if (!isNew)
        broken.push(`${request.markers[0]} was only refused, and its key is used up: ${JSON.stringify(heard)}`)
    }),
  )
  sender.close()
  return { replayed: again.length, broken }
}
